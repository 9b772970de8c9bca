"""A few documents of a source, by how many come before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class Documents(NamedTuple):
    """Texts of some documents, and their ids as they are in a column; None where none is read.

    Texts are bytes where files are read as such.
    """

    texts: list[str | bytes]
    ids: pa.Array | None


def read_at(
    source: Source, columns: ColumnNames, places: Int64s, *, has_bad_rows: bool = False
) -> Documents:
    """Read the documents at some places of a source, and nothing that comes after the last.

    Parameters
    ----------
    source
        Where they are.
    columns
        Of texts and ids.
    places
        How many documents come before each; ascending, none twice.
    has_bad_rows
        Whether there may be rows that are no documents; then all rows are parsed.

    Returns
    -------
    The documents; fewer than places, if the source ends before.

    Raises
    ------
    ReadError, InvalidInputError
        If the source cannot be read.
    """
    import pyarrow as pa

    texts: list[str | bytes] = []
    ids: list[pa.Array] = []
    start = n_found = 0
    for block in source.blocks() if len(places) else ():
        is_good = good_rows(block, columns) if has_bad_rows else np.ones(len(block), np.bool_)
        stop = start + int(is_good.sum())
        n_here = int(np.searchsorted(places, stop)) - n_found
        if n_here:
            rows = np.flatnonzero(is_good)[places[n_found : n_found + n_here] - start]
            select: Bools = np.zeros(len(block), np.bool_)
            select[rows] = True
            parsed = block.parse(columns, select=select)
            texts += parsed.text.to_pylist()
            if parsed.id is not None:
                ids.append(parsed.id)
        start, n_found = stop, n_found + n_here
        if n_found == len(places):
            break
    return Documents(texts, pa.concat_arrays(ids) if ids else None)


def good_rows(block: RowBlock, columns: ColumnNames) -> Bools:
    """Return which rows of a block are documents; the others cannot be used."""
    skipped = block.parse(columns, skip_bad=True).skipped
    return np.isin(block.numbers, [number for number, _ in skipped], invert=True)
