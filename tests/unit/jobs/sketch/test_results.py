"""Results of sketch, estimate and cluster_sketches: what each shows, sums up and writes."""

from __future__ import annotations

import json

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup import InvalidInputError, Sketches
from neardup.results import Result, TableResult
from tests.each import each_of

ROWS = [
    {"id": "<b>a</b>", "text": "one two three four five six"},
    {"id": "b", "text": None},
    {"id": "c", "text": "one two three four five six"},
]


@pytest.fixture
def sketches():
    return neardup.sketch(
        ROWS, kind="smallest", read=neardup.ReadOptions(id_column="id", on_error="skip")
    )


def test_sketches__summary(sketches, tmp_path):
    assert isinstance(sketches, Result)
    summary = dict(sketches.summary)
    assert set(summary.pop("seconds")) == {"sketch"}
    [skipped] = summary.pop("skipped")
    assert (skipped["file"], skipped["row"]) == ("data", 2)
    assert summary == {
        "kind": "smallest",
        "documents": 2,
        "scheme": sketches.scheme,
        "empty_documents": 0,
        "single_shingle_documents": 0,
        "id_column": "id",
        "id_column_by_default": False,
        "skipped_rows": 1,
        "passed_over": {},
        "hints": [],
    }
    json.dumps(sketches.summary)
    sketches.write(tmp_path / "a.parquet")
    # A file does not say what was left out when it was made, nor how long that took.
    read = neardup.Sketches.read(tmp_path / "a.parquet")
    assert read.summary == {
        "kind": "smallest",
        "documents": 2,
        "scheme": sketches.scheme,
    }


@each_of("call", [neardup.estimate, neardup.cluster_sketches, Sketches.read])
@each_of("data", [["a text"], None, 5])
def test_sketches__of_what_is_none(call, data):
    message = rf"sketches.*\b{type(data).__name__}\b.*neardup\.sketch"
    with pytest.raises(InvalidInputError, match=message):
        call(data)


def test_sketches__of_tables(sketches):
    table = sketches.to_arrow()
    with pytest.raises(InvalidInputError, match=r"Table.*Sketches\.from_arrow"):
        neardup.estimate(sketches, table)
    with pytest.raises(InvalidInputError, match=r"Sketches\.to_arrow.*DataFrame"):
        Sketches.from_arrow(pl.DataFrame(table))
    assert len(Sketches.from_arrow(table)) == len(sketches)


def test_results__are_compared_as_objects(sketches):
    """Arrays have no single answer to a comparison."""
    results = sketches, neardup.estimate(sketches), neardup.cluster_sketches(sketches)
    again = Sketches.from_arrow(sketches.to_arrow())
    assert len({*results, again}) == 4
    assert again != sketches


def test_estimate_result__is_a_table(sketches, tmp_path):
    result = neardup.estimate(sketches)
    assert isinstance(result, TableResult)
    assert repr(result) == "EstimateResult(smallest: 1 pair)"
    assert len(result) == 1
    assert pa.table(result) == result.table == result.pairs
    result.write(tmp_path / "pairs.parquet")
    assert pq.read_table(tmp_path / "pairs.parquet") == result.pairs
    with pytest.raises(neardup.OutputExistsError):
        result.write(tmp_path / "pairs.parquet")
