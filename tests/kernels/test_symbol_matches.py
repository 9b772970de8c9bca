from __future__ import annotations

import random
import time
from itertools import accumulate, product

import numpy as np

from neardup.kernels.edit import symbols as symbol_matches
from tests.each import each_of
from tests.oracles.edits import distance

MOST = symbol_matches.MOST_MATCHES
SIZES = [0, 1, 2, 3, 7, 8, 20, 40]


def lay_out(signatures, lead=3):
    """Lay signatures out one after another, behind symbols that nothing should match."""
    offsets = np.array(list(accumulate(map(len, signatures), initial=lead)), np.int64)
    symbols = np.array([s for signature in [[5] * lead, *signatures] for s in signature], np.uint32)
    return symbols, offsets


def count_matches(left, right):
    """Count the places where symbols are equal, without common beginnings and ends."""
    for _ in range(2):
        ahead = next((k for k, (x, y) in enumerate(zip(left, right, strict=False)) if x != y), None)
        ahead = min(len(left), len(right)) if ahead is None else ahead
        left, right = left[ahead:][::-1], right[ahead:][::-1]
    return sum(x == y for x, y in product(left, right))


def check_distances(signatures, pairs):
    left, right = (np.array(column, np.int64) for column in zip(*pairs, strict=True))
    found = np.full(len(pairs), -7, np.int64)
    symbol_matches.signature_distances(*lay_out(signatures), left, right, found)
    n_known = 0
    for (a, b), edits in zip(pairs, found.tolist(), strict=True):
        x, y = signatures[a], signatures[b]
        if count_matches(x, y) > MOST:
            assert edits == symbol_matches.UNKNOWN
        else:
            assert edits == distance(x, y), (x, y)
            n_known += 1
    return n_known


@each_of("letters", [1, 2, 5, 20, 300, 2**32])
def test_signature_distances__as_oracle(letters):
    generator = random.Random(letters)
    signatures = [[generator.randrange(letters) for _ in range(n)] for n in SIZES]
    pairs = list(product(range(len(signatures)), repeat=2))
    generator.shuffle(pairs)
    assert check_distances(signatures, pairs) >= len(pairs) // 2


@each_of("seed", range(10))
def test_signature_distances__symbols_in_common_in_any_order(seed):
    generator = random.Random(seed)
    common = [generator.getrandbits(32) for _ in range(12)]
    signatures = []
    for n_common in range(12):
        signature = [generator.getrandbits(32) for _ in range(generator.randrange(30))]
        signature += generator.choices(common, k=n_common)
        generator.shuffle(signature)
        signatures.append(signature)
    # Left signatures follow each other, and come again.
    pairs = [*product(range(12), repeat=2), (0, 11), (11, 0)]
    assert check_distances(signatures, pairs) == len(pairs)


def test_signature_distances__as_many_matches_as_are_looked_at_and_one_more():
    generator = random.Random(3)
    first = [generator.getrandbits(32) for _ in range(MOST + 1)]
    other = [generator.getrandbits(32)]
    changed = [first[:MOST], first, [first[0]] * MOST, [first[0]] * (MOST + 1), first[::-1][:MOST]]
    left, others = other + first + other * 2, [[*signature, 7] for signature in changed]
    assert check_distances([left, *others], [(0, k) for k in range(1, 6)]) == 3


def test_signature_distances__common_ends_are_no_matches():
    generator = random.Random(6)
    long = [generator.getrandbits(32) for _ in range(300)]
    signatures = [long, [*long[:100], 3, *long[101:]], long[:-1], long[:150], long[1:]]
    # But for the last one, which begins where only places further on are equal.
    assert check_distances(signatures, list(product(range(5), repeat=2))) == 25 - 8


def test_signature_distances__of_very_different_lengths():
    generator = random.Random(4)
    long = [generator.getrandbits(32) for _ in range(2000)]
    signatures = [long, long[1000:1010], [], long[::400], [long[-1], long[0]]]
    pairs = [(a, b) for a, b in product(range(5), repeat=2) if (a, b) != (0, 0)]
    assert check_distances(signatures, pairs) == len(pairs)


def test_signature_distances__of_long_signatures_of_one_symbol_are_left_to_others():
    """No place is a match, as one is the beginning of the other; to see that takes the square."""
    pairs = np.zeros(1, np.int64), np.ones(1, np.int64)
    found = np.full(1, -7, np.int64)
    for size, expected in [(60, 60), (50_000, symbol_matches.UNKNOWN)]:
        signatures = [[8] * size, [8] * (2 * size)]
        start = time.process_time()
        symbol_matches.signature_distances(*lay_out(signatures), *pairs, found)
        assert found[0] == expected
    assert time.process_time() - start < 2


def test_signature_distances__of_nothing():
    found = np.full(1, -7, np.int64)
    none = np.empty(0, np.int64)
    symbol_matches.signature_distances(*lay_out([]), none, none, found[:0])
    zero = np.zeros(1, np.int64)
    symbol_matches.signature_distances(*lay_out([[]]), zero, zero, found)
    assert found[0] == 0
