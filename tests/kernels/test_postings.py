from __future__ import annotations

import random
from collections import Counter
from itertools import product

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.kernels.join import postings as kernels
from neardup.matching import join
from tests.arrays import ragged, random_words
from tests.oracles import joins


def records_of(lists):
    """Records as starts and sizes, and their values one after another."""
    values, offsets = ragged(lists)
    return values, offsets[:-1], np.diff(offsets)


def random_records(generator):
    """Records of few different values, many of them equally frequent, some without any."""
    pool = random_words(generator, generator.choice([1, 3, 12]))
    sizes = [generator.randrange(7) for _ in range(generator.randrange(8))]
    return [generator.choices(pool, k=size) for size in sizes]


@pytest.mark.parametrize("is_directed", [False, True])
def test_group_records__looked_up_are_those_of_the_other_collection(is_directed):
    """All of them and no others; of itself a record of both is a partner, as in any self-join."""
    sides = [1, 2, 3, 3, 2, 1, 2, 3]
    groups = join.group_records(8, np.array(sides, np.uint8), is_directed=is_directed)
    assert groups.n_groups == 3
    assert {*groups.of_records.tolist()} == {0, 1, 2}
    for x, y in product(range(8), repeat=2):
        is_found = bool(groups.first[x] <= groups.of_records[y] < groups.last[x])
        assert is_found == joins.may_pair(sides[x], sides[y], is_directed=is_directed)
    for found in (groups.of_records, groups.first, groups.last):
        assert found.flags.c_contiguous
        assert found.dtype == np.uint8


def test_index_groups__too_many(monkeypatch):
    values, *places = records_of([[5, 6], [7, 6]])
    records = join.rank_numbers(*join.number_values(values), *places)
    prefixes = np.array([2, 2], np.int64)
    two_sided = join.group_records(2, np.array([1, 2], np.uint8))
    monkeypatch.setattr(join, "_MOST_TOKENS", 9)
    join.index_groups(records, prefixes, two_sided)
    monkeypatch.setattr(join, "_MOST_TOKENS", 8)
    join.index_groups(records, prefixes, join.group_records(2, None))
    with pytest.raises(InvalidParameterError, match="2 different tokens"):
        join.index_groups(records, prefixes, two_sided)


def test_rank_records__by_definition():
    """The rarest value first; ties by first appearance, copies of a value by their place."""
    generator = random.Random(2)
    for _ in range(40):
        records = random_records(generator)
        flat = [value for record in records for value in record]
        counts = Counter(flat)
        order = sorted(dict.fromkeys(flat), key=counts.__getitem__)
        values, starts, sizes = records_of(records)
        ranked = join.rank_numbers(*join.number_values(values), starts, sizes)
        assert ranked.n_tokens == len(order)
        for r, record in enumerate(records):
            run = slice(ranked.starts[r], ranked.starts[r] + ranked.sizes[r])
            expected = sorted((order.index(value), place) for place, value in enumerate(record))
            found = zip(ranked.tokens[run].tolist(), ranked.places[run].tolist(), strict=True)
            assert list(found) == expected


def test_count_common__by_definition():
    """Copies count as often as both have them; below what is required it may stop early."""
    generator = random.Random(4)
    for _ in range(150):
        x = sorted(generator.choices(range(12), k=generator.randrange(20)))
        y = sorted(generator.choices(range(12), k=generator.randrange(20)))
        required = generator.randint(-2, 12)
        tokens = np.array([5, *x, 5, *y, 5], np.int32)
        start = len(x) + 2
        found = kernels.count_common(tokens, 1, len(x) + 1, start, start + len(y), required)
        common = (Counter(x) & Counter(y)).total()
        assert found == common or found <= common < required
