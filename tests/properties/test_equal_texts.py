"""Equal texts are similar, in any collection, by any measure and weights: none shares nothing."""

from __future__ import annotations

from itertools import combinations, product
from typing import get_args

import pytest

import neardup
from neardup.options.choices import Occurrences, PassageMeasure, SetMeasure
from tests.calls import grouped
from tests.each import INVERSE_FREQUENCIES, TERM_FREQUENCIES, each_of
from tests.oracles.measures import WEIGHTED
from tests.spilling import spilling

NUMBERS = range(2, 13)
WEIGHTS = list(product(TERM_FREQUENCIES, INVERSE_FREQUENCIES))
# Some words are there twice, so that term frequencies differ.
WORDS = [f"w{i}" for i in range(16)]
TEXT = " ".join([*WORDS, *WORDS[:4]])
# The thresholds of measures without a similarity from 0 to 1.
THRESHOLDS = {"overlap": {"threshold": 4}}


def pairs_of(table, left, right):
    """Return the pairs of documents, whichever of the two comes first."""
    return {
        tuple(sorted(map(int, pair)))
        for pair in zip(*(table[left].to_pylist(), table[right].to_pylist()), strict=True)
    }


def check_pairs(n, **options):
    options = {**THRESHOLDS.get(options["measure"], {"threshold": 1}), **options}
    found = neardup.find_pairs([TEXT] * n, **grouped(workers=1, **options))
    assert pairs_of(found.pairs, "id_a", "id_b") == set(combinations(range(n), 2))
    assert len(found.pairs) == n * (n - 1) // (1 if options["measure"] == "containment" else 2)


def check_removed(n, **options):
    result = neardup.deduplicate([TEXT] * n, **grouped(workers=1, threshold=1, **options))
    assert result.kept["text"].to_pylist() == [TEXT]
    assert result.removed["similarity"].to_pylist() == [1.0] * (n - 1)


def check_aligned(n, **options):
    found = neardup.align([TEXT] * n, **grouped(workers=1, min_tokens=8, **options)).passages
    assert pairs_of(found, "query_id", "doc_id") == set(combinations(range(n), 2))
    is_both_ways = options["measure"] == "containment"
    assert len(found) == n * (n - 1) // (1 if is_both_ways else 2)
    assert set(found["similarity"].to_pylist()) == {1.0}


@each_of("n", NUMBERS)
@each_of("measure", [*get_args(SetMeasure), "overlap", "edit"])
@each_of("occurrences", get_args(Occurrences))
def test_find_pairs__equal_texts(n, measure, occurrences):
    options = {} if measure == "edit" else {"occurrences": occurrences}
    check_pairs(n, measure=measure, **options)


@pytest.mark.slow
@each_of("n", NUMBERS)
@each_of(("tf", "idf"), WEIGHTS)
def test_find_pairs__equal_texts_with_weights(n, tf, idf):
    for options in ({"method": "exact"}, {"method": "minhash"}):
        check_pairs(n, measure=WEIGHTED, tf=tf, idf=idf, **options)


@pytest.mark.slow
@each_of("n", NUMBERS)
@each_of("measure", get_args(SetMeasure))
@each_of("occurrences", get_args(Occurrences))
def test_deduplicate__equal_texts(n, measure, occurrences):
    check_removed(n, measure=measure, occurrences=occurrences)


@pytest.mark.slow
@each_of("n", NUMBERS)
@each_of(("tf", "idf"), WEIGHTS)
def test_deduplicate__equal_texts_with_weights(n, tf, idf):
    for method in ("exact", "minhash"):
        check_removed(n, measure=WEIGHTED, tf=tf, idf=idf, method=method)


@pytest.mark.slow
@each_of("n", NUMBERS)
@each_of("measure", get_args(PassageMeasure))
def test_align__equal_texts(n, measure):
    check_aligned(n, measure=measure)


@pytest.mark.slow
@each_of("measure", get_args(PassageMeasure))
@each_of(("tf", "idf"), WEIGHTS)
def test_align__few_equal_texts_with_weights(measure, tf, idf):
    check_aligned(3, measure=measure, tf=tf, idf=idf)


@pytest.mark.slow
@each_of(("n", "tf", "idf"), [(n, *weights) for n in NUMBERS for weights in WEIGHTS])
def test_align__equal_texts_with_weights(n, tf, idf):
    """With every weight each number of texts and each measure, and both with each other."""
    measures = get_args(PassageMeasure)
    number = (n + WEIGHTS.index((tf, idf))) % len(measures)
    check_aligned(n, measure=measures[number], tf=tf, idf=idf)


@pytest.mark.slow
@each_of("idf", INVERSE_FREQUENCIES)
def test_equal_texts__within_memory(idf):
    with spilling(16_000_000, 2000):
        for measure in get_args(PassageMeasure):
            check_aligned(6, measure=measure, idf=idf)
        check_pairs(6, measure=WEIGHTED, idf=idf)
        check_removed(6, measure=WEIGHTED, idf=idf)


@pytest.mark.slow
@each_of(("tf", "idf"), WEIGHTS)
def test_search__equal_texts(tmp_path, tf, idf):
    documents = neardup.DocumentIndex.create(
        tmp_path / "documents",
        measure=WEIGHTED,
        threshold=1,
        text=neardup.TextOptions(tf=tf, idf=idf),
    )
    passages = neardup.PassageIndex.create(
        tmp_path / "passages", min_tokens=8, text=neardup.TextOptions(tf=tf, idf=idf)
    )
    for index in (documents, passages):
        index.add([TEXT] * 6)
    assert len(documents.query(TEXT)) == 6
    for measure in ("jaccard", "containment"):
        found = passages.search([TEXT], measure=measure, threshold=1).passages
        assert found["doc_id"].to_pylist() == [str(number) for number in range(6)]


def test_align__copies_in_a_text_that_all_have_are_found():
    """Four of five texts are equal, and one has a word of its own."""
    [first, *rest] = ["one", *WORDS[1:]]
    texts = [" ".join([*WORDS, "z"])] * 4 + [" ".join([first, *rest, "z"])]
    found = neardup.align(texts, measure="containment", min_tokens=8).passages
    assert pairs_of(found, "query_id", "doc_id") == set(combinations(range(5), 2))
