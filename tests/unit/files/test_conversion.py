"""Values that another format cannot hold, and columns without a type in common."""

from __future__ import annotations

import re
import threading

import pyarrow as pa
import pytest

import neardup
import neardup.cli
from neardup.errors import InvalidInputError
from neardup.files.memory import MemorySource
from neardup.files.writers import check_conversion
from tests.each import each_of


@each_of(
    ("kind", "output_format", "said"),
    [
        (pa.binary(), "jsonl", "column 'x' holds binary values, and JSON cannot hold binary"),
        (pa.list_(pa.large_binary()), "jsonl", "column 'x' holds list<item: large_binary> values"),
        (pa.struct([("y", pa.binary(3))]), "jsonl", "JSON cannot hold binary"),
        (pa.struct([]), "parquet", "column 'x' holds nothing but empty objects, which Parquet"),
        (pa.list_(pa.struct([])), "parquet", "nothing but empty objects"),
        (pa.month_day_nano_interval(), "parquet", "month_day_nano_interval values, which Parquet"),
    ],
)
def test_check_conversion__types_before_any_work(kind, output_format, said):
    table = pa.table({"text": ["a"], "x": pa.nulls(1).cast(kind)})
    source = MemorySource(table)
    for fine in {"same", "jsonl", "parquet"} - {output_format}:
        if not (fine == "jsonl" and kind == pa.month_day_nano_interval()):
            check_conversion([source], fine)
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        check_conversion([source], output_format)
    # A result says so before it writes.
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        neardup.deduplicate(table).write("never", format=output_format)


def test_jsonl__dates_that_python_lacks(tmp_path):
    days = pa.array([{"d": 0}, {"d": 10**9}], pa.struct([("d", pa.date32())]))
    result = neardup.deduplicate(pa.table({"text": ["a", "b"], "day": days}))
    said = r"^data, row 2: .*found while writing"
    with pytest.raises(InvalidInputError, match=said) as caught:
        result.write(tmp_path / "out", format="jsonl")
    # Whatever the traceback keeps, no thread is among it.
    assert caught.tb is not None
    assert not [each for each in threading.enumerate() if each.name.startswith("neardup")]


def test_kept__of_values_without_a_type_in_common(make_file):
    paths = [make_file("a.jsonl", b'{"text": "a", "n": 1}\n'), make_file("b.jsonl", b"")]
    paths.append(make_file("c.jsonl", b'{"text": "c", "n": "x"}\n{"text": "d", "n": 1.0}\n'))
    assert neardup.deduplicate(paths).kept["n"].to_pylist() == ["1", "x", "1"]
    paths[2].write_bytes(b'{"text": "c", "n": 0.5, "more": []}\n')
    rows = neardup.deduplicate(paths).kept.to_pylist()
    assert [(row["n"], row["more"]) for row in rows] == [(1, None), (0.5, [])]
