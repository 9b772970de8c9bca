from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.rows import columns_of_order
from neardup.files.rows import order_of as together
from neardup.reading.catalogue import KeepKey, KeepPolicy, join_order_columns, parse_keep
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


ROWS = st.lists(
    st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from("ab"), st.integers(0, 2)),
    max_size=20,
)
KEYS = st.lists(
    st.sampled_from(["max:n", "min:n", "max:s", "priority:s=b,x", "longest", "shortest"]),
    min_size=1,
    max_size=4,
)


def place_by(key, row):
    """Return by what rows are sorted for one key: least first, nulls last."""
    number, letter, length = row
    match key:
        case "max:n" | "min:n":
            sign = -1 if key == "max:n" else 1
            return LAST if number is None else sign * number
        case "max:s":
            return LAST if letter is None else -ord(letter)
        case "priority:s=b,x":
            return LAST if letter is None else 0 if letter == "b" else 2
    return -length if key == "longest" else length


@given(ROWS, KEYS, st.booleans())
def test_order__by_several_keys(rows, keys, ends_with_first):
    """Ties of a key go by the next one, and in the end by the input."""
    policy = parse_keep(",".join([*keys, *["first"] * ends_with_first]))
    kinds = {"n": pa.array([row[0] for row in rows], pa.int64())}
    kinds["s"] = pa.array([row[1] for row in rows], pa.string())
    column = together([kinds[name] for name in policy.columns])
    lengths = np.array([row[2] for row in rows], np.int64)
    found = policy.order(len(rows), lengths, column).tolist()
    assert found == sorted(
        range(len(rows)), key=lambda d: tuple(place_by(key, rows[d]) for key in keys)
    )


@each_of("keep", ["first,longest", "max:c,first,min:c", "first,first"])
def test_parse_keep__nothing_counts_behind_first(keep):
    with pytest.raises(InvalidParameterError, match=r"first.*last"):
        parse_keep(keep)


def test_join_order_columns__several():
    parts = [
        together([pa.array([1, None]), pa.array(["a", "b"])]),
        together([pa.array([0.5]), pa.nulls(1, pa.string())]),
    ]
    numbers, letters = columns_of_order(join_order_columns(parts, ["n", "s"]), 2)
    assert numbers.to_pylist() == [1, None, 0.5]
    assert letters.to_pylist() == ["a", "b", None]
    mixed = [together([pa.array([1]), pa.array(["a"])]), together([pa.array([1]), pa.array([2])])]
    with pytest.raises(InvalidInputError, match=r"column 's'.*kinds"):
        join_order_columns(mixed, ["n", "s"])


@each_of(
    ("keep", "keys"),
    [
        ("first", [KeepKey("first")]),
        ("longest", [KeepKey("longest")]),
        ("max:score", [KeepKey("max", "score")]),
        ("min:a:b", [KeepKey("min", "a:b")]),
        ("priority:source=a=b", [KeepKey("priority", "source", ("a=b",))]),
        (
            "max:meta.score,min:date,longest,first",
            [KeepKey("max", "meta.score"), KeepKey("min", "date"), KeepKey("longest")],
        ),
        (
            "priority:source=x,y,shortest",
            [KeepKey("priority", "source", ("x", "y")), KeepKey("shortest")],
        ),
        ("max:score, longest", [KeepKey("max", "score"), KeepKey("longest")]),
        ("priority:source=x, y", [KeepKey("priority", "source", ("x", " y"))]),
    ],
)
def test_parse_keep__examples(keep, keys):
    assert parse_keep(keep) == KeepPolicy(tuple(keys))


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
        "max:x,",
        "longest,nope",
        ",first",
    ],
)
def test_parse_keep__not_a_policy(keep):
    with pytest.raises(InvalidParameterError):
        parse_keep(keep)


def test_join_order_columns__integers_and_decimals_mix():
    parts = [pa.array([1, 2]), pa.array([0.5]), pa.nulls(2), pa.array([None, 2**53 + 1])]
    assert join_order_columns(parts, "c").to_pylist() == [1, 2, 0.5, None, None, None, 2.0**53]


def test_join_order_columns__nothing_but_nulls():
    assert join_order_columns([pa.nulls(2), pa.nulls(1)], "c").to_pylist() == [None] * 3


def test_join_order_columns__numbers_and_text_do_not_mix():
    with pytest.raises(InvalidInputError, match=r"column 'c'.*kinds"):
        join_order_columns([pa.array([1]), pa.array(["1"])], "c")


def test_join_order_columns__no_rows():
    assert join_order_columns([], "c").to_pylist() == []


def test_columns_of_order__a_row_that_is_null_is_so_in_each():
    """As bad rows are: what they have in a column does not count, nor what type that is of."""
    order = together([pa.array([1, 2]), pa.array(["a", "b"])])
    blank = pc.if_else(pa.array([True, False]), pa.scalar(None, order.type), order)
    assert [each.to_pylist() for each in columns_of_order(blank, 2)] == [[None, 2], [None, "b"]]
    all_bad = pc.if_else(pa.array([True, True]), pa.scalar(None, order.type), order)
    other = together([pa.array(["x"]), pa.array([7])])
    joined = columns_of_order(join_order_columns([all_bad, other], ["n", "s"]), 2)
    assert [each.to_pylist() for each in joined] == [[None, None, "x"], [None, None, 7]]
