"""Blocking keys: documents are compared only if they have the same values in some columns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.files.arrowcolumns import plain_array
from neardup.files.rows import RowBlock
from neardup.kernels.common.hashing import mix_words
from neardup.reading.column_values import text_of
from neardup.storage.ids import hash_ids
from neardup.tables import Bools, Uint64s

NO_KEY = np.uint64(0)
"""The key of a document without a value, which is compared with none."""


def read_blocking_keys(block: RowBlock, columns: Sequence[str], is_bad: Bools) -> Uint64s:
    """Read the blocking key of each row of a block, of all columns together.

    A row has none that lacks one of the values, or is bad. Values are those of ``text_of``.

    Raises
    ------
    InvalidInputError
        If a column holds values of which there is no text.
    """
    keys: Uint64s = np.full(len(block), NO_KEY, np.uint64)
    table = block.some_columns(columns, None if not is_bad.any() else ~is_bad)
    if table.num_columns < len(columns):
        return keys
    found: Uint64s = np.zeros(len(table), np.uint64)
    has_all = np.ones(len(table), np.bool_)
    for name in columns:
        values = text_of(plain_array(table.column(name)), name, "blocking")
        has_all &= values.is_valid().to_numpy(zero_copy_only=False)
        with np.errstate(over="ignore"):
            found = mix_words(found ^ hash_ids(values))
    keys[~is_bad] = np.where(has_all, np.maximum(found, np.uint64(1)), NO_KEY)
    return keys
