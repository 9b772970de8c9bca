"""``--keep`` of several keys, against one column that has the order of all of them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.each import each_of

KEEP = "max:score,min:date,longest"


@pytest.fixture
def inputs(here: Path, texts: list[str]) -> Path:
    """Write documents, and where each is in the order of all keys, worked out without neardup."""
    rows: list[dict[str, Any]] = [
        {
            "id": f"d{number}",
            "text": text,
            "score": None if number % 5 == 0 else number % 3,
            "date": f"2024-0{1 + number % 2}-01",
        }
        for number, text in enumerate(text for text in texts if text.strip())
    ]
    order = sorted(
        range(len(rows)),
        key=lambda n: (
            99 if rows[n]["score"] is None else -rows[n]["score"],
            rows[n]["date"],
            -len(rows[n]["text"]),
        ),
    )
    for place, number in enumerate(order):
        rows[number]["rank"] = place
    (here / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pq.write_table(pa.Table.from_pylist(rows), here / "a.parquet", row_group_size=20)
    with (here / "a.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return here


def table_of(run: Any, *arguments: str) -> pa.Table:
    outcome = run(*arguments, "-o", "out", "--overwrite")
    assert outcome.code == 0, outcome.err
    return pq.read_table("out/removed.parquet").replace_schema_metadata()


@pytest.mark.slow
@each_of("file", ["a.jsonl", "a.parquet", "a.csv"])
@each_of("options", [(), ("--memory", "40MB"), ("--clusters", "components"), ("--method", "exact")])
def test_dedup__as_by_one_column(inputs, run, file, options):
    arguments = ("dedup", file, "--threshold", "0.6", *options)
    found = table_of(run, *arguments, "--keep", KEEP)
    assert found.num_rows > 10
    assert found.equals(table_of(run, *arguments, "--keep", "min:rank"))
    assert found.equals(table_of(run, *arguments, "--keep", f"{KEEP},first"))
    one = table_of(run, *arguments, "--keep", "max:score")
    assert not found.equals(one)
