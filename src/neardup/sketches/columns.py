"""Columns of stored sketches read back: numbers and lists, refused if they are anything else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Int64s


class DamagedColumnError(Exception):
    """A number that no sketch has."""


def check(is_right: bool | np.bool_) -> None:
    """Raise DamagedColumnError unless what was read may be."""
    if not is_right:
        raise DamagedColumnError


def read_column(table: pa.Table, name: str) -> pa.Array:
    """Return a column as one array."""
    column = table.column(name).combine_chunks()
    return column if isinstance(column, pa.Array) else pa.concat_arrays(column.chunks)


def read_counts(table: pa.Table, name: str, *, null: int | None = None) -> Int64s:
    """Read numbers from 0 on; ``null`` stands for those that are not known, if any may be so."""
    column = read_column(table, name).cast(pa.int64())
    check(null is not None or column.null_count == 0)
    check(not pc.any(pc.less(column, 0)).as_py())
    numbers: Int64s = np.array(column.fill_null(null or 0).to_numpy(), np.int64)
    return numbers


def read_lists(table: pa.Table, kind: pa.DataType) -> tuple[pa.Array, Int64s]:
    """Return the values of the lists of ``sketch``, and their offsets from 0."""
    column = read_column(table, "sketch")
    # Others, list views, may have offsets in any order.
    is_list = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    check(any(test(column.type) for test in is_list))
    lists = column.cast(pa.large_list(kind))
    check(lists.null_count == 0)
    offsets: Int64s = np.array(lists.offsets.to_numpy(), np.int64)
    values = lists.values.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))
    check(values.null_count == 0)
    return values, offsets - offsets[0]
