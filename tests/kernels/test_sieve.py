from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest

from neardup.matching import buckets
from neardup.matching.buckets import make_filters
from neardup.matching.measures import MEASURES
from neardup.tables import ShingleLists
from tests.arrays import ragged, random_sets
from tests.each import each_of
from tests.oracles import sieve as oracle
from tests.oracles.measures import MEASURES as PLAIN

THRESHOLDS = [Fraction(t) for t in ("0.3", "0.5", "0.8", "1")]


def run(documents, components, measure, threshold, **options):
    lists = ShingleLists(*ragged([document.shingles for document in documents]))
    keys = np.array([document.keys for document in documents], np.uint64)
    n_bands = len(documents[0].keys) if documents else 3
    return buckets.sieve_components(
        np.array(components, np.int64),
        keys.reshape(len(documents), n_bands),
        make_filters(lists, MEASURES[measure](threshold)),
        MEASURES[measure](threshold),
        are_fixed=np.array([document.is_fixed for document in documents], np.bool_),
        **options,
    ).tolist()


def random_documents(generator, n, n_bands):
    """Give documents often alike, with keys that collide in the table, often shared."""
    sets = random_sets(generator, n, generator.choice((3, 20, 90)))
    hashes = [generator.getrandbits(64) for _ in range(400)]
    values = [generator.getrandbits(64) for _ in range(generator.randint(1, n))]
    values += [0, 1, 2**64 - 1]
    return [
        oracle.Document(
            shingles := [hashes[x] for x in elements] + [hashes[min(elements)]] * (d % 3),
            oracle.n_bits(len(shingles), 2, 2**16),
            [generator.choice(values) for _ in range(n_bands)],
            generator.random() < 0.4,
        )
        for d, elements in enumerate(sets)
    ]


@pytest.mark.slow
@each_of("measure", PLAIN)
@each_of("with_fixed", [False, True])
@each_of("either_way", [False, True])
def test_sieve_components__as_oracle(monkeypatch, measure, with_fixed, either_way):
    generator = random.Random(5)
    for _ in range(25):
        n, n_bands = generator.randint(1, 24), generator.randint(1, 4)
        documents = random_documents(generator, n, n_bands)
        components = [generator.randrange(-2, generator.choice((1, 6))) for _ in range(n)]
        threshold = generator.choice(THRESHOLDS)
        limits = {
            "most_documents": generator.choice((4096, 5)),
            "most_pairs": generator.choice((16384, 1)),
        }
        monkeypatch.setattr(buckets, "MOST_SIEVED", limits["most_documents"])
        monkeypatch.setattr(buckets, "_MOST_PAIRS", limits["most_pairs"])
        options = {"with_fixed": with_fixed, "either_way": either_way}
        assert run(documents, components, measure, threshold, **options) == oracle.firsts(
            documents, components, measure, threshold, **options, **limits
        )


def test_sieve_components__without_filters_all_stay_whole():
    found = buckets.sieve_components(
        np.array([5, 2, 5, 2, 9], np.int64),
        np.zeros((5, 1), np.uint64),
        None,
        MEASURES["weighted-jaccard"](Fraction(1)),
    )
    assert found.tolist() == [0, 1, 0, 1, 4]
