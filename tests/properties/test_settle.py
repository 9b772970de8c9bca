"""Passages of chains: similar as wholes, each stretch once, as much as evidence carries."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.passages.refine import Hit, HitRun, PassageRefiner, TokenBalance
from neardup.passages.windows import make_passage_scheme
from tests.examples import examples

BALANCE = TokenBalance(make_passage_scheme(min_tokens=10), None)
HALF = Fraction(1, 2)


def settler_of(query, document, threshold=HALF):
    texts = np.array(query, np.uint64), np.array(document, np.uint64)
    return PassageRefiner(texts, BALANCE, threshold, 10)


def chain_of(*places):
    return [HitRun((Hit(*place),), Hit(*place), 1.0) for place in places]


def similarity(query, document, hit):
    parts = (
        Counter(query[hit.query_start : hit.query_stop]),
        Counter(document[hit.start : hit.stop]),
    )
    return Fraction((parts[0] & parts[1]).total(), (parts[0] | parts[1]).total())


@examples(60)
@given(seed=st.integers(0, 2**32), threshold=st.sampled_from(["0.3", "0.5", "0.8"]))
def test_settle__true_similarities_and_none_within_another(seed, threshold):
    rng = random.Random(seed)
    query = [rng.randrange(12) for _ in range(80)]
    document = [rng.choice([word, rng.randrange(12)]) for word in query]
    chains = []
    for _ in range(rng.randrange(1, 8)):
        starts = sorted(rng.sample(range(60), 2))
        shift = rng.randrange(-5, 6)
        chains.append(
            chain_of(*((s, s + 15, max(s + shift, 0), max(s + shift, 0) + 15) for s in starts))
        )
    found = settler_of(query, document, Fraction(threshold)).refine(chains)
    for hit, reported in found:
        true = similarity(query, document, hit)
        assert reported == float(true)
        assert true >= Fraction(threshold)
    hits = [hit for hit, _ in found]
    for i, one in enumerate(hits):
        assert not any(other.holds(one) for j, other in enumerate(hits) if i != j)


def test_settle__parts_of_one_stretch_become_one():
    text = list(range(100))
    parts = [chain_of((0, 60, 0, 60)), chain_of((50, 100, 50, 100))]
    [(hit, reported)] = settler_of(text, text).refine(parts)
    assert (hit, reported) == (Hit(0, 100, 0, 100), 1.0)


def test_settle__what_adds_nothing_changes_nothing():
    """A weak chain that overlaps a passage does not take in what only one text has."""
    shared = list(range(60))
    query, document = [*range(200, 205), *shared], [*range(300, 340), *shared]
    strong, weak = chain_of((5, 65, 40, 100)), chain_of((0, 20, 40, 55))
    [(hit, reported)] = settler_of(query, document).refine([strong, weak])
    assert (hit, reported) == (Hit(5, 65, 40, 100), 1.0)


def test_settle__formulas_within_a_longer_passage():
    """What recurs inside of one long passage is not reported beside it, also if its ends stick
    out a little; what both texts have elsewhere is."""
    formula = list(range(1000, 1012))
    text = [*formula, *range(80), *formula, *range(100, 180), *formula]
    document = [*text, *range(400, 460), *formula]
    whole = chain_of((0, len(text), 0, len(text)))
    inner, outer = chain_of((0, 12, 92, 104)), chain_of((0, 12, 256, 268))
    found = [hit for hit, _ in settler_of(text, document).refine([whole, inner, outer])]
    assert found == [Hit(0, 196, 0, 196), Hit(0, 12, 256, 268)]


def test_settle__a_text_beside_itself_never_overlaps():
    text = np.array([1, 2, 3, 4] * 30, np.uint64)
    refiner = PassageRefiner((text, text), BALANCE, HALF, 10, apart=0)
    for hit, _ in refiner.refine([chain_of((0, 40, 44, 84), (40, 60, 90, 110))]):
        assert hit.query_stop <= hit.start


@examples(100)
@given(
    seed=st.integers(0, 2**32), threshold=st.sampled_from(["0.4", "0.6"]), first=st.integers(0, 20)
)
def test_settle__all_that_is_just_at_the_threshold_in_another_order(seed, threshold, first):
    """Words that both texts have may be few at its ends: only the whole is long enough."""
    rng = random.Random(seed)
    n, least = 50, Fraction(threshold)
    n_common = ceil(2 * n * least / (1 + least))
    kept = {0, n - 1, *rng.sample(range(1, n - 1), n_common - 2)}
    changed = [i if i in kept else 1000 + i for i in range(n)]
    sentences = [changed[start : start + 12] for start in range(0, n, 12)]
    around = [range(2000 + 100 * i, 2060 + 100 * i) for i in range(4)]
    query = [*around[0], *range(n), *around[1]]
    document = [*around[2], *(w for s in sentences for w in rng.sample(s, len(s))), *around[3]]
    texts = np.array(query, np.uint64), np.array(document, np.uint64)
    refiner = PassageRefiner(texts, BALANCE, least, 34, min_tokens=n)
    start = 60 + first
    [(hit, _)] = refiner.refine([chain_of((start, start + 30, start, start + 30))])
    assert hit.longer >= n
    assert similarity(query, document, hit) >= least


def test_settle__a_short_part_if_there_is_no_other():
    """It may be long enough with what lies beside it."""
    shared = list(range(40))
    query, document = [*range(200, 260), *shared], [*range(300, 360), *shared]
    texts = np.array(query, np.uint64), np.array(document, np.uint64)
    refiner = PassageRefiner(texts, BALANCE, Fraction(9, 10), 10, min_tokens=60)
    [(hit, reported)] = refiner.refine([chain_of((60, 100, 60, 100))])
    assert (hit, reported) == (Hit(60, 100, 60, 100), 1.0)
