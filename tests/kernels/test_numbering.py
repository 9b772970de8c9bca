from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.kernels.join import postings as kernels
from neardup.matching import join
from tests.arrays import as_uint64, random_words
from tests.each import each_of


class Table:
    """A hash table of exactly the size that the kernel's description asks for."""

    def __init__(self, room):
        self.slots = np.full(2 * room, -1, np.int32)
        self.known = np.zeros(room, np.uint64)
        self.frequencies = np.full(room, -9, np.int64)
        self.size = 0

    def number(self, values, start=0):
        numbers = np.full(len(values), -9, np.int32)
        reached, self.size = kernels.number_values(
            as_uint64(values),
            start,
            self.slots,
            self.known,
            self.frequencies,
            self.size,
            numbers,
        )
        return reached, numbers.tolist()


def numbered(values):
    """By definition: numbers in order of first appearance, and how often each value came."""
    known = list(dict.fromkeys(values))
    return [known.index(value) for value in values], [values.count(value) for value in known]


def test_number_values__stops_where_there_is_no_room():
    """Known values still get their numbers; the rest is left for another call, nothing counted."""
    table = Table(2)
    sequence = [5, 6, 5, 6, 7, 5, 6]
    assert table.number(sequence) == (4, [0, 1, 0, 1, -9, -9, -9])
    assert (table.size, table.frequencies.tolist()) == (2, [2, 2])
    bigger = Table(4)
    bigger.known[:2], bigger.frequencies[:2], bigger.size = table.known, table.frequencies, 2
    kernels.rebuild_slots(bigger.slots, bigger.known, 2)
    assert bigger.number(sequence, 4) == (7, [-9, -9, -9, -9, 2, 0, 1])
    assert (bigger.size, bigger.frequencies[:3].tolist()) == (3, [3, 3, 1])


@each_of("room", [1, 2, 8, 64])
def test_number_values__grown(monkeypatch, room):
    """However often the table grows on the way."""
    monkeypatch.setattr(join, "_FIRST_TOKENS", room)
    generator = random.Random(room)
    for n in (0, 1, 2, 9, 100):
        values = generator.choices(random_words(generator, max(n // 2, 1)), k=n)
        numbers, frequencies = join.number_values(as_uint64(values))
        assert (numbers.tolist(), frequencies.tolist()) == numbered(values)


def test_number_values__too_many(monkeypatch):
    monkeypatch.setattr(join, "_FIRST_TOKENS", 2)
    monkeypatch.setattr(join, "_MOST_TOKENS", 7)
    assert join.number_values(as_uint64([1, 2, 3, 4, 1]))[1].tolist() == [2, 1, 1, 1]
    with pytest.raises(InvalidParameterError, match="more than 4 different"):
        join.number_values(as_uint64([1, 2, 3, 4, 5]))
