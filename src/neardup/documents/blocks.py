"""Blocks of documents: texts and what else is kept of each, but for ids, compressed together.

A block is, before compression, two numbers of 64 bits, rows and columns; for each column where its
cells start and stop (n + 1 numbers of 64 bits); the bytes of all cells, each column's filled up to
8 bytes; and behind it the user's columns as an Arrow stream, if there are any.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.ipc

from neardup.documents.values import words_of_values
from neardup.tables import Bytes, Int64s, Texts, places_of_lists

S = TypeVar("S", bound=np.generic)

# Reading one document means decompressing a block, in some 20 us.
BLOCK_BYTES = 16_384

# Texts of 1 kB take 1 % more than with level 3, and half of the time.
_LEVEL = 1

TEXTS, SETS, WEIGHTS, STATES, N_TOKENS = range(5)

# States of a document: what of it is kept.
OF_TEXT, OF_SET = 0, 1

_HEAD = 2


class Block:
    """Some documents, of what ``pack`` has made; a column is cells of bytes.

    A look-up wants a cell or two of one that it has decompressed for that: only these are cut out.
    """

    def __init__(self, raw: Bytes) -> None:
        self._raw = raw
        numbers: Int64s = raw[: len(raw) // 8 * 8].view(np.int64)
        self._n, n_columns = int(numbers[0]), int(numbers[1])
        head = _HEAD + n_columns * (self._n + 1)
        self._offsets = numbers[_HEAD:head].reshape(n_columns, self._n + 1)
        self._starts = [8 * head]
        for size in self._offsets[:, -1].tolist():
            self._starts.append(self._starts[-1] + size + -size % 8)

    def __len__(self) -> int:
        return self._n

    def column(self, number: int) -> Texts:
        """Return the cells of a column, and where each of them starts."""
        offsets, start = self._offsets[number], self._starts[number]
        return Texts(self._raw[start : start + int(offsets[-1])], offsets)

    @cached_property
    def user_columns(self) -> pa.Table | None:
        """The columns of the user's, None if there are none."""
        more = self._raw[self._starts[-1] :]
        return pa.ipc.open_stream(pa.py_buffer(more)).read_all() if len(more) else None

    def cell(self, column: int, row: int) -> Bytes:
        """Return the bytes of one cell."""
        offsets, start = self._offsets[column], self._starts[column]
        cell: Bytes = self._raw[start + int(offsets[row]) : start + int(offsets[row + 1])]
        return cell

    def is_text(self, row: int) -> bool:
        """Return whether the text of a document is kept, and not its set."""
        return int(self._raw[self._starts[STATES] + row]) == OF_TEXT

    @property
    def n_tokens(self) -> Int64s:
        """The number of tokens of each document."""
        counts: Int64s = self.column(N_TOKENS).data.view(np.int64)
        return counts

    def take(self, rows: Int64s) -> tuple[list[Texts], pa.Table | None]:
        """Return the cells and the user's columns of some rows."""
        user = self.user_columns
        columns = map(self.column, range(len(self._offsets)))
        return (
            [Texts(*take_cells_of(each.data, each.offsets, rows)) for each in columns],
            None if user is None else user.take(pa.array(rows)),
        )


def pack(columns: Sequence[Texts], user_columns: pa.Table | None) -> tuple[bytes, int]:
    """Compress a block; returns it with its size before."""
    n = len(columns[0])
    head: Int64s = np.array([n, len(columns)], np.int64)
    parts: list[bytes] = [head.tobytes()]
    parts += ((column.offsets - column.offsets[0]).tobytes() for column in columns)
    for column in columns:
        cells = column.data[column.offsets[0] : column.offsets[-1]]
        parts += (cells.tobytes(), bytes(-len(cells) % 8))
    if user_columns is not None and user_columns.num_columns:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, user_columns.schema) as writer:
            writer.write_table(user_columns)
        parts.append(sink.getvalue().to_pybytes())
    raw = b"".join(parts)
    compressed: bytes = pa.Codec("zstd", _LEVEL).compress(raw, asbytes=True)
    return compressed, len(raw)


def unpack(data: Any, raw_size: int) -> Block:
    """Return a block of what ``pack`` has made; its bytes have been checked."""
    buffer = pa.decompress(pa.py_buffer(data), raw_size, "zstd")
    return Block(np.frombuffer(buffer, np.uint8))


def take_cells_of(
    data: npt.NDArray[S], offsets: Int64s, rows: Int64s
) -> tuple[npt.NDArray[S], Int64s]:
    """Return the values of some rows, and where each row starts among them."""
    places, found = places_of_lists(offsets[rows], np.diff(offsets)[rows])
    return data[places], found


def join_tables(tables: Sequence[pa.Table]) -> pa.Table:
    """Put tables of the same columns together; those that have no type in common become text."""
    try:
        return pa.concat_tables(tables, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        columns = {}
        for name in tables[0].column_names:
            values = [value for table in tables for value in table[name].to_pylist()]
            try:
                kind = pa.unify_schemas(
                    [pa.schema([table.schema.field(name)]) for table in tables],
                    promote_options="permissive",
                )[0].type
            except (pa.ArrowInvalid, pa.ArrowTypeError):
                columns[name] = words_of_values(values)
            else:
                columns[name] = pa.array(values, kind)
        return pa.table(columns)


def cells_of(array: npt.NDArray[Any], n: int) -> Texts:
    """Return the cells of a column of n rows, all of one size, whose bytes are an array's."""
    data: Bytes = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return Texts(data, np.arange(n + 1, dtype=np.int64) * (len(data) // max(1, n)))
