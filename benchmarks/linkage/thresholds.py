"""Precision and recall of thresholds on labelled records: ``thresholds.py restaurants``.

Joins the records of a labelled set once for each text, tokens and measure, at a low threshold, and
counts for every threshold above it how many pairs are found and how many of them are right. Prints
the counts as JSON.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

import neardup
from benchmarks.linkage.labelled import KINDS, LabelledRecords, read, text_of
from tests.calls import grouped

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

LOWEST = 10  # hundredths
THRESHOLDS = np.arange(LOWEST, 101) / 100
TENTHS = range(2, 11)
HIGH_RECALL = 0.98

TOKENS: dict[str, dict[str, Any]] = {
    "words": {"ngram": 1},
    "3-grams": {"tokenizer": "characters", "ngram": 3, "casefold": True},
    "text": {"casefold": True},
}
SET_MEASURES = ("jaccard", "dice", "cosine", "max-containment", "containment")
MEASURES = {"words": SET_MEASURES, "3-grams": SET_MEASURES, "text": ("edit",)}
# At a low threshold edit distances are worked out for nearly all pairs, which takes minutes where
# texts are long.
LOWEST_EDIT = 50
MOST_FIELDS_EDIT = 2


@dataclass(frozen=True)
class Outcome:
    """Number of ``pairs`` at a threshold, and the number of ``correct`` ones."""

    threshold: float
    pairs: int
    correct: int


@dataclass(frozen=True)
class Found:
    """All pairs at or above the lowest threshold, and which are right."""

    left: Ints
    right: Ints
    similarities: Floats
    correct: Flags

    def take(self, chosen: Flags) -> Found:
        """Keep some of the pairs."""
        return Found(
            self.left[chosen], self.right[chosen], self.similarities[chosen], self.correct[chosen]
        )


def join(records: LabelledRecords, fields: tuple[str, ...], **options: Any) -> Found:
    """Find the pairs of similar records through the public function."""
    left = [text_of(record, fields) for record in records.left]
    right = None if records.right is None else [text_of(r, fields) for r in records.right]
    pairs = neardup.find_pairs(left, right, **grouped(**options)).pairs
    # Documents of a list have their row numbers as ids.
    rows = [pairs[name].cast(pa.int64()).to_numpy() for name in ("id_a", "id_b")]
    width = len(left if right is None else right)
    keys = rows[0] * width + rows[1]
    matches = np.array([a * width + b for a, b in records.matches], np.int64)
    return Found(*rows, pairs["similarity"].to_numpy(), np.isin(keys, matches))


def sweep(found: Found) -> list[Outcome]:
    """Count pairs and right pairs at every threshold, from the lowest to 1."""
    order = np.argsort(-found.similarities, kind="stable")
    correct = np.concatenate([[0], np.cumsum(found.correct[order])])
    pairs = np.searchsorted(-found.similarities[order], -THRESHOLDS, side="right")
    return [
        Outcome(round(float(threshold), 2), int(n), int(correct[n]))
        for threshold, n in zip(THRESHOLDS, pairs, strict=True)
    ]


def one_to_one(found: Found) -> Found:
    """Keep the pairs that ``one_to_one`` of ``find_pairs`` would; at any threshold those above."""
    order = np.lexsort((found.right, found.left, -found.similarities))
    taken = set[int](), set[int]()
    chosen = np.zeros(len(found.left), np.bool_)
    for pair in order.tolist():
        records = int(found.left[pair]), int(found.right[pair])
        if records[0] not in taken[0] and records[1] not in taken[1]:
            chosen[pair] = True
            taken[0].add(records[0])
            taken[1].add(records[1])
    return found.take(chosen)


def best(outcomes: list[Outcome], n_matches: int) -> Outcome:
    """Return the outcome of highest F1, of equal ones that with the highest threshold."""
    return max(outcomes, key=lambda o: (2 * o.correct / (o.pairs + n_matches), o.threshold))


def at_recall(outcomes: list[Outcome], n_matches: int) -> Outcome | None:
    """Return the outcome of the highest threshold that leaves few matches out."""
    enough = [outcome for outcome in outcomes if outcome.correct >= HIGH_RECALL * n_matches]
    return max(enough, key=lambda outcome: outcome.threshold, default=None)


def measure_set(name: str) -> dict[str, Any]:
    """Join one set in all ways."""
    kind, records = KINDS[name], read(name)
    n_matches = len(records.matches)
    cases, curve = [], []
    for text, fields in kind.texts.items():
        for tokens, options in TOKENS.items():
            for measure in MEASURES[tokens]:
                if measure == "containment" and records.right is None:
                    continue  # Of two records of one collection neither is the first.
                if measure == "edit" and len(fields) > MOST_FIELDS_EDIT:
                    continue
                lowest = LOWEST_EDIT if measure == "edit" else LOWEST
                found = join(
                    records, fields, measure=measure, threshold=str(lowest / 100), **options
                )
                outcomes = sweep(found)
                wide = at_recall(outcomes, n_matches)
                case = {
                    "text": text,
                    "tokens": tokens,
                    "measure": measure,
                    "best": asdict(best(outcomes, n_matches)),
                    "wide": None if wide is None else asdict(wide),
                }
                if records.right is not None:
                    matched = sweep(one_to_one(found))
                    case["one_to_one"] = asdict(best(matched, n_matches))
                cases.append(case)
                if (text, tokens, measure) == (kind.main, "words", "jaccard"):
                    curve = [asdict(outcomes[10 * tenth - LOWEST]) for tenth in TENTHS]
    defaults = join(records, kind.texts[kind.main])
    return {
        "about": kind.about,
        "main": kind.main,
        "left": len(records.left),
        "right": None if records.right is None else len(records.right),
        "matches": n_matches,
        "defaults": asdict(Outcome(0.8, len(defaults.left), int(defaults.correct.sum()))),
        "curve": curve,
        "cases": cases,
    }


def main() -> None:
    """Measure one set."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("name", choices=KINDS)
    sys.stdout.write(json.dumps(measure_set(parser.parse_args().name)) + "\n")


if __name__ == "__main__":
    main()
