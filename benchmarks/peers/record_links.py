"""Records linked by a tool: ``record_links.py TOOL SET FOLDER LABELS``, printed as JSON.

TOOL is neardup, neardup-rare (the first field as ``rare``), splink or dedupe, SET dblp-acm or
abt-buy, FOLDER has the sets (see ``benchmarks.linkage.labelled``). All get the same records and
fields. dedupe and neardup learn from the same 100 labelled pairs, which a run of neardup draws as
``benchmarks.linkage.fields`` does and writes to LABELS; Splink learns without any, by expectation
maximisation. What counts are F1, precision and recall over all right pairs at the threshold that is
best, which is chosen knowing them, and seconds from records in memory to scored pairs. The peers
run in an environment of their own: ``pip install splink dedupe pandas 'BTrees<6'``, the last
because dedupe 3.0.3 needs it.
"""

from __future__ import annotations

import io
import json
import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.linkage.labelled import LabelledRecords, given_records

# Of each set its fields, and whether they are compared as text, exactly or as a number.
FIELDS = {
    "dblp-acm": {"title": "text", "authors": "text", "year": "exact"},
    "abt-buy": {"name": "text", "description": "text", "price": "number"},
}
_IMPORTED = {
    "splink": ("pandas", "splink.comparison_library", "splink.backends.duckdb"),
    "dedupe": ("dedupe", "dedupe.variables"),
    "neardup": ("neardup",),
    "neardup-rare": ("neardup",),
}

Scored = list[tuple[int, int, float]]
Labels = list[tuple[int, int, bool]]


def rows_of(records: list[dict[str, str]], fields: dict[str, str]) -> list[dict[str, Any]]:
    """Return the fields of records, None where they lack one; numbers as such."""
    rows = []
    for record in records:
        row: dict[str, Any] = {}
        for name, kind in fields.items():
            value = record.get(name) or None
            if kind == "number" and value is not None:
                value = float(value.strip("$ ").replace(",", ""))
            row[name] = value
        rows.append(row)
    return rows


def link_by_splink(
    left: list[dict[str, Any]], right: list[dict[str, Any]], fields: dict[str, str]
) -> Scored:
    """Link as Splink's tutorial does: blocks, parameters by sampling and by EM."""
    import pandas as pd
    import splink.comparison_library as cl
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    frames = [pd.DataFrame(rows).assign(unique_id=range(len(rows))) for rows in (left, right)]
    main = next(iter(fields))
    comparisons = []
    for name, kind in fields.items():
        if kind == "text":
            comparisons.append(cl.JaccardAtThresholds(name, [0.9, 0.8, 0.7, 0.6]))
        else:
            comparisons.append(cl.ExactMatch(name))
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[
            block_on("substr(lower(" + main + "), 1, 4)"),
            *(block_on(name) for name, kind in fields.items() if kind != "text"),
        ],
    )
    api = DuckDBAPI()
    linker = Linker([api.register(frame) for frame in frames], settings)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e6, seed=1)
    linker.training.estimate_parameters_using_expectation_maximisation(
        block_on("substr(lower(" + main + "), 1, 4)")
    )
    others = [name for name, kind in fields.items() if kind != "text"]
    linker.training.estimate_parameters_using_expectation_maximisation(block_on(*others))
    found = linker.inference.predict().as_pandas_dataframe()
    columns = found["unique_id_l"], found["unique_id_r"], found["match_weight"]
    return list(zip(*(column.tolist() for column in columns), strict=True))


def link_by_dedupe(
    left: list[dict[str, Any]],
    right: list[dict[str, Any]],
    fields: dict[str, str],
    labels: Labels,
) -> Scored:
    """Link as dedupe's examples do, with labels in place of questions."""
    import dedupe
    import dedupe.variables as kinds

    made = {"text": kinds.String, "exact": kinds.Exact, "number": kinds.Price}
    variables = [made[kind](name, has_missing=True) for name, kind in fields.items()]
    linker = dedupe.RecordLink(variables, num_cores=1)
    one, two = (dict(enumerate(rows)) for rows in (left, right))
    pairs = [((one[a], two[b]), is_right) for a, b, is_right in labels]
    judged = {
        key: [{"__class__": "tuple", "__value__": pair} for pair, own in pairs if own == is_right]
        for key, is_right in (("match", True), ("distinct", False))
    }
    # What is labelled has to be among what is drawn, and so is given as a file.
    training = io.StringIO(json.dumps(judged))
    linker.prepare_training(one, two, training_file=training, sample_size=2000)
    linker.train()
    scores = linker.score(linker.pairs(one, two))
    return [(int(ids[0]), int(ids[1]), float(score)) for ids, score in scores]


