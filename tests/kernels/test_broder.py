from __future__ import annotations

import random

import numpy as np

from neardup.kernels.sketch import sample_kernels
from tests.arrays import JUNK, ragged, random_words, unragged
from tests.each import each_of
from tests.oracles import broder as oracle
from tests.oracles.hashing import mix
from tests.oracles.rabin import unmix

KEY = 0x123456789ABCDEF
ALL = 2**64 - 1


def permuted(elements):
    return {mix(x ^ KEY) for x in elements}


def elements_of(values):
    """Shingles whose permuted values are these."""
    return [unmix(value) ^ KEY for value in values]


def smallest(lists, size, lead=0):
    shingles, offsets = ragged(lists, lead=lead)
    values = np.full(sum(min(len(x), size) for x in lists) + 1, JUNK, np.uint64)
    value_offsets, sizes = np.zeros(len(lists) + 1, np.int64), np.zeros(len(lists), np.int64)
    longest = max(map(len, lists))
    pool, scratch = np.full((2, longest), JUNK, np.uint64)
    counts = np.full(2 * longest + 1, -7, np.int64)
    sample_kernels.smallest_sketches(
        *(shingles, offsets, np.uint64(KEY), size, pool, scratch, counts),
        *(values, value_offsets, sizes),
    )
    assert values[-1] == JUNK
    return unragged(values, value_offsets), sizes.tolist()


def modulo(lists, modulus, size=1, lead=0):
    """Sketches, numbers of distinct elements, and moduli."""
    shingles, offsets = ragged(lists, lead=lead)
    longest = max(map(len, lists), default=0)
    values = np.full(len(shingles) + 1, JUNK, np.uint64)
    value_offsets = np.zeros(len(lists) + 1, np.int64)
    sizes, moduli = np.zeros((2, len(lists)), np.int64)
    sample_kernels.modulo_sketches(
        shingles,
        offsets,
        np.uint64(KEY),
        modulus,
        size,
        np.zeros(longest, np.uint64),
        np.zeros(2 * longest + 1, np.int64),
        values,
        value_offsets,
        sizes,
        moduli,
    )
    assert values[-1] == JUNK
    return unragged(values, value_offsets), sizes.tolist(), moduli.tolist()


def expected_modulo(lists, modulus):
    sketches = [oracle.multiples(permuted(elements), modulus) for elements in lists]
    return sketches, [len(set(elements)) for elements in lists], [modulus] * len(lists)


def expected_smallest(lists, size):
    sketches = [oracle.smallest(permuted(elements), size) for elements in lists]
    return sketches, [len(sketch) if len(sketch) < size else -1 for sketch in sketches]


# Values are gathered 1,024 at a time, and sorted when there are more than twice the size.
@each_of("size", [1, 2, 3, 16, 500, 1024])
def test_smallest_sketches__every_length(size):
    generator = random.Random(size)
    lengths = [0, 1, 2, 3, 15, 16, 17, 33, 1023, 1024, 1025, 2048, 2049, 5000]
    lists = [random_words(generator, n) for n in lengths]
    assert smallest(lists, size, lead=5) == expected_smallest(lists, size)


@each_of("n_distinct", [200, 299, 300, 301, 400, 3000])
def test_smallest_sketches__repeats_keep_the_bound_from_holding_enough(n_distinct):
    """A bound that is guessed from the number of shingles leaves too few if most are repeats."""
    generator = random.Random(n_distinct)
    elements = random_words(generator, n_distinct)
    lists = [elements + generator.choices(elements, k=k) for k in (0, 100, 1000, 5000)]
    assert smallest(lists, 300, lead=1) == expected_smallest(lists, 300)


@each_of("place", [0, 1, 1023, 1024, 1025, 2047, 2999])
@each_of("value", [0, 1, ALL])
def test_smallest_sketches__extreme_values_anywhere(place, value):
    elements = random_words(random.Random(place), 3000)
    elements[place] = elements_of([value])[0]
    lists = [elements, elements[place : place + 1], elements[place : place + 3] * 2]
    assert smallest(lists, 2) == expected_smallest(lists, 2)


@each_of("modulus", [1, 2, 3, 8, 10, 14, 64, 2**32 - 5, 2**32])
def test_modulo_sketches__as_remainders(modulus):
    generator = random.Random(modulus)
    lists = []
    for _ in range(3):
        values = [generator.randrange(2**64 // modulus) * modulus for _ in range(30)]
        near = [(v + generator.choice((-1, 1, modulus // 2 + 1))) & ALL for v in values]
        ends = [0, ALL, ALL // modulus * modulus, 2**63]
        lists.append(elements_of([*values, *near, *ends, *values[:9]]))
    sketches, sizes, moduli = expected_modulo(lists, modulus)
    assert modulo(lists, modulus, lead=2) == (sketches, sizes, moduli)
    assert all(len(sketch) >= 30 for sketch in sketches)


@each_of("size", [1, 3, 100])
def test_modulo_sketches__a_power_of_two_by_distinct_elements(size):
    generator = random.Random(size)
    lengths = [0, 1, size - 1, size, 2 * size - 1, 2 * size, 4 * size - 1, 4 * size, 11 * size]
    lists = [generator.sample(range(2**62), n) for n in lengths]
    lists += [2 * elements for elements in lists]
    sketches, sizes, moduli = modulo(lists, 0, size)
    assert sizes == 2 * lengths
    assert moduli == [1 << max((n // size).bit_length() - 1, 0) for n in sizes]
    for sketch, elements, modulus in zip(sketches, lists, moduli, strict=True):
        assert sketch == oracle.multiples(permuted(elements), modulus)
