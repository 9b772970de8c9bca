from __future__ import annotations

import random

import numpy as np

from neardup.kernels.sketch import samples
from tests.arrays import JUNK, ragged, random_words
from tests.each import each_of

KEY = 0x0123456789ABCDEF


def count(lists, lead=0, least=0):
    shingles, offsets = ragged(lists, lead=lead)
    longest = max(map(len, lists))
    room = np.full((4, longest + 1), JUNK, np.uint64)
    counts = np.full(2 * longest + 1, -7, np.int64)
    sizes = np.zeros(len(lists), np.int64)
    samples.count_distinct(
        shingles,
        offsets,
        np.uint64(KEY),
        least,
        *(array[:longest] for array in room),
        counts,
        sizes,
    )
    assert (room[:, longest] == JUNK).all()
    return sizes.tolist()


def test_count_distinct__as_sets():
    generator = random.Random(9)
    lists = [random_words(generator, n) for n in (0, 1, 2, 3, 4, 7, 8, 9, 100, 1023, 1024, 1025)]
    lists += [generator.choices(elements, k=50) for elements in lists[2:]]
    lists += [[KEY], [KEY] * 3, [KEY] * 2 + lists[4], [5] * 200]
    assert count(lists, lead=3) == [len(set(elements)) for elements in lists]
    assert count([[], []]) == [0, 0]
    for elements in lists:
        assert count([elements]) == [len(set(elements))]


def test_count_distinct__of_few_all():
    assert count([[1] * 3, [1] * 4, [1] * 5], least=4) == [3, 1, 1]


@each_of("n", [2, 30, 500, 3000])
def test_count_distinct__different_values_that_share_a_bit(n):
    """Of so many values some share a bit, be they repeated or not."""
    generator = random.Random(n)
    for n_repeated in (0, 1, n // 2, n):
        elements = [generator.getrandbits(64) for _ in range(n)]
        repeated = elements + elements[:n_repeated]
        generator.shuffle(repeated)
        assert count([repeated, elements[:1]]) == [n, 1]
