"""Greedy clusters of real texts in several orders, for docs/papers/broder.md."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, get_args

import numpy as np

from benchmarks.papers.broder.texts import lists_of
from neardup.matching.measures import make_measure
from neardup.matching.set_join import join_sets
from neardup.options.choices import Representative
from neardup.runs.runner import Runner
from neardup.sketches.greedy import cluster_greedily
from neardup.sketches.samples import SmallestScheme

if TYPE_CHECKING:
    from benchmarks.corpora.lines import Row
    from benchmarks.papers.broder.texts import Integers
    from neardup.tables import ScoredPairs, ShingleSets

THRESHOLD = "0.8"
SKETCH = SmallestScheme(256)


def run_greedy(sets: ShingleSets, labels: list[str], orders: int, seed: int) -> Row:
    """Cluster in the order of the file and in others; compare with what is exact."""
    numbers = np.unique(labels, return_inverse=True)[1]
    pairs, _ = join_sets(sets, make_measure("jaccard", THRESHOLD), runner=Runner(2))
    generator = np.random.default_rng(seed)
    shuffled = [np.arange(len(sets)), *(generator.permutation(len(sets)) for _ in range(orders))]
    report: Row = {
        "texts": len(sets),
        "pairs": len(pairs),
        "threshold": THRESHOLD,
        "orders": orders,
        "components": _describe(_components(pairs, len(sets)), pairs, numbers),
        "survivors": [_count_survivors(pairs, order) for order in shuffled],
    }
    for way in get_args(Representative):
        found = []
        for order in shuffled:
            sketches = SKETCH.sample(lists_of(sets, order))
            clusters = np.empty(len(sets), np.int64)
            greedy = cluster_greedily(sketches, SKETCH, THRESHOLD, representative=way)
            clusters[order] = greedy.clusters
            found.append(clusters)
        report[way] = {
            "orders": [_describe(clusters, pairs, numbers) for clusters in found],
            "agreement": [_agreement(found[0], other) for other in found[1:]],
        }
    return report


def _components(pairs: ScoredPairs, n: int) -> Integers:
    """Label each text by the least number in its component."""
    least = np.arange(n, dtype=np.int64)
    while True:
        before = least.copy()
        np.minimum.at(least, pairs.left, before[pairs.right])
        np.minimum.at(least, pairs.right, before[pairs.left])
        least = least[least]
        if np.array_equal(least, before):
            return least


def _count_survivors(pairs: ScoredPairs, order: Integers) -> int:
    """Count the texts that stay if each gives way to a similar one that stays already."""
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    first, second = np.sort(np.stack([place[pairs.left], place[pairs.right]]), axis=0)
    stays = np.ones(len(order), bool)
    sequence = np.argsort(second, kind="stable")
    for one, other in zip(first[sequence].tolist(), second[sequence].tolist(), strict=True):
        if stays[one]:
            stays[other] = False
    return int(stays.sum())


def _describe(clusters: Integers, pairs: ScoredPairs, labels: Integers) -> Row:
    """Count clusters and pairs within them, and how many of these are similar or labelled alike."""
    together = _count_pairs(clusters)
    similar = int((clusters[pairs.left] == clusters[pairs.right]).sum())
    alike = _count_pairs(clusters * (labels.max() + 1) + labels)
    return {
        "clusters": len(np.unique(clusters)),
        "largest": int(np.unique(clusters, return_counts=True)[1].max()),
        "pairs": together,
        "precision": similar / max(together, 1),
        "recall": similar / max(len(pairs), 1),
        "same_label": alike / max(together, 1),
    }


def _count_pairs(clusters: Integers) -> int:
    return sum(comb(size, 2) for size in np.unique(clusters, return_counts=True)[1].tolist())


def _agreement(clusters: Integers, other: Integers) -> float:
    """Return the share of the pairs that are together in either that are in both."""
    both = _count_pairs(clusters * (other.max() + 1) + other)
    return both / max(_count_pairs(clusters) + _count_pairs(other) - both, 1)
