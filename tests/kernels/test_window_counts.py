from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.kernels.passage import repeat_table
from tests.oracles import repeats as oracle
from tests.repeats import make_tokens


def counts_of(documents, order, min_tokens, n_parts):
    """How many windows there are of each number of documents."""
    tokens = make_tokens(documents, lead=2)
    found = []
    for part in range(n_parts):
        hashes = np.zeros(256, np.uint64)
        counts, last_seen = np.zeros(256, np.int32), np.zeros(256, np.int32)
        repeat_table.count_documents(
            tokens.values,
            tokens.offsets,
            np.array(order, np.int64),
            min_tokens,
            part,
            n_parts,
            hashes,
            counts,
            last_seen,
        )
        assert ((hashes != 0) == (counts > 0)).all()
        found += counts[counts > 0].tolist()
    return sorted(found)


@pytest.mark.parametrize("n_parts", [1, 3])
def test_count_documents__oracle(n_parts):
    generator = random.Random(n_parts)
    for _ in range(30):
        documents = [
            generator.choices(range(3), k=generator.randrange(20))
            for _ in range(generator.randrange(6))
        ]
        order = generator.sample(range(len(documents)), generator.randint(0, len(documents)))
        min_tokens = generator.randint(1, 6)
        texts = [documents[d] for d in order]
        expected = []
        while shared := oracle.shared_windows(texts, min_tokens, len(expected) + 1):
            expected.append(len(shared))
        at_least = [0] * (len(texts) + 2)
        for count in counts_of(documents, order, min_tokens, n_parts):
            for least in range(1, count + 1):
                at_least[least] += 1
        assert at_least[1 : len(expected) + 1] == expected
        assert not any(at_least[len(expected) + 1 :])


def test_fill_table__each_is_found():
    hashes = np.array([3, 5, 7, 2**64 - 1, 2**40 + 3], np.uint64)
    table = np.zeros(8, np.uint64)
    repeat_table.fill_table(hashes, table)
    assert sorted(table[table > 0].tolist()) == sorted(hashes.tolist())
    assert [table[repeat_table.slot_of(table, h)] for h in hashes] == hashes.tolist()
