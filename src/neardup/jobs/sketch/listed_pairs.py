"""Pairs of sketches that a table lists by their ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.ids import as_text
from neardup.files.passes import ReadingPass
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.jobs.pairs.id_columns import ID_COLUMNS, READING_PAIRS, check_columns, read_ids
from neardup.runtime.runner import Runner
from neardup.sketches.pairs import Pairs
from neardup.storage.ids import IdTable
from neardup.tables import Int64s


def read_listed_pairs(
    pairs: Any, ids: tuple[pa.Array, pa.Array], n_left: int | None, runner: Runner
) -> Pairs:
    """Read pairs, ids as rows of sketches, in the order of their table.

    Parameters
    ----------
    pairs
        A file or its URL, or what holds rows: ``id_a``, ``id_b``, and columns that do not matter.
    ids
        Those of the sketches that may be on either side.
    n_left
        How many sketches the first of two collections has, None for one collection.
    runner
        Reads, and reports that as the stage ``pairs``.

    Raises
    ------
    ReadError, InvalidInputError
        If the table cannot be read, has no such columns, or names a document without a sketch.
    """
    name = str(pairs) if isinstance(pairs, str | Path) else "the table of pairs"
    known = tuple(IdTable(as_text(of_side)) for of_side in ids)
    firsts = (0, n_left or 0)

    def read(_: Source, block: RowBlock) -> Pairs:
        table = block.to_table()
        check_columns(table, ID_COLUMNS, name)
        left, right = (
            first + _find(as_text(read_ids(table, column, name)), table_of_ids, column, name)
            for column, table_of_ids, first in zip(ID_COLUMNS, known, firsts, strict=True)
        )
        return left, right

    sources = resolve_inputs(pairs)
    nothing: Int64s = np.empty(0, np.int64)
    parts = [(nothing, nothing)]
    parts += [part for _, part in ReadingPass(READING_PAIRS, sources, runner).map(read, sources)]
    left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return left, right


def _find(ids: pa.Array, known: IdTable, column: str, name: str) -> Int64s:
    places = known.find(ids)
    if (places < 0).any():
        missing = ids.filter(pa.array(places < 0)).unique()
        more = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        message = (
            f"{name}: there is no sketch of {column} {missing[0].as_py()!r}{more}; id_a is of the "
            "first sketches, and id_b of the second ones if there are two collections"
        )
        raise InvalidInputError(message)
    return places
