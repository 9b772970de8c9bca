"""Tables as text: read back by others as what they are."""

from __future__ import annotations

import csv
import datetime
import io
import json
import sys
from decimal import Decimal
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidInputError, WriteError
from neardup.outputs import output_tables
from neardup.outputs.output_tables import plan_table, write_csv, write_json_lines
from tests.each import each_of

TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
TEXTS |= st.sampled_from(["", '"', ",", "\n", "\r\n", "1", "nan", "ä🙂"])
FLOATS = st.none() | st.floats() | st.integers(-(10**17), 10**17).map(float)
WHOLE = st.none() | st.integers(-(2**63), 2**63 - 1)
TABLES = st.lists(st.tuples(TEXTS, FLOATS, WHOLE, st.none() | st.booleans())).map(
    lambda rows: pa.table(
        {
            'the "text"': pa.array([row[0] for row in rows], pa.large_string()),
            "x": pa.array([row[1] for row in rows], pa.float64()),
            "n": pa.array([row[2] for row in rows], pa.int64()),
            "is": pa.array([row[3] for row in rows], pa.bool_()),
        }
    )
)


def as_csv(table: pa.Table) -> bytes:
    stream = io.BytesIO()
    write_csv(table, stream)
    return stream.getvalue()


@pytest.fixture(autouse=True)
def few_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(output_tables, "_TEXT_ROWS", 3)


@given(TABLES)
def test_write_csv__as_arrow_but_for_floats(table):
    expected = io.BytesIO()
    pyarrow.csv.write_csv(table.drop_columns("x"), expected)
    assert as_csv(table.drop_columns("x")) == expected.getvalue()


@given(TABLES)
def test_write_csv__values_come_back(table):
    rows = list(csv.reader(io.StringIO(as_csv(table).decode(), newline="")))
    assert rows.pop(0) == ['the "text"', "x", "n", "is"]
    expected = table.to_pylist()
    assert len(rows) == len(expected)
    for (text, x, n, is_so), row in zip(rows, expected, strict=True):
        assert text == (row['the "text"'] or "")
        assert x == "" if row["x"] is None else repr(float(x)) == repr(row["x"])
        assert row["x"] is None or not x.lstrip("-").isdigit()
        assert n == ("" if row["n"] is None else str(row["n"]))
        assert is_so == ("" if row["is"] is None else str(row["is"]).lower())


@each_of("first", [[1.0, 1.0], [-3.0], [0.0], [1e20], [None, 2.0]])
def test_write_csv__a_float_is_read_as_one_everywhere(first):
    table = pa.table({"id": [f"d{i}" for i in range(len(first) + 1)], "x": [*first, 0.25]})
    text = as_csv(table)
    assert pl.read_csv(text, infer_schema_length=len(first)).schema["x"] == pl.Float64
    assert pd.read_csv(io.BytesIO(text)).dtypes["x"] == "float64"
    assert pyarrow.csv.read_csv(io.BytesIO(text)).equals(table)


def test_write_csv__spelling():
    table = pa.table({"a": ["x", None, ""], "b": [1.0, 0.5, None], "c": [1, 2, 3]})
    assert as_csv(table) == b'"a","b","c"\n"x",1.0,1\n,0.5,2\n"",,3\n'
    assert as_csv(table.slice(0, 0)) == b'"a","b","c"\n'
    coded = pa.table({"a": pa.array(["x", "y", "x"]).dictionary_encode()})
    assert as_csv(coded) == b'"a"\n"x"\n"y"\n"x"\n'


@given(TABLES)
def test_write_json_lines__values_come_back(table):
    stream = io.BytesIO()
    write_json_lines(table, stream)
    # JSON escapes what would end a line.
    lines = stream.getvalue().decode().split("\n")[:-1]
    assert [repr(json.loads(line)) for line in lines] == [repr(row) for row in table.to_pylist()]


def test_write_json_lines__dates_and_decimals():
    day = pa.array([datetime.date(2020, 1, 2), None])
    times = pa.array([1, 2], pa.timestamp("ns", "UTC"))
    prices = pa.array([Decimal("1.50"), None])
    stream = io.BytesIO()
    write_json_lines(pa.table({"a": day, "b": times, "c": prices}), stream)
    first, second = map(json.loads, stream.getvalue().splitlines())
    assert first == {"a": "2020-01-02", "b": "1970-01-01 00:00:00.000000001Z", "c": "1.50"}
    assert second == {"a": None, "b": "1970-01-01 00:00:00.000000002Z", "c": None}


def test_plan_table__closed_standard_output(monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(WriteError, match=r"^standard output is closed"):
        plan_table(Path("-"), overwrite=False)


def test_write__binary_values():
    for write in (write_csv, write_json_lines):
        with pytest.raises(InvalidInputError, match=r"'a' holds binary values, which only Parquet"):
            write(pa.table({"a": [b"\xff"]}), io.BytesIO())


@given(TABLES, st.integers(1, 4))
def test_write__rows_as_they_come(table, n_rows):
    """Of a reader the same text, however its rows are cut."""
    for write in (write_csv, write_json_lines):
        whole, cut = io.BytesIO(), io.BytesIO()
        write(table, whole)
        write(pa.RecordBatchReader.from_batches(table.schema, table.to_batches(n_rows)), cut)
        assert whole.getvalue() == cut.getvalue()
