"""Ids of documents: each comes once, or both rows that have it are named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from neardup.errors import InvalidInputError

if TYPE_CHECKING:
    import pyarrow as pa


def check_unique(ids: pa.Array, place: Callable[[int], tuple[str, int]]) -> None:
    """Raise if an id comes twice; nulls, of skipped rows, do not count.

    ``place`` returns a document's file and row.

    Raises
    ------
    InvalidInputError
        Naming both rows.
    """
    import pyarrow.compute as pc

    if pc.count_distinct(ids, mode="only_valid").as_py() == len(ids) - ids.null_count:
        return
    seen: dict[str, int] = {}
    for i, identifier in enumerate(ids.to_pylist()):
        if identifier is None:
            continue
        if identifier in seen:
            file, row = place(seen[identifier])
            message = f"id {identifier!r} was used before, in {file}, row {row}; ids must differ"
            path, number = place(i)
            raise InvalidInputError(message, path=path, row=number)
        seen[identifier] = i
