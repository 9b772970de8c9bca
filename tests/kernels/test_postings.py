from __future__ import annotations

import random
from collections import Counter
from itertools import accumulate, product

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.kernels.join import postings as kernels
from neardup.kernels.types import sealed
from neardup.matching import postings
from tests.arrays import make_sets, ragged, random_sets, random_words
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


def test_index_prefixes__by_definition():
    """Each token's postings by record, then by place; none beyond a record's prefix."""
    generator = random.Random(1)
    for _ in range(30):
        n_tokens = generator.randint(1, 6)
        sizes = [generator.randrange(6) for _ in range(generator.randrange(6))]
        records = [generator.choices(range(n_tokens), k=size) for size in sizes]
        prefixes = [generator.randint(0, size) for size in sizes]
        starts = list(accumulate(sizes, initial=0))[:-1]
        tokens = [token for record in records for token in record]
        index = postings.index_prefixes(
            np.array(tokens, np.int32),
            np.array(starts, np.int64),
            np.array(prefixes, np.int64),
            n_tokens,
        )
        expected = sorted(
            (token, record, place)
            for record, prefix in enumerate(prefixes)
            for place, token in enumerate(records[record][:prefix])
        )
        in_front = [sum(row[0] < token for row in expected) for token in range(n_tokens + 1)]
        assert index.starts.tolist() == in_front
        assert index.records.tolist() == [record for _, record, _ in expected]
        assert index.places.tolist() == [place for _, _, place in expected]


@pytest.mark.parametrize("is_directed", [False, True])
def test_group_records__looked_up_are_those_of_the_other_collection(is_directed):
    """All of them and no others; of itself a record of both is a partner, as in any self-join."""
    sides = [1, 2, 3, 3, 2, 1, 2, 3]
    groups = postings.group_records(8, np.array(sides, np.uint8), is_directed=is_directed)
    assert groups.n_groups == 3
    assert {*groups.of_records.tolist()} == {0, 1, 2}
    for x, y in product(range(8), repeat=2):
        is_found = bool(groups.first[x] <= groups.of_records[y] < groups.last[x])
        assert is_found == joins.may_pair(sides[x], sides[y], is_directed=is_directed)
    for found in (groups.of_records, groups.first, groups.last):
        assert found.flags.c_contiguous
        assert found.dtype == np.uint8


def test_index_groups__too_many(monkeypatch):
    records = postings.rank_records(*records_of([[5, 6], [7, 6]]))
    prefixes = np.array([2, 2], np.int64)
    two_sided = postings.group_records(2, np.array([1, 2], np.uint8))
    monkeypatch.setattr(postings, "_MOST", 9)
    postings.index_groups(records, prefixes, two_sided)
    monkeypatch.setattr(postings, "_MOST", 8)
    postings.index_groups(records, prefixes, postings.group_records(2, None))
    with pytest.raises(InvalidParameterError, match="more than 2 different tokens in two"):
        postings.index_groups(records, prefixes, two_sided)


def test_sort_records__equal_tokens_keep_their_order():
    """Also where records lie apart, in another order than they are numbered."""
    records = [[2, 0, 2, 1, 0], [], [1, 1]]
    starts = np.array([3, 3, 1], np.int64)
    ordered = sorted(
        (token, r, place) for r, record in enumerate(records) for place, token in enumerate(record)
    )
    posting_starts = [sum(row[0] < token for row in ordered) for token in range(4)]
    fill = np.zeros(3, np.int64)
    tokens, places = np.full(8, -9, np.int32), np.full(8, -9, np.int32)
    index = kernels.Postings(
        np.array(posting_starts, np.int64),
        np.array([r for _, r, _ in ordered], np.int32),
        np.array([place for _, _, place in ordered], np.int32),
    )
    kernels.sort_records(sealed(index), starts, fill, tokens, places)
    assert tokens.tolist() == [-9, 1, 1, 0, 0, 1, 2, 2]
    assert places.tolist() == [-9, 0, 1, 1, 4, 3, 0, 2]
    assert fill.tolist() == [5, 0, 2]


def test_rank_records__by_definition():
    """The rarest value first; ties by first appearance, copies of a value by their place."""
    generator = random.Random(2)
    for _ in range(40):
        records = random_records(generator)
        flat = [value for record in records for value in record]
        counts = Counter(flat)
        order = sorted(dict.fromkeys(flat), key=counts.__getitem__)
        values, starts, sizes = records_of(records)
        ranked = postings.rank_records(values, starts, sizes)
        assert ranked.n_tokens == len(order)
        for r, record in enumerate(records):
            run = slice(ranked.starts[r], ranked.starts[r] + ranked.sizes[r])
            expected = sorted((order.index(value), place) for place, value in enumerate(record))
            found = zip(ranked.tokens[run].tolist(), ranked.places[run].tolist(), strict=True)
            assert list(found) == expected


