"""Deduplication by weights, against brute force on tuples of words."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.each import INVERSE_FREQUENCIES, TERM_FREQUENCIES, each_of
from tests.examples import examples
from tests.oracles import weighted
from tests.properties.weighted_documents import (
    ALL,
    ORDERS,
    SURE,
    check,
    expected_result,
    make_rows,
    passages,
    run,
    weigh,
    words_of,
)
from tests.strategies import small_texts

texts = st.lists(
    st.one_of(small_texts, st.sampled_from(["", " . ", "a", "A b.", "a a b", "b a"])),
    min_size=1,
    max_size=12,
)
tfs, idfs = st.sampled_from(TERM_FREQUENCIES), st.sampled_from(INVERSE_FREQUENCIES)
thresholds = st.sampled_from(["0.2", "0.25", "0.5", "0.6", "0.75", "0.8", "1"])
ngrams = st.integers(1, 3)
keeps = st.sampled_from(sorted(ORDERS))


@given(texts, tfs, idfs, thresholds, ngrams, keeps, st.sampled_from(["survivors", "components"]))
def test_deduplicate__as_oracle(strings, tf, idf, threshold, ngram, keep, clusters):
    rows = make_rows(strings)
    options = {
        "tf": tf,
        "idf": idf,
        "threshold": threshold,
        "ngram": ngram,
        "keep": keep,
        "clusters": clusters,
    }
    check(run(rows, **SURE, **options), rows, expected_result(rows, **options)[0])


@given(texts, texts, tfs, idfs, thresholds, st.sampled_from(["survivors", "components"]))
@examples(40)
def test_deduplicate__against_as_oracle(own, other, tf, idf, threshold, clusters):
    """The other collection stays as it is, and its documents count for what shingles weigh."""
    rows, others = make_rows(own), make_rows(other, "o")
    options = {"tf": tf, "idf": idf, "threshold": threshold, "clusters": clusters}
    result = run(rows, others, **SURE, **options)
    check(result, rows, expected_result(rows, others, **options)[0])
    assert result.summary["against_documents"] == len(others)


@given(texts, st.none() | texts, tfs, idfs, st.sampled_from(["0.2", "0.5"]), st.integers(0, 5))
@examples(40)
def test_deduplicate__compares_what_shares_a_band(own, other, tf, idf, threshold, seed):
    """With few bands, so that much is missed: the same is missed by the definition."""
    rows, others = make_rows(own), None if other is None else make_rows(other, "o")
    options = {"tf": tf, "idf": idf, "threshold": threshold}
    result = run(rows, others, bands=(3, 2), seed=seed, **options)
    expected, n_compared = expected_result(rows, others or (), bands=(3, 2, seed), **options)
    check(result, rows, expected)
    assert result.summary["candidates"] == n_compared


@pytest.mark.slow
@pytest.mark.parametrize(("tf", "idf"), ALL)
def test_deduplicate__hundreds_of_texts_as_oracle(tf, idf):
    rows = make_rows(passages(3, 120))
    options = {"tf": tf, "idf": idf, "threshold": "0.7", "keep": "longest"}
    expected, _ = expected_result(rows, **options)
    assert len(expected) > 20
    check(run(rows, **SURE, **options), rows, expected)


@pytest.mark.slow
@each_of("idf", INVERSE_FREQUENCIES)
def test_deduplicate__every_removal_is_verified(idf):
    """With bands that miss some: what goes is similar to what it goes for, and that stays."""
    rows = make_rows(passages(4, 300))
    result = run(rows, tf="log", idf=idf, threshold="0.6", recall="0.5")
    texts_of = {row["id"]: words_of(row) for row in rows}
    sets = dict(
        zip(texts_of, weigh(texts_of.values(), texts_of.values(), "log", idf, 1), strict=True)
    )
    kept = set(result.kept["id"].to_pylist())
    removed = result.removed.to_pylist()
    assert len(removed) > 20
    for row in removed:
        assert row["id"] not in kept
        assert row["kept_id"] in kept
        if texts_of[row["id"]] == texts_of[row["kept_id"]]:
            assert row["exact_copy"]
        else:
            exact = weighted.weighted_jaccard(sets[row["id"]], sets[row["kept_id"]])
            assert exact >= Fraction("0.6")
            assert not row["exact_copy"]
    assert len(kept) + len(removed) == len(rows)
