from __future__ import annotations

from fractions import Fraction

import numpy as np

from neardup.matching.measures import Jaccard
from neardup.matching.survivors import choose_survivors, join_components
from tests.removals import keepers_of
from tests.unit.matching.runs import Runs

HALF = Jaccard(Fraction("0.5"))


def join(runs, keys, *, capacity):
    """Join documents; ``runs`` counts what is read after survivors were chosen."""
    documents = runs.documents(keys, capacity)
    chosen = choose_survivors(documents, HALF)
    runs.n_reads[:] = 0
    return join_components(documents, HALF, chosen)


def test_join_in_chunks__work_in_a_chain_grows_with_its_length():
    """Each document is similar to the next one and shares a key with it, and with no other."""
    n = 20_000
    numbers = np.arange(n)
    runs = Runs(numbers * 3)
    removals = join(runs, np.stack([numbers // 2, (numbers + 1) // 2], axis=1), capacity=1000)
    assert keepers_of(removals, len(runs.sizes)) == [-1, *[0] * (n - 1)]
    n_chunks = -(-n // 60)
    # Once for comparing, but for one of each chunk, and once for scoring, with the first one.
    assert 2 * n - 1 <= runs.n_reads.sum() <= 2 * n + 2 * n_chunks
    assert runs.n_reads[1:].max() <= 3


def test_join_in_chunks__one_cluster_is_not_compared_again():
    runs = Runs([7] * 100)
    removals = join(runs, [[1, 2]] * 100, capacity=100)
    assert keepers_of(removals, len(runs.sizes)) == [-1] + [0] * 99
    # To score them, each chunk of six with the one that stays.
    assert runs.n_reads.tolist() == [17] + [1] * 99
