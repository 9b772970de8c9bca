from __future__ import annotations

import numpy as np
import pytest

from neardup.runs.runner import Runner
from neardup.sketches.minhash import SuperShingleRule, SuperShingles
from neardup.tables import Signatures
from tests.each import each_of


def test_super_shingle_rule__of_84_min_hashes():
    """Two of six groups of fourteen, as Broder and others used it on the Web."""
    found = [SuperShingleRule().probability(r) for r in (0.8, 0.9, 0.95, 0.99)]
    assert found == pytest.approx([0.026, 0.415, 0.879, 0.9998], abs=5e-4)


def signed(seed, n, num_perm=60):
    """Signatures of texts that are often nearly equal, some of empty ones."""
    generator = np.random.default_rng(seed)
    values = [generator.integers(0, 5, num_perm)]
    for _ in range(n - 1):
        row = values[generator.integers(len(values))].copy()
        changed = generator.random(num_perm) < generator.choice([0, 0.01, 0.1, 0.9])
        row[changed] = generator.integers(0, 5, changed.sum())
        values.append(row)
    sizes = np.where(generator.random(n) < 0.2, 0, 9)
    table = np.array(values, np.uint32)
    table[sizes == 0] = 2**32 - 1
    return Signatures(table, sizes.astype(np.int64))


@pytest.mark.slow
@each_of("seed", range(6))
@each_of("n_left", [None, 0, 11, 40])
@each_of("least", [1, 2, 6])
def test_super_shingles__join_finds_all_that_are_alike(seed, n_left, least):
    """Against groups of min-hashes, compared one by one."""
    signatures, rule = signed(seed, 40), SuperShingleRule(6, 10, least)
    groups = signatures.values.reshape(40, 6, 10)
    expected, counts = [], []
    for a in range(40):
        for b in range(a + 1, 40):
            n_equal = int((groups[a] == groups[b]).all(axis=1).sum())
            is_filled = signatures.sizes[a] > 0 and signatures.sizes[b] > 0
            counts.append(n_equal * is_filled)
            if is_filled and n_equal >= least and (n_left is None or a < n_left <= b):
                expected.append((a, b))
    found = SuperShingles.of(signatures, rule)
    left, right = found.join(n_left, Runner(2))
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == expected
    left, right = np.triu_indices(40, 1)
    assert found.count(left, right).tolist() == counts