def test_first_at_least__by_definition():
    generator = random.Random(3)
    for _ in range(60):
        values = sorted(generator.choices(range(8), k=generator.randrange(1, 9)))
        start = generator.randint(0, len(values))
        stop = generator.randint(start, len(values))
        least = generator.randint(-1, 9)
        found = kernels.first_at_least(np.array(values, np.int32), start, stop, least)
        assert found == start + sum(value < least for value in values[start:stop])


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


def test_list_shared__by_definition():
    """Of each record's prefix the tokens with a number, in their order; and those looked up."""
    generator = random.Random(5)
    for _ in range(30):
        n_tokens = generator.randint(1, 8)
        records = [
            sorted(generator.sample(range(n_tokens), generator.randint(0, n_tokens)))
            for _ in range(generator.randrange(6))
        ]
        prefixes = [generator.randint(0, len(record)) for record in records]
        probing = [generator.randint(0, prefix) for prefix in prefixes]
        numbers = [generator.choice([-1, 7 * token, token]) for token in range(n_tokens)]
        expected = [
            [numbers[token] for token in record[:prefix] if numbers[token] >= 0]
            for record, prefix in zip(records, prefixes, strict=True)
        ]
        looked_up = [
            sum(numbers[token] >= 0 for token in record[:prefix])
            for record, prefix in zip(records, probing, strict=True)
        ]
        # Values in front that no record has.
        starts = [*accumulate(map(len, records), initial=2)][:-1]
        list_starts = np.full(len(records) + 1, -9, np.int64)
        keys = np.full(sum(map(len, expected)), -9, np.int32)
        n_probed = np.full(len(records), -9, np.int64)
        kernels.list_shared(
            np.array([99, 99, *(token for record in records for token in record)], np.int32),
            np.array(starts, np.int64),
            np.array(prefixes, np.int64),
            np.array(probing, np.int64),
            np.array(numbers, np.int32),
            list_starts,
            keys,
            n_probed,
        )
        assert list_starts.tolist() == [*accumulate(map(len, expected), initial=0)]
        assert keys.tolist() == [number for row in expected for number in row]
        assert n_probed.tolist() == looked_up


def test_leave_out_unique__by_definition():
    """Record by record, moved to the front; frequencies of those left out are gone."""
    generator = random.Random(7)
    for _ in range(30):
        records = [generator.choices(range(9), k=generator.randrange(5)) for _ in range(4)]
        flat = [number for record in records for number in record]
        counts = Counter(flat)
        expected = [[number for number in record if counts[number] > 1] for record in records]
        numbers, frequencies = np.array(flat, np.int32), np.array([counts[i] for i in range(9)])
        lengths = np.full(4, -9, np.int64)
        n_left = kernels.leave_out_unique(
            numbers,
            frequencies,
            np.array([*accumulate(map(len, records), initial=0)][:-1], np.int64),
            np.array([len(record) for record in records], np.int64),
            lengths,
        )
        assert n_left == sum(map(len, expected))
        assert numbers[:n_left].tolist() == [number for record in expected for number in record]
        assert lengths.tolist() == [len(record) for record in expected]
        assert frequencies.tolist() == [n if (n := counts[i]) > 1 else 0 for i in range(9)]


def test_rank_sets__in_the_order_named():
    """Some of the sets, also more than once; what lies between them plays no part."""
    generator = random.Random(6)
    for _ in range(30):
        sets = random_sets(generator, generator.randint(1, 8), 6)
        order = generator.choices(range(len(sets)), k=generator.randrange(9))
        whole = [sorted(sets[k]) for k in order]
        counts = Counter(value for elements in whole for value in elements)
        chosen = [[value for value in elements if counts[value] > 1] for elements in whole]
        # Counter keeps the order of first appearance.
        ranks = sorted((value for value in counts if counts[value] > 1), key=counts.__getitem__)
        records = postings.rank_sets(make_sets(sets), np.array(order, np.int64))
        assert records.n_tokens == len(ranks)
        assert records.sizes.tolist() == [len(elements) for elements in chosen]
        assert records.starts.tolist() == [*accumulate(map(len, chosen), initial=0)][:-1]
        for start, elements in zip(records.starts, chosen, strict=True):
            run = slice(start, start + len(elements))
            assert records.tokens[run].tolist() == sorted(ranks.index(value) for value in elements)
        sizes = np.array([len(elements) for elements in whole], np.int64)
        for prefix in (0, 1, 3):
            # Of a whole run, those that one set alone has come first.
            expected = [
                len(sorted(elements, key=lambda v: counts[v] > 1)[:prefix])
                - len([v for v in elements if counts[v] == 1][:prefix])
                for elements in whole
            ]
            prefixes = np.minimum(prefix, sizes)
            assert records.shorten(prefixes, sizes).tolist() == expected
