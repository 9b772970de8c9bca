"""Chains of hits: forward in both texts, the best first, linked where evidence is worth the gap."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.passages.refine import (
    NO_LIMIT,
    ChainRules,
    Hit,
    HitRun,
    chain_hits,
    group_hits,
    hull,
    split_chain,
    widest_gap,
    window_starts,
    without_inner,
)
from tests.each import each_of
from tests.oracles import chains as oracle

hits = st.builds(
    lambda a, m, b, n: Hit(a, a + m, b, b + n),
    *(st.integers(0, 60), st.integers(1, 12), st.integers(0, 60), st.integers(1, 12)),
)
chains = st.lists(hits, min_size=1, max_size=12).map(
    lambda found: sorted(found, key=lambda hit: hit.query_start)
)


def place_of(hit):
    return (hit.query_start, hit.query_stop, hit.start, hit.stop)


def chained(found, similarities, rules):
    """Chain some hits, which need not be in order."""
    places = np.array(sorted(map(place_of, found)), np.int64).reshape(-1, 4)
    return chain_hits(places, np.array(similarities[: len(places)], np.float64), rules)


rule_sets = st.builds(
    ChainRules,
    near=st.sampled_from([0, 4, 12]),
    gap=st.sampled_from([0, 12, NO_LIMIT]),
    gap_cost=st.sampled_from([2**-10, 0.25, 1.0]),
)
similarities = st.lists(st.sampled_from([0.25, 0.5, 0.75, 1.0]), min_size=12, max_size=12)


@given(found=chains, similar=similarities, rules=rule_sets)
def test_chain_hits__each_hit_in_one_run(found, similar, rules):
    runs = [run for chain in chained(found, similar, rules) for run in chain]
    places = [place_of(hit) for run in runs for hit in run.hits]
    left = sorted(map(place_of, found))
    for place in places:
        left.remove(place)
    # The others were found again within a run.
    for place in left:
        assert any(run.whole.holds(Hit(*place)) for run in runs)
    for run in runs:
        assert run.whole == hull(run.hits)
        assert run.evidence > 0
        for before, after in pairwise(run.hits):
            gaps = after.query_start - before.query_stop, after.start - before.stop
            assert max(gaps) <= rules.near
            assert abs(gaps[1] - gaps[0]) <= rules.near
            assert before.query_start < after.query_start
            assert before.start <= after.start + rules.near // 2


@given(found=chains, similar=similarities, rules=rule_sets)
def test_chain_hits__the_best_first(found, similar, rules):
    chains_found = chained(found, similar, rules)
    runs = sorted(
        (run for chain in chains_found for run in chain), key=lambda run: place_of(run.whole)
    )
    links = oracle.Rules(rules.gap, rules.gap, 0, Fraction(rules.gap_cost))
    for chain in chains_found:
        places = [place_of(run.whole) for run in runs]
        evidence = [Fraction(run.evidence) for run in runs]
        numbers = [next(i for i, run in enumerate(runs) if run is part) for part in chain]
        assert numbers == sorted(numbers)
        worth = oracle.worth(numbers, places, evidence, links)
        assert float(worth) == pytest.approx(
            float(max(oracle.best_ending(places, evidence, links)))
        )
        runs = [run for run in runs if not any(run is part for part in chain)]
    assert not runs


@each_of(("gap", "is_one"), [(10, True), (90, True), (110, False), (5000, False)])
def test_chain_hits__as_far_as_the_lesser_side_carries(gap, is_one):
    """Beside a long stretch one of 20 shared tokens carries over 100 tokens, at a fifth each."""
    long_one = [Hit(i, i + 20, i, i + 20) for i in range(0, 2000, 10)]
    short = Hit(2010 + gap, 2030 + gap, 2010 + gap, 2030 + gap)
    found = chained([*long_one, short], [1.0] * 201, ChainRules(5, NO_LIMIT, 0.2))
    assert len(found) == (1 if is_one else 2)
    assert len(found[0][0].hits) == 200


def test_chain_hits__one_missing_chapter():
    """A text that lacks 2,000 tokens stays one passage where both sides have more."""
    first = [Hit(i, i + 20, i, i + 20) for i in range(0, 600, 10)]
    second = [Hit(i, i + 20, i + 2000, i + 2020) for i in range(620, 1200, 10)]
    [chain] = chained(first + second, [1.0] * 200, ChainRules(20, NO_LIMIT, 0.2))
    assert [run.whole for run in chain] == [Hit(0, 610, 0, 610), Hit(620, 1210, 2620, 3210)]
    assert len(chained(first + second, [1.0] * 200, ChainRules(20, 1999, 2**-10))) == 2


def test_chain_hits__formulas_beside_the_diagonal():
    """What recurs everywhere in one half of the text does not break the chain of the whole."""
    diagonal = [Hit(i, i + 20, i, i + 20) for i in range(0, 1000, 10)]
    formulas = [
        Hit(i, i + 20, j, j + 20) for i in range(0, 500, 40) for j in range(0, 500, 40) if i != j
    ]
    similar = {place_of(hit): 0.9 for hit in diagonal} | {place_of(hit): 0.6 for hit in formulas}
    found = sorted([*diagonal, *formulas], key=place_of)
    chain, *others = chained(
        found, [similar[place_of(hit)] for hit in found], ChainRules(20, NO_LIMIT, 0.2)
    )
    assert hull([run.whole for run in chain]) == Hit(0, 1010, 0, 1010)
    assert all(len(other) <= 2 for other in others)


def test_chain_hits__a_branch_within_its_run_is_no_chain():
    """What a run holds already is not found again beside it."""
    run = [Hit(i, i + 12, i, i + 12) for i in range(0, 60, 6)]
    branch = Hit(58, 64, 57, 63)
    found = chained([*run, branch], [1.0] * 11, ChainRules(12, NO_LIMIT, 0.2))
    assert [[part.whole for part in chain] for chain in found] == [[Hit(0, 66, 0, 66)]]


@given(found=st.lists(hits, min_size=2, max_size=12))
def test_split_chain__in_two_parts(found):
    runs = [HitRun((hit,), hit, 1.0) for hit in found]
    before, after = split_chain(runs)
    assert [*before, *after] == runs
    assert len(before) == widest_gap(found)
    [run_before], [run_after] = split_chain([HitRun(tuple(found), hull(found), 8.0)])
    assert run_before.hits + run_after.hits == tuple(found)
    assert run_before.whole == hull(run_before.hits)
    assert run_before.evidence + run_after.evidence == pytest.approx(8.0)


@given(found=st.lists(hits, max_size=9), documents=st.lists(st.integers(0, 3), min_size=9))
def test_group_hits__sorted_in_each_document(found, documents):
    documents = np.array(documents[: len(found)], np.int64)
    places = np.array(list(map(place_of, found)), np.int64).reshape(-1, 4)
    groups = list(group_hits(documents, places))
    assert [document for document, _ in groups] == sorted(set(documents.tolist()))
    for document, numbers in groups:
        rows = [tuple(row) for row in places[numbers].tolist()]
        expected = [place_of(h) for h, d in zip(found, documents, strict=True) if d == document]
        assert rows == sorted(expected)


@given(found=st.lists(hits, max_size=12))
def test_without_inner__none_within_another(found):
    kept = [hit for hit, _ in without_inner([(hit, 0.5) for hit in found])]
    assert all(not a.holds(b) for i, a in enumerate(kept) for j, b in enumerate(kept) if i != j)
    assert all(any(outer.holds(hit) for outer in kept) for hit in found)


@given(chain=st.lists(hits, min_size=2, max_size=12))
def test_widest_gap__between_the_farthest(chain):
    def gap(cut):
        before, after = chain[cut - 1], chain[cut]
        return max(after.query_start - before.query_stop, after.start - before.stop, 0)

    cut = widest_gap(chain)
    widest = [i for i in range(1, len(chain)) if gap(i) == max(map(gap, range(1, len(chain))))]
    assert cut in widest
    assert all(abs(2 * cut - len(chain)) <= abs(2 * i - len(chain)) for i in widest)


@given(chain=chains)
def test_hull__holds_all(chain):
    whole = hull(chain)
    assert whole.query_start == min(hit.query_start for hit in chain)
    assert whole.query_stop == max(hit.query_stop for hit in chain)
    assert whole.start == min(hit.start for hit in chain)
    assert whole.stop == max(hit.stop for hit in chain)


@given(n_tokens=st.integers(0, 300), length=st.integers(1, 60), step=st.integers(1, 60))
def test_window_starts__cover_the_text(n_tokens, length, step):
    step = min(step, length)
    starts = window_starts(n_tokens, length, step).tolist()
    covered = {i for start in starts for i in range(start, min(start + length, n_tokens))}
    assert covered == set(range(n_tokens))
    assert starts == sorted(set(starts))
    # Every stretch of so many tokens has a whole window.
    certain = length + step - 1
    for first in range(n_tokens - certain + 1):
        assert any(first <= start and start + length <= first + certain for start in starts)
