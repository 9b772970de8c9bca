from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest

from neardup.kernels.passage import lookups
from neardup.kernels.passage.lookups import QueryTokens
from neardup.kernels.types import sealed
from neardup.text.weighting import term_frequencies
from tests.arrays import JUNK, as_uint64, random_words
from tests.oracles import weighted
from tests.oracles import windows as oracle
from tests.oracles.hashing import mix

ANY_NUMBER = 2**31 - 1


def overlapping_texts(generator):
    """Give tokens by number, parts of them that overlap, one of them empty, and their hashes."""
    numbers = [generator.randrange(9) for _ in range(60)]
    spans = [(i, i + generator.choice((1, 2, 20))) for i in range(0, 40, 5)] + [(7, 7)]
    return numbers, spans, random_words(generator, 9)


def make_wanted(numbers, spans, hashes, tf="binary", inverses=None):
    starts, stops = (np.array(column, np.int64) for column in zip(*spans, strict=True))
    inverses = np.ones(len(hashes)) if inverses is None else np.array(inverses)
    table = term_frequencies(tf, len(numbers))
    longest = int((stops - starts).max())
    columns = np.array(numbers, np.int32), starts, stops, as_uint64(hashes), inverses, table
    return sealed(QueryTokens(*columns, longest))


@pytest.mark.parametrize("most", [1, 2, ANY_NUMBER])
def test_least_keys__as_oracle(most):
    generator = random.Random(most)
    numbers, spans, hashes = overlapping_texts(generator)
    seeds = random_words(generator, 5)
    keys = np.full((len(spans) - 2, 5), JUNK, np.uint64)
    have_weight = np.zeros(len(keys), np.bool_)
    wanted = make_wanted(numbers, spans, hashes)
    lookups.least_keys(wanted, np.arange(2, len(spans)), most, as_uint64(seeds), keys, have_weight)
    for row, (start, stop), has_weight in zip(keys, spans[2:], have_weight, strict=True):
        text = [hashes[number] for number in numbers[start:stop]]
        assert has_weight == bool(text)
        if text:
            expected = [
                mix(oracle.least_value(text, oracle.multiset_values(seed, most))) for seed in seeds
            ]
            assert row.tolist() == expected


@pytest.mark.parametrize("tf", ["binary", "log", "squared"])
def test_weighted_keys__as_oracle(tf):
    generator = random.Random(7)
    numbers, spans, hashes = overlapping_texts(generator)
    # The first word weighs nothing.
    inverses = [0.0, *(generator.uniform(0.5, 9) for _ in hashes[1:])]
    spans.append((numbers.index(0), numbers.index(0) + 1))
    seeds = random_words(generator, 3)
    keys = np.full((len(spans), 3), JUNK, np.uint64)
    have_weight = np.zeros(len(keys), np.bool_)
    wanted = make_wanted(numbers, spans, hashes, tf, inverses)
    lookups.weighted_keys(wanted, np.arange(len(spans)), as_uint64(seeds), keys, have_weight)
    table = wanted.term_weights.tolist()
    for row, (start, stop), has_weight in zip(keys, spans, have_weight, strict=True):
        counts = Counter(numbers[start:stop])
        weights = {
            hashes[number]: weighted.scaled(table[f] * inverses[number])
            for number, f in counts.items()
            if inverses[number]
        }
        assert has_weight == bool(weights)
        if weights:
            assert row.tolist() == [weighted.minimum(seed, weights) for seed in seeds]
