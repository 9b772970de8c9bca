"""Blocks whose rows are an Arrow table."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import filter_rows, is_string, parse_arrow, plain_array
from neardup.files.columnpaths import path_in, values_at, with_values_at
from neardup.files.cuts import Cuts, fill_holes
from neardup.files.languages import IN_MEMORY
from neardup.files.problems import SAMPLED_ROWS, check_columns, string_values
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock
from neardup.tables import Int64s

# Spans cut out of the columns of a table.


def cut_columns(table: pa.Table, cuts: Cuts, *, path: str | None) -> pa.Table:
    """Cut spans out of the text columns of a table, which keep their types; others are shared."""
    paths = [path_in(table.schema, name) for name in cuts.columns]
    found = [(path, values_at(table, path)) for path in paths if path is not None]
    texts = [_strings(column) for _, column in found]
    rows = pa.array(cuts.changed)
    holes_of = cuts.holes_of_texts([text.take(rows) for text in texts])
    columns = zip(cuts.columns, found, texts, holes_of, strict=True)
    for name, (place, column), text, holes in columns:
        if not len(holes):
            continue
        in_all = replace(holes, strings=cuts.changed[holes.strings])
        try:
            values = _of_type(fill_holes(text, in_all, cuts.replacement), column.type)
        except pa.ArrowInvalid as error:
            message = f"the texts of column {name!r} do not fit {column.type} any more: {error}"
            raise InvalidInputError(message, path=path) from None
        table = with_values_at(table, place, values)
    return table


def _strings(column: pa.ChunkedArray) -> pa.Array:
    texts = plain_array(column)
    return texts.cast(pa.string()) if pa.types.is_null(texts.type) else texts


def _of_type(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Undo what ``plain_array`` did."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _of_type(texts, kind.storage_type))
    return texts.cast(kind)


def largest_row_of(table: pa.Table, numbers: Int64s) -> tuple[int, int]:
    """Return the bytes of the longest string of a table, and the number of its row."""
    largest = 0, 0
    for column in table.columns:
        if pa.types.is_string_view(column.type):
            # Arrow has no lengths of views.
            column = column.cast(pa.large_string())
        if len(table) and (is_string(column.type) or pa.types.is_large_binary(column.type)):
            sizes = pc.fill_null(pc.binary_length(column), 0).to_numpy()
            row = int(np.argmax(sizes))
            largest = max(largest, (int(sizes[row]), int(numbers[row])))
    return largest


class TableBlock(RowBlock):
    """Consecutive rows of a table, numbered from ``first``; ``path`` is None in memory."""

    def __init__(self, table: pa.Table, first: int, path: str | None = None) -> None:
        self._table, self._path = table, path
        self.language = IN_MEMORY if path is None else 0
        self.numbers = np.arange(first, first + len(table))

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Check the named columns and give them."""
        numbers = self.numbers if select is None else self.numbers[select]
        check_columns(
            columns,
            self._table.schema,
            path=self._path,
            sample=lambda: string_values(self._table.slice(0, SAMPLED_ROWS)),
        )
        # Of columns that are not named the strings are looked at.
        paths = [path_in(self._table.schema, name) for name in columns.names]
        heads = {path[0] for path in paths if path is not None}
        fields = enumerate(self._table.schema)
        indexes = [i for i, field in fields if field.name in heads or is_string(field.type)]
        table = filter_rows(self._table.select(indexes), select)
        return parse_arrow(table, numbers, columns, path=self._path, skip_bad=skip_bad)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns."""
        return filter_rows(self._table, select)

    def largest_row(self) -> tuple[int, int]:
        """Return the bytes of the largest row, without those of numbers, and its number."""
        return largest_row_of(self._table, self.numbers)

    def with_cuts(self, cuts: Cuts) -> Self:
        """Cut spans out of the columns of the texts."""
        table = cut_columns(self._table, cuts, path=self._path)
        return type(self)(table, int(self.numbers[0]), self._path)


class StoredBlock(TableBlock):
    """Consecutive documents of an index, whose texts and ids are in columns of these names."""

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Give texts, and ids if a column has them."""
        own = replace(columns, text="text", id=columns.id and "id", order=None)
        return super().parse(own, select=select, skip_bad=skip_bad)

    def with_cuts(self, cuts: Cuts) -> Self:
        """Cut spans out of the texts, which are in one column."""
        return super().with_cuts(replace(cuts, columns=("text",)))
