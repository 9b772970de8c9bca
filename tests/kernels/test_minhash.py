from __future__ import annotations

import random

import numpy as np

from neardup.kernels.sketch import minhash_kernels
from tests.arrays import ragged, random_words
from tests.each import each_of
from tests.oracles import hashing as oracle

# Shingles go through the lanes eight at a time, in chunks of 1,024.
SIZES = [0, 1, 2, 7, 8, 9, 15, 16, 17, 1023, 1024, 1025, 1031, 1032, 1033, 2049]
LANES = [oracle.lane_masks(42, lane) for lane in range(16)]


def sign(lists, lanes=LANES, lead=0):
    values, offsets = ragged(lists, lead=lead)
    masks = np.array([mask for mask, _ in lanes], np.uint32)
    even_masks = np.array([even_mask for _, even_mask in lanes], np.uint32)
    signatures = np.zeros((len(lists), len(lanes)), np.uint32)
    minhash_kernels.minhash_signatures(values, offsets, masks, even_masks, signatures)
    return signatures


@each_of("size", SIZES)
def test_minhash_signatures__every_size(size):
    shingles = random_words(random.Random(size), size)
    assert sign([shingles]).tolist() == [oracle.signature(shingles, LANES)]


@each_of("n_lanes", [1, 3, 8, 15, 17])
def test_minhash_signatures__every_number_of_lanes(n_lanes):
    lanes = [oracle.lane_masks(7, lane) for lane in range(n_lanes)]
    generator = random.Random(n_lanes)
    lists = [random_words(generator, n) for n in (3, 0, 20)]
    expected = [oracle.signature(shingles, lanes) for shingles in lists]
    assert sign(lists, lanes).tolist() == expected


@each_of("place", [0, 6, 7, 8, 15, 16, 1015, 1022, 1023, 1024, 1025, 1030])
def test_minhash_signatures__least_value_anywhere(place):
    """The shingle with the least value counts wherever it stands in a chunk or its tail."""
    generator = random.Random(place)
    shingles = random_words(generator, 1031)
    mask, even_mask = LANES[0]
    shingles[place] = mask << 32 | 1  # its upper half is masked away: value 0
    assert sign([shingles], LANES[:1]).tolist() == [[0]]
    assert oracle.lane_value(shingles[place], mask, even_mask) == 0


@each_of(("bands", "rows"), [(1, 1), (1, 16), (16, 1), (3, 5), (5, 3), (2, 8)])
def test_band_keys__as_oracle(bands, rows):
    generator = np.random.default_rng(bands)
    signatures = generator.integers(0, 2**32, (5, 16), np.uint32)
    keys = np.zeros((5, bands), np.uint64)
    minhash_kernels.band_keys(signatures, bands, rows, keys)
    assert keys.tolist() == [
        [oracle.band_key(row[j * rows : (j + 1) * rows], j) for j in range(bands)]
        for row in signatures.tolist()
    ]
