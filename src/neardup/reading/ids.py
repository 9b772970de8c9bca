"""Ids of documents: each comes once, or both rows that have it are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from neardup.files.ids import repeated_id

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.rows import ColumnNames


def check_unique(
    ids: pa.Array, place: Callable[[int], tuple[str, int]], columns: ColumnNames
) -> None:
    """Raise if an id comes twice; nulls, of skipped rows, do not count.

    ``place`` returns a document's file and row; ``columns`` say where the ids are from.

    Raises
    ------
    InvalidInputError
        Naming both rows.
    """
    import pyarrow.compute as pc

    if pc.count_distinct(ids, mode="only_valid").as_py() == len(ids) - ids.null_count:
        return
    seen: dict[str | int, int] = {}
    for i, identifier in enumerate(ids.to_pylist()):
        if identifier is None:
            continue
        if identifier in seen:
            raise repeated_id(identifier, place(i), place(seen[identifier]), columns)
        seen[identifier] = i
