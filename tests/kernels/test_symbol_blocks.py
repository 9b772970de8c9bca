from __future__ import annotations

import random
from itertools import accumulate, product

import numpy as np
from rapidfuzz.distance import LCSseq

from neardup.kernels.edit import symbols as symbol_blocks
from neardup.kernels.edit.symbols import MOST_MATCHES, UNKNOWN
from tests.each import each_of

SIZES = [0, 1, 2, 3, 7, 8, 20, 40]


def align(signatures, pairs, room=500):
    """Align in as many calls as the room asks for; give each pair's blocks, or None."""
    offsets = np.array(list(accumulate(map(len, signatures), initial=3)), np.int64)
    symbols = np.array([s for signature in [[5] * 3, *signatures] for s in signature], np.uint32)
    left, right = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    n_blocks = np.full(len(pairs), -7, np.int64)
    found, done = [], 0
    while done < len(pairs):
        blocks = np.full((room, 4), -7, np.int64)
        before = done
        done = symbol_blocks.common_blocks(symbols, offsets, left, right, before, blocks, n_blocks)
        assert done > before
        n = int(np.maximum(n_blocks[before:done], 0).sum())
        assert (blocks[n:] == -7).all()
        found += blocks[:n].tolist()
    assert [row[0] for row in found] == np.repeat(
        range(len(pairs)), np.maximum(n_blocks, 0)
    ).tolist()
    of_pairs = [[tuple(row[1:]) for row in found if row[0] == pair] for pair in range(len(pairs))]
    return [
        None if n == UNKNOWN else of_pair
        for n, of_pair in zip(n_blocks.tolist(), of_pairs, strict=True)
    ]


def check(signatures, pairs, **room):
    """Compare with RapidFuzz, of equally good alignments the same; give how many are known."""
    strings = ["".join(chr(48 + symbol) for symbol in signature) for signature in signatures]
    n_known = 0
    for (a, b), blocks in zip(pairs, align(signatures, pairs, **room), strict=True):
        if blocks is not None:
            expected = LCSseq.editops(strings[a], strings[b]).as_matching_blocks()
            assert blocks == [(block.a, block.b, block.size) for block in expected]
            n_known += 1
    return n_known


@each_of("letters", [1, 2, 3, 5, 20, 300])
@each_of("seed", range(3))
def test_common_blocks__as_rapidfuzz(letters, seed):
    generator = random.Random(seed)
    signatures = [[generator.randrange(letters) for _ in range(n)] for n in SIZES]
    pairs = list(product(range(len(signatures)), repeat=2))
    assert check(signatures, pairs) >= len(pairs) // 2


@each_of("letters", [120, 500])
@each_of("n_edits", [1, 4, 15])
def test_common_blocks__of_edited_signatures(letters, n_edits):
    generator = random.Random(n_edits)
    first = [generator.randrange(letters) for _ in range(60)]
    signatures = [first]
    for _ in range(12):
        edited = list(first)
        for _ in range(n_edits):
            start = generator.randrange(len(edited))
            edited[start : start + generator.randrange(3)] = [
                generator.randrange(letters) for _ in range(generator.randrange(3))
            ]
        signatures.append(edited)
    pairs = [(a, b) for k in range(1, 13) for a, b in ((0, k), (k, 0), (k, 13 - k))]
    assert check(signatures, pairs) >= 12


def test_common_blocks__as_many_matches_as_are_looked_at_and_one_more():
    first = list(range(10, 10 + MOST_MATCHES + 1))
    left = [3, *first, 3]
    signatures = [left, [4, *first[:-1], 4], [4, *first, 4], [4] + [10] * MOST_MATCHES, left]
    aligned = align(signatures, [(0, k) for k in range(1, 5)])
    assert [blocks is None for blocks in aligned] == [False, True, False, False]
    assert aligned[0] == [(1, 1, MOST_MATCHES), (len(left), MOST_MATCHES + 2, 0)]


def test_common_blocks__room_for_one_pair_at_a_time():
    generator = random.Random(9)
    signatures = [[generator.randrange(9) for _ in range(18)] for _ in range(6)]
    pairs = list(product(range(6), repeat=2))
    assert check(signatures, pairs, room=symbol_blocks.MOST_BLOCKS) == 36
