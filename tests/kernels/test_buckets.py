from __future__ import annotations

import random

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.kernels.bucket import bucket_kernels
from neardup.matching import buckets as lsh
from neardup.runs.runner import Runner
from tests.each import each_of

INDEX_BITS = 7
INDEX_MASK = (1 << INDEX_BITS) - 1


def pack(keys):
    """Sort documents by their keys, cut to what their indices leave free."""
    packed = [key & ~INDEX_MASK | index for index, key in enumerate(keys)]
    return np.array(sorted(packed), np.uint64)


def run(keys, first_bucket=0):
    """Give each document's bucket, and the sizes of the buckets from ``first_bucket`` on."""
    numbers = np.full(len(keys), -9, np.int32)
    sizes = np.full(first_bucket + len(keys) // 2, -9, np.int64)
    whole = np.array(keys, np.uint64)
    after = bucket_kernels.bucket_runs(
        pack(keys), np.uint64(INDEX_MASK), whole, first_bucket, numbers, sizes
    )
    assert (sizes[:first_bucket] == -9).all()
    assert (sizes[after:] == -9).all()
    return numbers.tolist(), sizes[first_bucket:after].tolist()


@each_of("n_keys", [1, 2, 10, 40, 100])
@each_of("first_bucket", [0, 11])
def test_bucket_runs__equal_keys_share_a_bucket(n_keys, first_bucket):
    generator = random.Random(n_keys)
    for _ in range(20):
        keys = [generator.randrange(n_keys) << 30 for _ in range(generator.randrange(128))]
        numbers, sizes = run(keys, first_bucket)
        repeated = sorted({key for key in keys if keys.count(key) > 1})
        assert sizes == [keys.count(key) for key in repeated]
        assert numbers == [
            first_bucket + repeated.index(key) if key in repeated else -1 for key in keys
        ]


def edges_of(keys, are_ignored=None):
    """Give the edges of each document, by the first one of its group."""
    ignored = None if are_ignored is None else np.array(are_ignored, np.bool_)
    firsts, members = lsh.star_edges(np.array(keys, np.uint64), are_ignored=ignored)
    return sorted(zip(firsts.tolist(), members.tolist(), strict=True))


def groups_of(keys):
    """The documents of each key that several have."""
    by_key = {}
    for document, key in enumerate(keys):
        by_key.setdefault(key, []).append(document)
    return [group for group in by_key.values() if len(group) > 1]


@pytest.mark.parametrize("shift", [0, 3, 40])
def test_star_edges__by_definition(shift):
    """Where keys differ in the bits that are cut, in others, or in both."""
    generator = random.Random(shift)
    for _ in range(40):
        n = generator.randrange(60)
        values = [generator.randrange(30) << shift | generator.randrange(3) for _ in range(n)]
        keys = [generator.choice(values) for _ in range(n)]
        are_ignored = [generator.random() < 0.7 for _ in range(n)]
        groups = groups_of(keys)
        assert edges_of(keys) == sorted((g[0], d) for g in groups for d in g[1:])
        assert edges_of(keys, are_ignored) == sorted(
            (g[0], d) for g in groups if not all(are_ignored[d] for d in g) for d in g[1:]
        )


@pytest.mark.parametrize(("most", "n_bands"), [(4, 2), (3, 3), (2, 1)])
def test_bucket_documents__as_many_as_numbers_of_32_bits(monkeypatch, most, n_bands):
    """Each band of these has a bucket; neither documents nor buckets may be more."""
    keys = np.array([1, 1], np.uint64) << np.uint64(20)
    monkeypatch.setattr(lsh, "_MOST", most)
    found = lsh.bucket_documents(lambda band: keys, n_bands, 2, Runner(1))
    assert found.numbers.tolist() == [[band, band] for band in range(n_bands)]
    with pytest.raises(InvalidParameterError, match="texts or buckets"):
        lsh.bucket_documents(lambda band: keys, most + 1, 2, Runner(1))
    with pytest.raises(InvalidParameterError, match="texts or buckets"):
        lsh.bucket_documents(lambda band: keys, 0, most + 1, Runner(1))
