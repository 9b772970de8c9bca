"""Whose documents went for whose: a matrix of files, or of values of a column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.tables import Int64s

# What rows and columns of the matrix are called that have no one name.
OTHERS = "all others"
NOT_KNOWN = "not in a file"


@dataclass(frozen=True)
class Exchange:
    """By file or column: ``counts[i][j]`` of ``removed_from[i]`` went for one of ``kept_in[j]``.

    Names that have fewer than the largest ones are one row or column, ``OTHERS``: so many of each
    are ``n_other_rows`` and ``n_other_columns``.
    """

    what: str
    removed_from: Sequence[str]
    kept_in: Sequence[str]
    counts: Sequence[Sequence[int]]
    n_other_rows: int
    n_other_columns: int

    @property
    def is_picture(self) -> bool:
        """Whether there is more than one cell to be seen."""
        return len(self.removed_from) * len(self.kept_in) > 1


def count_exchange(
    what: str,
    removed_from: pa.Array | pa.ChunkedArray,
    kept_in: pa.Array | pa.ChunkedArray,
    *,
    most: int = 16,
) -> Exchange:
    """Count removed documents by where they were and where the one that stays is.

    Parameters
    ----------
    what
        What names are of: a file, or a column.
    removed_from, kept_in
        Names, for each removed document; null for what is in no file.
    most
        Names of each that have a row or column of their own, in the order in which they first come.
    """
    rows, row_names, n_other_rows = _largest(removed_from, most)
    columns, column_names, n_other_columns = _largest(kept_in, most)
    shape = len(row_names), len(column_names)
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
    return Exchange(
        what, row_names, column_names, counts.reshape(shape).tolist(), n_other_rows, n_other_columns
    )


def _largest(names: pa.Array | pa.ChunkedArray, most: int) -> tuple[Int64s, Sequence[str], int]:
    """Give numbers to names, the most frequent ones in order of appearance, the rest the last."""
    if isinstance(names, pa.ChunkedArray):
        names = names.combine_chunks()
    encoded = names.dictionary_encode(null_encoding="encode")
    values = [NOT_KNOWN if name is None else str(name) for name in encoded.dictionary.to_pylist()]
    codes = encoded.indices.to_numpy().astype(np.int64)
    sizes = np.bincount(codes, minlength=len(values))
    if len(values) <= most:
        return codes, values, 0
    chosen = np.sort(np.argsort(-sizes, kind="stable")[: most - 1])
    new_codes = np.full(len(values), most - 1)
    new_codes[chosen] = np.arange(most - 1)
    return new_codes[codes], [*(values[i] for i in chosen), OTHERS], len(values) - (most - 1)
