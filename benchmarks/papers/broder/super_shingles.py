"""Super-shingles: how often groups of min-hashes agree, beside the formula."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.broder.estimates import Sets
from benchmarks.papers.minhash.bands import UNION, signatures_of
from neardup.sketches.minhash import (
    MinHashScheme,
    SuperShingleRule,
    count_agreements,
    super_shingles,
)
from neardup.sketches.samples import SmallestScheme

if TYPE_CHECKING:
    from benchmarks.papers.broder.estimates import Floats

Row = dict[str, Any]

# Pairs whose sorted sketches are compared, which takes larger sets.
SORTED_PAIRS = 2_000
GROUPED = (280, 320, 340, 360, 380, 392)
RULE = SuperShingleRule()


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
    """Return how often each group of places of sorted sketches agrees.

    Sets are as large as those of documents, so that sketches do not hold them whole.
    """
    scheme = SmallestScheme(RULE.groups * RULE.rows)
    factor = 5
    alone = (UNION - common) // 2 * factor
    sets = Sets.draw(generator, pairs, (alone, common * factor, alone))
    left, right = (
        scheme.sample(each).values.reshape(pairs, RULE.groups, RULE.rows)
        for each in (sets.left, sets.right)
    )
    shares: Floats = (left == right).all(axis=2).mean(axis=0)
    return shares
