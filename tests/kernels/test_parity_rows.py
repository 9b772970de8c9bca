from __future__ import annotations

import random
from functools import reduce
from itertools import accumulate
from operator import xor

import numpy as np
import pytest

from neardup.kernels.join import set_join
from neardup.kernels.types import sealed


@pytest.mark.parametrize("n_words", [1, 2, 8])
def test_fill_parity_rows__by_definition(n_words):
    """A bit is set if an odd number of tokens have its number, modulo that of the bits."""
    generator = random.Random(n_words)
    # So many tokens that bits are turned back, in records of very different sizes; one is empty.
    lengths = [0, 1, 3, 70, 900]
    records = [sorted(generator.sample(range(5_000), length)) for length in lengths]
    sizes = [length + generator.randrange(3) for length in lengths]
    firsts = np.zeros(2 * len(records), np.uint64)
    others = np.zeros(len(records) * (n_words - 1), np.uint64)
    set_join.fill_parity_rows(
        np.array([token for record in records for token in record], np.int32),
        np.array([*accumulate(lengths, initial=0)][:-1], np.int64),
        np.array(lengths, np.int64),
        np.array(sizes, np.int64),
        n_words,
        firsts,
        others,
    )
    for number, record in enumerate(records):
        bits = sum(
            (sum(token % (64 * n_words) == bit for token in record) % 2) << bit
            for bit in range(64 * n_words)
        )
        words = [bits >> (64 * word) & (2**64 - 1) for word in range(n_words)]
        assert firsts[2 * number] == sizes[number] << 32 | lengths[number]
        row = others[number * (n_words - 1) : (number + 1) * (n_words - 1)]
        assert [int(firsts[2 * number + 1]), *row.tolist()] == words


@pytest.mark.parametrize("n_words", [1, 2, 8])
def test_fold_postings__exclusive_or_of_all_words(n_words):
    generator = random.Random(n_words)
    rows = [[generator.getrandbits(64) for _ in range(n_words)] for _ in range(5)]
    firsts = np.array([word for row in rows for word in (7, row[0])], np.uint64)
    others = np.array([word for row in rows for word in row[1:]], np.uint64)
    owners = generator.choices(range(5), k=20)
    words = np.zeros(20, np.uint64)
    parities = set_join.ParityRows(firsts, others, n_words, np.empty(0, np.uint64))
    set_join.fold_postings(sealed(parities), np.array(owners, np.int32), words)
    assert words.tolist() == [reduce(xor, rows[owner]) for owner in owners]
