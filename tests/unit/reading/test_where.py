"""Conditions: how values are compared, whatever the format and the rows beside them."""

from __future__ import annotations

import csv
import datetime
import json

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError, MissingExtraError
from neardup.files.delimited import DelimitedSource
from neardup.files.jsonlines import JsonLinesSource
from neardup.files.memory import arrow_source
from neardup.reading import where
from neardup.reading.sign import _text_of
from neardup.reading.where import Condition
from tests.each import each_of

SCALARS = [
    *("", "a", "A", "1", "1.0", "01", "true", "nan"),
    *(0, 1, -3, 2**53 + 1, 2**53, 2**63, 0.5, True, False, None),
]
VALUES = [*SCALARS, [], [1], {"x": 1}, {"x": [{"y": 2}, "q"]}]
# What meets a condition, by the values of x.
CONDITIONS = {
    "x = 1": ["1", "1.0", "01", 1],
    "x <> 1": [0, -3, 2**53 + 1, 2**53, 2**63, 0.5],
    "x > 0.5": ["1", "1.0", "01", 1, 2**53 + 1, 2**53, 2**63],
    "x = 9007199254740993": [2**53 + 1],
    "x = '1'": ["1", 1],
    "x < '1'": ["", "01", 0, -3, 0.5],
    "x between 0 and 1": ["1", "1.0", "01", 0, 1, 0.5],
    "x in (1, 0.5)": ["1", "1.0", "01", 1, 0.5],
    "x in ('a', '0.5')": ["a", 0.5],
    "x = true": ["1", "true", 1, True],
    "x is true": ["1", "true", 1, True],
    "x": ["1", "true", 1, True],
    "not x": [0, False],
    "x is null": [None],
    "x ilike 'a'": ["a", "A"],
    "x + 1 = 2": ["1", "1.0", "01", 1],
    "lower(x) = 'a' or false": ["a", "A"],
    "length(x) = 1 and x::varchar > '1'": ["a", "A"],
    "case when x = 1 then true else false end": ["1", "1.0", "01", 1],
    "x similar to '[0-9.]+' -- and a comment": [
        *("1", "1.0", "01", 0, 1, 2**53 + 1, 2**53, 2**63, 0.5),
    ],
    "null": [],
    "1 = 1": SCALARS,
}
WITHIN = {
    "x.x = 1": [{"x": 1}],
    "x.x[1].y = 2": [{"x": [{"y": 2}, "q"]}],
    "x.x[2] = 'q'": [{"x": [{"y": 2}, "q"]}],
    "x[1] = 1": [[1]],
    "x.x is null and x.y is null": [*SCALARS, [], [1]],
}


def met(source, text):
    """Return which rows of a source meet a condition."""
    condition = Condition(text)
    return np.concatenate([condition.of(source, block) for block in source.blocks()]).tolist()


def json_lines(path, rows, **options):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return JsonLinesSource(str(path), path.name, **options)


def chosen(values, mask):
    return [value for value, is_met in zip(values, mask, strict=True) if is_met]


@pytest.mark.parametrize("block_bytes", [1, 60, 1 << 20])
def test_json__whatever_the_blocks(tmp_path, block_bytes):
    rows = [{"x": value} for value in VALUES]
    source = json_lines(tmp_path / "a.jsonl", rows, block_bytes=block_bytes)
    for text, values in {**CONDITIONS, **WITHIN}.items():
        if text in ("1 = 1", "x <> 1"):
            continue
        found = chosen(VALUES, met(source, text))
        # Lists and objects are text where they are compared as a whole.
        found = [x for x in found if text in WITHIN or not isinstance(x, list | dict)]
        assert repr(found) == repr(values), text


def test_csv__as_json_and_empty_fields_are_null(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["x", "y"], *([value, "y"] for value in SCALARS)])
    source = DelimitedSource(str(path), path.name)
    for text, values in CONDITIONS.items():
        expected = [value for value in values if value != ""]
        if text == "x is null":
            expected = ["", None]
        elif text == "1 = 1":
            expected = SCALARS
        elif text in ("x = true", "x is true", "x", "not x"):
            # CSV has the words of Python for truth values here.
            expected = [value for value in values if value is not None]
        assert repr(chosen(SCALARS, met(source, text))) == repr(expected), text


def test_table__by_its_types():
    days = pa.array([0, 31, None], pa.date32())
    table = pa.table(
        {
            "day": days,
            "number": [0.5, float("nan"), 2.0],
            "large": pa.array([2**64 - 1, 1, None], pa.uint64()),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "view": pa.array(["a", "b", None], pa.string_view()),
            "meta": [{"url": "u", "tags": ["x"]}, {"url": "v", "tags": []}, None],
        }
    )
    source = arrow_source(table)
    for text, expected in {
        "day >= '1970-02-01'": [False, True, False],
        "year(day) = 1970": [True, True, False],
        "number > 0": [True, False, True],
        "number is null": [False, True, False],
        "large = 18446744073709551615": [True, False, False],
        "kind = 'a'": [True, False, True],
        "view not like 'a%'": [False, True, False],
        "meta.url = 'v' or list_contains(meta.tags, 'x')": [True, True, False],
        "meta.tags[1] = 'x'": [True, False, False],
    }.items():
        assert met(source, text) == expected, text


