from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage.chains import LinkRules, link_hits
from tests.examples import examples
from tests.oracles import chains as oracle

# Evidence and costs of which floats are exact sums.
evidences = st.integers(1, 40).map(lambda number: Fraction(number, 4))


@st.composite
def hit_lists(draw, most=7):
    place = st.builds(
        lambda a, m, b, n: (a, a + m, b, b + n),
        *(st.integers(0, 12), st.sampled_from([1, 2, 4, 8])) * 2,
    )
    places = sorted(draw(st.lists(place, min_size=1, max_size=most)))
    evidence = draw(st.lists(evidences, min_size=len(places), max_size=len(places)))
    return places, evidence


rule_sets = st.builds(
    oracle.Rules,
    *(st.sampled_from([0, 3, 10, 1 << 40]), st.sampled_from([0, 3, 10, 1 << 40])),
    *(st.integers(0, 4), st.sampled_from([Fraction(1, 64), Fraction(1, 4), Fraction(2)])),
)


class Linked:
    """Arrays as the kernel fills them."""

    def __init__(self, places, evidence, rules):
        n = len(places)
        self.places = np.array(places, np.int64).reshape(-1, 4)
        self.evidence = np.array([float(e) for e in evidence])
        self.rules = LinkRules(rules.gap, rules.shift, rules.back, np.float64(float(rules.cost)))
        self.taken, self.open = np.zeros(n, np.bool_), np.ones(n, np.bool_)
        self.scores, self.room = np.full(n, np.nan), np.full(n, np.nan)
        self.before = np.full(n, -1, np.int64)

    def run(self):
        longest = int((self.places[:, 1] - self.places[:, 0]).max())
        arrays = (self.scores, self.room, self.before, self.open)
        link_hits(self.places, self.evidence, self.taken, longest, self.rules, *arrays)
        return self

    def chain(self, end):
        members = [end]
        while self.before[members[-1]] >= 0:
            members.append(int(self.before[members[-1]]))
        return members[::-1]


@examples(300)
@given(hits=hit_lists(), rules=rule_sets)
def test_link_hits__best_of_all_chains(hits, rules):
    linked = Linked(*hits, rules).run()
    assert linked.scores.tolist() == oracle.best_ending(*hits, rules)
    assert not linked.open.any()
    for end, score in enumerate(linked.scores.tolist()):
        assert oracle.worth(linked.chain(end), *hits, rules) == score


@examples(300)
@given(hits=hit_lists(), rules=rule_sets, data=st.data())
def test_link_hits__after_some_were_taken(hits, rules, data):
    places, evidence = hits
    linked = Linked(places, evidence, rules).run()
    for _ in range(2):
        end = data.draw(st.integers(0, len(places) - 1))
        if not linked.taken[end]:
            linked.taken[linked.chain(end)] = True
        linked.run()
    left = [i for i in range(len(places)) if not linked.taken[i]]
    expected = oracle.best_ending([places[i] for i in left], [evidence[i] for i in left], rules)
    assert linked.scores[left].tolist() == expected
    assert (linked.scores[linked.taken] == -np.inf).all()
    assert not np.isin(linked.before[left], np.flatnonzero(linked.taken)).any()


def test_link_hits__latest_of_equal():
    places = [(0, 2, 0, 2), (0, 2, 1, 3), (1, 3, 0, 2), (4, 6, 4, 6)]
    linked = Linked(places, [Fraction(4)] * 4, oracle.Rules(99, 99, 0, Fraction(0))).run()
    assert linked.chain(3) == [2, 3]
