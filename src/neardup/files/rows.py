"""Interface of file formats: sources, blocks and writers of rows.

A source is one input file or one table in memory. Its rows travel in blocks of some megabytes; a
block knows its rows in their original form and can parse the few columns that a job needs. Whether
a row is kept or removed, it is written from its original form, so that nothing is lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, in_python
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    from neardup.files.cuts import Cuts
    from neardup.files.streams import Buffer, Destination

Mask = Bools

DEFAULT_ID = "id"
"""Column that has the ids if nobody names one and all sources have it."""


@dataclass(frozen=True)
class ColumnNames:
    """The input columns that a job reads.

    ``text`` is the document: one column, or several that are joined with newlines; ``id`` its
    identifier (None: the row's place); ``order`` one or several columns of numbers, dates or
    strings that rank documents.

    With ``id_is_default`` the column of ids is not named by the user: all sources have it, or it is
    the labels of a data frame (``files.documents.choose_id_column``). ``text_option`` and
    ``id_option`` are the options that named the columns, for errors.
    """

    text: str | tuple[str, ...] = "text"
    id: str | None = None
    order: str | tuple[str, ...] | None = None
    id_is_default: bool = False
    text_option: str = "text_column"
    id_option: str = "id_column"

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The columns of the text, in their order."""
        return (self.text,) if isinstance(self.text, str) else self.text

    @cached_property
    def orders(self) -> tuple[str, ...]:
        """The columns that rank documents, the most important first."""
        return (self.order,) if isinstance(self.order, str) else self.order or ()

    @cached_property
    def names(self) -> list[str]:
        """All columns, each once."""
        wanted = dict.fromkeys([*self.texts, self.id, *self.orders])
        return [name for name in wanted if name is not None]

    def only_text(self) -> ColumnNames:
        """Return the columns of the text alone."""
        return replace(self, id=None, order=None, id_is_default=False)


@dataclass
class ParsedRows:
    """The columns of some rows of a block, in order.

    ``text`` is a string array of valid UTF-8; ``join_texts`` joins several text columns. It is null
    in the skipped rows and nowhere else. ``skipped`` lists row number and reason of each, if the
    caller skips bad rows. ``id`` has strings or integers, and nulls in skipped rows only. ``order``
    has sortable values; ``order_of`` combines several columns. ``id`` and ``order`` are None if the
    job reads no such column. ``files`` are the files of joined texts (``files.folders.FILES``).
    """

    text: pa.Array
    id: pa.Array | None = None
    order: pa.Array | None = None
    skipped: list[tuple[int, str]] = field(default_factory=list)
    files: pa.Array | None = None


def order_of(columns: Sequence[pa.Array]) -> pa.Array | None:
    """Combine several ranking columns into a structure, or return one."""
    if len(columns) < 2:
        return next(iter(columns), None)
    return pa.StructArray.from_arrays(columns, [str(number) for number in range(len(columns))])


def columns_of_order(order: pa.Array | None, n_columns: int) -> list[pa.Array]:
    """Return the ``n`` columns that ``order_of`` has combined."""
    if order is None or n_columns < 2:
        return [order] * n_columns
    # A row that is null as a whole is so in each.
    columns: list[pa.Array] = order.flatten()
    return columns


def join_texts(columns: Sequence[pa.Array]) -> pa.Array:
    """Join strings row by row, null if all columns are.

    A null beside other texts counts as an empty one, so that each text has a part per column.
    """
    if len(columns) == 1:
        return columns[0]
    from neardup.files.cuts import SEPARATOR

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


class BadRowError(Exception):
    """Error for an unusable row, with the reason."""


class Problems:
    """The bad rows of a call of ``parse``, collected or raised."""

    def __init__(self, numbers: Int64s, path: str | None, skip_bad: bool) -> None:
        self.numbers, self._path, self._skip_bad = numbers, path, skip_bad
        self.bad = np.zeros(len(numbers), np.bool_)
        self._skipped: list[tuple[int, str]] = []

    def add(self, index: int, reason: str) -> None:
        """Record a bad row by index, or raise InvalidInputError."""
        number = int(self.numbers[index])
        if not self._skip_bad:
            if self._path is None:
                message = f"row {number}: {reason}"
                raise InvalidInputError(message, row=number, is_bad_row=True)
            raise InvalidInputError(reason, path=self._path, row=number, is_bad_row=True)
        if not self.bad[index]:
            self.bad[index] = True
            self._skipped.append((number, in_python(reason)))

    def insert_bad_rows(self, rows: ParsedRows) -> ParsedRows:
        """Return all rows with nulls for the bad rows, which ``rows`` lacks."""
        places = pa.array(np.cumsum(~self.bad) - 1, mask=self.bad)
        return self._listed(rows, lambda array: array.take(places))

    def blank_bad_rows(self, rows: ParsedRows) -> ParsedRows:
        """Return all rows with nulls for the bad rows, which ``rows`` has."""
        bad = pa.array(self.bad)
        return self._listed(rows, lambda each: pc.if_else(bad, pa.scalar(None, each.type), each))

    def _listed(self, rows: ParsedRows, change: Callable[[pa.Array], pa.Array]) -> ParsedRows:
        if not self._skipped:
            return rows
        ids = None if rows.id is None else change(rows.id)
        order = None if rows.order is None else change(rows.order)
        return ParsedRows(change(rows.text), ids, order, sorted(self._skipped + rows.skipped))


class RowBlock(ABC):
    """Consecutive rows of one source."""

    numbers: Int64s
    """Number of each row in its source: line or row, counted from 1."""

    end: int = 0
    """Bytes of the source, as its ``size`` counts them, up to the end of this block."""

    source: Source | None = None
    """The source that has read the rows; None for rows that were made."""

    language: int = 0
    """The language of a program by the ending of its file, a number of ``files.encodings``."""

    def __len__(self) -> int:
        return len(self.numbers)

    def select(self, rows: Mask | None) -> Self:
        """Return the rows of a mask, all rows without one."""
        if rows is None or rows.all():
            return self
        made = copy(self)
        made.numbers = self.numbers[rows]
        return made

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse the named columns, of all rows or of ``select``.

        Safe to call from any thread. Raises InvalidInputError, with file and row, for a row that
        is malformed, lacks a named column, or whose text is null, not a string, or not UTF-8;
        with ``skip_bad`` such rows are listed in the result instead.
        """
        block = self.select(select)
        return block._read_columns(columns, skip_bad=skip_bad)  # noqa: SLF001 - of this class

    @abstractmethod
    def _read_columns(self, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Parse the columns as they are stored."""

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Return all columns of the rows as an Arrow table."""
        return self.select(select)._read_table(None)  # noqa: SLF001 - of this class

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Return the existing columns of some names, each once.

        Values that have no type in common become text, as JSON writes them, strings as they are.
        """
        return self.select(select)._read_table(names)  # noqa: SLF001 - of this class

    @abstractmethod
    def _read_table(self, names: Sequence[str] | None) -> pa.Table:
        """Return the existing columns of some names, None for all."""

    def json_columns(self, names: Sequence[str]) -> tuple[pa.Table, Mask] | None:
        """Return members as JSON texts and bad rows, None for tables."""
        return None

    def json_lines(self) -> list[Buffer] | None:
        """Return rows as JSON lines, values unchanged, None for tables."""
        return None

    def readable_columns(self, names: Sequence[str]) -> tuple[list[pa.Table], Mask]:
        """Return the readable rows' columns in parts, and bad rows."""
        are_bad = np.zeros(len(self), np.bool_)
        tables = list(self._good_columns(names, ~are_bad, are_bad))
        return tables, are_bad

    def _good_columns(self, names: Sequence[str], rows: Mask, are_bad: Mask) -> Iterator[pa.Table]:
        """Yield readable rows' columns in order, and record bad rows."""
        try:
            yield self.some_columns(names, None if rows.all() else rows)
            return
        except InvalidInputError as error:
            if not error.is_bad_row:
                raise
        places = np.flatnonzero(rows)
        if len(places) == 1:
            are_bad[places] = True
            return
        is_before = np.arange(len(rows)) < places[len(places) // 2]
        yield from self._good_columns(names, rows & is_before, are_bad)
        yield from self._good_columns(names, rows & ~is_before, are_bad)

    @abstractmethod
    def with_cuts(self, cuts: Cuts) -> RowBlock:
        """Return the block with spans cut out of its texts.

        A row without a span, such as a bad row, keeps its bytes; in others only the text changes.
        """


class RowWriter(ABC):
    """Writer of a source's rows in their original form.

    ``prepare`` encodes rows, and threads may call it for several blocks at a time; ``append``
    writes the encoded rows to the file, block after block.
    """

    @abstractmethod
    def prepare(self, block: RowBlock) -> Any:
        """Encode the rows of a block from its source, perhaps none."""

    @abstractmethod
    def append(self, prepared: Any) -> None:
        """Append rows that ``prepare`` has encoded."""

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected rows of a block."""
        self.append(self.prepare(block.select(select)))

    @abstractmethod
    def close(self) -> None:
        """Complete the file, even without any rows.

        Without a row the file is valid and empty; a file that is one document is not written then.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class Source(ABC):
    """One input file, or one table in memory.

    A format is a subclass: ``schema`` returns its columns, ``blocks`` reads rows and ``writer``
    writes them back.
    """

    name: str
    """Name in ids and outputs, with suffixes: see ``files.inputs.resolve_paths``."""

    origin: str | None = None
    """Path or URL; None for data in memory."""

    size: int | None = None
    """Bytes on disk or in memory as far as known before reading; for progress and disk checks."""

    has_fixed_columns: bool = True
    """Whether ``schema`` has the columns and types of all rows, not those of the first row."""

    has_lasting_rows: bool = True
    """Whether the number of a row leads to it in later runs, too."""

    is_one_row: bool = False
    """Whether the source is one row, whatever it holds."""

    uncuttable: str | None = None
    """The kind of file in words if text cannot be cut out of its rows."""

    extracts_text: bool = False
    """Whether extracting the text of a row takes so long that it should be done once."""

    kept_texts: Any = None
    """Texts extracted by an earlier pass of the job (``files.plain.ExtractedTexts``)."""

    row_filter: Any = None
    """Chooses rows by a condition (``reading.where.ConditionFilter``); None reads all."""

    @property
    def files(self) -> Sequence[Source]:
        """The sources of single files, or the source itself."""
        return (self,)

    def label_column(self) -> str | None:
        """Return a data frame's label column, the default ids."""
        return None

    def default_ids(self, numbers: Int64s) -> pa.Array:
        """Return default ids, made of file name and row number."""
        if self.is_one_row:
            return pa.array([self.name] * len(numbers), pa.large_string())
        rows = pa.array(numbers).cast(pa.large_string())
        start_of_id, nothing = pa.array([f"{self.name}:", ""], pa.large_string())
        return pc.binary_join_element_wise(start_of_id, rows, nothing)

    def schema(self) -> pa.Schema | None:
        """Return the columns with their types and metadata.

        Without ``has_fixed_columns``, names of the first row, if any, nested ones in structures.
        """
        return None

    def column_names(self) -> Sequence[str] | None:
        """Return the column names, None without a schema."""
        schema = self.schema()
        return None if schema is None else list(schema.names)

    def listed_names(self) -> Sequence[str]:
        """Return column names for messages, nested columns as paths."""
        from neardup.files.columnpaths import leaves_of_schema

        schema = self.schema()
        return () if schema is None else leaves_of_schema(schema)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the blocks from the start, anew for each pass."""
        blocks = self._read_blocks()
        for block in blocks if self.row_filter is None else self.row_filter.choose(self, blocks):
            block.source = self
            yield block

    @abstractmethod
    def _read_blocks(self) -> Iterator[RowBlock]:
        """Read all rows of the source, block by block."""

    @property
    def written_name(self) -> str:
        """Return the name of the file for unconverted rows."""
        return self.name

    @abstractmethod
    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer for ``written_name``, same format and compression."""
