"""One text at a time: as measures are defined, and as a search for pairs of the same texts."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.errors import InvalidInputError, InvalidParameterError
from tests.calls import grouped
from tests.each import each_of
from tests.oracles import measures, shingles
from tests.oracles.edits import distance

MEASURES = (*measures.JOIN_MEASURES, "weighted-jaccard", "edit")
WORDS = st.sampled_from(["a", "b", "c", "d", "e"])
TEXTS = st.lists(WORDS, max_size=8).map(" ".join)


def ranked(measure, x, y, ngram, occurrences):
    """Rank two texts of single-letter words; None where one has no token."""
    if measure == "edit":
        longer = max(len(x), len(y))
        return Fraction(longer - distance(x, y), longer) if longer else None
    if measure == "weighted-jaccard":
        bags = [Counter(shingles.shingle_tuples(text.split(), ngram)) for text in (x, y)]
        return measures.rank_of_sets(measure, *bags) if all(bags) else None
    sets = [shingles.elements(text.split(), ngram, occurrences) for text in (x, y)]
    return measures.rank_of_sets(measure, *sets) if all(sets) else None


def value(measure, rank):
    return 0.0 if rank is None else measures.value(measure, rank)


@given(x=TEXTS, y=TEXTS, ngram=st.integers(1, 3), occurrences=st.sampled_from(["set", "numbered"]))
def test_similarity__by_definition(x, y, ngram, occurrences):
    for measure in MEASURES:
        options = {"ngram": ngram, "occurrences": occurrences}
        if measure in ("weighted-jaccard", "edit"):
            del options["occurrences"]
        if measure == "edit":
            del options["ngram"]
        found = neardup.similarity(x, y, **grouped(measure=measure, **options))
        rank = ranked(measure, x, y, ngram, occurrences)
        assert found == pytest.approx(value(measure, rank)), measure


@given(
    query=TEXTS,
    texts=st.lists(TEXTS, max_size=12),
    limit=st.integers(1, 6),
    twentieths=st.none() | st.integers(1, 20),
)
def test_extract__by_definition(query, texts, limit, twentieths):
    for measure in MEASURES:
        ranks = [(i, ranked(measure, query, text, 1, "set")) for i, text in enumerate(texts)]
        threshold = None
        if twentieths is not None:
            threshold = twentieths if measure == "overlap" else Fraction(twentieths, 20)
        least = 0 if threshold is None else measures.rank_of_threshold(measure, Fraction(threshold))
        near = [(i, rank) for i, rank in ranks if rank and rank >= least]
        near = sorted(near, key=lambda each: (-each[1], each[0]))[:limit]
        found = neardup.extract(query, texts, limit=limit, measure=measure, threshold=threshold)
        assert [each.key for each in found] == [i for i, _ in near]
        assert [each.text for each in found] == [texts[i] for i, _ in near]
        assert [each.similarity for each in found] == pytest.approx(
            [measures.value(measure, rank) for _, rank in near]
        )


@each_of(
    "options",
    [
        {"measure": "edit"},
        {"measure": "edit", "casefold": True},
        {"measure": "edit", "tokenizer": "words"},
        {"measure": "edit", "strip_accents": True, "unicode_form": "NFKC"},
        {"ngram": 2, "tokenizer": "characters"},
        {"ngram": 1, "measure": "cosine", "strip_accents": True},
        {"ngram": 1, "measure": "weighted-jaccard", "idf": "smooth"},
        {"ngram": 2, "measure": "weighted-jaccard", "idf": "unary", "tf": "log"},
    ],
)
def test_extract__as_pairs(options):
    texts = ["Straße nach Köln", "STRASSE NACH KOELN", "Strasse nach Ko\u0308ln", "", "①②", "12"]
    texts = [f"{text} {end}" for text in texts for end in ("", "heute", "Heute früh", "x")]
    for query in ("strasse nach köln", "12 heute", "nichts davon: zq"):
        least = options | {"threshold": "0.1"}
        found = neardup.extract(query, texts, **grouped(limit=7, **least))
        pairs = neardup.find_pairs([query], texts, **grouped(top=7, **least)).pairs.to_pylist()
        assert [(str(e.key), e.similarity) for e in found] == [
            (pair["id_b"], pair["similarity"]) for pair in pairs
        ]


def test_extract__at_the_threshold():
    for length in range(1, 40):
        text = "a" * length
        for same in range(1, length + 1):
            near = text[:same] + "b" * (length - same)
            found = neardup.extract(text, [near], measure="edit", threshold=Fraction(same, length))
            assert [each.similarity for each in found] == [same / length]


def test_extract__ties_in_order():
    texts = ["abcd", "abce", "abxx", "abcd", "zzzz", "abcd", "abc", "abcd", "axcd", "a", "abcd"]
    by_edits = neardup.extract("abcd", texts, limit=6, measure="edit")
    assert [each.key for each in by_edits] == [0, 3, 5, 7, 10, 1]
    grams = neardup.extract(
        "abcd", texts, limit=7, text=neardup.TextOptions(tokenizer="characters")
    )
    assert [each.key for each in grams] == [0, 3, 5, 7, 10, 6, 1]


def test_extract__what_texts_may_be():
    names = {"m": "Miller", "none": None, "u": "Muller"}
    assert neardup.extract("Muller", names, measure="edit", limit=1) == [("Muller", 1.0, "u")]
    given = neardup.extract("Muller", iter(names.values()), measure="edit")
    assert [each.key for each in given] == [2, 0]
    assert (
        neardup.extract("x", []) == neardup.extract("", ["a"]) == neardup.extract("a", [""]) == []
    )
    for wrong in ("text", 3, b"bytes"):
        with pytest.raises(InvalidInputError, match=r"^texts\b.*list"):
            neardup.extract("a", wrong)
    for wrong in (["a", 3], ["a", b"a"], ["\ud800"]):
        with pytest.raises(InvalidInputError, match=r"^texts: "):
            neardup.extract("a", wrong)
    with pytest.raises(InvalidInputError, match=r"^query: .*NoneType"):
        neardup.extract(None, ["a"])


def test_similarity__refuses():
    for wrong in (3, None, b"a"):
        with pytest.raises(InvalidInputError, match=f"^b: .*{type(wrong).__name__}"):
            neardup.similarity("a", wrong)
        with pytest.raises(InvalidInputError, match=f"^a: .*{type(wrong).__name__}"):
            neardup.similarity(wrong, "a", measure="edit")
    with pytest.raises(InvalidInputError, match=r"^b: .*Unicode"):
        neardup.similarity("a", "\ud800")
    with pytest.raises(TypeError, match=r"similarity\(\).*'limits'"):
        neardup.similarity("a", "b", limits=3)
    for options in (
        {"measure": "edit", "ngram": 2},
        {"measure": "edit", "occurrences": "numbered"},
        {"measure": "edit", "tf": "raw"},
        {"tf": "raw"},
        {"measure": "weighted-jaccard", "occurrences": "numbered"},
        {"measure": "hamming"},
        # Equal as a key, but no value of this option.
        {"casefold": 1},
    ):
        neardup.similarity("a", "b", text=neardup.TextOptions(casefold=True))
        with pytest.raises(InvalidParameterError):
            neardup.similarity("a", "b", **grouped(**options))


def test_similarity__tokenizer_that_cannot_be_remembered():
    class Cuts:
        __hash__ = None

        def __call__(self, text):
            return text.split("-")

    assert neardup.similarity(
        "a-b", "a-c", text=neardup.TextOptions(tokenizer=Cuts())
    ) == pytest.approx(1 / 3)
