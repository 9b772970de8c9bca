"""Ids of the documents for which others go: of either collection, told apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.stages.selection import KeeperIds
from tests.catalogues import make_catalogue

KINDS = {"int8": int, "int64": int, "uint64": int, "large_string": str}


@st.composite
def collections(draw):
    """Some slices of ids of one type, none of which comes twice."""
    name = draw(st.sampled_from(sorted(KINDS)))
    values = draw(st.lists(st.integers(0, 15), unique=True, max_size=12))
    size = draw(st.integers(1, 5))
    made = [KINDS[name](value) for value in values]
    return name, [made[start : start + size] for start in range(0, len(made), size)]


def make(name, parts):
    return make_catalogue(parts, getattr(pa, name)())


def common(names):
    if len(names) < 2:
        return next(iter(names), "large_string")
    return "large_string" if {"large_string", "uint64"} & names else "int64"


@given(collections(), collections(), st.data())
def test_keeper_ids(own, other, data):
    own_ids, other_ids = ([value for part in parts for value in part] for _, parts in (own, other))
    n = len(own_ids) + len(other_ids)
    keepers = data.draw(st.lists(st.integers(-1, n - 1), max_size=20))
    asked = data.draw(st.lists(st.sampled_from([k for k in keepers if k >= 0] or [-1])))
    asked = [keeper for keeper in asked if keeper >= 0]
    ids = KeeperIds(make(*own), make(*other), np.array(keepers, np.int64))

    own_names = {str(value) for value in own_ids}
    taken = {str(other_ids[k]) for k in keepers if 0 <= k < len(other_ids)} & own_names
    kinds = {name for name, parts in (own, other) if parts}
    expected_type = "large_string" if taken else common(kinds)
    assert ids.type == getattr(pa, expected_type)()

    def name_of(keeper):
        if keeper >= len(other_ids):
            value = own_ids[keeper - len(other_ids)]
        elif taken and str(other_ids[keeper]) in taken:
            value = f"against/{other_ids[keeper]}"
        else:
            value = other_ids[keeper]
        return str(value) if expected_type == "large_string" else int(value)

    found = ids.take(np.array(asked, np.int64))
    assert found.to_pylist() == [name_of(keeper) for keeper in asked]
