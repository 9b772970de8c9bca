from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.matching.keep import KeepPolicy, join_order_columns, parse_keep
from tests.each import each_of

numbers = st.lists(st.one_of(st.none(), st.integers(-3, 3)), max_size=20)
LAST = 10**6


def order_of(keep, values, kind=None):
    column = pa.array(values, kind)
    return parse_keep(keep).order(len(values), None, column).tolist()


@given(st.lists(st.integers(0, 5), max_size=20))
def test_order__by_length(lengths):
    n = len(lengths)
    table = np.array(lengths, np.int64)
    longest = parse_keep("longest").order(n, table, None).tolist()
    shortest = parse_keep("shortest").order(n, table, None).tolist()
    assert longest == sorted(range(n), key=lambda d: -lengths[d])
    assert shortest == sorted(range(n), key=lambda d: lengths[d])
    assert parse_keep("first").order(n, None, None).tolist() == list(range(n))


@given(numbers)
def test_order__by_column(values):
    def key(sign):
        return lambda d: LAST if values[d] is None else sign * values[d]

    n = len(values)
    assert order_of("min:c", values, pa.int64()) == sorted(range(n), key=key(1))
    assert order_of("max:c", values, pa.int64()) == sorted(range(n), key=key(-1))


@given(st.lists(st.one_of(st.none(), st.sampled_from("abcd")), max_size=20))
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_order__by_priority(kind, values):
    places = {"c": 0, "a": 1, None: LAST}
    expected = sorted(range(len(values)), key=lambda d: places.get(values[d], 2))
    assert order_of("priority:s=c,a", values, kind) == expected


def test_order__by_priority_of_numbers():
    assert order_of("priority:s=3,1", [1, None, 2, 3, None, 3]) == [3, 5, 0, 2, 1, 4]


@each_of(
    ("keep", "policy"),
    [
        ("first", KeepPolicy("first")),
        ("longest", KeepPolicy("longest")),
        ("shortest", KeepPolicy("shortest")),
        ("max:score", KeepPolicy("max", "score")),
        ("min:a:b", KeepPolicy("min", "a:b")),
        ("priority:source=x,y", KeepPolicy("priority", "source", ("x", "y"))),
        ("priority:source=a=b", KeepPolicy("priority", "source", ("a=b",))),
    ],
)
def test_parse_keep__examples(keep, policy):
    assert parse_keep(keep) == policy


@each_of(
    "keep",
    [
        "",
        "last",
        "first:",
        "longest:x",
        "max",
        "max:",
        "min:",
        "priority",
        "priority:",
        "priority:s",
        "priority:s=",
        "MAX:x",
    ],
)
def test_parse_keep__not_a_policy(keep):
    with pytest.raises(InvalidParameterError, match="keep must be first, longest"):
        parse_keep(keep)


def test_join_order_columns__integers_and_decimals_mix():
    parts = [pa.array([1, 2]), pa.array([0.5]), pa.nulls(2), pa.array([None, 3], pa.int64())]
    assert join_order_columns(parts, "c").to_pylist() == [1, 2, 0.5, None, None, None, 3]


def test_join_order_columns__nothing_but_nulls():
    assert join_order_columns([pa.nulls(2), pa.nulls(1)], "c").to_pylist() == [None] * 3


def test_join_order_columns__numbers_and_text_do_not_mix():
    with pytest.raises(InvalidInputError, match="different kinds"):
        join_order_columns([pa.array([1]), pa.array(["1"])], "c")


def test_join_order_columns__no_rows():
    assert join_order_columns([], "c").to_pylist() == []
