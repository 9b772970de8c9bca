from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from neardup.sketches.edit import bytes_as_characters
from neardup.tables import Texts


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6), st.data())
def test_bytes_as_characters__one_for_each(contents, data):
    start = data.draw(st.integers(0, len(contents) - 1))
    texts = Texts.from_arrow(pa.array(contents).slice(start))
    found = bytes_as_characters(texts).to_arrow()
    found.validate(full=True)
    assert found.to_pylist() == [text.encode().decode("latin-1") for text in contents[start:]]


def test_bytes_as_characters__ascii_is_not_copied():
    texts = Texts.from_arrow(pa.array(["abc", ""]))
    assert bytes_as_characters(texts) is texts
