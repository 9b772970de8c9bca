"""What weights of fields are worth: ``python -m benchmarks.linkage.fields dblp-acm cora abt-buy``.

Of each set of labelled records that is there, once with the first field as ``text`` and once as
``rare``: F1 with equal weights at the usual threshold, with equal weights at the threshold that 100
labels choose, and with weights and threshold that they choose, the mean over several draws of
labels. Labels are drawn from the pairs that equal weights find at 0.4, as many of each twentieth of
the similarity. All pairs that are right count, found or not.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass
from statistics import mean

import pyarrow as pa
import pyarrow.compute

import neardup
from benchmarks.linkage.labelled import LabelledRecords, available, read

N_LABELS, DRAWS, LOW = 100, range(5), "0.4"

FIELDS = {
    "restaurants": ("name:1", "addr:1", "city:1", "phone:1:exact"),
    "dblp-acm": ("title:1", "authors:1", "venue:1", "year:1:exact"),
    "cora": ("title:1", "author:1", "venue:1", "year:1", "pages:1"),
    "abt-buy": ("name:1", "description:1", "price:1:number"),
}


def with_rare(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Compare the first field by tokens that weigh more if they are rare."""
    return (f"{fields[0]}:rare", *fields[1:])


@dataclass(frozen=True)
class Figures:
    """Precision, recall and F1 of a run."""

    precision: float
    recall: float
    f1: float


def rows_of(records: LabelledRecords) -> tuple[pa.Table, pa.Table | None]:
    """Return the records as tables, with their places as ids; what they lack is null."""
    tables = []
    for side in (records.left, records.right):
        if side is None:
            tables.append(None)
            continue
        names = {name: None for record in side for name in record}
        rows = [
            {**{name: record.get(name) or None for name in names}, "id": place}
            for place, record in enumerate(side)
        ]
        tables.append(pa.Table.from_pylist(rows))
    return tables[0], tables[1]


def figures(pairs: pa.Table, matches: set[tuple[int, int]]) -> Figures:
    """Hold pairs to all that are right."""
    found = list(zip(pairs["id_a"].to_pylist(), pairs["id_b"].to_pylist(), strict=True))
    correct = sum(pair in matches for pair in found)
    precision, recall = correct / max(1, len(found)), correct / len(matches)
    return Figures(precision, recall, 2 * correct / (len(found) + len(matches)))


def draw_labels(pairs: pa.Table, matches: set[tuple[int, int]], seed: int) -> pa.Table:
    """Draw some pairs, and say of each whether it is right: as many of each twentieth."""
    found = pairs.select(["id_a", "id_b", "similarity"]).to_pylist()
    random.Random(seed).shuffle(found)
    ranks: Counter[int] = Counter()
    turns = []
    for row in found:
        part = min(19, int(row["similarity"] * 20))
        turns.append((ranks[part], row["id_a"], row["id_b"]))
        ranks[part] += 1
    drawn = [(a, b) for _, a, b in sorted(turns)[:N_LABELS]]
    labels = [{"id_a": a, "id_b": b, "label": int((a, b) in matches)} for a, b in drawn]
    return pa.Table.from_pylist(labels)


def measure(name: str, records: LabelledRecords, fields: tuple[str, ...]) -> None:
    """Print the row of a set."""
    left, right = rows_of(records)
    start = time.perf_counter()
    low = neardup.find_pairs(left, right, fields=fields, threshold=LOW, workers=1).pairs
    seconds = time.perf_counter() - start
    usual = neardup.find_pairs(left, right, fields=fields, workers=1).pairs
    of_threshold, of_weights, weights = [], [], ""
    for seed in DRAWS:
        labels = draw_labels(low, records.matches, seed)
        fitted = neardup.find_pairs(left, right, fields=fields, labels=labels, workers=1)
        of_weights.append(figures(fitted.pairs, records.matches))
        weights = weights or ", ".join(
            f"{each['column']} {each['weight']:.2f}" for each in fitted.summary["fields"]
        )
        of_threshold.append(figures(_at_best(low, labels), records.matches))
    print(
        f"| {name} | {_said([figures(usual, records.matches)])} | {_said(of_threshold)} | "
        f"{_said(of_weights)} | {weights} |",
        flush=True,
    )
    print(f"<!-- {len(low):,} pairs at {LOW} in {seconds:.1f} s -->", flush=True)


def main() -> None:
    """Print the table."""
    print("| set | equal weights, 0.8 | threshold by labels | weights and threshold | weights |")
    print("| --- | --- | --- | --- | --- |")
    for name in sys.argv[1:] or available(quick=False):
        records = read(name)
        names = rows_of(records)[0].column_names
        fields = tuple(field for field in FIELDS[name] if field.split(":")[0] in names)
        measure(name, records, fields)
        measure(f"{name}, rare", records, with_rare(fields))


def _at_best(pairs: pa.Table, labels: pa.Table) -> pa.Table:
    """Keep the pairs at the threshold of the best F1 on labels."""
    known = {
        (row["id_a"], row["id_b"]): row["similarity"]
        for row in pairs.select(["id_a", "id_b", "similarity"]).to_pylist()
    }
    judged = [(known[row["id_a"], row["id_b"]], row["label"]) for row in labels.to_pylist()]
    n_right = sum(label for _, label in judged)

    def f1(threshold: float) -> float:
        found = [label for value, label in judged if value >= threshold]
        return 2 * sum(found) / (len(found) + n_right)

    best = max((value for value, _ in judged), key=lambda value: (f1(value), value))
    return pairs.filter(pa.compute.greater_equal(pairs["similarity"], best))


def _said(runs: list[Figures]) -> str:
    return f"{mean(run.f1 for run in runs):.2f}" + (
        f" ({min(run.f1 for run in runs):.2f} to {max(run.f1 for run in runs):.2f})"
        if len(runs) > 1
        else ""
    )


if __name__ == "__main__":
    main()
