"""Passages of chains: similar as wholes, each stretch once, as much as evidence carries."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from math import ceil

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage.chains import Hit, holds
from neardup.kernels.passage.refine import refine_chains
from tests.examples import examples
from tests.pairs import chained, pair_of

HALF = Fraction(1, 2)


def refined(query, document, chains, threshold=HALF, reach=10, **how):
    """Return hits and similarities of the passages of chains, which are lists of hits."""
    pair = pair_of(query, document, threshold, reach, **how)
    hits, *chains = chained([[[hit] for hit in chain] for chain in chains])
    kept = np.empty((len(hits), 6), np.int64)
    n_kept = refine_chains(pair, hits, *chains, kept)
    return [(Hit(*row[:4]), row[4] / row[5]) for row in kept[:n_kept].tolist()]


def chain_of(*places):
    return places


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
    found = refined(query, document, chains, Fraction(threshold))
    for hit, reported in found:
        true = similarity(query, document, hit)
        assert reported == float(true)
        assert true >= Fraction(threshold)
    hits = [hit for hit, _ in found]
    for i, one in enumerate(hits):
        assert not any(holds(other, one) for j, other in enumerate(hits) if i != j)


def test_settle__parts_of_one_stretch_become_one():
    text = list(range(100))
    parts = [chain_of((0, 60, 0, 60)), chain_of((50, 100, 50, 100))]
    [(hit, reported)] = refined(text, text, parts)
    assert (hit, reported) == (Hit(0, 100, 0, 100), 1.0)


def test_settle__what_adds_nothing_changes_nothing():
    """A weak chain that overlaps a passage does not take in what only one text has."""
    shared = list(range(60))
    query, document = [*range(200, 205), *shared], [*range(300, 340), *shared]
    strong, weak = chain_of((5, 65, 40, 100)), chain_of((0, 20, 40, 55))
    [(hit, reported)] = refined(query, document, [strong, weak])
    assert (hit, reported) == (Hit(5, 65, 40, 100), 1.0)


def test_settle__formulas_within_a_longer_passage():
    """What recurs inside of one long passage is not reported beside it, also if its ends stick
    out a little; what both texts have elsewhere is."""
    formula = list(range(1000, 1012))
    text = [*formula, *range(80), *formula, *range(100, 180), *formula]
    document = [*text, *range(400, 460), *formula]
    whole = chain_of((0, len(text), 0, len(text)))
    inner, outer = chain_of((0, 12, 92, 104)), chain_of((0, 12, 256, 268))
    found = [hit for hit, _ in refined(text, document, [whole, inner, outer])]
    assert found == [Hit(0, 196, 0, 196), Hit(0, 12, 256, 268)]


def test_settle__a_text_beside_itself_never_overlaps():
    text = [1, 2, 3, 4] * 30
    chain = chain_of((0, 40, 44, 84), (40, 60, 90, 110))
    for hit, _ in refined(text, text, [chain], apart=0):
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
    start = 60 + first
    chain = chain_of((start, start + 30, start, start + 30))
    [(hit, _)] = refined(query, document, [chain], least, 34, min_tokens=n)
    assert max(hit.query_stop - hit.query_start, hit.stop - hit.start) >= n
    assert similarity(query, document, hit) >= least


def test_settle__a_short_part_if_there_is_no_other():
    """It may be long enough with what lies beside it."""
    shared = list(range(40))
    query, document = [*range(200, 260), *shared], [*range(300, 360), *shared]
    chains = [chain_of((60, 100, 60, 100))]
    [(hit, reported)] = refined(query, document, chains, Fraction(9, 10), min_tokens=60)
    assert (hit, reported) == (Hit(60, 100, 60, 100), 1.0)
