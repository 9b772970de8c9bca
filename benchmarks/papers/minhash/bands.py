"""Candidates by bands of min-hashes: measured shares beside the S-curve."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.broder.estimates import Sets
from neardup.matching.bands import Banding
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures

if TYPE_CHECKING:
    from neardup.tables import Uint32s

Row = dict[str, Any]

# Bands and rows.
BANDINGS = ((20, 5), (16, 8), (32, 8), (14, 8), (25, 10), (9, 13))
UNION = 400
# Common elements of the union's 400.
GRID = tuple(range(80, 400, 16))
SEED, PAIRS, QUICK_PAIRS = 42, 20_000, 200


def run_bands(*, quick: bool) -> list[Row]:
    """Count candidates among pairs of random sets, whose signatures share what they happen to."""
    pairs = QUICK_PAIRS if quick else PAIRS
    generator = np.random.default_rng(SEED)
    scheme = MinHashScheme(max(bands * rows for bands, rows in BANDINGS))
    points = [round(UNION * Banding(bands, rows).steepest) for bands, rows in BANDINGS]
    shares: dict[int, dict[tuple[int, int], float]] = {}
    for common in sorted({*GRID, *points}):
        left, right = signatures_of(generator, scheme, pairs, common)
        shares[common] = {
            (bands, rows): float(
                (band_keys(left, bands, rows) == band_keys(right, bands, rows)).any(axis=1).mean()
            )
            for bands, rows in BANDINGS
        }
    return [describe_banding(bands, rows, pairs, shares) for bands, rows in BANDINGS]


def describe_banding(
    bands: int, rows: int, pairs: int, shares: dict[int, dict[tuple[int, int], float]]
) -> Row:
    """Put a banding's points and formulas beside what was measured."""
    measured = [shares[common][bands, rows] for common in GRID]
    expected = [candidate_probability(common / UNION, bands, rows) for common in GRID]
    scores = [
        (share - p) / sqrt(p * (1 - p) / pairs)
        for share, p in zip(measured, expected, strict=True)
        if 5 < p * pairs < pairs - 5
    ]
    point, approximate = Banding(bands, rows).steepest, (1 / bands) ** (1 / rows)
    near = round(UNION * point)
    return {
        "bands": (bands, rows),
        "similarities": [common / UNION for common in GRID],
        "measured": measured,
        "expected": expected,
        "scores": scores,
        "steepest": point,
        "at_steepest": candidate_probability(point, bands, rows),
        "near_steepest": near / UNION,
        "measured_at_steepest": shares[near][bands, rows],
        "expected_near_steepest": candidate_probability(near / UNION, bands, rows),
        "approximate": approximate,
        "at_approximate": candidate_probability(approximate, bands, rows),
        "half": Banding(bands, rows).midpoint,
    }


def candidate_probability(similarity: float, bands: int, rows: int) -> float:
    """Return 1 - (1 - s^r)^b."""
    return 1 - (1 - similarity**rows) ** bands


def signatures_of(
    generator: np.random.Generator, scheme: MinHashScheme, pairs: int, common: int
) -> tuple[Uint32s, Uint32s]:
    """Sign pairs of random sets with a given number of common elements."""
    alone = (UNION - common) // 2
    sets = Sets.draw(generator, pairs, (alone, common, UNION - common - alone))
    return minhash_signatures(sets.left, scheme), minhash_signatures(sets.right, scheme)
