"""Ids of documents: each comes once, or both rows that have it are named."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.ids import as_text, repeated_id
from neardup.storage.ids import hash_ids
from neardup.tables import Bools, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.rows import ColumnNames


def check_unique(
    ids: Iterable[pa.Array], place: Callable[[int], tuple[str, int]], columns: ColumnNames
) -> None:
    """Raise if an id comes twice; nulls, of skipped rows, do not count.

    Parameters
    ----------
    ids
        Those of all documents, some at a time; gone through twice if two have the same hash.
    place
        Returns a document's file and row.
    columns
        Where the ids are from.

    Raises
    ------
    InvalidInputError
        Naming both rows.

    Notes
    -----
    Memory 16 bytes an id.
    """
    hashes: Uint64s = np.concatenate(
        [np.empty(0, np.uint64), *(hash_ids(as_text(part.drop_null())) for part in ids)]
    )
    hashes.sort()
    repeated = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    del hashes
    if not len(repeated):
        return
    # Ids of equal hashes are nearly always equal; only a look at them tells.
    seen: dict[str | int, int] = {}
    first = 0
    for part in ids:
        suspects = np.isin(hash_ids(as_text(part)), repeated) & ~_is_null(part)
        for i in np.flatnonzero(suspects).tolist():
            identifier = part[i].as_py()
            if identifier in seen:
                raise repeated_id(identifier, place(first + i), place(seen[identifier]), columns)
            seen[identifier] = first + i
        first += len(part)


def _is_null(ids: pa.Array) -> Bools:
    is_null: Bools = ids.is_null().to_numpy(zero_copy_only=False)
    return is_null
