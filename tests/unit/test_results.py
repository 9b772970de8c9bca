"""What all results have in common: one line, an Arrow stream, a file."""

from __future__ import annotations

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neardup.errors import OutputExistsError
from neardup.results import TableResult


class _Found(TableResult):
    def __init__(self, table):
        self._table = table
        self.summary = {"pairs": len(table)}

    @property
    def table(self):
        return self._table

    def headline(self):
        return f"{len(self):,} pairs"


ROWS = [{"id": f"<b>{i}</b>", "similarity": i / 30, "text": "x" * 500} for i in range(30)]
RESULT = _Found(pa.Table.from_pylist(ROWS))


def test_repr__one_line():
    assert repr(RESULT) == "_Found(30 pairs)"


def test_arrow_stream__other_libraries():
    assert pl.DataFrame(RESULT).height == 30
    assert pa.table(RESULT).equals(RESULT.table)
    assert pd.DataFrame.from_arrow(RESULT)["id"].tolist() == [row["id"] for row in ROWS]


@pytest.mark.parametrize("ending", ["parquet", "csv", "jsonl"])
def test_write__file(tmp_path, ending):
    target = tmp_path / f"found.{ending}"
    RESULT.write(target)
    if ending == "parquet":
        assert pq.read_table(target).equals(RESULT.table)
    assert target.stat().st_size > 0
    with pytest.raises(OutputExistsError):
        RESULT.write(str(target))
    RESULT.write(target, overwrite=True)
