"""Blocks whose rows are an Arrow table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from neardup.files.arrowcolumns import filter_rows, is_string, parse_arrow
from neardup.files.columnwords import SAMPLED_ROWS
from neardup.files.problems import check_columns, string_values
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock
from neardup.files.tablecuts import cut_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.files.cuts import Cuts


class TableBlock(RowBlock):
    """Consecutive rows of a table, numbered from ``first``; ``path`` is None in memory."""

    def __init__(self, table: pa.Table, first: int, path: str | None = None) -> None:
        self._table, self._path = table, path
        self.numbers = np.arange(first, first + len(table))

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Check the named columns and give them."""
        numbers = self.numbers if select is None else self.numbers[select]
        wanted = check_columns(
            columns,
            self._table.column_names,
            path=self._path,
            sample=lambda: string_values(self._table.slice(0, SAMPLED_ROWS)),
        )
        # Of columns that are not named the strings are looked at.
        fields = enumerate(self._table.schema)
        indexes = [i for i, field in fields if field.name in wanted or is_string(field.type)]
        table = filter_rows(self._table.select(indexes), select)
        return parse_arrow(table, numbers, columns, path=self._path, skip_bad=skip_bad)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns."""
        return filter_rows(self._table, select)

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
