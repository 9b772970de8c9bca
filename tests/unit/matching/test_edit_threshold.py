from __future__ import annotations

from fractions import Fraction

from neardup.matching.edit_join import EditThreshold
from tests.each import each_of


@each_of(
    ("most", "expected"),
    [(0, [0]), (1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, [1, 2, 4]), (9, [1, 2, 4, 8, 9])],
)
def test_falling__more_edits_from_step_to_step(most, expected):
    steps = list(EditThreshold(most).falling())
    assert steps == [EditThreshold(distance) for distance in expected]


@each_of(
    ("floor", "n_steps"), [("1", 1), ("0.95", 1), ("0.94", 2), ("0.5", 10), ("0.000000001", 20)]
)
def test_falling__twentieths_down_to_the_similarity(floor, n_steps):
    steps = [step.similarity for step in EditThreshold(None, Fraction(floor)).falling()]
    assert len(steps) == n_steps
    assert steps == sorted(set(steps), reverse=True)
    assert steps[-1] == Fraction(floor)
