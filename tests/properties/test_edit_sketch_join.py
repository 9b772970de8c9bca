"""Joins of edit sketches against estimates of all pairs."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from neardup.runs.runner import Runner
from neardup.sketches.edit.aligned import KnownLengths, least_distances
from neardup.sketches.edit.estimate import edit_estimates
from neardup.sketches.edit.kind import EditKind, _symbol_sets, join_edits
from neardup.sketches.edit.signature import EditScheme
from neardup.sketches.kind import Wanted, list_pairs
from neardup.tables import EditSignatures

SLOW = pytest.mark.slow
SCHEMES = [
    EditScheme(),
    EditScheme(compression=25, neighbourhood=4),
    EditScheme(compression=3, neighbourhood=12),
    EditScheme(compression=1, neighbourhood=1),
    EditScheme(compression=200, neighbourhood=60),
]
schemes = pytest.mark.parametrize(
    "scheme", SCHEMES, ids=lambda s: f"{s.compression} {s.neighbourhood}"
)


def relatives(seed, scheme, n=70):
    """Signatures of texts that are changed in blocks, here and there, cut, and put together."""
    generator = np.random.default_rng(seed)
    rows, lengths = [], []
    spacing = scheme.compression

    def new(size):
        # Few letters, so that unrelated texts share some.
        return generator.integers(0, generator.choice([300, 2**32]), size).astype(np.uint32)

    for _ in range(n):
        row = new(int(generator.integers(0, 160)))
        length = len(row) * spacing + int(generator.normal(0, spacing))
        if rows and generator.random() < 0.8:
            other = int(generator.integers(len(rows)))
            row, length = rows[other].copy(), lengths[other]
            change = generator.random() ** 2
            start = int(generator.integers(0, len(row) + 1))
            size = int(generator.integers(0, 1 + int(change * len(row))))
            way = generator.integers(4)
            if way == 0:
                row[generator.random(len(row)) < change] = new(1)
            elif way == 1:
                row[start : start + size] = new(len(row[start : start + size]))
            elif way == 2:
                row = np.concatenate([row[:start], new(size), row[start:]])
                length += size * spacing + int(generator.normal(0, spacing))
            else:
                length -= int(
                    len(row[start : start + size]) * spacing * generator.uniform(0.5, 1.5)
                )
                row = np.concatenate([row[:start], row[start + size :]])
        rows.append(row)
        lengths.append(max(length, len(row) + scheme.neighbourhood, 0))
    offsets = np.cumsum([0, *map(len, rows)]).astype(np.int64)
    symbols = np.concatenate([np.empty(0, np.uint32), *rows])
    return EditSignatures(symbols, offsets, np.array(lengths, np.int64))


def common_symbols(signatures, left, right):
    lists = np.split(signatures.symbols % np.uint32(0x110000 - 0x800), signatures.offsets[1:-1])
    counts = [Counter(symbols.tolist()) for symbols in lists]
    return np.array(
        [
            (counts[a] & counts[b]).total()
            for a, b in zip(left.tolist(), right.tolist(), strict=True)
        ]
    )


@schemes
@pytest.mark.parametrize("seed", range(3))
def test_least_distances__no_estimate_is_below(scheme, seed):
    signatures = relatives(seed, scheme)
    [(left, right)] = list_pairs(len(signatures), None)
    found = edit_estimates(signatures, scheme, left, right)
    left, right = left[found.is_usable], right[found.is_usable]
    lengths, sizes = signatures.lengths, np.diff(signatures.offsets)
    is_turned = lengths[left] > lengths[right]
    first, second = np.where(is_turned, right, left), np.where(is_turned, left, right)
    known = KnownLengths(
        scheme.neighbourhood,
        lengths[first].astype(float),
        lengths[second].astype(float),
        (sizes[first] + sizes[second]).astype(float),
    )
    common = common_symbols(signatures, first, second).astype(float)
    least = least_distances(known, common, sizes[first].astype(float))
    distances = found.distances[found.is_usable]
    assert len(distances) > 500
    assert (least <= distances + 0.01).all()
    if scheme.compression >= 2 * scheme.neighbourhood and scheme.neighbourhood < 20:
        # Of texts that share little it says nearly all.
        assert np.median((least / np.maximum(distances, 1))[common < 3]) > 0.5


@schemes
@pytest.mark.parametrize(
    ("seed", "n_left"),
    [(0, None), (1, 20), *(pytest.param(*more, marks=SLOW) for more in ((2, None), (3, 20)))],
)
def test_join_edits__misses_none(scheme, seed, n_left):
    signatures = relatives(seed, scheme)
    n = len(signatures)
    [(left, right)] = list_pairs(n, n_left)
    every = EditKind(scheme).estimate(signatures, left, right)
    shares = every.of()
    reached = np.unique(shares.hits[shares.is_usable] / shares.samples[shares.is_usable])
    ties = np.random.default_rng(seed).choice(reached, 8)
    significances = every.significances[every.significances > 0]
    asked = [Wanted(Fraction(share).limit_denominator(10**9)) for share in (*ties, 0.35, 0.5, 0.9)]
    asked += [
        Wanted(min_significance=float(least)) for least in (0.01, 1, *significances[::100], 30)
    ]
    asked += [Wanted(Fraction(1, 2), min_significance=5.0)]
    n_found = []
    for wanted in asked:
        if wanted.threshold is not None and not 0 < wanted.threshold <= 1:
            continue
        chosen = every.meeting(wanted)
        parts = list(join_edits(signatures, scheme, wanted, n_left=n_left, runner=Runner(2)))
        found = [pair for part in parts for pair in zip(*map(np.ndarray.tolist, part), strict=True)]
        assert found == sorted(set(found))
        assert set(zip(left[chosen].tolist(), right[chosen].tolist(), strict=True)) <= set(found)
        n_found.append(len(found))
    assert min(n_found) < len(left) / 4


def test_join_edits__looks_at_few_of_unrelated_texts():
    """Of 19,900 pairs hardly more than those that have something to do with each other."""
    generator = np.random.default_rng(5)
    sizes = generator.integers(40, 150, 200)
    symbols = generator.integers(0, 2**32, int(sizes.sum())).astype(np.uint32)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    symbols[offsets[7] : offsets[7] + 40] = symbols[offsets[3] : offsets[3] + 40]
    signatures = EditSignatures(symbols, offsets, sizes * 100)
    for wanted in (Wanted(Fraction(2, 5)), Wanted(min_significance=3.0)):
        parts = join_edits(signatures, EditScheme(), wanted, n_left=None, runner=Runner(1))
        found = [pair for part in parts for pair in zip(*map(np.ndarray.tolist, part), strict=True)]
        assert len(found) < 200
        if wanted.threshold is None:
            assert (3, 7) in found


def test_symbol_sets__have_symbols_as_often_as_signatures():
    """Elements in common are symbols in common, one that comes k times counting k times."""
    signatures = relatives(3, EditScheme())
    rows = np.arange(len(signatures))
    sets = _symbol_sets(signatures, rows)
    elements = [
        sets.values[start : start + size].tolist()
        for start, size in zip(sets.starts.tolist(), sets.sizes.tolist(), strict=True)
    ]
    assert all(row == sorted(set(row)) for row in elements)
    assert [len(row) for row in elements] == np.diff(signatures.offsets).tolist()
    left, right = np.triu_indices(len(rows), 1)
    found = [
        len(set(elements[a]) & set(elements[b]))
        for a, b in zip(left.tolist(), right.tolist(), strict=True)
    ]
    assert found == common_symbols(signatures, left, right).tolist()
