"""Bins of similarities: what falls into them, and where they begin."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

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


def test_count_similarities__of_components_begins_below() -> None:
    rows = [("a", "k", 0.9, False), ("b", "k", 0.137, False), ("c", "k", 0.0, False)]
    found = count_similarities(in_blocks(removed_table(rows)), 0.9)
    assert found.edges[0] == 0
    assert 0.9 in found.edges
    assert (found.n_below, found.n_counted) == (2, 3)


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
