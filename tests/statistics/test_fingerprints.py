"""Collisions of fingerprints: as many as chance makes, whatever hashes the shingles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from neardup.tables import TokenLists
from neardup.text.shingles import make_shingle_scheme, shingle_lists

SHINGLES, SEEDS, SIGMAS = 60_000, 40, 4.5


@pytest.mark.statistics
@pytest.mark.parametrize("fingerprint", ["mixer", "rabin"])
def test_shingle_lists__collisions_of_32_bits(fingerprint):
    """Pairs of different shingles with one fingerprint are as many as n^2 / 2^33, in the mean.

    Of Rabin fingerprints the polynomial changes, of the mixer the tokens.
    """
    expected = SHINGLES * (SHINGLES - 1) / 2 / 2**32
    found = 0
    for seed in range(SEEDS):
        start = 0 if fingerprint == "rabin" else seed * SHINGLES
        tokens = np.arange(start, start + SHINGLES, dtype=np.uint64)
        lists = TokenLists(tokens, np.array([0, SHINGLES]))
        scheme = make_shingle_scheme(
            ngram=1, fingerprint=fingerprint, fingerprint_bits=32, seed=seed
        )
        values = shingle_lists(lists, scheme).values
        found += SHINGLES - len(np.unique(values))
    # Numbers of rare events are Poisson distributed.
    assert abs(found - SEEDS * expected) <= SIGMAS * math.sqrt(SEEDS * expected)
