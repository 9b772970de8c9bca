"""Chains of hits: forward in both texts, the best first, linked where evidence is worth the gap."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.kernels.passage.chains import ChainRules, Hit, chain_hits, holds, hull
from neardup.kernels.passage.refine import widest_gap, without_inner
from neardup.passages.aligner import NO_LIMIT
from neardup.passages.passage_lookup import window_starts
from tests.each import each_of
from tests.oracles import chains as oracle
from tests.pairs import room_of, rows_of

hits = st.builds(
    lambda a, m, b, n: Hit(a, a + m, b, b + n),
    *(st.integers(0, 60), st.integers(1, 12), st.integers(0, 60), st.integers(1, 12)),
)
chains = st.lists(hits, min_size=1, max_size=12).map(
    lambda found: sorted(found, key=lambda hit: hit.query_start)
)


class Run(NamedTuple):
    """Hits of a chain that follow each other closely."""

    hits: list[Hit]
    whole: Hit
    evidence: float


def whole_of(found):
    rows = rows_of(found)
    return hull(rows, np.arange(len(rows)), 0, len(rows))


def chained(found, similarities, rules):
    """Chain some hits, which need not be in order."""
    places = rows_of(sorted(found))
    chains = room_of(len(places))
    rules = ChainRules(rules.near, rules.gap, np.float64(rules.gap_cost))
    similar = np.array(similarities[: len(places)], np.float64)
    n_runs, n_chains = chain_hits(places, similar, rules, chains)
    hits = [Hit(*row) for row in places[chains.members].tolist()]
    runs = [hits[first:stop] for first, stop in pairwise(chains.runs[: n_runs + 1])]
    runs = [
        Run(run, whole_of(run), worth) for run, worth in zip(runs, chains.evidence, strict=False)
    ]
    return [runs[first:stop] for first, stop in pairwise(chains.bounds[: n_chains + 1])]


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
    places = [hit for run in runs for hit in run.hits]
    left = sorted(found)
    for place in places:
        left.remove(place)
    # The others were found again within a run.
    for place in left:
        assert any(holds(run.whole, place) for run in runs)
    for run in runs:
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
    runs = sorted((run for chain in chains_found for run in chain), key=lambda run: run.whole)
    links = oracle.Rules(rules.gap, rules.gap, 0, Fraction(rules.gap_cost))
    for chain in chains_found:
        places = [run.whole for run in runs]
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
    similar = dict.fromkeys(diagonal, 0.9) | dict.fromkeys(formulas, 0.6)
    found = sorted([*diagonal, *formulas])
    chain, *others = chained(found, [similar[hit] for hit in found], ChainRules(20, NO_LIMIT, 0.2))
    assert whole_of(run.whole for run in chain) == Hit(0, 1010, 0, 1010)
    assert all(len(other) <= 2 for other in others)


@given(found=st.lists(hits, max_size=12))
def test_without_inner__none_within_another(found):
    rows = rows_of(found)
    kept = [Hit(*row) for row in rows[: without_inner(rows, len(rows))].tolist()]
    assert all(not holds(a, b) for i, a in enumerate(kept) for j, b in enumerate(kept) if i != j)
    assert all(any(holds(outer, hit) for outer in kept) for hit in found)


@given(chain=st.lists(hits, min_size=2, max_size=12))
# No gap is wider than another: the middle.
@example([Hit(0, 4, 0, 4)] * 4)
def test_widest_gap__between_the_farthest(chain):
    def gap(cut):
        before, after = chain[cut - 1], chain[cut]
        return max(after.query_start - before.query_stop, after.start - before.stop, 0)

    cut = widest_gap(rows_of(chain), *[np.arange(len(chain) + 1)] * 2)
    widest = [i for i in range(1, len(chain)) if gap(i) == max(map(gap, range(1, len(chain))))]
    assert cut in widest
    assert all(abs(2 * cut - len(chain)) <= abs(2 * i - len(chain)) for i in widest)


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
