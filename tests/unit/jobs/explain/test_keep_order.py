"""Which documents come first in keep order, of which only some are looked at."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from neardup.matching.keep import parse_keep
from neardup.stages.decided import OrderKeys, come_first, deciding_key
from tests.each import each_of

LENGTHS = np.array([3, 5, 3, 5, 1, 3])
COLUMN = pa.array(["b", None, "a", "c", "b", "b"])


@each_of(
    "keep", ["first", "longest", "shortest", "max:c", "min:c", "priority:c=b,a", "longest,min:c"]
)
def test_come_first__as_of_all(keep):
    policy = parse_keep(keep)
    numbers = np.arange(len(LENGTHS))
    keys = OrderKeys(
        numbers, LENGTHS if policy.by_length else None, COLUMN if policy.columns else None
    )
    order = policy.order(len(numbers), LENGTHS, COLUMN).tolist()
    for own in numbers:
        others = np.array([number for number in numbers if number != own])
        found = come_first(policy, keys.take(others), keys.take(np.array([own])))
        assert found.tolist() == [order.index(other) < order.index(own) for other in others]


@each_of(
    ("keep", "expected"),
    [
        ("longest,max:c", {(0, 1): "longest", (0, 2): "max:c", (0, 5): None}),
        ("priority:c=b,shortest", {(0, 4): "shortest", (0, 1): "priority:c=b", (0, 5): None}),
        ("max:c", {(1, 0): "max:c", (0, 4): None}),
        ("first", {(0, 1): None}),
    ],
)
def test_deciding_key__is_the_first_that_differs(keep, expected):
    policy = parse_keep(keep)
    keys = OrderKeys(np.arange(len(LENGTHS)), LENGTHS if policy.by_length else None, COLUMN)
    for pair, key in expected.items():
        found = deciding_key(policy, *(keys.take(np.array([place])) for place in pair))
        assert (None if found is None else str(found)) == key


@pytest.mark.parametrize("keep", ["first", "longest", "max:c"])
def test_come_first__other_collection_before_all(keep):
    policy = parse_keep(keep)
    own = OrderKeys(np.array([0]), np.array([100]), pa.array([7]))
    others = OrderKeys(np.array([-3, -2]), np.array([1, 1]))
    assert come_first(policy, others, own).tolist() == [True, True]
    assert come_first(policy, own, others.take(np.array([0]))).tolist() == [False]
