"""Tables of results whose rows are read some at a time, as often as they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.files.arrowcolumns import TableBlock
from neardup.files.rows import RowBlock
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa

_BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class TableRows:
    """The rows of a table, a part of which is in memory at a time.

    Parameters
    ----------
    schema
        Names and types of the columns.
    n_rows
        How many rows there are.
    blocks
        Gives all of them in order, in blocks that read their columns when they are asked.
    finish
        Takes some columns of rows as they are stored, and the place of the first row; returns them
        as they should be, or raises.
    """

    schema: pa.Schema
    n_rows: int
    blocks: Callable[[], Iterator[RowBlock]]
    finish: Callable[[pa.Table, int], pa.Table] | None = None

    @classmethod
    def of_table(cls, table: pa.Table, *, block_rows: int = _BLOCK_ROWS) -> TableRows:
        """Take a table that is in memory; nothing is copied."""

        def blocks() -> Iterator[RowBlock]:
            for start in range(0, len(table), block_rows):
                yield TableBlock(table.slice(start, block_rows), start + 1)

        return cls(table.schema, len(table), blocks)

    @classmethod
    def of_reader(cls, read: Callable[[], pa.RecordBatchReader], n_rows: int) -> TableRows:
        """Take rows that are made anew each time that ``read`` is called."""
        import pyarrow as pa

        def blocks() -> Iterator[RowBlock]:
            first = 1
            for batch in read():
                yield TableBlock(pa.Table.from_batches([batch]), first)
                first += len(batch)

        return cls(read().schema, n_rows, blocks)

    def __len__(self) -> int:
        return self.n_rows

    def batches(self, *names: str) -> Iterator[pa.Table]:
        """Yield the rows of some columns in order, a block at a time; of all if none is named."""
        start = 0
        for block in self.blocks():
            yield self.read(block, names, start)
            start += len(block)

    def forward(self, *names: str) -> ForwardRows:
        """Return a reader of some columns, for rows that are asked for in ascending order."""
        return ForwardRows(self, names)

    def take(self, places: Int64s, *names: str) -> pa.Table:
        """Return some rows by their places, in any order and as often as they are named.

        Only the row groups are read that have them, and there has to be a row at each place.
        """
        import pyarrow as pa

        wanted, inverse = np.unique(np.asarray(places, np.int64), return_inverse=True)
        return self.forward(*names).take(wanted).take(pa.array(inverse))

    def read(self, block: RowBlock, names: tuple[str, ...], start: int) -> pa.Table:
        """Read some columns of a block whose first row is at a place; all if none is named."""
        table = block.some_columns(names or self.schema.names)
        return table if self.finish is None else self.finish(table, start)


class ForwardRows:
    """Reads rows of a table that are asked for in ascending order.

    A block is read once, and none that has no such row.
    """

    def __init__(self, rows: TableRows, names: tuple[str, ...]) -> None:
        self._rows, self._names = rows, names
        self._blocks = rows.blocks()
        self._block: RowBlock | None = None
        self._table: pa.Table | None = None
        self._start = self._stop = 0

    def take(self, places: Int64s) -> pa.Table:
        """Return some rows: ascending, none twice, and none before the last block of earlier ones.

        Places beyond the table have no row.
        """
        import pyarrow as pa

        names = self._names or self._rows.schema.names
        schema = self._rows.schema
        nothing = pa.schema([schema.field(name) for name in names]).empty_table()
        parts, n_found = [nothing], 0
        while n_found < len(places):
            n_here = int(np.searchsorted(places, self._stop))
            if n_here > n_found:
                if self._table is None:
                    assert self._block is not None
                    self._table = self._rows.read(self._block, self._names, self._start)
                parts.append(self._table.take(pa.array(places[n_found:n_here] - self._start)))
                n_found = n_here
            elif not self._advance():
                break
        return pa.concat_tables(parts)

    def _advance(self) -> bool:
        self._block, self._table = next(self._blocks, None), None
        self._start = self._stop
        if self._block is None:
            return False
        self._stop += len(self._block)
        return True
