"""Quality of ``neardup.align`` on editions: ``quality.py frankenstein reported``.

Prints the figures of one half of a set as JSON.
"""

from __future__ import annotations

import argparse
import bisect
import json
import sys
import time
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

import neardup
from benchmarks.alignment.editions import HALVES, Aligned, Anchor, Graded, Pair, folder
from benchmarks.alignment.plagdet import Passage, intervals_of, length_of_union, score
from benchmarks.alignment.rewording import ALIGNED, GRADED, options_for
from tests.calls import grouped

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

# A relation counts as one of texts if the newer one keeps so much of the smaller text.
KEPT = 0.6


def align(queries: Any, documents: Any, **options: Any) -> list[Passage]:
    """Find the shared passages through the public function."""
    table = neardup.align(queries, documents, **grouped(id_column="id", **options)).passages
    names = ("query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end")
    return [Passage(*row) for row in zip(*(table[name].to_pylist() for name in names), strict=True)]


def count_anchors(
    anchors: dict[str, list[Anchor]], detections: Sequence[Passage]
) -> tuple[int, int, int]:
    """Count anchors in detections, anchors in the right place, and anchors found.

    The first two count an anchor once for each detection that holds it.
    """
    held = right = 0
    found: dict[str, set[int]] = defaultdict(set)
    for passage in detections:
        of_query = anchors.get(passage.query, [])
        first = bisect.bisect_left(of_query, (passage.query_start,))
        stop = bisect.bisect_left(of_query, (passage.query_stop,))
        held += stop - first
        for number in range(first, stop):
            _, document, middle = of_query[number]
            if document == passage.document and passage.start <= middle < passage.stop:
                right += 1
                found[passage.query].add(number)
    return held, right, sum(map(len, found.values()))


def measure_aligned(parts: Sequence[Aligned], **options: Any) -> dict[str, Any]:
    """Compare what is found with what is known, for all parts of one name together."""
    named: dict[str, list[Aligned]] = defaultdict(list)
    for part in parts:
        named[part.name].append(part)
    return {name: _measure_named(group, **options) for name, group in named.items()}


def _measure_named(parts: Sequence[Aligned], **options: Any) -> dict[str, Any]:
    cases, detections = [], []
    held = right = found = n_anchors = 0
    seconds = 0.0
    for number, part in enumerate(parts):
        start = time.perf_counter()
        passages = align(part.queries, part.documents, **grouped(**options))
        seconds += time.perf_counter() - start
        counts = count_anchors(part.anchors, passages)
        held, right, found = held + counts[0], right + counts[1], found + counts[2]
        n_anchors += sum(map(len, part.anchors.values()))
        # One text is in several parts, and there not the same.
        cases += [_numbered(passage, number) for passage in part.cases]
        detections += [_numbered(passage, number) for passage in passages]
    figures = {
        kind: {
            "precision": scores.precision,
            "recall": scores.recall,
            "granularity": scores.granularity,
            "plagdet": scores.plagdet,
        }
        for kind, scores in score(cases, detections).items()
    }
    return {
        "cases": len(cases),
        "passages": len(detections),
        **figures,
        "placed": right / held if held else None,
        "found": found / n_anchors if n_anchors else None,
        "seconds": seconds,
    }


def measure_graded(graded: Graded, **options: Any) -> dict[str, Any]:
    """Compare the share of text that pairs of documents have in passages with what is known."""
    if not graded.documents:
        return {"documents": 0}
    start = time.perf_counter()
    passages = align(graded.documents, graded.documents, **grouped(**options))
    seconds = time.perf_counter() - start
    lengths = {document["id"]: len(document["text"]) for document in graded.documents}
    shares = shared_shares(passages, lengths)
    names = sorted(lengths)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    known = np.array([graded.grades.get(pair, 0.0) for pair in pairs])
    both = np.array([shares.get(pair, (0.0, 0.0)) for pair in pairs])
    smaller, mean = both[:, 0], both[:, 1]
    listed = np.array([pair in graded.grades for pair in pairs])
    related = np.array([pair in graded.related for pair in pairs])
    kept = related & (known >= KEPT)
    others = ~listed
    return {
        "documents": len(lengths),
        "pairs": len(pairs),
        "listed": int(listed.sum()),
        "passages": len(passages),
        "rank_listed": rank_correlation(mean[listed], known[listed]),
        "rank_smaller": rank_correlation(smaller[listed], known[listed]),
        "rank_all": rank_correlation(mean, known),
        "related": int(related.sum()),
        "kept": int(kept.sum()),
        "auc_related": area(smaller[related], smaller[others]),
        "auc_kept": area(smaller[kept], smaller[others]),
        "best_f1_kept": best_f1(smaller[kept], smaller[others]),
        "seconds": seconds,
    }


def shared_shares(
    passages: Sequence[Passage], lengths: dict[str, int]
) -> dict[Pair, tuple[float, float]]:
    """Return for each pair the share of the smaller text in passages, and that of both texts."""
    of_pair: dict[Pair, list[Passage]] = defaultdict(list)
    for passage in passages:
        # Each pair of two documents is found from both sides; one is enough.
        if passage.query < passage.document:
            of_pair[passage.query, passage.document].append(passage)
    shares = {}
    for (a, b), found in of_pair.items():
        sides = intervals_of(found)
        covered = [length_of_union(sides[False, a]), length_of_union(sides[True, b])]
        of_each = [covered[0] / lengths[a], covered[1] / lengths[b]]
        smaller = of_each[0] if lengths[a] <= lengths[b] else of_each[1]
        shares[a, b] = (smaller, sum(covered) / (lengths[a] + lengths[b]))
    return shares


def rank_correlation(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> float:
    """Return Spearman's coefficient, equal values having their mean rank."""
    return float(np.corrcoef(_ranks(first), _ranks(second))[0, 1])


def area(positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> float:
    """Return the probability that a positive is above a negative, ties being half: ROC AUC."""
    n, m = len(positives), len(negatives)
    if not n or not m:
        return 0.0
    ranks = _ranks(np.concatenate([positives, negatives]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def best_f1(positives: npt.NDArray[Any], negatives: npt.NDArray[Any]) -> tuple[float, float]:
    """Return the best F1 of all thresholds, and its threshold."""
    best = (0.0, 0.0)
    for threshold in np.unique(positives):
        correct = int((positives >= threshold).sum())
        found = correct + int((negatives >= threshold).sum())
        best = max(best, (2 * correct / (found + len(positives)), float(threshold)))
    return best


def _ranks(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[numbers]


def _numbered(passage: Passage, number: int) -> Passage:
    query, document = f"{number}:{passage.query}", f"{number}:{passage.document}"
    return Passage(
        query, passage.query_start, passage.query_stop, document, passage.start, passage.stop
    )


def measure(name: str, half: str) -> dict[str, Any]:
    """Measure one half of a set; of passages with default options and with the preset for it."""
    root = folder()
    assert root is not None
    if name in GRADED:
        return measure_graded(GRADED[name](root, half))
    parts = list(ALIGNED[name](root, half))
    return {
        "default": measure_aligned(parts),
        "preset": measure_aligned(parts, **options_for(name)),
    }


def main() -> None:
    """Measure one half of a set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=[*ALIGNED, *GRADED])
    parser.add_argument("half", choices=HALVES)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(measure(options.name, options.half)) + "\n")


if __name__ == "__main__":
    main()
