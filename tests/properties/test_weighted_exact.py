"""The exact method on weighted sets, its choice, and the audit of a run that goes by bands."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.jobs.dedup.run import audit_recall
from neardup.matching.buckets import list_prefixes
from neardup.matching.measures import CandidateSets, WeightedJaccard
from neardup.matching.survivors import choose_survivors, join_components
from neardup.runs.runner import Runner
from tests.arrays import make_weighted_sets
from tests.calls import grouped
from tests.each import each_of
from tests.oracles import components as components_oracle
from tests.oracles import survivors as survivors_oracle
from tests.oracles.measures import WEIGHTED
from tests.oracles.weighted import weighted_jaccard
from tests.properties.weighted_documents import (
    ALL,
    ORDERS,
    SURE,
    check,
    expected_result,
    make_rows,
    passages,
    run,
)
from tests.removals import keepers_of
from tests.strategies import small_texts, thresholds

weights = st.integers(1, 5) | st.integers(1, 2**50)
weighted_sets = st.dictionaries(st.integers(0, 9), weights, max_size=8)
set_lists = st.lists(weighted_sets, min_size=1, max_size=12)
texts = st.lists(st.one_of(small_texts, st.sampled_from(["", "a", "A b.", "a a b"])), max_size=12)


def are_similar(x, y, threshold):
    return bool(x and y) and weighted_jaccard(x, y) >= threshold


@given(set_lists, thresholds)
def test_list_prefixes__similar_weighted_sets_share_a_key(sets, threshold):
    lists = list_prefixes(make_weighted_sets(sets), WeightedJaccard(threshold))
    runs = [lists.keys[a:b].tolist() for a, b in zip(lists.starts, lists.starts[1:], strict=False)]
    assert lists.n_probed.tolist() == [len(run) for run in runs]
    for a, x in enumerate(sets):
        assert len(set(runs[a])) == len(runs[a])
        for b, y in enumerate(sets[:a]):
            assert {*runs[a]} & {*runs[b]} or not are_similar(x, y, threshold)


@given(set_lists, thresholds, st.integers(0, 3))
def test_choose_survivors__by_prefixes_of_weights_as_oracle(sets, threshold, n_fixed):
    table, exact = make_weighted_sets(sets), WeightedJaccard(threshold)
    documents = CandidateSets.of_sets(list_prefixes(table, exact), table, n_fixed)
    removals = choose_survivors(documents, exact)
    assert keepers_of(removals, len(sets)) == survivors_oracle.choose(
        sets, WEIGHTED, threshold, n_fixed=n_fixed, are_candidates=lambda d, e: sets[d] and sets[e]
    )


@given(set_lists, thresholds)
def test_join_components__by_prefixes_of_weights_as_oracle(sets, threshold):
    table, exact = make_weighted_sets(sets), WeightedJaccard(threshold)
    documents = CandidateSets.of_sets(list_prefixes(table, exact), table)
    removals = join_components(documents, exact, choose_survivors(documents, exact))
    assert keepers_of(removals, len(sets)) == components_oracle.choose(
        sets, WEIGHTED, threshold, are_candidates=lambda d, e: sets[d] and sets[e]
    )


@given(
    texts,
    st.none() | texts,
    st.sampled_from(ALL),
    st.sampled_from(["0.05", "0.25", "0.5", "0.75", "1"]),
    st.sampled_from(sorted(ORDERS)),
    st.sampled_from(["survivors", "components"]),
)
def test_deduplicate__exact_as_oracle(own, other, scheme, threshold, keep, clusters):
    rows, others = make_rows(own), make_rows(other or (), "o")
    tf, idf = scheme
    options = {"tf": tf, "idf": idf, "threshold": threshold, "keep": keep, "clusters": clusters}
    result = run(rows, None if other is None else others, method="exact", **options)
    check(result, rows, expected_result(rows, others, **options)[0])


@pytest.mark.slow
@each_of("idf", ["smooth", "standard"])
@each_of("clusters", ["survivors", "components"])
def test_deduplicate__exact_as_sure_bands(idf, clusters):
    strings = passages(1, 250)
    options = {"measure": WEIGHTED, "idf": idf, "threshold": "0.5", "clusters": clusters}
    sure = neardup.deduplicate(strings, **grouped(**options, **SURE))
    assert len(sure.removed) > 50
    found = neardup.deduplicate(strings, **grouped(method="exact", **options))
    assert found.removed == sure.removed
    assert found.clusters == sure.clusters
    assert found.summary["method"] == "exact"
    assert found.summary["candidates"] < sure.summary["candidates"]


@pytest.mark.slow
@pytest.mark.parametrize("as_index", [False, True])
def test_deduplicate__exact_and_audit_against_weighted_documents(tmp_path, as_index):
    """Of an index, whose weights stay as they were, and of a collection."""
    strings, others = passages(3, 150), passages(4, 60)
    others += strings[:40]
    options = {"measure": WEIGHTED, "threshold": "0.5"}
    against = others
    if as_index:
        against = neardup.DocumentIndex.create(tmp_path / "index", **grouped(**options, **SURE))
        against.add(others)
    sure = {} if as_index else SURE
    expected = neardup.deduplicate(strings, **grouped(against=against, **options, **sure))
    exact = neardup.deduplicate(strings, **grouped(against=against, method="exact", **options))
    audited = neardup.deduplicate(strings, **grouped(against=against, audit=50, **options, **sure))
    assert exact.removed == audited.removed == expected.removed
    assert len(expected.removed) > 40
    assert audited.summary["audit"]["recall"] == 1
    assert audited.summary["audit"]["similar_documents"] > 5


@pytest.mark.slow
def test_deduplicate__audit_of_weights_counts_pairs_that_share_a_band():
    strings = [text for text in dict.fromkeys(passages(5, 150)) if text not in ("", "!")]
    options = {"measure": WEIGHTED, "threshold": "0.5"}
    pairs = neardup.find_pairs(strings, **grouped(**options))
    sure = neardup.deduplicate(strings, **grouped(audit=10**6, **options, **SURE)).summary["audit"]
    assert sure["documents"] == len(strings)
    assert sure["similar_pairs"] == sure["found_pairs"] == 2 * len(pairs) > 50
    blind = neardup.deduplicate(strings, **grouped(audit=10**6, bands=(1, 100), **options)).summary[
        "audit"
    ]
    assert blind["similar_pairs"] == sure["similar_pairs"]
    assert blind["recall"] < 0.3
    assert blind["kept_although_similar"] > 10


@given(set_lists, thresholds, st.data())
def test_audit_recall__of_weighted_sets_as_counted(sets, threshold, data):
    n = len(sets)
    labels = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    stays = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    audit = audit_recall(
        np.arange(n),
        make_weighted_sets(sets),
        WeightedJaccard(threshold),
        np.array([labels], np.uint64),
        np.array(stays),
        Runner(2),
    )
    similar = [
        [e for e in range(n) if e != d and are_similar(sets[d], sets[e], threshold)]
        for d in range(n)
    ]
    shares = [
        Fraction(sum(labels[d] == labels[e] for e in others), len(others))
        for d, others in enumerate(similar)
        if others
    ]
    assert (audit["similar_pairs"], audit["similar_documents"]) == (
        sum(map(len, similar)),
        len(shares),
    )
    if shares:
        assert audit["recall"] == pytest.approx(float(sum(shares) / len(shares)))
    assert audit["kept_although_similar"] == sum(
        stays[d] and any(e < d and stays[e] for e in others) for d, others in enumerate(similar)
    )
