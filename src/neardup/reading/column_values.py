"""Available columns, values of columns as text, and blocking keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import plain_array
from neardup.files.ids import hash_ids
from neardup.files.problems import listed_names
from neardup.files.rows import RowBlock, Source
from neardup.kernels.common.hashing import mix_words
from neardup.tables import Bools, Uint64s

if TYPE_CHECKING:
    import pyarrow as pa

# Files whose first rows are read to find a column.
_MOST_FILES = 100


def columns_there(sources: Sequence[Source], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns among ``names`` that a source's header or first rows have.

    Without rows and headers, all columns count as available.
    """
    found: set[str] = set()
    is_empty = True
    for source in sources[:_MOST_FILES]:
        block = next(iter(source.blocks()), None)
        header = source.listed_names() if block is None else ()
        if block is not None:
            tables, _ = block.readable_columns(names)
            header = [name for table in tables for name in table.column_names]
        found |= set(header).intersection(names)
        is_empty &= block is None and not header
        if len(found) == len(set(names)):
            break
    return tuple(name for name in names if name in found or is_empty)


def where_to_have(sources: Sequence[Source]) -> str:
    """Return the remedy for a column that the first rows lack."""
    if all(source.has_fixed_columns for source in sources):
        return ""
    return "; of JSON the first rows are looked at, so put one that has the column among them"


def check_have_columns(
    names: Sequence[str], named_by: str, collections: Sequence[Sequence[Source]]
) -> None:
    """Raise if a collection lacks a column of the option ``named_by``."""
    for sources in collections:
        there = columns_there(sources, names)
        for name in names:
            if name not in there and sources:
                columns = listed_names(name, sources[0].listed_names())
                message = (
                    f"no column {name!r}, which {named_by} names; columns are {columns}"
                    f"{where_to_have(sources)}"
                )
                raise InvalidInputError(message, path=sources[0].origin)


def text_of(values: pa.Array, name: str, use: str) -> pa.Array:
    """Return the values of a column as text, null for missing ones.

    Values are equal if their texts are: 7 as a number of any type and as a string; an empty string
    and NaN are missing. ``use`` is the option that names the column.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(values.type) or pa.types.is_large_binary(values.type):
        message = (
            f"column {name!r} holds {values.type} values; {use} needs strings, numbers, dates "
            "or truth values"
        )
        raise InvalidInputError(message)
    texts = values.cast(pa.large_string())
    if pa.types.is_floating(values.type):
        # A column of integers becomes floats if some are missing.
        is_whole = pc.and_(pc.equal(values, pc.floor(values)), pc.less(pc.abs(values), 2.0**53))
        whole = pc.if_else(is_whole, values, pa.scalar(None, values.type)).cast(pa.int64())
        texts = pc.coalesce(whole.cast(pa.large_string()), texts)
        texts = pc.if_else(pc.is_nan(values), pa.scalar(None, pa.large_string()), texts)
    is_empty = pc.equal(pc.utf8_trim_whitespace(texts), "")
    return pc.if_else(is_empty, pa.scalar(None, pa.large_string()), texts)


# Blocking keys: documents are compared only if they have equal values in some columns.

NO_KEY = np.uint64(0)
"""Key of a document without a value, which is not compared."""


def read_blocking_keys(block: RowBlock, columns: Sequence[str], is_bad: Bools) -> Uint64s:
    """Read the blocking key of each row of a block, of all columns together.

    A bad row, or one without a value, has none. Values are from ``text_of``.
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
