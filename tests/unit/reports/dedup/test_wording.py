"""What a summary means in words."""

from __future__ import annotations

from typing import Any

from neardup.matching.measures import MEASURES
from neardup.reports.dedup.wording import (
    name_shingles,
    say_alike,
    say_copies,
    say_kept,
    say_title,
    say_weights,
    say_why,
)
from tests.each import each_of

_SCHEME = {"tokenizer": "words", "casefold": True, "ngram": 5, "strip_accents": False}
_SUMMARY: dict[str, Any] = {
    "measure": "jaccard",
    "threshold": 0.7,
    "scheme": _SCHEME,
    "keep": "first",
    "clusters": "survivors",
}


@each_of(
    ("tokenizer", "ngram", "name"),
    [
        ("words", 5, "runs of 5 words"),
        ("words", 1, "words"),
        ("bytes", 9, "runs of 9 bytes"),
        ("bpe.json of digest 00", 2, "runs of 2 tokens"),
    ],
)
def test_name_shingles(tokenizer: str, ngram: int, name: str) -> None:
    assert name_shingles({"tokenizer": tokenizer, "ngram": ngram}) == name


def test_say_alike__of_each_measure() -> None:
    assert say_alike(_SUMMARY) == (
        "of all runs of 5 words in either of the two, at least 70 % are in both (a Jaccard "
        "similarity of at least 0.7, the threshold)"
    )
    measures = {name for name, kind in MEASURES.items() if not kind.is_count and kind.has_bands}
    said = {say_alike({**_SUMMARY, "measure": name}) for name in measures}
    assert len(said) == len(measures)
    assert all("70 %" in each for each in said)


def test_say_why__tells_groups_from_survivors() -> None:
    said = say_why({**_SUMMARY, "clusters": "survivors"})
    assert said.startswith("A document was removed where one that is like it stays: of all runs")
    assert "others connect" in say_why({**_SUMMARY, "clusters": "components"})


def test_say_alike__of_pairs_without_terms() -> None:
    assert say_alike({**_SUMMARY, "threshold": None}) == "the table of pairs names them"
    assert "pieces of text" in say_alike({**_SUMMARY, "scheme": None})


def test_say_alike__writes_thresholds_as_they_are() -> None:
    assert "at least 87.5 %" in say_alike({**_SUMMARY, "threshold": 0.875})
    assert "at least 57 %" in say_alike({**_SUMMARY, "threshold": 0.57})


@each_of(
    ("keep", "said"),
    [
        ("first", "the one that comes first in the input stays"),
        ("longest", "the longest one stays"),
        ("max:stars", "the one with the greatest stars stays"),
        ("min:a:b", "the one with the least a:b stays"),
        ("priority:source=web,book", "the one whose source comes first in web, book stays"),
    ],
)
def test_say_kept(keep: str, said: str) -> None:
    assert say_kept({**_SUMMARY, "keep": keep}) == f"Of documents that are alike, {said}."


def test_say_kept__names_the_other_collection() -> None:
    assert say_kept({**_SUMMARY, "against_documents": 3}).endswith("always stay.")


def test_say_copies__lists_what_does_not_count() -> None:
    assert say_copies(_SCHEME) == (
        "An exact copy has the same words in the same order (upper and lower case, punctuation, "
        "symbols and spaces do not count)."
    )
    plain = {**_SCHEME, "tokenizer": "characters", "casefold": False}
    assert say_copies(plain) == "An exact copy has the same characters in the same order."


def test_say_weights() -> None:
    assert say_weights(_SCHEME) == say_weights({"idf": "unary"}) == say_weights(None) == ""
    assert "weighs more" in say_weights({"idf": "smooth"})


@each_of(
    ("n_in", "n_removed", "said"),
    [
        (0, 0, "No document read"),
        (1, 0, "None of 1 document removed"),
        (3_000, 0, "None of 3,000 documents removed"),
        (3_000, 776, "776 of 3,000 documents removed"),
        (2, 2, "All 2 documents removed"),
    ],
)
def test_say_title(n_in: int, n_removed: int, said: str) -> None:
    assert say_title({"documents_in": n_in, "documents_removed": n_removed}) == said
