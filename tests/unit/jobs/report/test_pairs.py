"""The page of pairs says what the table has, with texts or without."""

from __future__ import annotations

import re
from html import unescape

import neardup
from tests.calls import grouped
from tests.each import each_of

LEFT = [
    {"id": "f1", "text": "art delis restaurant", "city": "la"},
    {"id": "f2", "text": "blue moon grill", "city": "ny"},
    {"id": "f3", "text": "cafe bizou", "city": "la"},
    {"id": "f4", "text": "the palm", "city": "la"},
]
RIGHT = [
    {"id": "z1", "text": "art delis restaurant", "city": "la"},
    {"id": "z2", "text": "blue moon bar", "city": "ny"},
    {"id": "z3", "text": "cafe bizou of la", "city": "la"},
    {"id": "z4", "text": "palm", "city": "la"},
    {"id": "z5", "text": "grill of the moon", "city": "la"},
]


def found(left=LEFT, right=RIGHT, **options):
    chosen = {"ngram": 1, "threshold": "0.2"} | options
    return neardup.find_pairs(left, right, **grouped(**chosen))


def page_of(result, own=LEFT, other=RIGHT):
    if own is None:
        return neardup.report(result).html
    return neardup.report(result, own, other, read=neardup.ReadOptions(id_column="id")).html


def text_of(page):
    """Return what is read on the page, without tags and in single spaces."""
    body = re.sub(r"<(style|script).*?</\1>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_report__says_what_was_found():
    text = text_of(page_of(found()))
    assert "6 similar pairs among 4 and 5 documents" in text
    assert "Similarity is jaccard, 0.2 or more." in text
    sides = "of the first collection in a pair 4 documents of the second collection in a pair 5"
    assert f"documents {sides}" in text
    assert "All documents were compared exactly: no such pair is missing." in text
    # Both texts, and where they stand.
    assert "blue moon grill" in text
    assert "blue moon bar" in text
    assert "data, row 2" in text
    assert "To see the texts" not in text


def test_report__without_texts():
    text = text_of(page_of(found(), None, None))
    assert "neardup report TABLE INPUT --against OTHER -o PAGE.html" in text
    assert "f2 z2 0.5000 2" in text
    # Columns of the table stand in for them.
    text = text_of(page_of(found(columns=["text", "city"]), None, None))
    assert "To see the texts" not in text
    assert "text: blue moon grill city: ny" in text


@each_of(
    "options",
    [
        {"measure": "overlap", "threshold": 1},
        {"max_distance": 9, "threshold": None, "ngram": None},
        {"measure": "weighted-jaccard", "threshold": "0.1"},
        {"top": 3, "threshold": None},
        {"method": "minhash", "recall": "0.9"},
        {"blocking": "city", "one_to_one": True},
    ],
    ids=str,
)
def test_report__of_every_kind(options):
    result = found(**options)
    assert len(result) > 0
    text = text_of(page_of(result))
    assert f"{len(result):,} similar pair" in text
    assert "Pairs, the least similar first" in text


@each_of("kind", ["minhash", "smallest", "modulo", "edit"])
def test_report__of_estimates(kind):
    sketches = neardup.sketch(LEFT, kind=kind, read=neardup.ReadOptions(id_column="id"))
    result = neardup.estimate(
        sketches, neardup.sketch(RIGHT, kind=kind, read=neardup.ReadOptions(id_column="id"))
    )
    text = text_of(page_of(result))
    assert "among 4 and 5 documents" in text
    assert ("Similarities are estimates" in text) == (kind != "edit")


def test_report__of_estimated_distances():
    words = [f"word{number}" for number in range(60)]
    texts = [" ".join(words), " ".join([*words[:30], "other", *words[31:]])]
    result = neardup.estimate(neardup.sketch(texts, kind="edit", compression=2))
    assert result.pairs["distance"][0].as_py() % 1
    text = text_of(page_of(result, None))
    assert "1 estimated pair " in text
    assert "Distances are estimates" in text
