"""Bins of similarities: what falls into them, and where they begin."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.reports.dedup.model import count_similarities, list_edges
from tests.removed_tables import in_blocks, removed_table


def test_count_similarities__keeps_copies_apart() -> None:
    rows = [("a", "k", 0.8, False), ("b", "k", 0.81, False), ("c", "k", 1.0, True)]
    found = count_similarities(in_blocks(removed_table([*rows, ("d", "k", 1.0, False)])), 0.8)
    assert found.edges[:2] == (0.8, 0.81)
    assert found.edges[-1] == 1.0
    assert found.counts[:3] == (1, 1, 0)
    # Alike in every shingle, and still no copy.
    assert found.counts[-1] == 1
    assert (found.n_copies, found.n_unknown, found.n_below, found.n_counted) == (1, 0, 0, 3)


def test_count_similarities__of_pairs_knows_no_copies() -> None:
    found = count_similarities(
        in_blocks(removed_table([("a", "k", 1.0, None), ("b", "k", None, None)])), 0.9
    )
    assert (found.n_copies, found.n_unknown, found.n_counted) == (None, 1, 1)


def test_count_similarities__of_components_begins_below() -> None:
    rows = [("a", "k", 0.9, False), ("b", "k", 0.137, False), ("c", "k", 0.0, False)]
    found = count_similarities(in_blocks(removed_table(rows)), 0.9)
    assert found.edges[0] == 0
    assert 0.9 in found.edges
    assert (found.n_below, found.n_counted) == (2, 3)


@pytest.mark.parametrize("threshold", [0.8, 1.0, None])
def test_count_similarities__of_nothing(threshold: float | None) -> None:
    found = count_similarities(in_blocks(removed_table([])), threshold)
    assert (found.n_copies, found.n_counted) == (0, 0)
    assert len(found.edges) == len(found.counts) + 1 >= 2


def test_list_edges__has_an_odd_threshold() -> None:
    assert list_edges(0.87654, 0.88)[:3] == [0.87654, 0.88, 0.885]


@given(st.integers(1, 1000), st.integers(0, 1000))
def test_list_edges__hold_threshold_least_and_one(threshold: int, least: int) -> None:
    edges = list_edges(threshold / 1000, least / 1000)
    assert edges == sorted(set(edges))
    assert edges[0] <= min(threshold, least) / 1000
    assert edges[-1] == 1
    assert threshold / 1000 in edges
    assert 2 <= len(edges) <= 33
    widths = {Fraction(str(b)) - Fraction(str(a)) for a, b in pairwise(edges)}
    assert max(widths) <= Fraction(1, 20)
