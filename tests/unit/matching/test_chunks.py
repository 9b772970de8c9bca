from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from neardup.matching.measures import Jaccard
from neardup.matching.survivors import choose_survivors
from tests.unit.matching.runs import Runs

HALF = Jaccard(Fraction("0.5"))


def choose(runs, keys, *, capacity):
    return choose_survivors(runs.documents(keys, capacity), HALF)


def choose_chain(n):
    """Each document is similar to the next one and shares a key with it, and with no other."""
    runs = Runs(np.arange(n) * 3)
    numbers = np.arange(n)
    return runs, choose(runs, np.stack([numbers // 2, (numbers + 1) // 2], axis=1), capacity=1000)


def test_choose_in_chunks__work_in_a_chain_grows_with_its_length():
    n = 20_000
    runs, removals = choose_chain(n)
    assert removals.documents.tolist() == [*range(1, n, 2)]
    assert (removals.keepers == removals.documents - 1).all()
    n_chunks = -(-n // 60)
    assert n <= runs.n_reads.sum() <= n + n_chunks
    assert runs.n_reads.max() <= 2
    half, of_half = choose_chain(n // 2)
    assert runs.n_reads.sum() == pytest.approx(2 * half.n_reads.sum(), rel=0.001)
    assert removals.n_compared == pytest.approx(2 * of_half.n_compared, abs=1)


def test_choose_in_chunks__in_one_bucket_later_chunks_read_survivors_again():
    """Chunks of six documents, of which every third goes for the one before."""
    firsts = [100 * d - 99 * (d % 3 == 2) for d in range(60)]
    runs = Runs(firsts)
    removals = choose(runs, [[1]] * 60, capacity=100)
    goes = np.arange(60) % 3 == 2
    assert removals.documents.tolist() == np.flatnonzero(goes).tolist()
    assert (removals.keepers == removals.documents - 1).all()
    later_chunks = 9 - np.arange(60) // 6
    assert runs.n_reads.tolist() == np.where(goes, 1, 1 + later_chunks).tolist()
