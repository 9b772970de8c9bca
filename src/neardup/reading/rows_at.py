"""A few documents of a source without bad rows, by how many rows come before them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.files.rows import ColumnNames, Source
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class Documents(NamedTuple):
    """Texts of some documents, and their ids as they are in a column; None where none is read.

    Texts are bytes where files are read as such. They are cut where as much text as was to be read
    came before the last document.
    """

    texts: list[str | bytes]
    ids: pa.Array | None
    are_cut: bool = False


def read_at(
    source: Source,
    columns: ColumnNames,
    places: Int64s,
    *,
    most_bytes: int | None = None,
) -> Documents:
    """Read the documents at some places of a source, and nothing that comes after the last.

    Parameters
    ----------
    source
        Where they are.
    columns
        Of texts and ids.
    places
        How many rows come before each; ascending, none twice.
    most_bytes
        Once texts have as many, no further block is read.

    Returns
    -------
    The documents; fewer than places, if the source ends before or texts have so many bytes.

    Raises
    ------
    ReadError, InvalidInputError
        If the source cannot be read.
    """
    import pyarrow as pa

    texts: list[str | bytes] = []
    ids: list[pa.Array] = []
    start = n_found = n_bytes = 0
    are_cut = False
    for block in source.blocks() if len(places) else ():
        stop = start + len(block)
        n_here = int(np.searchsorted(places, stop)) - n_found
        if n_here:
            select: Bools = np.zeros(len(block), np.bool_)
            select[places[n_found : n_found + n_here] - start] = True
            parsed = block.parse(columns, select=select)
            texts += parsed.text.to_pylist()
            n_bytes += parsed.text.nbytes
            if parsed.id is not None:
                ids.append(parsed.id)
        start, n_found = stop, n_found + n_here
        are_cut = most_bytes is not None and n_bytes >= most_bytes and n_found < len(places)
        if n_found == len(places) or are_cut:
            break
    return Documents(texts, pa.concat_arrays(ids) if ids else None, are_cut)
