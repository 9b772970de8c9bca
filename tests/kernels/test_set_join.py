from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.matching import set_join
from neardup.matching.join import ALGORITHMS
from neardup.matching.measures import MEASURES
from neardup.matching.set_join import JoinCounts, join_sets
from neardup.runs.runner import Runner
from tests.arrays import make_sets
from tests.each import each_of
from tests.kernels.set_probe import random_sets, threshold_of
from tests.oracles import joins
from tests.oracles.measures import JOIN_MEASURES


@pytest.fixture(autouse=True)
def parities_always(monkeypatch):
    """Few sets meet too little for them."""
    monkeypatch.setattr(set_join, "_LEAST_MEETINGS", 0)
    monkeypatch.setattr(set_join, "_LEAST_UNLIKE", 0)


def joined(sets, measure, threshold, **options):
    pairs, counts = join_sets(
        make_sets(sets), MEASURES[measure].parse(threshold), runner=Runner(1), **options
    )
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


@each_of("algorithm", ALGORITHMS)
@each_of("measure", JOIN_MEASURES)
@each_of("two_sided", [False, True])
def test_join_sets__as_oracle(measure, algorithm, two_sided):
    generator = random.Random(f"{measure} {two_sided}")
    for _ in range(12):
        sets = random_sets(generator, generator.randint(1, 12))
        sides = [generator.randrange(4) for _ in sets] if two_sided else None
        threshold = threshold_of(generator, measure)
        found, counts = joined(
            sets,
            measure,
            threshold,
            algorithm=algorithm,
            sides=None if sides is None else np.array(sides, np.uint8),
        )
        assert found == joins.join(sets, measure, Fraction(threshold), sides)
        assert counts.results == len(found) <= counts.verified


@each_of("algorithm", ALGORITHMS)
@each_of("measure", JOIN_MEASURES)
def test_join_sets__sets_of_many_words_of_parities(measure, algorithm):
    """As the oracle, of sets large enough that several words tell them apart."""
    generator = random.Random(f"large {measure}")
    sets = []
    for _ in range(40):
        new = {generator.randrange(400) for _ in range(generator.choice([20, 90, 150]))}
        if sets and generator.random() < 0.7:
            # Around the threshold, from equal to rather unlike.
            n_changes = generator.randrange(60)
            new = generator.choice(sets) ^ {generator.randrange(400) for _ in range(n_changes)}
        sets.append(new)
    threshold = "70" if measure == "overlap" else "0.7"
    found, counts = joined(sets, measure, threshold, algorithm=algorithm)
    assert found == joins.join(sets, measure, Fraction(threshold))
    assert 0 < len(found) < counts.after_size
    if algorithm == "ppjoin+" and measure in ("jaccard", "dice", "cosine"):
        assert len(found) <= counts.after_parity < counts.after_size


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_join_sets__exact_tie_that_floating_point_loses(algorithm):
    """0.54 * 450 is 243.00000000000003 in floating point."""
    sets = [set(range(450)), set(range(243))]
    assert joined(sets, "jaccard", "0.54", algorithm=algorithm)[0] == [(0, 1, 243)]
    assert joined(sets, "jaccard", "0.540000001", algorithm=algorithm)[0] == []


@pytest.mark.parametrize("algorithm", ["ppjoin", "ppjoin+"])
def test_join_sets__prefixes_start_with_what_no_other_set_has(algorithm):
    """They come first of all and cannot be met under, so that less or nothing is left to look."""
    alike = [{1, 10, 11, 12}, {2, 10, 11, 12}]
    # Two of four tokens each, of which the second is met: by both, and by one with the other.
    assert joined(alike, "jaccard", "0.5", algorithm=algorithm) == (
        [(0, 1, 3)],
        JoinCounts(4, 1, int(algorithm == "ppjoin+"), 1, 1, 1, 1),
    )
    unlike = [{1, 2, 3, 4, 10, 11, 12}, {5, 6, 7, 8, 10, 11, 12}]
    nothing = JoinCounts(0, 0, 0, 0, 0, 0, 0)
    assert joined(unlike, "jaccard", "0.75", algorithm=algorithm) == ([], nothing)


def test_join_sets__parities_where_much_is_met(monkeypatch):
    """Else PPJoin+ does what All-Pairs does."""
    monkeypatch.undo()
    alike = [{1, 2, 3, 4, 5, 6}] * 2 + [{11, 12, 13}] * 2
    counts = {name: joined(alike, "jaccard", "0.9", algorithm=name)[1] for name in ALGORITHMS}
    assert counts["ppjoin+"] == counts["allpairs"] != counts["ppjoin"]
    # Each of ten meets all others under all that they have.
    many = [{number, 100, 101, 102} for number in range(10)]
    found, counts = joined(many, "jaccard", "0.5", algorithm="ppjoin+")
    assert counts.after_parity == len(found) == 45


def test_join_sets__parities_where_pairs_that_meet_are_unlike(monkeypatch):
    """Where they are similar, nothing is saved, and PPJoin+ does what All-Pairs does."""
    monkeypatch.undo()
    generator = random.Random(7)
    # Families of sets that all lack another element, and sets of elements that many have.
    alike = [set(range(k, k + 24)) - {k + n} for k in range(0, 2400, 24) for n in range(12)]
    unlike = [set(generator.sample(range(60), 12)) for _ in range(1200)]
    for sets, is_alike in ((alike, True), (unlike, False)):
        found = {name: joined(sets, "jaccard", "0.8", algorithm=name) for name in ALGORITHMS}
        assert found["ppjoin+"][0] == found["allpairs"][0] == found["ppjoin"][0]
        assert (found["ppjoin+"][1] == found["allpairs"][1]) is is_alike
