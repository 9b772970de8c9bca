"""Explanations of single documents, held to the tables of the run."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidParameterError

TEXTS = [
    "the cat sat on the mat and looked at the moon",
    "the cat sat on the mat and looked at the sun",
    "the dog sat on the mat and looked at the stars",
    "something else",
    "",
]


@given(st.lists(st.text("abcd ", max_size=12), min_size=1, max_size=8), st.sampled_from([0.5, 0.8]))
def test_explain__as_defined(texts, threshold):
    rows = [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)]
    result = neardup.deduplicate(
        rows, threshold=threshold, method="exact", text=neardup.TextOptions(ngram=1)
    )
    removed = {row["id"]: row for row in result.removed.to_pylist()}
    for row in rows:
        found = result.explain(row["id"])
        assert found.removal == removed.get(row["id"])
        if found.removal is not None:
            assert (found.document.text, found.other.id) == (row["text"], found.removal["kept_id"])
            assert found.other.text == next(r["text"] for r in rows if r["id"] == found.other.id)


def test_explain__text_and_values():
    result = neardup.deduplicate(TEXTS, threshold="0.7", text=neardup.TextOptions(ngram=1))
    found = result.explain(1)
    assert found.to_text().splitlines() == [
        "1 was removed in favour of 0: jaccard similarity 0.8000, threshold 0.7",
        "  it is in data, row 2",
        "  0 is in data, row 1",
        "  cluster 0, of 2 documents",
        "",
        "Differences",
        "  1 (data, row 2)",
        "    the cat sat on the mat and looked at the {-sun-}",
        "  0 (data, row 1)",
        "    the cat sat on the mat and looked at the {+moon+}",
        "  10 words in both; 1 only in the first text, 1 only in the second text",
    ]
    assert str(found) == found.to_text()
    assert repr(found).startswith("ExplainResult(1 was removed in favour of 0: ")
    values = found.to_dict()
    assert json.loads(json.dumps(values)) == values
    assert (values["is_in"], values["other"]["id"]) == ("removed", "0")
    assert result.explain(0).to_text().startswith("0 was kept; 1 document removed in favour of it")
    assert result.explain(3).to_text() == "3 was kept\n  it is in data, row 4"
    with pytest.raises(InvalidParameterError, match=r"'x'.*result\.clusters"):
        result.explain("x")
