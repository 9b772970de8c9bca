"""Headers in words: names come back from them, and from no table that is not ours."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.outputs import headers
from neardup.outputs.headers import headers_of, names_of
from tests.examples import examples

KNOWN = [table.known_by for table in headers._TABLES]
NAMES = sorted({name for table in headers._TABLES for name in table.words})
WORDS = sorted({word for table in headers._TABLES for word in table.words.values()})
COLUMNS = st.lists(
    st.sampled_from([*NAMES, *WORDS, "similarity", "label", "title_a"]) | st.text(max_size=3),
    unique=True,
    max_size=8,
)


@examples(300)
@given(known=st.sampled_from(KNOWN), columns=COLUMNS)
@example(known=("id_a", "id_b"), columns=["query document", "document"])
@example(known=("query_id", "doc_id"), columns=["first document", "second document"])
@example(known=("id_a", "id_b"), columns=["shingles in common"])
@example(known=("id_a", "id_b"), columns=["overlap", "shingles in common"])
def test_headers_of__come_back(known, columns):
    """Whatever columns of the user's stand beside ours."""
    names = list(dict.fromkeys([*known, *columns]))
    found = headers_of(names)
    assert names_of(found) == names
    assert len(set(found)) == len(names)


@examples(100)
@given(columns=COLUMNS)
def test_headers_of__another_table(columns):
    if any(set(known) <= set(columns) for known in KNOWN):
        return
    assert headers_of(columns) == columns


@pytest.mark.parametrize("table", headers._TABLES, ids=lambda table: table.known_by[0])
def test_names_of__a_table_that_people_have_changed(table):
    names = [*reversed(table.words), "label"]
    found = headers_of(names)
    assert found == [*(table.words[name] for name in names[:-1]), "label"]
    assert names_of(found) == names
    assert names_of([table.words[name] for name in table.known_by]) == list(table.known_by)
