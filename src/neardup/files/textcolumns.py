"""A text in several columns: joined with newlines, in the order in which they are named.

A null in one of them counts as an empty text, so that each text has as many parts as there are
columns; where all are null there is no text.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

SEPARATOR = "\n"


def join_texts(columns: Sequence[pa.Array]) -> pa.Array:
    """Join strings row by row; a row is null where all columns are, a single column stays as is."""
    if len(columns) == 1:
        return columns[0]
    # Together they may be too long for 32-bit offsets.
    wide = [column.cast(pa.large_string()) for column in columns]
    separator = pa.scalar(SEPARATOR, pa.large_string())
    joined = pc.binary_join_element_wise(
        *wide, separator, null_handling="replace", null_replacement=""
    )
    is_null = wide[0].is_null()
    for column in wide[1:]:
        is_null = pc.and_(is_null, column.is_null())
    return pc.if_else(is_null, pa.scalar(None, pa.large_string()), joined)


def null_text(names: Sequence[str]) -> str:
    """Say that a row has no text in the columns of these names."""
    if len(names) == 1:
        return f"column {names[0]!r} is null"
    return f"columns {', '.join(map(repr, names))} are null"
