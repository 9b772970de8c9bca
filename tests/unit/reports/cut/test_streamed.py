"""What was repeated most, of rows that come some at a time and do not all stay in memory."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.outputs.table_rows import TableRows
from neardup.reports import cut
from neardup.reports.cut import CutTable, cut_report
from neardup.runs import totals
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace
from tests.oracles.repeated import repeated

SCHEMA = pa.schema(
    [
        *(("id", pa.string()), ("start", pa.int64()), ("end", pa.int64())),
        *(("kept_id", pa.string()), ("kept_start", pa.int64()), ("kept_end", pa.int64())),
        *(("similarity", pa.float64()), ("file", pa.string()), ("row", pa.int64())),
        ("kept_in", pa.string()),
    ]
)
SPAN = st.tuples(st.integers(0, 12), st.integers(1, 6))
KEPT = st.none() | st.tuples(st.sampled_from("abc"), SPAN, st.sampled_from(["input", "against"]))
SIMILARITY = st.none() | st.sampled_from([1.0, 0.9, 0.8])
LINES = st.lists(st.tuples(st.integers(0, 5), SPAN, KEPT, SIMILARITY), max_size=30)


def rows_of(lines):
    """Return rows as a cut writes them: by document, of which two are in a file."""
    rows = []
    for own, (start, size), kept, similarity in sorted(lines, key=lambda line: line[:2]):
        name, (kept_start, kept_size), where = kept or (None, (None, None), None)
        kept_end = None if kept is None else kept_start + kept_size
        row = (f"d{own}", start, start + size, name, kept_start, kept_end, similarity)
        rows.append(dict(zip(SCHEMA.names, (*row, f"f{own // 2}", own + 1, where), strict=True)))
    return rows


def summary_of(rows):
    return {
        "documents_in": 9,
        "documents_cut": len({row["id"] for row in rows}),
        "characters_removed": sum(row["end"] - row["start"] for row in rows),
        "threshold": 0.8,
    }


@given(LINES, st.integers(1, 9))
def test_groups__as_put_together_one_by_one(lines, block_rows):
    rows = rows_of(lines)
    streamed = TableRows.of_table(pa.Table.from_pylist(rows, SCHEMA), block_rows=block_rows)
    table = CutTable(streamed, {})
    with patch.object(cut, "MOST_GROUPS", 4), patch.object(cut, "_MOST_PLACES", 3):
        found = [
            (group.places, group.n_copies, group.n_documents, group.n_characters, group.files)
            for group in table.groups
        ]
        n_groups, expected = repeated(rows, 4)
    assert table.n_groups == n_groups
    assert found == [(group[:3], len(group), *more) for group, *more in expected]


@pytest.mark.parametrize("block_rows", [1, 7])
def test_cut_report__does_not_depend_on_how_rows_are_read(tmp_path, block_rows):
    """Nor on what is counted in files."""
    rng = np.random.default_rng(2)
    lines = [
        (
            int(own),
            (int(start), 5),
            ("abcdefgh"[kept], (int(place) * 4, 5), "input"),
            [1.0, 0.9, None][kind],
        )
        for own, start, kept, place, kind in rng.integers(0, [90, 50, 8, 9, 3], (300, 5))
    ]
    rows = rows_of(lines)
    table = pa.Table.from_pylist(rows, SCHEMA)
    summary = summary_of(rows)
    page = cut_report(CutTable(TableRows.of_table(table), summary, IN_MEMORY), "").html
    with (
        patch.object(totals, "_LEAST", 5),
        Workspace(900, WorkFolder.temporary(tmp_path)) as workspace,
    ):
        streamed = TableRows.of_table(table, block_rows=block_rows)
        assert cut_report(CutTable(streamed, summary, workspace), "").html == page
        assert workspace.work.n_done > 0
