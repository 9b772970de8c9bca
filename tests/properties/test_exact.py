"""Deduplication by the exact method, the choice of a method, and the audit of a run."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import neardup
from neardup.jobs.dedup.run import audit_recall
from neardup.matching.buckets import list_prefixes
from neardup.matching.measures import CandidateSets, Containment, Jaccard, make_measure
from neardup.matching.survivors import choose_survivors, join_components
from neardup.runs.runner import Runner
from neardup.sketches.kind import wilson_intervals
from tests.arrays import make_sets
from tests.calls import grouped
from tests.each import each_of
from tests.oracles import components as components_oracle
from tests.oracles import survivors as survivors_oracle
from tests.oracles.measures import MEASURES, sets_reach
from tests.removals import keepers_of
from tests.strategies import thresholds

measures = st.sampled_from(MEASURES)
set_lists = st.lists(st.sets(st.integers(0, 15), min_size=1), min_size=1, max_size=14)


@given(set_lists, measures, thresholds)
def test_list_prefixes__similar_sets_share_a_key(sets, measure, threshold):
    lists = list_prefixes(make_sets(sets), make_measure(measure, threshold))
    runs = [lists.keys[a:b].tolist() for a, b in zip(lists.starts, lists.starts[1:], strict=False)]
    for a, x in enumerate(sets):
        assert len(set(runs[a])) == len(runs[a])
        for b, y in enumerate(sets):
            if a != b and sets_reach(measure, x, y, threshold):
                probed = runs[a][: lists.n_probed[a]]
                assert set(probed) & set(runs[b])
    sizes = np.bincount([key for run in runs for key in run], minlength=len(lists.sizes))
    assert lists.sizes.tolist() == sizes.tolist()
    # A key of one set alone is of no use.
    assert all(size > 1 for size in sizes)


def test_list_prefixes__containment_is_looked_for_by_what_is_contained():
    """What contains another looks for it only then; its rarest elements are no help."""
    sets, measure = make_sets([{1, 2, 3, 9}, {9}]), Containment(Fraction("0.75"))
    assert list_prefixes(sets, measure).n_probed.tolist() == [0, 1]


@given(set_lists, measures, thresholds, st.integers(0, 3))
def test_choose_survivors__by_prefixes_as_oracle(sets, measure, threshold, n_fixed):
    table, exact = make_sets(sets), make_measure(measure, threshold)
    lists = list_prefixes(table, exact)
    removals = choose_survivors(CandidateSets.of_sets(lists, table, n_fixed), exact)
    expected = survivors_oracle.choose(sets, measure, threshold, n_fixed=n_fixed)
    assert keepers_of(removals, len(sets)) == expected


@given(set_lists, measures, thresholds)
def test_join_components__by_prefixes_as_oracle(sets, measure, threshold):
    table, exact = make_sets(sets), make_measure(measure, threshold)
    lists = list_prefixes(table, exact)
    documents = CandidateSets.of_sets(lists, table)
    removals = join_components(documents, exact, choose_survivors(documents, exact))
    expected = components_oracle.choose(sets, measure, threshold)
    assert keepers_of(removals, len(sets)) == expected


def near_copies(n, seed=1):
    """Texts of which many differ from another in a few words."""
    generator = random.Random(seed)
    words = [f"w{i}" for i in range(200)]
    texts: list[list[str]] = []
    for _ in range(n):
        text = generator.choices(words, k=30)
        if texts and generator.random() < 0.5:
            text = list(generator.choice(texts))
            for _ in range(generator.randrange(4)):
                text[generator.randrange(30)] = generator.choice(words)
        texts.append(text)
    return [" ".join(text) for text in texts]


@pytest.mark.slow
@each_of("clusters", ["survivors", "components"])
@each_of("against", [None, near_copies(40, seed=1)])
def test_deduplicate__exact_as_sure_bands(clusters, against):
    texts = near_copies(150)
    options = {"ngram": 1, "threshold": "0.7", "clusters": clusters, "against": against}
    exact = neardup.deduplicate(texts, **grouped(method="exact", **options))
    sure = neardup.deduplicate(texts, **grouped(num_perm=512, bands=(512, 1), **options))
    assert len(exact.removed) > 20
    assert exact.removed.equals(sure.removed)
    assert exact.clusters.equals(sure.clusters)
    assert exact.summary["method"] == "exact"
    assert exact.summary["predicted_recall"] == 1
    assert "bands" not in exact.summary


def test_deduplicate__audit_counts_pairs_that_share_a_band():
    texts = near_copies(150)
    sure = neardup.deduplicate(
        texts, threshold="0.7", audit=10**6, text=neardup.TextOptions(ngram=1)
    )
    audit = sure.summary["audit"]
    pairs = neardup.find_pairs(texts, threshold="0.7", text=neardup.TextOptions(ngram=1)).pairs
    distinct = {text: str(i) for i, text in reversed(list(enumerate(texts)))}
    kept = set(distinct.values())
    n_pairs = sum(row["id_a"] in kept and row["id_b"] in kept for row in pairs.to_pylist())
    assert audit["documents"] == len(kept)
    assert audit["similar_pairs"] == 2 * n_pairs
    blind = neardup.deduplicate(
        texts, threshold="0.7", audit=10**6, text=neardup.TextOptions(ngram=1), bands=(1, 100)
    )
    assert blind.summary["audit"]["found_pairs"] < n_pairs
    assert blind.summary["audit"]["recall"] < 0.3
    assert blind.summary["audit"]["kept_although_similar"] > 10


@given(set_lists, measures, thresholds, st.data())
def test_audit_recall__as_counted(sets, measure, threshold, data):
    n = len(sets)
    labels = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    bands = data.draw(st.lists(labels, min_size=1, max_size=3))
    stays = data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
    drawn = sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=1)))
    audit = audit_recall(
        np.array(drawn),
        make_sets(sets),
        make_measure(measure, threshold),
        np.array(bands, np.uint64),
        np.array(stays),
        Runner(2),
    )
    similar = {
        d: [
            e
            for e in range(n)
            if e != d and sets_reach(measure, sets[max(d, e)], sets[min(d, e)], threshold)
        ]
        for d in drawn
    }
    shared = {
        d: [e for e in others if any(band[d] == band[e] for band in bands)]
        for d, others in similar.items()
    }
    assert audit["similar_pairs"] == sum(map(len, similar.values()))
    assert audit["found_pairs"] == sum(map(len, shared.values()))
    assert audit["kept_although_similar"] == sum(
        stays[d] and any(e < d and stays[e] for e in others) for d, others in similar.items()
    )
    shares = [Fraction(len(shared[d]), len(similar[d])) for d in drawn if similar[d]]
    assert audit["similar_documents"] == len(shares)
    if shares:
        assert audit["recall"] == pytest.approx(float(sum(shares) / len(shares)))
        low, high = audit["interval"]
        assert low <= audit["recall"] <= high
    else:
        assert audit["recall"] is audit["interval"] is None


def test_audit_recall__mean_of_those_that_are_similar_to_another():
    audit = audit_recall(
        np.array([0, 2, 3]),
        make_sets([{1, 2}, {1, 2}, {3}, {1, 2}]),
        Jaccard(Fraction(1)),
        np.array([[0, 0, 1, 2]], np.uint64),
        np.array([True] * 4),
        Runner(1),
    )
    # The first finds one of two, the last none of two.
    assert (
        audit["documents"],
        audit["similar_documents"],
        audit["similar_pairs"],
        audit["found_pairs"],
    ) == (3, 2, 4, 1)
    assert (audit["recall"], audit["kept_although_similar"]) == (0.25, 1)
    assert [[bound] for bound in audit["interval"]] == [b.tolist() for b in wilson_of(0.25, 2)]


def wilson_of(share, n):
    return wilson_intervals(np.array([share]), np.array([float(n)]))


@given(st.integers(0, 10**6), st.integers(1, 10**5))
def test_wilson_interval__bounds_are_as_far_as_chance_goes(millionths, n):
    """At either bound p the share seen is 1.96 standard deviations sqrt(p (1 - p) / n) away."""
    share = millionths / 10**6
    for (bound,) in wilson_of(share, n):
        if 0 < bound < 1:
            expected = 1.959963984540054**2 * bound * (1 - bound) / n
            assert (share - bound) ** 2 == pytest.approx(expected, rel=1e-6, abs=1e-12)
