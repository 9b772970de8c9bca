"""Blocking keys: documents are compared only if they have the same values in some columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import plain_array
from neardup.files.rows import RowBlock
from neardup.kernels.hashing import mix_words
from neardup.storage.ids import hash_ids
from neardup.tables import Bools, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

NO_KEY = np.uint64(0)
"""The key of a document without a value, which is compared with none."""


def read_blocking_keys(block: RowBlock, columns: Sequence[str], is_bad: Bools) -> Uint64s:
    """Read the blocking key of each row of a block, of all columns together.

    A row has none that lacks one of the values, or is bad. Values are equal if they are as text: 7
    is, as a number of any type and as a string; an empty string is no value.

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
        values = _text_of(plain_array(table.column(name)), name)
        has_all &= values.is_valid().to_numpy(zero_copy_only=False)
        with np.errstate(over="ignore"):
            found = mix_words(found ^ hash_ids(values))
    keys[~is_bad] = np.where(has_all, np.maximum(found, np.uint64(1)), NO_KEY)
    return keys


def _text_of(values: pa.Array, name: str) -> pa.Array:
    """Return values as text, null where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(values.type) or pa.types.is_large_binary(values.type):
        message = (
            f"column {name!r} holds {values.type} values; blocking needs strings, numbers, dates "
            "or truth values"
        )
        raise InvalidInputError(message)
    texts = values.cast(pa.large_string())
    if pa.types.is_floating(values.type):
        # A column of whole numbers is one of floats where some are missing.
        is_whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**53))
        whole = pc.if_else(is_whole, values, pa.scalar(None, values.type)).cast(pa.int64())
        texts = pc.coalesce(whole.cast(pa.large_string()), texts)
    is_empty = pc.equal(pc.utf8_trim_whitespace(texts), "")
    return pc.if_else(is_empty, pa.scalar(None, pa.large_string()), texts)
