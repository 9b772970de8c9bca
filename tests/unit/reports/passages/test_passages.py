"""Pairs of documents put together from their passages, against sets of characters."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest

from neardup.reports.differences import find_moved
from neardup.reports.passages import leakage


def random_rows(seed: int, *, n: int = 60, is_one: bool = True) -> list[tuple]:
    """Make passages between five documents, or three and four, many of which overlap or tie."""
    rng = random.Random(seed)
    rows = []
    for _ in range(n):
        query, doc = (
            (rng.randrange(5), rng.randrange(5))
            if is_one
            else (rng.randrange(3), 3 + rng.randrange(4))
        )
        start, other, length = (
            10 * rng.randrange(6),
            10 * rng.randrange(6),
            10 * rng.randrange(1, 3),
        )
        rows.append(
            (query, start, start + length, doc, other, other + length, rng.choice([0.5, 1]))
        )
    return rows


def by_pair(rows) -> dict[tuple[int, int], list[tuple]]:
    found = defaultdict(list)
    for row in rows:
        found[row[0], row[3]].append(row)
    return found


def ranked(rows) -> list[tuple[int, int, int, int, int]]:
    """Return all pairs by what they share, each with that of both sides and its passages."""
    pairs = []
    for (query, doc), mine in by_pair(rows).items():
        of_query = len({place for row in mine for place in range(*row[1:3])})
        of_doc = len({place for row in mine for place in range(*row[4:6])})
        pairs.append((query, doc, of_query, of_doc, len(mine)))
    return sorted(pairs, key=lambda pair: (-max(pair[2:4]), pair[:2]))


def as_rows(pairs) -> list[tuple[int, ...]]:
    columns = pairs.queries, pairs.docs, pairs.of_query, pairs.of_doc, pairs.n_passages
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_best__is_the_beginning_of_the_ranking(make_passages, seed):
    rows = random_rows(seed)
    passages = make_passages(["x" * 100] * 5, rows)
    expected = ranked(rows)
    for most in (1, 3, 7, 100):
        assert as_rows(passages.best(most)) == expected[:most]
    assert passages.n_pairs == len(expected)
    assert passages.n_characters == sum(max(pair[2:4]) for pair in expected)


@pytest.mark.parametrize("seed", range(4))
def test_first_documents__are_those_of_the_first_pairs(make_passages, seed):
    for is_one in (True, False):
        rows = random_rows(seed, n=14, is_one=is_one)
        passages = make_passages([None] * 7, rows, lengths=[100] * 7, is_one=is_one)
        ends = [pair[:2] for pair in ranked(rows)]
        both = list(dict.fromkeys(each for pair in ends for each in pair))
        queries = list(dict.fromkeys(query for query, _ in ends))
        for most in (1, 2, 3):
            assert passages.first_documents(("queries", "docs"), most) == sorted(both[:most])
            assert passages.first_documents(["queries"], most) == sorted(queries[:most])


@pytest.mark.parametrize("seed", range(4))
def test_describe__has_the_passages_in_their_order(make_passages, seed):
    rows = random_rows(seed)
    passages = make_passages([None] * 5, rows, lengths=[100] * 5)
    chosen = passages.best(6)
    listed = list(passages.describe(chosen))
    described = dict(listed)
    assert sorted(k for k, _ in listed) == list(range(6))
    for k, (query, doc, *_) in enumerate(as_rows(chosen)):
        pair = described[k]
        expected = sorted(by_pair(rows)[query, doc], key=lambda row: (row[1], row[4]))
        places = np.array([[row[1], row[2], row[4], row[5]] for row in expected]).T
        assert (pair.query, pair.doc) == (query, doc)
        assert [pair.spans.places(i) for i in range(len(pair.spans))] == [
            ((row[1], row[2]), (row[4], row[5])) for row in expected
        ]
        assert pair.moved.tolist() == find_moved(*places).tolist()
        # Those that are equal are in the order of the table.
        assert [rows[row][6] for row in pair.spans.rows] == [row[6] for row in expected]
    numbers = sorted(pair[:2] for pair in ranked(rows))
    assert passages.numbers_of(passages.keys(chosen)).tolist() == [
        numbers.index(pair[:2]) for pair in as_rows(chosen)
    ]


@pytest.mark.parametrize("seed", range(4))
def test_leakage__best_places_of_each_item(make_passages, seed, monkeypatch):
    monkeypatch.setattr(leakage, "_MOST_PLACES", 2)
    monkeypatch.setattr(leakage, "_MOST_NAMED", 3)
    rows = random_rows(seed, is_one=False)
    passages = make_passages(["x" * 100] * 7, rows, is_one=False)
    items = defaultdict(list)
    for number, row in enumerate(rows):
        items[row[0]].append((-row[6], row[3], row[4], number))
    ordered = (sorted(mine) for _, mine in sorted(items.items()))
    expected = sorted(ordered, key=lambda mine: -mine[0][0])
    found = leakage._gather(passages, 10)
    assert [each.places.rows.tolist() for each in found.least] == [
        [place[3] for place in mine[:2]] for mine in expected
    ]
    assert [list(each.documents) for each in found.least] == [
        list(dict.fromkeys(place[1] for place in mine))[:3] for mine in expected
    ]
    assert [(each.n_places, each.n_documents) for each in found.least] == [
        (len(mine), len({place[1] for place in mine})) for mine in expected
    ]
    assert (found.n, found.n_documents) == (len(items), len({row[3] for row in rows}))
