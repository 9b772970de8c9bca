"""Tables of removed documents, made of what a test is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from neardup.outputs.table_rows import TableRows

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


def in_blocks(table: pa.Table, block_rows: int = 3) -> TableRows:
    """Return the rows of a table in blocks of a few."""
    return TableRows.of_table(table, block_rows=block_rows)


def cluster_rows(removed: pa.Table, n_kept: int, block_rows: int = 3) -> TableRows:
    """Return the rows of ``clusters.parquet``: those that stay first, then those that went."""
    keys = list(zip(removed["kept_in"].to_pylist(), removed["kept_id"].to_pylist(), strict=True))
    sizes = {key: 1 + n for key, n in Counter(keys).items()}
    numbers = {key: number for number, key in enumerate(sizes)}
    of_input = [key for key in sizes if key[0] == "input"]
    n_alone = n_kept - len(of_input)
    kept = [(numbers[key], sizes[key], False) for key in of_input]
    kept += [(len(sizes) + n, 1, False) for n in range(n_alone)]
    gone = [(numbers[key], sizes[key], True) for key in keys]
    columns = list(zip(*kept, *gone, strict=True)) if kept or gone else [(), (), ()]
    types = (pa.int64(), pa.int64(), pa.bool_())
    names = ["cluster_id", "cluster_size", "is_duplicate"]
    return in_blocks(pa.table(list(map(pa.array, columns, types)), names), block_rows)
