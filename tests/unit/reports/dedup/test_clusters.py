"""Sizes of clusters, counted from the documents that went."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import neardup
from neardup.errors import InvalidInputError
from neardup.outputs.table_rows import TableRows
from neardup.reports.dedup.model import Clusters, count_clusters
from tests.removed_tables import cluster_rows, in_blocks, removed_table


def count(removed: pa.Table, n_kept: int, **how: int) -> Clusters:
    return count_clusters(in_blocks(removed), cluster_rows(removed, n_kept), **how)


def test_count_clusters__lists_the_largest_first() -> None:
    rows = [("a", "k", 1.0, True), ("b", "m", 0.9, False), ("c", "m", 0.85, False)]
    found = count(removed_table(rows), n_kept=5)
    assert (found.n_single, found.n_clusters) == (3, 2)
    assert [(c.kept_id, c.size, c.least_similarity, c.place) for c in found.largest] == [
        ("m", 3, 0.85, 1),
        ("k", 2, 1.0, 0),
    ]
    assert [(m.id, m.row, m.exact_copy) for m in found.largest[0].members] == [
        ("b", 12, False),
        ("c", 13, False),
    ]
    assert [(b.label, b.n_clusters) for b in found.bins] == [("1", 3), ("2", 1), ("3", 1)]


def test_count_clusters__tells_the_same_id_of_two_collections() -> None:
    rows = [("a", "k", 0.9, False)]
    both = pa.concat_tables([removed_table(rows), removed_table(rows, against=True)])
    found = count(both, n_kept=3)
    assert [(c.kept_in, c.n_removed) for c in found.largest] == [("input", 1), ("against", 1)]
    # The keeper of the other collection is none of those that stay here.
    assert found.n_single == 2


@pytest.mark.parametrize("clusters", ["survivors", "components"])
def test_count_clusters__agrees_with_the_table_of_clusters(clusters: str) -> None:
    generator = np.random.default_rng(5)
    words = [f"word{n}" for n in range(6)]
    texts = [" ".join(generator.choice(words, 4)) for _ in range(200)]
    result = neardup.deduplicate(texts, ngram=1, threshold="0.6", clusters=clusters)  # type: ignore[arg-type]
    tables = map(TableRows.of_table, (result.removed, result.clusters))
    found = count_clusters(*tables, n_largest=1_000)
    told = result.clusters.group_by("representative_id").aggregate([("cluster_size", "max")])
    sizes = dict(zip(*told.to_pydict().values(), strict=True))
    assert {c.kept_id: c.size for c in found.largest} == {k: n for k, n in sizes.items() if n > 1}
    assert found.n_single == sum(n == 1 for n in sizes.values())
    assert sum(b.n_clusters for b in found.bins) == len(sizes)


def test_count_clusters__tables_of_two_runs() -> None:
    rows = [("a", "k", 1.0, True), ("b", "m", 0.9, False), ("c", "m", 0.85, False)]
    other = cluster_rows(removed_table([*rows[1:], rows[1]]), 5)
    with pytest.raises(InvalidInputError, match="do not have the same groups of documents"):
        count_clusters(in_blocks(removed_table(rows[:2])), other)
