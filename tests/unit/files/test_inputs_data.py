"""What may be handed over in Python instead of paths, and what else is said to be."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from neardup.errors import InvalidInputError
from neardup.files.inputs import resolve_inputs
from neardup.files.memory import FrameSource, MemorySource
from tests.each import each_of


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
