"""Near-duplicate pages (section 7.5 of the PPJoin paper): 4-grams, exactly, or 32 shingles.

What PPJoin+ finds on 4-grams (the paper's "qp") is the truth there, and here: recall and precision
of the joins on shingles tell how well these stand for the 4-grams, not who is right.
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from math import ceil, comb
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.ppjoin.data import grams, page_corpora, read_texts, statistics
from benchmarks.papers.ppjoin.joins import THRESHOLDS, time_each
from neardup.matching.measures import make_measure
from neardup.matching.set_join import join_sets
from neardup.runs.runner import Runner
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.tables import ShingleSets
from neardup.text.shingles import make_shingle_scheme, shingle_lists, shingle_sets

if TYPE_CHECKING:
    from neardup.matching.set_join import JoinCounts
    from neardup.options.choices import Algorithm
    from neardup.tables import Floats, Int64s, ScoredPairs, Texts
    from neardup.text.shingles import ShingleScheme

PERMUTATIONS = 32
FIRST_SEED = 42
# How much recall depends on the permutations: other seeds than the first.
SEEDS = range(10)
FOUR_GRAMS = grams(4)
FOUR_WORDS = make_shingle_scheme("words", ngram=4, occurrences="numbered")


def sketch_sets(texts: Texts, scheme: ShingleScheme, seed: int = FIRST_SEED) -> ShingleSets:
    """Make each text a set of 32 elements of 4 bytes: its least shingle by each permutation.

    Values of different permutations never match, so all sets have 32 elements.
    """
    lists = shingle_lists(scheme.tokenizer.hash_tokens(texts), scheme)
    least = minhash_signatures(lists, MinHashScheme(PERMUTATIONS, seed)).astype(np.uint64)
    numbers = np.arange(PERMUTATIONS, dtype=np.uint64) << np.uint64(32)
    starts = np.arange(len(texts), dtype=np.int64) * PERMUTATIONS
    # A text without shingles is similar to nothing.
    sizes = np.where(np.diff(lists.offsets) > 0, PERMUTATIONS, 0).astype(np.int64)
    return ShingleSets((numbers | least).ravel(), starts, sizes)


def least_agreeing(threshold: str) -> int:
    """Give how many of 32 values must agree for sets of 32 to reach a Jaccard similarity."""
    t = Fraction(threshold)
    return ceil(2 * PERMUTATIONS * t / (1 + t))


def chance_to_agree(similarity: Floats, least: int) -> Floats:
    """Give the probability that at least so many of 32 values agree."""
    chance: Floats = np.zeros_like(similarity)
    for n in range(least, PERMUTATIONS + 1):
        ways = comb(PERMUTATIONS, n)
        chance += ways * similarity**n * (1 - similarity) ** (PERMUTATIONS - n)
    return chance


def run(*, quick: bool) -> dict[str, Any]:
    """Join each corpus in all ways at all thresholds."""
    figures = {}
    for name in page_corpora():
        texts = read_texts(name, quick=quick)
        sets = shingle_sets(texts, FOUR_GRAMS)
        sketches = {
            "sp": sketch_sets(texts, FOUR_GRAMS),
            "sp, words": sketch_sets(texts, FOUR_WORDS),
        }
        others = [sketch_sets(texts, FOUR_GRAMS, seed) for seed in SEEDS]
        facts = {"4-grams": statistics(sets), "sketches": statistics(sketches["sp"])}
        figures[name] = {"statistics": facts, "joins": {}}
        for threshold in THRESHOLDS:
            sys.stderr.write(f"  {name}, {threshold}\n")
            joins = _compare(sets, sketches, others, threshold, quick=quick)
            figures[name]["joins"][threshold] = joins
    return figures


def _compare(
    sets: ShingleSets,
    sketches: dict[str, ShingleSets],
    others: list[ShingleSets],
    threshold: str,
    *,
    quick: bool,
) -> dict[str, Any]:
    """Time the joins and compare what they find with the pairs of 4-gram sets.

    Besides the paper's three ways: the shingles of runs of four words, and sketches that agree in
    a share of ``threshold`` of the 32 values, which is what estimates a similarity of that size.
    """
    ways: dict[str, tuple[ShingleSets, str, Algorithm]] = {
        "qp": (sets, "jaccard", "ppjoin+"),
        "qa": (sets, "jaccard", "allpairs"),
        "sp": (sketches["sp"], "jaccard", "ppjoin+"),
        "sp, words": (sketches["sp, words"], "jaccard", "ppjoin+"),
        "sp, share": (sketches["sp"], "dice", "ppjoin+"),
    }
    found: dict[str, tuple[ScoredPairs, JoinCounts]] = {}

    def join(way: str) -> None:
        joined, measure, algorithm = ways[way]
        found[way] = join_sets(
            joined, make_measure(measure, threshold), algorithm=algorithm, runner=Runner(1)
        )

    seconds = time_each({way: partial(join, way) for way in ways}, quick=quick)
    truth = found["qp"][0]
    similarity = similarities(sets, truth)
    expected = chance_to_agree(similarity, least_agreeing(threshold))
    entry: dict[str, Any] = {
        way: {"seconds": seconds[way], "counts": asdict(counts), **quality(pairs, truth, len(sets))}
        for way, (pairs, counts) in found.items()
    }
    entry["sp"]["expected_recall"] = float(expected.mean()) if len(expected) else None
    wanted = make_measure("jaccard", threshold)
    entry["sp"]["recalls"] = [
        quality(join_sets(other, wanted, runner=Runner(1))[0], truth, len(sets))["recall"]
        for other in others
    ]
    entry["qp"]["median_similarity"] = float(np.median(similarity)) if len(truth) else None
    return entry


def similarities(sets: ShingleSets, pairs: ScoredPairs) -> Floats:
    """Work out the Jaccard similarities of pairs from their common elements."""
    union = sets.sizes[pairs.left] + sets.sizes[pairs.right] - pairs.scores
    result: Floats = pairs.scores / union
    return result


def quality(pairs: ScoredPairs, truth: ScoredPairs, n: int) -> dict[str, float | None]:
    """Give precision and recall; None where nothing was found, or nothing is true."""

    def keys(some: ScoredPairs) -> Int64s:
        return some.left * n + some.right

    common = len(np.intersect1d(keys(pairs), keys(truth), assume_unique=True))
    return {
        "precision": common / len(pairs) if len(pairs) else None,
        "recall": common / len(truth) if len(truth) else None,
    }
