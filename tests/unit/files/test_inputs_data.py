"""What may be handed over in Python instead of paths, and what else is said to be."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.files.inputs import resolve_inputs
from neardup.files.memory import DatasetSource, FrameSource, MemorySource
from neardup.files.streams import LocalDestination
from tests.each import each_of
from tests.files import copy_rows


@each_of(
    "data",
    [
        ["x", "y"],
        (text for text in ["x", "y"]),
        [{"text": "x"}, {"text": "y"}],
        pa.table({"text": ["x", "y"]}),
        pa.record_batch({"text": ["x", "y"]}),
        pa.chunked_array([["x"], ["y"]]),
        pa.array(["x", "y"]),
        pa.table({"text": ["x", "y"]}).to_reader(),
        pd.DataFrame({"text": ["x", "y"]}),
        pd.Series(["x", "y"]),
        pl.DataFrame({"text": ["x", "y"]}),
        pl.Series(["x", "y"]),
    ],
    ids=[
        *("strings", "generator", "dictionaries", "table", "batch", "chunked_array", "array"),
        *("reader", "pandas", "pandas_series", "polars", "polars_series"),
    ],
)
def test_resolve_inputs__memory(data):
    [source] = resolve_inputs(data)
    assert type(source) is (FrameSource if isinstance(data, pd.DataFrame) else MemorySource)
    [block] = source.blocks()
    assert block.to_table().to_pydict() == {"text": ["x", "y"]}


@pytest.mark.parametrize("data", [5, b"text", None])
def test_resolve_inputs__something_else(data):
    message = (
        "expected a path, a list of strings or dictionaries, or an Arrow table,"
        f" got {type(data).__name__}"
    )
    with pytest.raises(InvalidInputError, match=rf"^{message}$"):
        resolve_inputs(data)


class Dataset:
    """As a Hugging Face data set looks from outside."""

    column_names = ("text",)


@each_of(
    ("data", "advice"),
    [
        (
            pl.LazyFrame({"text": ["x"]}),
            "got a LazyFrame, which has not read them yet; hand over its .collect()",
        ),
        (SimpleNamespace(toArrow=None), "got a SimpleNamespace; hand over its .toArrow()"),
        (SimpleNamespace(compute=None), "got a SimpleNamespace; hand over its .compute()"),
        (
            {"train": Dataset(), "test": pl.DataFrame()},
            "got a dict of 'train', 'test'; hand over one: data['train']",
        ),
        ({"text": ["x"]}, "or where it has columns pyarrow.table(data)"),
        ({}, "or where it has columns pyarrow.table(data)"),
    ],
)
def test_resolve_inputs__what_to_hand_over(data, advice):
    with pytest.raises(InvalidInputError, match=rf"^expected .*{re.escape(advice)}$"):
        resolve_inputs(data)


def test_resolve_inputs__dataset(tmp_path):
    from pyarrow import dataset

    rows = pa.table({"text": [f"t{i}" for i in range(20)], "n": range(20)})
    for i in range(2):
        pq.write_table(rows.slice(10 * i, 10), tmp_path / f"{i}.parquet")
    [source] = resolve_inputs(dataset.dataset(tmp_path))
    assert type(source) is DatasetSource
    small = DatasetSource(dataset.dataset(tmp_path), block_rows=3)
    for _ in range(2):
        blocks = list(small.blocks())
        assert max(map(len, blocks)) <= 3
        assert [n for block in blocks for n in block.numbers.tolist()] == list(range(1, 21))
        assert pa.concat_tables([block.to_table() for block in blocks]) == rows
    with source.writer(LocalDestination(tmp_path / "out")) as writer:
        copy_rows(source, writer.write, lambda index: index % 2 == 0)
    written = pq.read_table(tmp_path / "out" / source.written_name)
    assert written["n"].to_pylist() == list(range(0, 20, 2))
    assert (
        len(neardup.deduplicate(dataset.dataset(tmp_path), text=neardup.TextOptions(ngram=1)).kept)
        == 20
    )
