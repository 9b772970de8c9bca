from __future__ import annotations

import random

import numpy as np

from neardup.kernels.sketch import minhash
from tests.arrays import make_buckets
from tests.each import each_of
from tests.kernels.test_bucket_join import members_of

ROOM = 200


def random_signatures(generator, n, num_perm, *, n_values=3):
    """Rows that are often alike."""
    rows = [[generator.randrange(n_values) for _ in range(num_perm)] for _ in range(n)]
    for row in rows:
        if generator.random() < 0.5:
            row[:] = [
                x if generator.random() < 0.7 else y
                for x, y in zip(generator.choice(rows), row, strict=True)
            ]
    return rows


def table(rows, num_perm):
    """The extremes of 32 bits stand for 0 and 1."""
    values = {0: 0, 1: 2**32 - 1}
    return np.array([[values.get(v, v) for v in row] for row in rows], np.uint32).reshape(
        len(rows), num_perm
    )


def n_equal(x, y):
    return sum(a == b for a, b in zip(x, y, strict=True))


@each_of("num_perm", [1, 2, 7, 33])
def test_count_equal__as_oracle(num_perm):
    generator = random.Random(num_perm)
    one, other = (random_signatures(generator, n, num_perm) for n in (6, 4))
    pairs = [(generator.randrange(6), generator.randrange(4)) for _ in range(20)]
    left, right = (np.array(side, np.int64) for side in zip(*pairs, strict=True))
    equal = np.full(20, -9, np.int64)
    minhash.count_equal(table(one, num_perm), table(other, num_perm), left, right, equal)
    assert equal.tolist() == [n_equal(one[x], other[y]) for x, y in pairs]


def random_joins(n_joins, seed=0):
    """Rows, the labels of their bands, what is required, and the first of two collections."""
    generator = random.Random(seed)
    for _ in range(n_joins):
        n, num_perm = generator.randint(1, 9), generator.choice((1, 3, 8))
        rows = random_signatures(generator, n, num_perm)
        labels = [
            [generator.randrange(3) for _ in range(n)] for _ in range(generator.randint(1, 3))
        ]
        yield rows, labels, generator.randint(1, num_perm), generator.choice((-1, 0, n // 2, n))


def by_definition(rows, bands, required, n_left):
    """Pairs that share a bucket and agree enough, by the later row."""
    return [
        (y, x, n_equal(rows[x], rows[y]))
        for x in range(len(rows))
        for y in range(x)
        if any(labels[x] == labels[y] for labels in bands)
        and n_equal(rows[x], rows[y]) >= required
        and (n_left < 0 or y < n_left <= x)
    ]


def probed(rows, bands, required, n_left, *, room=ROOM, steps=()):
    """Pairs in order of the later row, and the number of calls; ``steps`` are made one by one."""
    buckets = make_buckets(bands)
    starts, members = members_of(buckets)
    n = len(rows)
    last_seen = np.full(n, -1, np.int32)
    found, n_calls = [], 0
    for start, stop in steps or [(0, n)]:
        while start < stop:
            columns = [np.full(room, -9, np.int32) for _ in range(3)]
            reached, n_pairs = minhash.probe_agreeing(
                start,
                stop,
                n_left,
                buckets.numbers,
                starts,
                members,
                table(rows, len(rows[0])),
                required,
                last_seen,
                *columns,
            )
            n_calls += 1
            assert start <= reached <= stop
            assert n_pairs <= room
            found += list(zip(*(column[:n_pairs].tolist() for column in columns), strict=True))
            if reached == start:
                assert not n_pairs
                room += 1
            # Marks are those of rows that were probed to their end.
            assert not any(start <= seen < stop and seen >= reached for seen in last_seen.tolist())
            start = reached
    # Buckets have an order, partners in them are found by it.
    return sorted(found, key=lambda row: (row[1], row[0])), n_calls


def test_probe_agreeing__as_oracle():
    for join in random_joins(40):
        assert probed(*join)[0] == by_definition(*join)


def test_probe_agreeing__full_output():
    """However little fits, the same pairs."""
    for join in random_joins(15, seed=1):
        expected = by_definition(*join)
        for room in (0, 1, 2, len(expected)):
            assert probed(*join, room=room)[0] == expected


@each_of(("room", "n_calls"), [(7, 1), (6, 1), (5, 2), (3, 2)])
def test_probe_agreeing__output_that_just_fits(room, n_calls):
    found, calls = probed([[5]] * 4, [[0] * 4], 1, -1, room=room)
    assert (found, calls) == (by_definition([[5]] * 4, [[0] * 4], 1, -1), n_calls)


def test_probe_agreeing__in_any_order_by_one_worker():
    for number, join in enumerate(random_joins(15, seed=2)):
        n = len(join[0])
        cut = number % (n + 1)
        assert probed(*join, room=1, steps=[(cut, n), (0, cut)])[0] == by_definition(*join)
