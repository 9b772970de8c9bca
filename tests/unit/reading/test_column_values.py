"""Values of a column as text, by which documents are blocked."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.reading.sign import text_of


def test_text_of__all_types():
    day = datetime.date(2026, 11, 22)
    arrays = {
        "text": pa.array(["web", " ", ""]),
        "float": pa.array([1.0, 2.5, None]),
        "nan": pa.array([1.0, np.nan, np.inf]),
        "date": pa.array([day, day, None]),
        "bool": pa.array([True, False, None]),
    }
    found = {name: text_of(array, name, "blocking").to_pylist() for name, array in arrays.items()}
    assert found == {
        "text": ["web", None, None],
        "float": ["1", "2.5", None],
        "nan": ["1", None, "inf"],
        "date": ["2026-11-22", "2026-11-22", None],
        "bool": ["true", "false", None],
    }
    with pytest.raises(InvalidInputError, match=r"'x' holds list.* values; blocking needs strings"):
        text_of(pa.array([[1]]), "x", "blocking")


def test_values__that_are_no_numbers_are_equal_to_nothing():
    table = pa.table({"text": ["one two"] * 3, "price": [np.nan, np.nan, 1.0]})
    assert (
        len(neardup.find_pairs(table, blocking="price", text=neardup.TextOptions(ngram=1)).pairs)
        == 0
    )