def link_by_neardup(
    left: list[dict[str, Any]],
    right: list[dict[str, Any]],
    fields: dict[str, str],
    labels: Labels,
    *,
    is_rare: bool,
) -> Scored:
    """Link with weights by labels, at a low threshold."""
    import pyarrow as pa

    import neardup
    from benchmarks.linkage.fields import with_rare

    tables = [pa.Table.from_pylist(rows) for rows in (left, right)]
    named = [(str(a), str(b), int(is_right)) for a, b, is_right in labels]
    given = {
        name: [label[place] for label in named]
        for place, name in enumerate(("id_a", "id_b", "label"))
    }
    named_fields = tuple(
        f"{name}:1" if kind == "text" else f"{name}:1:{kind}" for name, kind in fields.items()
    )
    found = neardup.find_pairs(
        *tables,
        fields=with_rare(named_fields) if is_rare else named_fields,
        labels=pa.table(given),
        threshold="0.3",
        workers=1,
    ).pairs
    columns = (found[name].cast(pa.int64()).to_pylist() for name in ("id_a", "id_b"))
    return list(zip(*columns, found["similarity"].to_pylist(), strict=True))


def draw(records: LabelledRecords, name: str) -> Labels:
    """Draw the labels, as one who labels would."""
    import neardup
    from benchmarks.linkage import fields

    left, right = fields.rows_of(records)
    named = [field for field in fields.FIELDS[name] if field.split(":")[0] in left.column_names]
    low = neardup.find_pairs(left, right, fields=named, threshold=fields.LOW, workers=1).pairs
    rows = fields.draw_labels(low, records.matches, fields.DRAWS[0]).to_pylist()
    return [(row["id_a"], row["id_b"], bool(row["label"])) for row in rows]


def best_of(scored: Scored, matches: set[tuple[int, int]]) -> dict[str, float]:
    """Return the figures at the threshold of the best F1."""
    scored = sorted({(a, b): score for a, b, score in scored}.items(), key=lambda each: -each[1])
    right = np.cumsum([pair in matches for pair, _ in scored])
    found = np.arange(1, len(scored) + 1)
    # A threshold takes all pairs of one score.
    values = np.array([score for _, score in scored])
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], True))
    f1 = 2 * right[ends] / (found[ends] + len(matches))
    best = int(ends[int(np.argmax(f1))])
    return {
        "pairs": len(scored),
        "precision": float(right[best] / found[best]),
        "recall": float(right[best] / len(matches)),
        "f1": float(f1.max()),
    }


def main(tool: str, name: str, folder: str, labels_file: str) -> None:
    """Link, and print the figures."""
    records: LabelledRecords = given_records(Path(folder), name)
    fields = FIELDS[name]
    left, right = rows_of(records.left, fields), rows_of(records.right or [], fields)
    if tool.startswith("neardup"):
        Path(labels_file).write_text(json.dumps(draw(records, name)), encoding="utf-8")
    labels: Labels = [
        (a, b, is_right)
        for a, b, is_right in json.loads(Path(labels_file).read_text(encoding="utf-8"))
    ]
    # Imports take up to two seconds, and tell nothing.
    for module in _IMPORTED[tool]:
        import_module(module)
    start = time.perf_counter()
    if tool == "splink":
        scored = link_by_splink(left, right, fields)
    elif tool == "dedupe":
        scored = link_by_dedupe(left, right, fields, labels)
    else:
        scored = link_by_neardup(left, right, fields, labels, is_rare=tool == "neardup-rare")
    seconds = time.perf_counter() - start
    figures = best_of(scored, records.matches)
    print(json.dumps({"tool": tool, "set": name, **figures, "seconds": round(seconds, 1)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
