"""The table of removed documents with the texts of both, written in memory that has a bound."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.destinations import Destination, LocalDestination
from neardup.reading.catalogue import Catalogue
from neardup.reading.texts import KeptTexts, keep_texts
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

TEXT_COLUMNS = ("text", "kept_text")
"""Columns of the texts, behind all others."""

# Rows of a row group, and bytes of their texts unless one row has more.
_GROUP_ROWS, _GROUP_BYTES = 1 << 16, 32 << 20


def write_with_texts(
    rows_of: Callable[[Int64s], pa.Table],
    gone: Int64s,
    keepers: Int64s,
    catalogues: Sequence[Catalogue],
    destination: Destination,
    runner: Runner,
    *,
    as_bytes: bool,
) -> str:
    """Write a table of removed documents with their texts, and those of the ones that stay.

    Returns its digest.

    Texts are first copied to a file beside the table, in the order in which they are read, because
    those that stay are needed in any order.

    Parameters
    ----------
    rows_of
        Gives the rows of some of the documents.
    gone, keepers
        Numbers of the documents, and of those that stay for them, among all of ``catalogues``.
    catalogues
        The other collection, then the own one, whose documents may go.
    destination
        Of the table.
    runner
        Reads the texts.
    as_bytes
        Whether the documents are bytes.
    """
    from neardup.outputs.table_files import write_parquet_parts

    n_other = len(catalogues[0])
    wanted: Bools = np.zeros(sum(map(len, catalogues)), np.bool_)
    wanted[gone + n_other] = True
    wanted[keepers] = True
    folder = Path(str(destination)).parent if isinstance(destination, LocalDestination) else None
    with tempfile.TemporaryDirectory(prefix=".texts-", dir=folder) as temporary:
        path = Path(temporary, "texts")
        texts = keep_texts(catalogues, wanted, path, runner, as_bytes=as_bytes)

        def groups() -> Iterator[pa.Table]:
            sizes = texts.sizes(gone + n_other) + texts.sizes(keepers)
            for rows in _slices(sizes):
                yield _with_texts(rows_of(gone[rows]), gone[rows] + n_other, keepers[rows], texts)

        nothing = gone[:0]
        schema = _with_texts(rows_of(nothing), nothing, nothing, texts).schema
        digest = write_parquet_parts(groups(), schema, destination, are_groups=True)
        texts.close()
    return digest


def _with_texts(rows: pa.Table, gone: Int64s, keepers: Int64s, texts: KeptTexts) -> pa.Table:
    for name, documents in zip(TEXT_COLUMNS, (gone, keepers), strict=True):
        rows = rows.append_column(name, texts.take(documents))
    return rows


def _slices(sizes: Int64s) -> Iterator[slice]:
    """Cut rows where a row group has enough of them, or of the bytes of their texts."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + _GROUP_BYTES, side="right"))
        stop = min(max(stop, start + 1), start + _GROUP_ROWS, len(sizes))
        yield slice(start, stop)
        start = stop
