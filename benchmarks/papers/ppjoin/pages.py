"""Near-duplicate pages (section 7.5 of the PPJoin paper): 4-grams, exactly, or 32 shingles.

What PPJoin+ finds on 4-grams (the paper's "qp") is the truth there, and here: recall and precision
of the joins on shingles measure the agreement with 4-grams.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.ppjoin.data import grams, page_corpora, read_texts, statistics
from benchmarks.papers.ppjoin.joins import THRESHOLDS, time_each
from neardup.matching.measures import make_measure
from neardup.matching.set_join import join_sets
from neardup.runs.runner import Runner
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.tables import ShingleSets
from neardup.text.shingles import shingle_lists, shingle_sets

if TYPE_CHECKING:
    from neardup.matching.set_join import JoinCounts
    from neardup.options.choices import Algorithm
    from neardup.tables import Int64s, ScoredPairs, Texts

PERMUTATIONS = 32
SEED = 42
FOUR_GRAMS = grams(4)


def sketch_sets(texts: Texts) -> ShingleSets:
    """Make each text a set of 32 elements of 4 bytes: its least shingle by each permutation.

    Values of different permutations never match, so all sets have 32 elements.
    """
    lists = shingle_lists(FOUR_GRAMS.tokenizer.hash_tokens(texts), FOUR_GRAMS)
    least = minhash_signatures(lists, MinHashScheme(PERMUTATIONS, SEED)).astype(np.uint64)
    numbers = np.arange(PERMUTATIONS, dtype=np.uint64) << np.uint64(32)
    starts = np.arange(len(texts), dtype=np.int64) * PERMUTATIONS
    # A text without shingles is similar to nothing.
    sizes = np.where(np.diff(lists.offsets) > 0, PERMUTATIONS, 0).astype(np.int64)
    return ShingleSets((numbers | least).ravel(), starts, sizes)


def run(*, quick: bool) -> dict[str, Any]:
    """Join each corpus in all ways at all thresholds."""
    figures = {}
    for name in page_corpora():
        texts = read_texts(name, quick=quick)
        sets = shingle_sets(texts, FOUR_GRAMS)
        sketches = sketch_sets(texts)
        facts = {"4-grams": statistics(sets), "sketches": statistics(sketches)}
        figures[name] = {"statistics": facts, "joins": {}}
        for threshold in THRESHOLDS:
            sys.stderr.write(f"  {name}, {threshold}\n")
            joins = _compare(sets, sketches, threshold, quick=quick)
            figures[name]["joins"][threshold] = joins
    return figures


def _compare(
    sets: ShingleSets, sketches: ShingleSets, threshold: str, *, quick: bool
) -> dict[str, Any]:
    """Time the joins and compare what they find with the pairs of 4-gram sets."""
    ways: dict[str, tuple[ShingleSets, Algorithm]] = {
        "qp": (sets, "ppjoin+"),
        "qa": (sets, "allpairs"),
        "sp": (sketches, "ppjoin+"),
    }
    wanted = make_measure("jaccard", threshold)
    found: dict[str, tuple[ScoredPairs, JoinCounts]] = {}

    def join(way: str) -> None:
        joined, algorithm = ways[way]
        found[way] = join_sets(joined, wanted, algorithm=algorithm, runner=Runner(1))

    seconds = time_each({way: partial(join, way) for way in ways}, quick=quick)
    truth = found["qp"][0]
    return {
        way: {"seconds": seconds[way], "counts": asdict(counts), **quality(pairs, truth, len(sets))}
        for way, (pairs, counts) in found.items()
    }


def quality(pairs: ScoredPairs, truth: ScoredPairs, n: int) -> dict[str, float | None]:
    """Return precision and recall; None where nothing was found, or nothing is true."""

    def keys(some: ScoredPairs) -> Int64s:
        return some.left * n + some.right

    common = len(np.intersect1d(keys(pairs), keys(truth), assume_unique=True))
    return {
        "precision": common / len(pairs) if len(pairs) else None,
        "recall": common / len(truth) if len(truth) else None,
    }
