"""Tokens with numbers: counted where an index counts, weighed where it weighs, lost nowhere."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from neardup import DocumentIndex, InvalidParameterError
from tests.calls import grouped
from tests.document_indexes import OPTIONS, WEIGHTED, WORDS, text_of
from tests.oracles.measures import rank_of_sets, value
from tests.oracles.weighted import document_frequencies, weigh_numbers

NUMBERED = OPTIONS | {"occurrences": "numbered"}
TWO_AND_ONE = {"a": 2, "b": 1}


@pytest.fixture
def new(tmp_path):
    """Make empty indexes."""

    def create(options, **more):
        folder = tmp_path / f"index{len(list(tmp_path.iterdir()))}"
        return DocumentIndex.create(folder, **grouped(**options | more))

    return create


def numbers_of(seed, *, whole):
    """Give tokens with numbers; every second is like the one before."""
    generator = random.Random(seed // 2)
    numbers = {word: generator.randrange(1, 8) for word in generator.sample(WORDS[:16], 9)}
    if seed % 2:
        numbers |= {"more": 2, min(numbers): 8}
    return numbers if whole else {word: number * 0.37 for word, number in numbers.items()}


@pytest.mark.parametrize(
    ("tf", "idf"),
    [
        *(("raw", idf) for idf in ("unary", "smooth", "probabilistic")),
        *(
            ("log", "standard"),
            ("binary", "unary"),
            ("squared", "smooth"),
            ("saturating", "smooth"),
        ),
        (None, None),
    ],
)
def test_query__by_definition(new, tf, idf):
    """Of weighted sets and multisets, each before and after a commit."""
    if tf is None:
        measure, index = "jaccard", new(NUMBERED)
        counts, total = {}, 0
    else:
        measure, index = (
            "weighted-jaccard",
            new(WEIGHTED, tf=tf, idf=idf, num_perm=128, bands=(128, 1)),
        )
        texts = [text_of(number).split() for number in range(12)]
        index.add([" ".join(words) for words in texts])
        index.remove(range(12))
        counts, total = document_frequencies(texts), len(texts)

    def elements_of(numbers):
        if tf is None:
            return {(token, copy) for token, n in numbers.items() for copy in range(int(n))}
        return weigh_numbers(numbers, tf, idf, counts, total)

    documents = {f"d{n}": numbers_of(n, whole=tf != "raw" or n // 2 % 3) for n in range(6)}
    for name, numbers in documents.items():
        index.insert(name, tokens=numbers)
    elements = {name: elements_of(numbers) for name, numbers in documents.items()}
    n_found = 0
    for _ in range(2):
        for name, numbers in documents.items():
            ranks = {
                other: rank_of_sets(measure, elements[name], known)
                for other, known in elements.items()
            }
            expected = {o: value(measure, r) for o, r in ranks.items() if r >= Fraction(1, 2)}
            n_found += len(expected)
            turned = dict(reversed(numbers.items()))
            assert dict(index.query(tokens=numbers)) == expected
            assert index.query(tokens=turned) == index.query(tokens=numbers)
            assert index.insert_if_new(f"{name}-again", tokens=turned) == name
        index.commit()
    # More than themselves.
    assert n_found > 2 * len(documents)


def test_query__of_any_kind_of_number(new):
    index = new(WEIGHTED)
    index.insert("x", tokens={"a": 2.0, "b": 1.0})
    assert index.query(tokens=["a", "a", "b"]) == [("x", 1.0)]
    for two in (2, 2.0, np.int64(2), np.float32(2), Decimal(2), Fraction(2)):
        assert index.query(tokens={"b": 1, "a": two}) == [("x", 1.0)]
    assert index.query(tokens={"a": 2.5, "b": Fraction(1, 2)}) == [("x", 2.5 / 3.5)]
    assert index.query(tokens={}) == []
    # The least and the most that is taken.
    index.insert("y", tokens={"least": 2.0**-20, "most": 2**24 - 1})
    assert index.query(tokens={"most": 2**24 - 1}) == [
        ("y", (2**24 - 1) * 2**20 / ((2**24 - 1) * 2**20 + 1))
    ]


@pytest.mark.parametrize("options", [WEIGHTED, NUMBERED], ids=["weighted", "numbered"])
def test_insert_if_new__knows_a_mapping_again(new, options):
    """In any order of its tokens; it follows what it went for, though another is closer by now."""
    index = new(options)
    index.insert("first", tokens={"a": 10})
    assert index.insert_if_new("gone", tokens={"a": 10, "b": 8}) == "first"
    index.insert("closer", tokens={"b": 8, "a": 4})
    assert index.query(tokens={"b": 8, "a": 10})[0].id == "closer"
    assert index.insert_if_new("again", tokens={"b": 8, "a": 10}) == "first"
    assert index.insert_if_new("list", tokens=["a"] * 10 + ["b"] * 8) == "closer"


BAD = [math.nan, math.inf, -math.inf, -1, 0, -0.0, True, np.True_, 2**24 + 1, 10**400, 10**5000]
BAD += [1e-9, 5e-324, "2", None, [1], 1j, Decimal("sNaN"), Decimal("1e9999"), Fraction(10**400)]


@pytest.mark.parametrize("options", [WEIGHTED, NUMBERED], ids=["weighted", "numbered"])
def test_refuses__numbers_that_count_nothing(new, options):
    index = new(options)
    index.insert("x", tokens=TWO_AND_ONE)
    words = "^the number of token 'a' must be"
    for bad in BAD:
        for act in (index.query, lambda **given: index.insert("y", **given)):
            with pytest.raises(InvalidParameterError, match=words) as found:
                act(tokens={"b": 1, "a": bad})
            assert "\n" not in str(found.value)
            assert len(str(found.value)) < 300
    assert index.commit() == 1


@pytest.mark.parametrize(
    ("options", "tokens", "words"),
    [
        (OPTIONS, TWO_AND_ONE, "measure weighted-jaccard weighs tokens, one made with occurrences"),
        (OPTIONS, {}, "tokens must be a list or a set: this index counts a token once"),
        (
            WEIGHTED | {"ngram": 2},
            TWO_AND_ONE,
            "a mapping has no order; an index",
        ),
        (NUMBERED | {"ngram": 3}, TWO_AND_ONE, "a list: in this index 3 tokens in a row make a"),
        (NUMBERED, {"a": 1.5}, "a whole number from 1 to 1,048,576, got 1.5; an index of measure"),
        (WEIGHTED | {"tf": "log"}, {"a": 1.5}, "a whole number from 1 to 16,777,216, got 1.5;"),
        (NUMBERED, {"a": 2**20, "b": 1}, "must be 1,048,576 in all at most, got 1,048,577"),
        (WEIGHTED, {"a": 2**24, "b": 0.5}, "must be 16,777,216 in all at most, got 16,777,216.5"),
        (WEIGHTED, {"\ud800": 1}, "cannot be hashed"),
        (WEIGHTED, {2.5: 1}, "strings or integers, got float"),
        (WEIGHTED, {"a", "b"}, "tokens must be a list or a mapping, not a set"),
    ],
)
def test_refuses__and_names_what_to_give(new, options, tokens, words):
    index = new(options)
    for act in (index.query, lambda **given: index.insert_if_new("y", **given)):
        with pytest.raises(InvalidParameterError, match=words):
            act(tokens=tokens)
    assert len(index) == 0
