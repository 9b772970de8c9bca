"""Tables of results that pages count, against counting one row at a time."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import neardup
from neardup.outputs.output_tables import TableRows
from neardup.reports.cut_page import CutTable, cut_report
from neardup.reports.dedup_page import RemovedTable, cluster_sizes
from neardup.reports.pairs_page import read_pairs
from neardup.reports.passages_page import read_passages
from tests.oracles.repeated import repeated


def rows_of(table, block_rows=3):
    return TableRows.of_table(table, block_rows=block_rows)


def test_read_pairs__rows_without_a_similarity_are_left_out():
    table = pa.table({"id_a": ["a", "b"], "id_b": ["c", "d"], "similarity": [None, 0.5]})
    pairs = read_pairs(rows_of(table), None)
    assert len(pairs) == 1
    assert pairs.take([0])[0]["a"] == "b"
    assert not pairs.is_two_sided
    # An id on both sides of a pair is of two collections.
    both = pa.table({"id_a": ["a"], "id_b": ["a"], "similarity": [1.0]})
    assert read_pairs(rows_of(both), None).is_two_sided


SCHEMA = pa.schema(
    [
        *(("id", pa.string()), ("start", pa.int64()), ("end", pa.int64())),
        *(("kept_id", pa.string()), ("kept_start", pa.int64()), ("kept_end", pa.int64())),
        *(("similarity", pa.float64()), ("file", pa.string()), ("row", pa.int64())),
        ("kept_in", pa.string()),
    ]
)
SPAN = st.tuples(st.integers(0, 12), st.integers(1, 6))
KEPT = st.none() | st.tuples(
    st.sampled_from(["d0", "a", "b"]), SPAN, st.sampled_from(["input", "against"])
)
LINES = st.lists(st.tuples(st.integers(0, 5), SPAN, KEPT), max_size=30)


# What nobody kept is no passage of the first document.
@example([(0, (0, 1), ("d0", (0, 2), "against")), (0, (5, 1), None)], 1)
@given(LINES, st.integers(1, 9))
def test_cut_groups__as_put_together_one_by_one(lines, block_rows):
    rows = []
    for own, (start, size), kept in sorted(lines, key=lambda line: line[:2]):
        name, (kept_start, kept_size), where = kept or (None, (None, None), None)
        kept_end = None if kept is None else kept_start + kept_size
        row = (f"d{own}", start, start + size, name, kept_start, kept_end, 0.9)
        rows.append(dict(zip(SCHEMA.names, (*row, f"f{own // 2}", own + 1, where), strict=True)))
    table = CutTable.read(rows_of(pa.Table.from_pylist(rows, SCHEMA), block_rows), {})
    n_groups, expected = repeated(rows, 99)
    assert len(table.firsts) == n_groups
    for group, (members, *_) in enumerate(expected):
        assert np.flatnonzero(table.groups == group).tolist() == members


def test_cut_groups__all_copies_removed():
    """The first copy names the second, and all others the first: one passage."""
    texts = ["a line that is there three times over", "else"] + [
        f"{n}\na line that is there three times over" for n in range(2)
    ]
    result = neardup.cut(texts, unit="lines", keep="none", min_tokens=3)
    table = CutTable.read(rows_of(result.removed), result.summary)
    assert len(table) == 3
    assert table.groups.tolist() == [0, 0, 0]


def test_cut_report__files_have_overlapping_spans_once():
    spans = ((start, end, "k", 0, 6, 0.9, "f", 1, "input") for start, end in [(0, 6), (4, 10)])
    rows = [dict(zip(SCHEMA.names, ("d", *span), strict=True)) for span in spans]
    summary = {"documents_cut": 1, "documents_in": 2, "characters_removed": 10}
    cut = CutTable.read(rows_of(pa.Table.from_pylist(rows, SCHEMA)), summary)
    sections = {each.name: each for each in cut_report(cut, {}, "").sections}
    assert sections["files"].tables[0].rows == [("f", 10, 2)]


@pytest.mark.parametrize("clusters", ["survivors", "components"])
def test_clusters__agree_with_the_table(clusters):
    generator = np.random.default_rng(5)
    words = [f"word{n}" for n in range(6)]
    texts = [" ".join(generator.choice(words, 4)) for _ in range(200)]
    result = neardup.deduplicate(
        texts, threshold="0.6", clusters=clusters, text=neardup.TextOptions(ngram=1)
    )
    removed = RemovedTable.read(rows_of(result.removed))
    counts = Counter(result.removed["kept_id"].to_pylist())
    found = removed.clusters()
    assert (
        dict(zip(found["kept_id"].to_pylist(), found["row_count"].to_pylist(), strict=True))
        == counts
    )
    sizes = cluster_sizes(rows_of(result.clusters))
    assert sorted(sizes.tolist()) == sorted(
        Counter(result.clusters["cluster_id"].to_pylist()).values()
    )
    # From just above the threshold to an exact copy.
    examples = list(removed.examples().items())
    assert examples[0][1] == "Least similar"
    assert removed.similarities[examples[0][0]] == np.nanmin(removed.similarities)
    if removed.is_copy.any():
        assert examples[-1][1] == "Exact copy"
        assert removed.is_copy[examples[-1][0]]


COLUMNS = ["query_id", "query_start", "query_end", "doc_id", "doc_start", "doc_end", "similarity"]


def passages(*rows, has_other=False):
    table = pa.table(dict(zip(COLUMNS, zip(*rows, strict=True), strict=True)))
    return read_passages(rows_of(table), None, has_other=has_other)


def test_read_passages__an_id_of_both_sides():
    """Is one document of one collection, and two of two collections."""
    rows = [
        ("x", 0, 9, "x", 20, 29, 1.0),
        ("y", 0, 9, "x", 5, 14, 1.0),
        ("x", 0, 5, "z", 0, 5, 1.0),
    ]
    found = passages(*rows)
    assert found.is_one
    assert found.ids.to_pylist() == ["x", "y", "z"]
    assert found.docs.tolist() == [0, 0, 2]
    found = passages(*rows, has_other=True)
    assert not found.is_one
    assert found.ids.to_pylist() == ["x", "y", "x", "z"]
    assert found.docs.tolist() == [2, 2, 3]


def test_passage_pairs__overlapping_passages_count_once():
    found = passages(
        ("a", 0, 10, "b", 0, 10, 0.9),
        ("a", 5, 20, "b", 30, 40, 0.8),
        ("a", 0, 50, "c", 0, 40, 0.7),
    )
    pairs = found.pairs
    names = found.ids.to_pylist()
    listed = [
        (names[q], names[d], shared, n, best)
        for q, d, shared, n, best in zip(
            *(pairs.queries, pairs.docs, pairs.shared, pairs.n_passages, pairs.best),
            strict=True,
        )
    ]
    assert listed == [("a", "c", 50, 1, 0.7), ("a", "b", 20, 2, 0.9)]
