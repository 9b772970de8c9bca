from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.tables import Texts
from tests.arrays import make_texts
from tests.strategies import any_text

STRING_TYPES = [pa.string(), pa.large_string(), pa.string_view()]


def strings_of(texts: Texts) -> list[str]:
    data = texts.data.tobytes()
    offsets = texts.offsets.tolist()
    return [data[a:b].decode() for a, b in pairwise(offsets)]


@given(st.lists(any_text, max_size=20), st.integers(1, 200), any_text)
def test_slices__are_a_partition(strings, n_bytes, lead):
    texts = make_texts(strings, lead=lead)
    parts = texts.slices(n_bytes)
    assert [string for part in parts for string in strings_of(part)] == strings
    assert all(len(part) for part in parts) or not strings


@given(st.lists(any_text, min_size=1, max_size=20), st.integers(1, 200), any_text)
def test_slices__are_about_as_long_as_asked(strings, n_bytes, lead):
    """A slice is not longer than asked and what its last text goes beyond that."""
    parts = make_texts(strings, lead=lead).slices(n_bytes)
    for part in parts:
        assert int(part.offsets[-2] - part.offsets[0]) < 2 * n_bytes
    total = sum(len(string.encode()) for string in strings)
    assert len(parts) <= total // n_bytes + 1


@given(
    st.lists(st.one_of(st.none(), any_text), max_size=8),
    st.sampled_from(STRING_TYPES),
    st.integers(0, 3),
    st.integers(0, 8),
)
def test_from_arrow__any_string_array(strings, kind, start, length):
    array = pa.array(strings, kind).slice(start, length)
    texts = Texts.from_arrow(array)
    expected = [string or "" for string in array.to_pylist()]
    assert strings_of(texts) == expected
    assert texts.to_arrow().to_pylist() == expected


@pytest.mark.parametrize("kind", STRING_TYPES)
def test_from_arrow__nothing(kind):
    for array in (pa.array([], kind), pa.nulls(0, kind), pa.array(["a"], kind).slice(1)):
        assert len(Texts.from_arrow(array)) == 0


@given(st.lists(any_text, max_size=6), any_text)
def test_to_arrow__of_a_slice(strings, lead):
    assert make_texts(strings, lead=lead).to_arrow().to_pylist() == strings
