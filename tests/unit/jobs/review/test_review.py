"""The page on which pairs are judged: which pairs it has, and what it shows of them."""

from __future__ import annotations

import json
import re

import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from tests.calls import grouped

OURS = [
    {"id": "s1", "title": "The LHAM access method", "year": 2000, "tags": ["db"]},
    {"id": "s2", "title": "Wavelet histograms", "year": None},
    {"id": "s3", "title": "Book review column", "year": 2001},
]
THEIRS = [
    {"key": "o1", "name": "Wavelet-based histograms", "year": 1998},
    {"key": "o3", "name": "Book review column", "year": 2001},
]


def content(page) -> dict:
    block = re.search(r'<script type="application/json" id="review-data">(.*?)</script>', page.html)
    return json.loads(block[1])


def pairs_of(similarities: list[float], **more: list[object]) -> pa.Table:
    n = len(similarities)
    ids = {"id_a": [f"a{k}" for k in range(n)], "id_b": [f"b{k}" for k in range(n)]}
    return pa.table(ids | {"similarity": similarities} | more)


def shown(page) -> list[str]:
    return [pair[0] for pair in content(page)["pairs"]]


SIMILARITIES = [0.2, 0.9, 0.5, 0.45, 0.95, 0.25]


def test_review__the_least_similar_pairs():
    page = neardup.review(pairs_of(SIMILARITIES), limit=3)
    assert shown(page) == ["a0", "a5", "a3"]
    assert "3 of 6 pairs are left out" in page.html
    assert len(shown(neardup.review(pairs_of(SIMILARITIES)))) == 6


def test_review__fields_of_both():
    pairs = pa.table(
        {"id_a": ["s2", "s3", "s1"], "id_b": ["o1", "o3", "o9"], "similarity": [0.4, 1.0, 0.3],
         "overlap": [2, 3, 1]}
    )  # fmt: skip
    columns = {"text_column": "title", "against_text_column": "name", "against_id_column": "key"}
    page = neardup.review(pairs, OURS, **grouped(against=THEIRS, **columns))
    found = content(page)
    assert found["fields"] == ["title", "year", "tags"]
    by_id = {pair[0]: pair for pair in found["pairs"]}
    assert by_id["s2"][4] == "common shingles 2"
    wavelets, book, lham = (by_id[name][3] for name in ("s2", "s3", "s1"))
    assert wavelets == [
        [["Wavelet ", "histograms"], ["Wavelet-", ["based "], "histograms"]], [[], [["1998"]]], "",
    ]  # fmt: skip
    assert book == ["Book review column", "2001", ""]
    assert lham == [[[["The LHAM access method"]], []], [[["2000"]], []], [[['["db"]']], []]]
    assert "name the documents as when the pairs were found" in page.html
    chosen = neardup.review(
        pairs, OURS, **grouped(against=THEIRS, columns=["year", "name"], **columns)
    )
    assert content(chosen)["fields"] == ["year", "title"]


def test_review__long_texts_are_cut_to_their_differences():
    text = " ".join(f"w{k}" for k in range(2000))
    rows = [{"id": "a0", "text": text}, {"id": "b0", "text": text.replace("w999 ", "other ")}]
    [[[left, right]]] = [
        pair[3] for pair in content(neardup.review(pairs_of([0.9]), rows))["pairs"]
    ]
    assert [run for run in right if isinstance(run, list)] == [["other "]]
    assert sum(run for run in left if isinstance(run, int)) > 1900


def test_review__key_is_of_the_content():
    """Judgements are those of these pairs."""
    first, again, other, limited = (
        content(page)["key"]
        for page in (
            neardup.review(pairs_of(SIMILARITIES)),
            neardup.review(pairs_of(SIMILARITIES)),
            neardup.review(pairs_of([*SIMILARITIES[:-1], 0.3])),
            neardup.review(pairs_of(SIMILARITIES), limit=2),
        )
    )
    assert first == again
    assert len({first, other, limited}) == 3


def test_review__of_estimates_and_matches(tmp_path):
    texts = [{"id": f"d{k}", "text": f"one two three four {k}"} for k in range(3)]
    estimates = neardup.estimate(
        neardup.sketch(texts, text=neardup.TextOptions(ngram=1)), threshold="0.3"
    )
    assert re.search("low .* high", content(neardup.review(estimates, texts))["pairs"][0][4])
    index = neardup.DocumentIndex.create(
        tmp_path / "index", threshold="0.3", text=neardup.TextOptions(ngram=1)
    )
    index.add(texts)
    hits = index.search(texts)
    assert len(shown(neardup.review(hits, texts, against=texts))) == len(hits.table)
    index.close()


def test_review__refuses():
    pairs = pairs_of([0.5])
    with pytest.raises(InvalidInputError, match="'similarity'"):
        neardup.review(pairs.drop_columns("similarity"))
    with pytest.raises(InvalidInputError, match="'colour'"):
        neardup.review(pairs, [{"id": "a0"}], columns="colour")
    with pytest.raises(InvalidInputError, match=r"'key'.*read="):
        neardup.review(pairs, [{"id": "a0"}], read=neardup.ReadOptions(id_column="key"))
    with pytest.raises(InvalidParameterError):
        neardup.review(pairs, columns="colour")
    with pytest.raises(InvalidParameterError):
        neardup.review(pairs, read=neardup.ReadOptions(against_id_column="key"))
    passages = neardup.align(["a b c d e f g"], ["a b c d e f g"], min_tokens=5)
    with pytest.raises(InvalidInputError, match="pairs"):
        neardup.review(passages)
