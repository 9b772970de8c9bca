"""What cannot be written is refused when it comes, and nothing is ever in the way of a commit."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from neardup import DocumentIndex, InvalidInputError
from tests.calls import grouped
from tests.document_indexes import OPTIONS


def nested(levels, kind=list):
    value = 1
    for _ in range(levels):
        value = [value] if kind is list else {"a": value}
    return value


def circle():
    value: list[object] = []
    value += [value, value]
    return value


class Rude(list):
    def __iter__(self):
        message = "no\nwords"
        raise KeyError(message)


class NoZone(datetime.tzinfo):
    pass


KEPT = [
    *(nested(63), nested(63, dict), [nested(31), nested(31)]),
    *({"a\0b": 1}, {"": 1}, "a\0b", b"\0", {}, [], [{}], [None], (1, 2), {"a": [{"b": None}]}),
    *(math.inf, Decimal("1e40"), datetime.datetime.max, datetime.date.min, [1, 2.5], np.arange(3)),
    pa.scalar("a", pa.dictionary(pa.int8(), pa.string())),
]
REFUSED = [
    *(
        nested(64),
        nested(64, dict),
        [[]] * 20 + [nested(100_000)],
        circle(),
        [1, "a"],
        [{"a": 1}, {"a": "x"}],
    ),
    *(2**63, -(2**63) - 1, 10**400, Decimal("NaN"), Decimal("1e100"), 1j, object(), len, (1, "a")),
    *("\ud800", ["\ud800"], {"\ud800": 1}, {math.nan: 1}, {1: 2}, {None: 1}, frozenset({1})),
    *(np.zeros((2, 2)), Rude([1]), datetime.datetime(2020, 1, 1, tzinfo=NoZone())),
    *(datetime.timedelta.max, pa.array([1]), pa.scalar("x", pa.string_view())),
]


@pytest.fixture
def index(tmp_path):
    return DocumentIndex.create(tmp_path / "index", **grouped(**OPTIONS | {"columns": ["b", "c"]}))


def test_refused__with_the_place_and_in_the_way_of_nothing(index):
    index.insert("before", "x y", c=1)
    for bad in REFUSED:
        for act in (index.insert, index.insert_if_new):
            with pytest.raises(InvalidInputError) as caught:
                act("bad", "p q", c=bad)
            message = str(caught.value)
            assert message.startswith("document 'bad': column 'c' ")
            assert "\n" not in message
            assert len(message) < 300
    index.insert("after", "z", c=2)
    assert index.commit() == 2
    assert [row["id"] for row in DocumentIndex.open(index.folder).documents()] == [
        "before",
        "after",
    ]


def test_kept__are_given_back_before_and_after_all(index):
    for number, value in enumerate(KEPT):
        index.insert(number, f"text {number}", c=value, b=number)
    rows = index.documents()
    expected = pa.array([KEPT[-1]]).to_pylist()
    assert [row["c"] for row in rows][-1:] == expected
    assert rows[0]["c"] == nested(63)
    assert index.commit() == len(KEPT)
    assert index.documents() == rows
    index.insert(99, "words", c="of another type")
    index.commit()
    assert DocumentIndex.open(index.folder).documents()[:-1] == rows
    index.compact()
    assert [row["b"] for row in index.documents()] == [*range(len(KEPT)), None]
