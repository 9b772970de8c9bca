"""Tables of removed documents, made of what a test is about."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

# Id, the keeper's id, similarity, and whether they are copies.
Row = tuple[object, object, float | None, bool | None]


def removed_table(
    rows: Sequence[Row],
    *,
    files: Sequence[str] | None = None,
    kept_files: Sequence[str | None] | None = None,
    against: bool = False,
    ids: pa.DataType | None = None,
) -> pa.Table:
    """Return the table that ``removed.parquet`` has of some rows; files are one unless given."""
    n = len(rows)
    columns = list(zip(*rows, strict=True)) if rows else [(), (), (), ()]
    kept = list(kept_files) if kept_files is not None else ["a.jsonl"] * n
    ids = ids or pa.large_string()
    return pa.table(
        {
            "id": pa.array(columns[0], ids),
            "kept_id": pa.array(columns[1], ids),
            "similarity": pa.array(columns[2], pa.float64()),
            "exact_copy": pa.array(columns[3], pa.bool_()),
            "file": pa.array(files or ["a.jsonl"] * n, pa.string()),
            "row": pa.array(range(11, 11 + n), pa.int64()),
            "kept_in": pa.array(["against" if against else "input"] * n, pa.string()),
            "kept_file": pa.array(kept, pa.string()),
            "kept_row": pa.array([None if file is None else 1 for file in kept], pa.int64()),
        }
    )
