from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from neardup.kernels.text import shingle_kernels
from neardup.text.shingles import NO_COPIES
from tests.arrays import JUNK, ragged, random_words, unragged
from tests.each import each_of
from tests.oracles import hashing as oracle

# Around the length up to which ranges are sorted by insertion, and around powers of two.
SIZES = [0, 1, 2, 3, 8, 22, 23, 24, 25, 26, 31, 32, 33, 63, 64, 65, 127, 128, 300]


def hash_lists(lists, ngram, lead=0):
    values, offsets = ragged(lists, lead=lead)
    found = np.full(len(values) - lead, JUNK, np.uint64)
    found_offsets = np.empty(len(lists) + 1, np.int64)
    shingle_kernels.hash_shingles(values, offsets, ngram, found, found_offsets)
    assert found_offsets[0] == 0
    return unragged(found, found_offsets)


def sorting_room(offsets):
    longest = int(np.diff(offsets).max(initial=0))
    return np.full(longest, JUNK, np.uint64), np.full(2 * longest + 1, -7, np.int64)


def sort_lists(lists, lead=0):
    values, offsets = ragged(lists, lead=lead)
    sizes = np.full(len(lists), -7, np.int64)
    shingle_kernels.sort_sets(values, offsets, *sorting_room(offsets), sizes, NO_COPIES)
    assert values[:lead].tolist() == [JUNK] * lead
    return [
        values[start : start + size].tolist()
        for start, size in zip(offsets[:-1], sizes, strict=True)
    ]


def count_lists(lists, lead=0):
    """Give a list of pairs, a value and its copies, for each list."""
    values, offsets = ragged(lists, lead=lead)
    sizes = np.full(len(lists), -7, np.int64)
    copies = np.full(len(values), -7, np.int64)
    shingle_kernels.sort_sets(values, offsets, *sorting_room(offsets), sizes, copies)
    assert values[:lead].tolist() == [JUNK] * lead
    assert copies[:lead].tolist() == [-7] * lead
    return [
        list(zip(*(a[start : start + size].tolist() for a in (values, copies)), strict=True))
        for start, size in zip(offsets[:-1], sizes, strict=True)
    ]


def number_lists(lists, lead=0):
    values, offsets = ragged(lists, lead=lead)
    shingle_kernels.number_occurrences(values, offsets, *sorting_room(offsets))
    assert values[:lead].tolist() == [JUNK] * lead
    return unragged(values, offsets)


# 1,024 windows are hashed together, or four times as many as a run has tokens.
@pytest.mark.slow
@each_of("ngram", [1, 2, 3, 7, 257])
@each_of("ahead", [1, 1018, 1023, 1024])
def test_hash_shingles__texts_over_the_ends_of_chunks(ngram, ahead):
    generator = random.Random(ahead)
    lists = [random_words(generator, n) for n in (ahead, 0, 3, ngram, 1100, 1, 300 + ngram, 2, 0)]
    expected = [oracle.hash_shingles(tokens, ngram) for tokens in lists]
    assert hash_lists(lists, ngram, 1) == expected


@each_of("distinct", [1, 2, 7, 10**9])
@each_of("lead", [0, 3])
def test_sort_sets__sizes_and_repeats(distinct, lead):
    generator = random.Random(distinct)
    values = random_words(generator, min(distinct, 400))
    lists = [generator.choices(values, k=size) for size in SIZES]
    assert sort_lists(lists, lead) == [sorted(set(values)) for values in lists]


@each_of("bits", [1, 5, 8, 40, 63])
@each_of("high", [True, False])
def test_sort_sets__unevenly_spread(bits, high):
    """Values that differ in few leading bits, or in none, crowd into few places."""
    generator = random.Random(bits)
    lists = [
        [generator.getrandbits(bits) << (64 - bits if high else 0) for _ in range(size)]
        for size in SIZES
    ]
    assert sort_lists(lists) == [sorted(set(values)) for values in lists]


@each_of("distinct", [1, 2, 7, 10**9])
@each_of("lead", [0, 3])
def test_sort_sets__with_copies_as_counter(distinct, lead):
    generator = random.Random(distinct)
    values = random_words(generator, min(distinct, 400))
    lists = [generator.choices(values, k=size) for size in SIZES]
    assert count_lists(lists, lead) == [sorted(Counter(values).items()) for values in lists]


@each_of("distinct", [1, 3, 40])
@each_of("lead", [0, 3])
def test_number_occurrences__as_oracle(distinct, lead):
    generator = random.Random(distinct)
    values = random_words(generator, distinct)
    lists = [generator.choices(values, k=size) for size in SIZES]
    found = number_lists(lists, lead)
    assert [sorted(numbered) for numbered in found] == [
        sorted(oracle.number_occurrences(values)) for values in lists
    ]
    # Nothing coincides: every copy has become an element of its own.
    assert [len(set(numbered)) for numbered in found] == SIZES
