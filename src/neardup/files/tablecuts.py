"""Spans cut out of the columns of a table."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import plain_array
from neardup.files.cuts import Cuts, fill_holes


def cut_columns(table: pa.Table, cuts: Cuts, *, path: str | None) -> pa.Table:
    """Cut spans out of the text columns of a table, which keep their types; others are shared.

    Raises
    ------
    InvalidInputError
        If a column of a dictionary type cannot number its texts any more.
    """
    texts = [_strings(table.column(name)) for name in cuts.columns]
    rows = pa.array(cuts.changed)
    holes_of = cuts.holes_of_texts([text.take(rows) for text in texts])
    for name, text, holes in zip(cuts.columns, texts, holes_of, strict=True):
        if not len(holes):
            continue
        index = table.column_names.index(name)
        field = table.schema.field(index)
        in_all = replace(holes, strings=cuts.changed[holes.strings])
        try:
            column = _of_type(fill_holes(text, in_all, cuts.replacement), field.type)
        except pa.ArrowInvalid as error:
            message = f"the texts of column {name!r} do not fit {field.type} any more: {error}"
            raise InvalidInputError(message, path=path) from None
        table = table.set_column(index, field, column)
    return table


def _strings(column: pa.ChunkedArray) -> pa.Array:
    texts = plain_array(column)
    return texts.cast(pa.string()) if pa.types.is_null(texts.type) else texts


def _of_type(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Undo what ``plain_array`` did."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _of_type(texts, kind.storage_type))
    return texts.cast(kind)