def test_two_columns__are_compared_by_their_values(tmp_path):
    rows = [{"a": 9, "b": 10}, {"a": "9", "b": "10"}, {"a": 1, "b": 1.0}, {"a": None, "b": 1}]
    rows += [{"a": "x", "b": "y"}, {"a": {"c": 2}, "b": 1.5}]
    source = json_lines(tmp_path / "a.jsonl", rows)
    assert met(source, "a < b") == [True, True, False, False, True, False]
    assert met(source, "a = b") == [False, False, True, False, False, False]
    assert met(source, "a.c > b") == [False, False, False, False, False, True]


@each_of("comparison", ["like 'a%'", "ilike 'A%'", "in ('ab')", "between 'a' and 'b'"])
def test_not__inside_of_a_comparison_and_around_it(tmp_path, comparison):
    source = json_lines(tmp_path / "a.jsonl", [{"x": "ab"}, {"x": "cd"}, {"x": None}])
    for text in (f"x not {comparison}", f"not x {comparison}", f"not (x {comparison})"):
        assert met(source, text) == [False, True, False]


def test_rows_that_cannot_be_read__meet_all_conditions(tmp_path):
    path = tmp_path / "a.jsonl"
    rows = [b'{"x": 1}', b"no object", b'{"x": "\xff"}', b"[1]", b'{"x": "\\ud800"}', b'{"x": NaN}']
    path.write_bytes(b"\n".join([*rows, b'{"x": 1, "y": NaN}']))
    source = JsonLinesSource(str(path), path.name)
    assert met(source, "x = 3") == [False, True, True, True, False, False, False]
    assert met(source, "x = 1") == [True, True, True, True, False, False, True]
    assert met(source, "x is null") == [False, True, True, True, False, False, False]
    path = tmp_path / "a.csv"
    path.write_bytes(b"x,y\n1,a\n2\n3,a,b\n\xff,a\n4,a\n" + b"5,a\n6\n" * 20)
    source = DelimitedSource(str(path), path.name)
    assert met(source, "x = 1") == [True, True, True, True, False, *[False, True] * 20]


@each_of(
    ("text", "facts"),
    [
        (" ", "empty"),
        ("n = ", "syntax error"),
        ("foo(n) = 1", "name foo"),
        ("n in (select 1)", "query within"),
        ("n = ?", "parameter"),
        ("row_number() over () = 1", "window function"),
        ("true) limit (1", "more than one"),
        ("n = 1; drop table n", "syntax error"),
        ("(" * 5000 + "n = 1" + ")" * 5000, "depth"),
    ],
)
def test_refused(text, facts):
    with pytest.raises(InvalidParameterError, match=facts) as caught:
        Condition(text)
    assert "\n" not in str(caught.value)


def test_values__that_cannot_be_compared_so(tmp_path):
    source = json_lines(tmp_path / "a.jsonl", [{"x": "b"}])
    for text in ("x::int = 1", "max(x) = 1", "read_text('/etc/hostname') = x"):
        with pytest.raises((InvalidInputError, InvalidParameterError)) as caught:
            met(source, text)
        assert text in str(caught.value)
        assert "\n" not in str(caught.value)


def test_extra__that_is_missing(monkeypatch):
    monkeypatch.setattr(where, "_database", where._database.__wrapped__)
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingExtraError, match=r"condition .*\[sql\]"):
        Condition("x = 1")


def test_text_of__all_types():
    day = datetime.date(2026, 11, 22)
    arrays = {
        "text": pa.array(["web", " ", ""]),
        "float": pa.array([1.0, 2.5, None]),
        "nan": pa.array([1.0, np.nan, np.inf]),
        "date": pa.array([day, day, None]),
        "bool": pa.array([True, False, None]),
    }
    found = {name: _text_of(array, name).to_pylist() for name, array in arrays.items()}
    assert found == {
        "text": ["web", None, None],
        "float": ["1", "2.5", None],
        "nan": ["1", None, "inf"],
        "date": ["2026-11-22", "2026-11-22", None],
        "bool": ["true", "false", None],
    }
    with pytest.raises(InvalidInputError, match=r"'x' holds list<.*blocking"):
        _text_of(pa.array([[1]]), "x")


def test_values__that_are_no_numbers_are_equal_to_nothing():
    table = pa.table({"text": ["one two"] * 3, "price": [np.nan, np.nan, 1.0]})
    assert (
        len(neardup.find_pairs(table, blocking="price", text=neardup.TextOptions(ngram=1)).pairs)
        == 0
    )
