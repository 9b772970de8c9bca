from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from neardup.matching.measures import Jaccard
from neardup.matching.survivors import UnreadSets, choose_in_chunks
from tests.unit.matching.runs import Runs

HALF = Jaccard(Fraction("0.5"))


def choose(runs, keys, *, capacity, n_fixed=0, progress=None):
    documents = UnreadSets(np.array(keys, np.uint64), runs.sizes, runs.read, n_fixed)
    return choose_in_chunks(documents, HALF, capacity=capacity, progress=progress)


def choose_chain(n):
    """Each document is similar to the next one and shares a key with it, and with no other."""
    runs = Runs(np.arange(n) * 3)
    numbers = np.arange(n)
    return runs, choose(runs, np.stack([numbers // 2, (numbers + 1) // 2], axis=1), capacity=1000)


def test_choose_in_chunks__work_in_a_chain_grows_with_its_length():
    n = 20_000
    runs, removals = choose_chain(n)
    assert (removals.keepers == np.where(np.arange(n) % 2, np.arange(n) - 1, -1)).all()
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
    assert (removals.keepers == np.where(goes, np.arange(60) - 1, -1)).all()
    later_chunks = 9 - np.arange(60) // 6
    assert runs.n_reads.tolist() == np.where(goes, 1, 1 + later_chunks).tolist()
