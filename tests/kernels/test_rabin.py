from __future__ import annotations

from neardup.text import shingles
from tests.each import each_of
from tests.oracles import rabin as oracle


def test_draw_polynomial__first_irreducible_candidate():
    for seed in (0, 1, 42, 2**64 - 1):
        for candidate in oracle.candidates(seed, 64):
            if oracle.is_irreducible(candidate):
                break
            assert not shingles.is_irreducible(candidate)
        assert shingles.draw_polynomial(seed) == candidate


@each_of("degree", range(1, 9))
def test_is_irreducible__as_trial_division(degree):
    found = [p for p in range(1 << degree, 2 << degree) if shingles.is_irreducible(p)]
    assert found == oracle.irreducibles(degree)
    assert [p for p in range(1 << degree, 2 << degree) if oracle.is_irreducible(p)] == found
