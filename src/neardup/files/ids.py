"""Ids of documents: strings, or whole numbers of one type.

Ids keep the type of their column, so that tables of results can be joined with the input. Only
columns of whole numbers have an integer type; in CSV all values are text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, option_name
from neardup.files.problems import id_advice
from neardup.files.rows import DEFAULT_ID
from neardup.kernels.common import hashing
from neardup.tables import Int64s, Texts, Uint64s

if TYPE_CHECKING:
    from neardup.files.rows import ColumnNames, Source


def choose_id_column(columns: ColumnNames, sources: Iterable[Source]) -> ColumnNames:
    """Return the columns with ``id`` if all sources have it.

    A named column stays. Without a column, the labels of a data frame are its ids. Sources without
    rows do not count. Files are opened to read their first rows.
    """
    if columns.id is not None or not columns.id_is_default:
        return columns
    is_there = False
    for source in sources:
        names = source.column_names()
        is_text = DEFAULT_ID in columns.texts
        if names is not None and (is_text or list(names).count(DEFAULT_ID) != 1):
            return replace(columns, id=source.label_column())
        is_there |= names is not None
    return replace(columns, id=DEFAULT_ID) if is_there else columns


def other_ids(columns: ColumnNames) -> str:
    """Describe how to choose other ids, empty without a column."""
    if columns.id is None or columns.id_is_default:
        return id_advice(columns)
    return f"; name another column with {option_name(columns.id_option)}, or '' for <file>:<row>"


def common_id_type(types: Iterable[pa.DataType]) -> pa.DataType:
    """Return the type that ids of some types have together.

    One type of whole numbers stays; several are int64, which holds all of them but uint64. All
    else, and nothing, is large strings.
    """
    different = set(types)
    if not different or not all(map(pa.types.is_integer, different)):
        return pa.large_string()
    if len(different) == 1:
        return different.pop()
    return pa.large_string() if pa.uint64() in different else pa.int64()


def join_ids(parts: Sequence[pa.Array]) -> pa.Array:
    """Concatenate ids, with their common type.

    Empty parts, and parts with bad rows alone, do not count.
    """
    kind = common_id_type(part.type for part in parts if part.null_count < len(part))
    cast = (
        pa.nulls(len(part), kind) if part.null_count == len(part) else part.cast(kind)
        for part in parts
    )
    return pa.concat_arrays([pa.array([], kind), *cast])


def as_text(ids: pa.Array) -> pa.Array:
    """Return ids as large strings."""
    return ids.cast(pa.large_string())


def check_unique(
    ids: Iterable[pa.Array], place: Callable[[int], tuple[str, int]], columns: ColumnNames
) -> None:
    """Raise if an id occurs twice, ignoring skipped rows' nulls.

    Parameters
    ----------
    ids
        The ids of all documents, in parts; read twice.
    place
        Returns a document's file and row.
    columns
        The columns of the ids.

    Notes
    -----
    Memory 8 bytes per id.
    """
    parts = [hash_ids(as_text(part.drop_null())) for part in ids]
    hashes = np.concatenate([np.empty(0, np.uint64), *parts])
    hashes.sort()
    repeated = np.unique(hashes[1:][hashes[1:] == hashes[:-1]])
    # Ids of equal hashes are nearly always equal, but must be compared.
    seen: dict[str, int] = {}
    first = 0
    for part in ids if len(repeated) else ():
        is_null = part.is_null().to_numpy(zero_copy_only=False)
        suspects = np.isin(hash_ids(as_text(part)), repeated) & ~is_null
        for i in np.flatnonzero(suspects).tolist():
            identifier = part[i].as_py()
            # A number is the same id in text.
            earlier = seen.setdefault(str(identifier), first + i)
            if earlier != first + i:
                (path, row), (file, earlier_row) = place(first + i), place(earlier)
                message = (
                    f"id {identifier!r} was used before, in {file}, row {earlier_row}; ids must "
                    f"differ{other_ids(columns)}"
                )
                raise InvalidInputError(message, path=path, row=row)
        first += len(part)


# Ids are compared when there are so many, and twice as many each time, up to a limit.
FIRST_LOOK, _LAST_LOOK = 1 << 10, 1 << 20


class EarlyIds:
    """Early check for repeated ids among the first million.

    So an error comes before the work on all documents; a longer input is compared at the end.
    """

    def __init__(self, columns: ColumnNames) -> None:
        self._columns = columns
        self._parts: list[tuple[pa.Array, str, Int64s]] = []
        self._n_ids, self._next_look = 0, FIRST_LOOK

    def add(self, ids: pa.Array, file: str, numbers: Int64s) -> None:
        """Add a file's next ids, or raise for repeated ids."""
        if self._next_look > _LAST_LOOK:
            return
        self._parts.append((ids, file, numbers))
        self._n_ids += len(ids)
        if self._n_ids < self._next_look:
            return
        starts = np.cumsum([0, *(len(part) for part, _, _ in self._parts)])

        def place(document: int) -> tuple[str, int]:
            part = int(np.searchsorted(starts, document, side="right")) - 1
            _, file, numbers = self._parts[part]
            return file, int(numbers[document - starts[part]])

        check_unique([part for part, _, _ in self._parts], place, self._columns)
        self._next_look = 2 * self._n_ids
        if self._next_look > _LAST_LOOK:
            self._parts.clear()


# Finding documents by their ids.


class IdTable:
    """Lookup of rows by id, a large string without nulls.

    Memory 16 bytes a row; making it takes the time of sorting as many numbers.
    """

    def __init__(self, ids: pa.Array) -> None:
        hashes = hash_ids(ids)
        self._ids = ids
        self._rows: Int64s = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._rows]

    def find(self, wanted: pa.Array) -> Int64s:
        """Return the first row of each id, -1 if missing."""
        hashes = hash_ids(wanted)
        found: Int64s = np.full(len(wanted), -1, np.int64)
        places = np.searchsorted(self._hashes, hashes)
        sought = np.arange(len(wanted))
        # Different ids may have one hash: one that is not there yet may be the next one.
        while len(sought):
            may_be = places < len(self._hashes)
            may_be[may_be] = self._hashes[places[may_be]] == hashes[sought[may_be]]
            sought, places = sought[may_be], places[may_be]
            rows = self._rows[places]
            is_same = pc.equal(self._ids.take(pa.array(rows)), wanted.take(pa.array(sought)))
            is_same = is_same.to_numpy(zero_copy_only=False)
            found[sought[is_same]] = rows[is_same]
            sought, places = sought[~is_same], places[~is_same] + 1
        return found


def hash_ids(ids: pa.Array) -> Uint64s:
    """Return hashes of large strings, with nulls as empty strings."""
    texts = Texts.from_arrow(ids)
    hashes: Uint64s = np.empty(len(texts), np.uint64)
    hashing.hash_strings(texts.data, texts.offsets, hashes)
    return hashes


def hash_id(identifier: str) -> int:
    """Return the hash of one id."""
    return int(hash_ids(pa.array([identifier], pa.large_string()))[0])
