"""Estimates of pairs of real texts against what is true of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.papers.broder.texts import elements, lists_of, resemblance
from neardup.sketches.modulo import ModuloScheme
from neardup.sketches.samples import estimate_resemblance, sketch_sets
from neardup.sketches.smallest import SmallestScheme

if TYPE_CHECKING:
    from benchmarks.corpora.lines import Row
    from benchmarks.papers.broder.texts import Integers
    from neardup.tables import ShingleSets

# Rows of the table by true resemblance, per cent; those of few pairs are left out.
BINS = (0, 10, 30, 50, 70, 90, 100)
LEAST_PAIRS = 10
SEEDS = 20
KINDS = {
    ("smallest", 100): lambda seed: SmallestScheme(100, seed),
    ("smallest", 400): lambda seed: SmallestScheme(400, seed),
    ("modulo", 100): lambda seed: ModuloScheme(size=100, seed=seed),
}


def run_real(name: str, sets: ShingleSets, pairs: Integers, seeds: int) -> list[Row]:
    """Estimate the resemblance of pairs of real texts under several seeds."""
    lists = lists_of(sets, np.arange(len(sets)))
    left, right = pairs.T.copy()
    truth = np.array(
        [resemblance(elements(sets, row), elements(sets, other)) for row, other in pairs.tolist()]
    )
    bins = np.clip(np.searchsorted(BINS, 100 * truth, "right") - 1, 0, len(BINS) - 2)
    rows = []
    for (kind, size), scheme_of in KINDS.items():
        errors, theory, held = [], [], []
        for seed in range(seeds):
            scheme = scheme_of(seed)
            sketches = sketch_sets(lists, scheme)
            found = estimate_resemblance(sketches, sketches, left, right, scheme)
            errors.append(found.values - truth)
            held.append((found.low <= truth) & (truth <= found.high))
            n = np.maximum(found.n_samples, 1)
            theory.append(np.where(found.low == found.high, 0.0, np.sqrt(truth * (1 - truth) / n)))
        for number in range(len(BINS) - 1):
            chosen = bins == number
            if chosen.sum() >= LEAST_PAIRS:
                error = np.stack(errors)[:, chosen]
                rows.append(
                    {
                        "collection": name,
                        "kind": kind,
                        "size": size,
                        "bin": BINS[number : number + 2],
                        "pairs": int(chosen.sum()),
                        "bias": float(np.nanmean(error)),
                        "error": float(np.sqrt(np.nanmean(error**2))),
                        "theory": float(np.sqrt(np.mean(np.stack(theory)[:, chosen] ** 2))),
                        "held": float(np.stack(held)[:, chosen].mean()),
                    }
                )
    return rows
