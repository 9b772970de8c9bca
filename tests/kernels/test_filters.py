from __future__ import annotations

import random
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from neardup.kernels.arrays import sealed
from neardup.kernels.join import filters
from neardup.kernels.join.overlap import Threshold
from tests.arrays import CODES, ragged, random_words
from tests.each import each_of
from tests.oracles import sieve as oracle
from tests.oracles.measures import JOIN_MEASURES

THRESHOLDS = [Fraction(t) for t in ("0.3", "0.5", "0.8", "0.9", "1")]


def make(lists, measure="jaccard", bits_per_shingle=2, most_words=1024, *, lead=0):
    """Make filters; gives words, offsets and sizes."""
    values, shingle_offsets = ragged(lists, lead=lead)
    offsets = np.full(len(lists) + 1, -9, np.int64)
    filters.count_words(shingle_offsets, bits_per_shingle, most_words, offsets)
    words = np.zeros(offsets[-1], np.uint64)
    sizes = np.full(len(lists), -9, np.int64)
    seen = np.full(2 << (2 * len(values)).bit_length(), 77, np.uint64)
    filters.fill_filters(values, shingle_offsets, CODES[measure], seen, offsets, words, sizes)
    return words, offsets, sizes


def as_bits(words):
    return {
        64 * i + bit
        for i, word in enumerate(words.tolist())
        for bit in range(64)
        if word >> bit & 1
    }


def random_list(generator, longest):
    """Give shingles, some of them repeated."""
    words = random_words(generator, generator.randint(1, longest))
    return words + generator.choices(words, k=generator.randrange(4))


@pytest.mark.slow
@each_of("measure", ["jaccard", "containment"])
@each_of("bits_per_shingle", [1, 2, 4])
def test_fill_filters__by_definition(measure, bits_per_shingle):
    """The values in front of the first list are not read."""
    generator = random.Random(bits_per_shingle)
    lists = [
        [],
        [0],
        [0, 0, 64],
        [64, 0, 0],
        [2**64 - 1] * 5,
        [7] * 64,
        [*range(3, 3000, 64)],
        # Repeats that are far apart, of shingles whose places were taken by others as well.
        [*range(1500), 0, *range(2**20, 2**20 + 1500), *range(1500)],
        *(random_list(generator, 300) for _ in range(30)),
    ]
    words, offsets, sizes = make(lists, measure, bits_per_shingle, 8, lead=3)
    assert sizes.tolist() == [len(set(shingles)) for shingles in lists]
    for shingles, (start, stop) in zip(lists, pairwise(offsets.tolist()), strict=True):
        n_bits = oracle.n_bits(len(shingles), bits_per_shingle, 512)
        assert 64 * (stop - start) == n_bits
        assert as_bits(words[start:stop]) == oracle.bits_of(shingles, n_bits, measure)


@each_of(
    ("n_shingles", "n_words"),
    [(0, 1), (1, 1), (32, 1), (33, 2), (64, 2), (65, 4), (32768, 1024), (32769, 1024)],
)
def test_count_words__at_the_edges(n_shingles, n_words):
    offsets = np.empty(2, np.int64)
    filters.count_words(np.array([5, 5 + n_shingles], np.int64), 2, 1024, offsets)
    assert offsets.tolist() == [0, n_words]


def related_lists(generator):
    """Give two lists of about the same elements, one of them sometimes part of a larger one."""
    x = random_list(generator, generator.choice((5, 60, 700)))
    y = [word for word in x if generator.random() < generator.choice((1, 0.95, 0.7))]
    y += random_words(generator, generator.choice((0, 1, len(x) // 10, 4 * len(x))))
    return generator.sample([x, y or [1]], 2)


@pytest.mark.slow
@each_of("measure", JOIN_MEASURES)
@each_of("either_way", [False, True])
def test_may_reach__as_oracle(measure, either_way):
    """Whatever the sizes of the two filters, and wherever counting is broken off."""
    generator = random.Random(3)
    verdicts = []
    for _ in range(60):
        lists = related_lists(generator)
        words, offsets, sizes = make(lists, measure, generator.choice((1, 2)), 64)
        threshold = generator.choice(THRESHOLDS)
        if measure == "overlap":
            threshold = Fraction(generator.randint(1, 1 + len(lists[0])))
        x, y = (
            oracle.Document(shingles, 64 * int(stop - start))
            for shingles, (start, stop) in zip(lists, pairwise(offsets.tolist()), strict=True)
        )
        found = filters.may_reach(
            sealed(filters.FilterRows(words, offsets, sizes)),
            0,
            1,
            Threshold(CODES[measure], threshold.numerator, threshold.denominator),
            either_way,
        )
        assert found == oracle.may_reach(x, y, measure, threshold, either_way=either_way)
        verdicts.append(found)
    assert {True, False} <= set(verdicts)
