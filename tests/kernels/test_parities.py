from __future__ import annotations

import random

import numpy as np

from neardup.kernels.common import bits
from neardup.matching.verify import measure_sets
from tests.arrays import make_sets, random_words
from tests.each import each_of


def odd_classes(elements):
    """The classes of equal low six bits of which a set has an odd number of elements."""
    classes = [element & 63 for element in elements]
    return sum(1 << c for c in set(classes) if classes.count(c) % 2)


@each_of("word", [0, 1, 2**63, 2**64 - 1, 2**64 - 2, 0x5555555555555555])
def test_count_ones__special_words(word):
    assert bits.count_ones(np.uint64(word)) == word.bit_count()


def test_count_ones__by_definition():
    generator = random.Random(1)
    for i in range(64):
        word = generator.getrandbits(64)
        for value in (word, 1 << i, 2**64 - 1 ^ 1 << i, word & generator.getrandbits(64)):
            assert bits.count_ones(np.uint64(value)) == value.bit_count()


def test_set_parities__by_definition():
    """Nothing is read in front of a set or behind it."""
    generator = random.Random(2)
    sets = [set(random_words(generator, generator.randrange(90))) for _ in range(40)]
    sets += [set(), {0}, {63}, {64}, {0, 64}, {2**64 - 1}, set(range(64)), set(range(65))]
    for gap in (0, 3):
        assert measure_sets(make_sets(sets, gap=gap)).parities.tolist() == [
            odd_classes(s) for s in sets
        ]
