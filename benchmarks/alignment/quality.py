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
from collections.abc import Sequence
from typing import Any

import neardup
from benchmarks.alignment.editions import HALVES, Aligned, Anchor, folder
from benchmarks.alignment.plagdet import Passage, score
from benchmarks.alignment.rewording import ALIGNED, options_for
from tests.calls import grouped


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


def _numbered(passage: Passage, number: int) -> Passage:
    query, document = f"{number}:{passage.query}", f"{number}:{passage.document}"
    return Passage(
        query, passage.query_start, passage.query_stop, document, passage.start, passage.stop
    )


def measure(name: str, half: str) -> dict[str, Any]:
    """Measure one half of a set; of passages with default options and with the preset for it."""
    root = folder()
    assert root is not None
    parts = list(ALIGNED[name](root, half))
    return {
        "default": measure_aligned(parts),
        "preset": measure_aligned(parts, **options_for(name)),
    }


def main() -> None:
    """Measure one half of a set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=ALIGNED)
    parser.add_argument("half", choices=HALVES)
    options = parser.parse_args()
    sys.stdout.write(json.dumps(measure(options.name, options.half)) + "\n")


if __name__ == "__main__":
    main()
