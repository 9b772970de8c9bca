"""Explanations of single documents, held to definitions of similarity and of the nearest."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidParameterError
from tests.calls import grouped

TEXTS = [
    "the cat sat on the mat and looked at the moon",
    "the cat sat on the mat and looked at the sun",
    "the dog sat on the mat and looked at the stars",
    "something else",
    "",
]


def shingles(text: str) -> set[str]:
    return set(text.split())


def similarity(one: str, other: str) -> float:
    x, y = shingles(one), shingles(other)
    return len(x & y) / len(x | y) if x & y else 0.0


@given(st.lists(st.text("abcd ", max_size=12), min_size=1, max_size=8), st.sampled_from([0.5, 0.8]))
def test_explain__as_defined(texts, threshold):
    rows = [{"id": f"d{n}", "text": text} for n, text in enumerate(texts)]
    result = neardup.deduplicate(
        rows, threshold=threshold, method="exact", text=neardup.TextOptions(ngram=1)
    )
    removed = {row["id"]: row for row in result.removed.to_pylist()}
    kept = [row for row in rows if row["id"] not in removed]
    for row in rows:
        found = result.explain(row["id"])
        assert found.document.text == row["text"]
        assert found.removal == removed.get(row["id"])
        if found.removal is not None:
            assert found.other.id == found.removal["kept_id"]
        else:
            alike = {
                each["id"]: similarity(row["text"], each["text"]) for each in kept if each != row
            }
            best = max(alike.values(), default=0.0)
            if not best:
                assert found.other is None
                continue
            assert found.other.id == next(key for key in alike if alike[key] == best)
        assert found.comparison.similarity == pytest.approx(
            similarity(row["text"], found.other.text)
        )


def test_explain__text_and_values():
    result = neardup.deduplicate(TEXTS, threshold="0.7", text=neardup.TextOptions(ngram=1))
    found = result.explain(1)
    assert found.to_text().splitlines() == [
        "1 was removed in favour of 0: jaccard similarity 0.8000, threshold 0.7",
        "  it is in data, row 2",
        "  0 is in data, row 1",
        "  cluster 0, of 2 documents",
        "  computed again: jaccard similarity 0.8000",
        "  8 shingles in common, of 9 and 9",
        f"  {len(found.comparison.shared_bands)} of {found.comparison.n_bands} bands have both in "
        "one bucket",
        "",
        "Differences",
        "  1 (data, row 2)",
        "    the cat sat on the mat and looked at the {-sun-}",
        "  0 (data, row 1)",
        "    the cat sat on the mat and looked at the {+moon+}",
        "  10 words in both, 1 and 1 only in one",
    ]
    assert str(found) == found.to_text()
    assert repr(found).startswith("ExplainResult(1 was removed in favour of 0: ")
    values = found.to_dict()
    assert json.loads(json.dumps(values)) == values
    assert (values["is_in"], values["other"]["id"]) == ("removed", "0")
    assert values["common_shingles"] == 8
    assert result.explain(0).to_text().startswith("0 was kept; 1 document removed in favour of it")
    assert result.explain(2).to_dict()["similarity"] == similarity(TEXTS[2], TEXTS[0])
    for alone in (3, 4):
        assert result.explain(alone).other is None
        assert "no other kept document shares a shingle with it" in result.explain(alone).to_text()
    with pytest.raises(InvalidParameterError, match="no document has the id 'x'; clusters"):
        result.explain("x")


@pytest.mark.parametrize(
    "options",
    [
        {"measure": "weighted-jaccard"},
        {"measure": "containment"},
        {"clusters": "components"},
        {"tokenizer": str.split},
        {"method": "exact"},
    ],
    ids=str,
)
def test_explain__similarity_is_that_of_the_run(options):
    result = neardup.deduplicate(TEXTS, **grouped(ngram=1, threshold="0.5", **options))
    for row in result.removed.to_pylist():
        found = result.explain(row["id"], tokenizer=options.get("tokenizer"))
        assert found.comparison.similarity == pytest.approx(row["similarity"])
        assert (found.comparison.shared_bands is None) == ("method" in options)
