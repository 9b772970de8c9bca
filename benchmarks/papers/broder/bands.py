"""Candidates by bands and by super-shingles: measured shares beside their formulas."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.broder.estimates import Sets
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.sketches.samples.sampling import sketch_sets
from neardup.sketches.smallest import SmallestScheme
from neardup.sketches.super_shingles import SuperShingleRule, count_agreements, super_shingles

if TYPE_CHECKING:
    from benchmarks.papers.broder.estimates import Floats
    from neardup.tables import Uint32s

Row = dict[str, Any]

# Bands and rows.
BANDINGS = ((20, 5), (16, 8), (32, 8), (14, 8), (25, 10), (9, 13))
UNION = 400
# Common elements of the union's 400.
GRID = tuple(range(80, 400, 16))
# Pairs whose sorted sketches are compared, which takes larger sets.
SORTED_PAIRS = 2_000
GROUPED = (280, 320, 340, 360, 380, 392)
RULE = SuperShingleRule()


def run_bands(pairs: int, seed: int) -> list[Row]:
    """Count candidates among pairs of random sets, whose signatures share what they happen to."""
    generator = np.random.default_rng(seed)
    scheme = MinHashScheme(max(bands * rows for bands, rows in BANDINGS))
    points = [round(UNION * steepest(bands, rows)) for bands, rows in BANDINGS]
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
    bands: int,
    rows: int,
    pairs: int,
    shares: dict[int, dict[tuple[int, int], float]],
) -> Row:
    """Put a banding's points and formulas beside what was measured."""
    measured = [shares[common][bands, rows] for common in GRID]
    expected = [candidate_probability(common / UNION, bands, rows) for common in GRID]
    scores = [
        (share - p) / sqrt(p * (1 - p) / pairs)
        for share, p in zip(measured, expected, strict=True)
        if 5 < p * pairs < pairs - 5
    ]
    point, approximate = steepest(bands, rows), (1 / bands) ** (1 / rows)
    near = round(UNION * point)
    return {
        "bands": bands,
        "rows": rows,
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
        "half": (1 - 0.5 ** (1 / bands)) ** (1 / rows),
    }


def candidate_probability(similarity: float, bands: int, rows: int) -> float:
    """Give 1 - (1 - s^r)^b."""
    return 1 - (1 - similarity**rows) ** bands


def steepest(bands: int, rows: int) -> float:
    """Give where the curve is steepest: where its second derivative is 0."""
    return float(((rows - 1) / (bands * rows - 1)) ** (1 / rows))


def signatures_of(
    generator: np.random.Generator, scheme: MinHashScheme, pairs: int, common: int
) -> tuple[Uint32s, Uint32s]:
    """Sign pairs of random sets of which so many of the union's elements are common."""
    alone = (UNION - common) // 2
    sets = Sets.draw(generator, pairs, (alone, common, UNION - common - alone))
    return minhash_signatures(sets.left, scheme), minhash_signatures(sets.right, scheme)


def run_super_shingles(pairs: int, seed: int) -> list[Row]:
    """Count groups that agree, of min-hashes, and of a sorted sketch cut into as many groups."""
    generator = np.random.default_rng(seed)
    scheme = MinHashScheme(RULE.groups * RULE.rows)
    numbers = np.arange(pairs, dtype=np.int64)
    rows = []
    for common in GROUPED:
        r = common / UNION
        left, right = signatures_of(generator, scheme, pairs, common)
        agreements = count_agreements(
            super_shingles(left, RULE), super_shingles(right, RULE), numbers, numbers
        )
        by_place = compare_sorted(generator, min(pairs, SORTED_PAIRS), common)
        rows.append(
            {
                "resemblance": r,
                "pairs": pairs,
                "groups": float(agreements.mean() / RULE.groups),
                "groups_expected": RULE.group_probability(r),
                "alike": float((agreements >= RULE.least).mean()),
                "alike_expected": RULE.probability(r),
                "by_place": by_place.tolist(),
            }
        )
    return rows


def compare_sorted(generator: np.random.Generator, pairs: int, common: int) -> Floats:
    """Cut sorted sketches of the smallest values into groups by place; give how often each agrees.

    Sets are as large as those of documents, so that sketches do not hold them whole.
    """
    scheme = SmallestScheme(RULE.groups * RULE.rows)
    factor = 5
    alone = (UNION - common) // 2 * factor
    sets = Sets.draw(generator, pairs, (alone, common * factor, alone))
    left, right = (
        sketch_sets(each, scheme).values.reshape(pairs, RULE.groups, RULE.rows)
        for each in (sets.left, sets.right)
    )
    shares: Floats = (left == right).all(axis=2).mean(axis=0)
    return shares
