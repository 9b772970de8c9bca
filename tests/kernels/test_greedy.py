from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

from neardup.kernels.sketch import greedy
from neardup.kernels.sketch.samples import SampleRows
from neardup.kernels.types import sealed
from tests.arrays import ragged
from tests.each import each_of


@each_of("seed", range(40))
def test_find_alone__those_whose_values_nobody_has(seed):
    """With bits for each value; where values share them, some may not be found, but no others."""
    generator = random.Random(seed)
    moduli = [generator.choice([1, 1, 2, 4]) for _ in range(generator.randint(1, 12))]
    if generator.random() < 0.4:
        moduli = [1] * len(moduli)
    sets = [
        [value * m for value in generator.sample(range(40), generator.randint(0, 8))]
        for m in moduli
    ]
    values, offsets = ragged([sorted(elements) for elements in sets])
    counts = np.array(moduli, np.int64)
    samples = sealed(SampleRows(values, offsets, np.full(len(sets), -1), counts))
    threshold = Fraction(generator.choice(["1/2", "3/4", "1", "1/10"]))
    largest = max(moduli) if len(set(moduli)) > 1 else 1
    levels = [m for m in (1, 2, 4) if m <= largest]

    def is_alone(d):
        others = set().union(*(set(each) for k, each in enumerate(sets) if k != d))
        for modulus in levels:
            left = {value for value in sets[d] if value % modulus == 0}
            if left and len(left & others) >= threshold * len(left):
                return False
        return True

    expected = [is_alone(d) for d in range(len(sets))]
    for n_bytes in (1, 4, 1 << 16):
        seen = np.zeros(n_bytes, np.uint8)
        greedy.note_values(values, seen)
        found = np.empty(len(sets), np.bool_)
        room = np.full((2, len(levels)), -7, np.int64)
        greedy.find_alone(samples, seen, threshold.numerator, threshold.denominator, room, found)
        assert all(wanted or not each for each, wanted in zip(found, expected, strict=True))
    assert found.tolist() == expected
