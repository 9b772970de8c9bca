"""Joins, counted and timed: over thresholds (Table 1, Figures 3a to 3j), over sizes (1, 3k, 3l).

Times are seconds of processor time of one thread, which leaves out the time that others on the
machine hold it. The ways that are compared take turns, and each round starts with another one.
"""

from __future__ import annotations

import sys
import time
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.papers.ppjoin.data import (
    LICENCES,
    TITLE_GRAMS,
    TITLES,
    collections,
    sample,
    statistics,
)
from neardup.matching.join import ALGORITHMS as PAPERS
from neardup.matching.measures import make_measure
from neardup.matching.set_join import join_sets
from neardup.options.choices import Algorithm
from neardup.runs.runner import Runner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.papers.ppjoin.data import Collection
    from neardup.tables import ShingleSets

ALGORITHMS: tuple[Algorithm, ...] = tuple(PAPERS)
THRESHOLDS = ("0.95", "0.90", "0.85", "0.80")
GROWTH_THRESHOLD = "0.90"
SHARES = (0.2, 0.4, 0.6, 0.8, 1.0)
# The paper's two (Figures 3k and 3l), and the one where joining outweighs preparing.
GROWTH = ((TITLES, "jaccard"), (LICENCES, "cosine"), (TITLE_GRAMS, "jaccard"))

# Short runs are repeated more often, because they vary more.
LEAST_ROUNDS, MOST_ROUNDS = 3, 10
LEAST_SECONDS = 1.0


def time_each(ways: Mapping[str, Callable[[], object]], *, quick: bool) -> dict[str, list[float]]:
    """Run every way in turn, in at least three rounds."""
    seconds: dict[str, list[float]] = {name: [] for name in ways}
    spent = 0.0
    for number in range(1 if quick else MOST_ROUNDS):
        if number >= LEAST_ROUNDS and spent >= LEAST_SECONDS * len(ways):
            break
        names = list(ways)
        for name in names[number % len(names) :] + names[: number % len(names)]:
            start = time.process_time()
            ways[name]()
            seconds[name].append(round(time.process_time() - start, 4))
            spent += seconds[name][-1]
    return seconds


def measure_joins(
    sets: ShingleSets, measure: str, threshold: str, *, quick: bool
) -> dict[str, dict[str, Any]]:
    """Count and time one join by each algorithm; all must find the same pairs."""
    wanted = make_measure(measure, threshold)
    counts: dict[str, dict[str, int]] = {}

    def join(algorithm: Algorithm) -> None:
        counts[algorithm] = asdict(
            join_sets(sets, wanted, algorithm=algorithm, runner=Runner(1))[1]
        )

    seconds = time_each({name: partial(join, name) for name in ALGORITHMS}, quick=quick)
    if len({found["results"] for found in counts.values()}) != 1:
        message = f"the algorithms disagree at {measure} {threshold}: {counts}"
        raise AssertionError(message)
    return {name: {"counts": counts[name], "seconds": seconds[name]} for name in ALGORITHMS}


def run_jaccard(*, quick: bool) -> dict[str, Any]:
    """Join every collection by Jaccard similarity (Table 1, Figures 3a to 3f)."""
    return _run_thresholds(collections(), "jaccard", quick=quick)


def run_cosine(*, quick: bool) -> dict[str, Any]:
    """Join every collection but that of 3-grams, as the paper does, by cosine similarity."""
    chosen = [each for each in collections() if each is not TITLE_GRAMS]
    return _run_thresholds(chosen, "cosine", quick=quick)


def _run_thresholds(chosen: list[Collection], measure: str, *, quick: bool) -> dict[str, Any]:
    figures = {}
    for collection in chosen:
        sys.stderr.write(f"  {collection.name}\n")
        sets = collection.sets(quick=quick)
        figures[collection.name] = {
            "role": collection.role,
            "statistics": statistics(sets),
            "joins": {each: measure_joins(sets, measure, each, quick=quick) for each in THRESHOLDS},
        }
    return figures


def run_growth(*, quick: bool) -> list[dict[str, Any]]:
    """Join samples of 20 % to 100 % of a collection."""
    figures = []
    for collection, measure in GROWTH:
        sets = collection.sets(quick=quick)
        joins = {}
        for share in SHARES:
            sys.stderr.write(f"  {share:.0%} of {collection.name}, {measure}\n")
            part = sample(sets, share)
            joins[str(share)] = measure_joins(part, measure, GROWTH_THRESHOLD, quick=quick)
        figures.append({"collection": collection.name, "measure": measure, "joins": joins})
    return figures
