"""The interface of file formats: sources of rows, in blocks, and writers of rows.

A source is one input file or one table in memory. Its rows travel in blocks of some megabytes; a
block knows its rows in their original form and can parse the few columns that a job needs. Whether
a row is kept or removed, it is written from its original form, so that nothing is lost.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.errors import InvalidInputError
    from neardup.files.cuts import Cuts
    from neardup.files.streams import Destination, OutputStream

Mask = npt.NDArray[np.bool_]

DEFAULT_ID = "id"
"""Column that has the ids if nobody names one and all sources have it."""


@dataclass(frozen=True)
class ColumnNames:
    """Which columns of the input a job reads.

    ``text`` is the document: one column, or several that are joined with newlines; ``id`` its
    identifier (None: the row's place); ``order`` one or several columns of numbers, dates or
    strings that rank documents.

    With ``id_is_default`` the column of ids is not named by the user: all sources have it, or it is
    the labels of a data frame (``files.ids.choose_id_column``). ``text_option`` and ``id_option``
    are the options that named the columns, for errors.
    """

    text: str | tuple[str, ...] = "text"
    id: str | None = None
    order: str | tuple[str, ...] | None = None
    id_is_default: bool = False
    text_option: str = "text_column"
    id_option: str = "id_column"

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of the text, in their order."""
        return (self.text,) if isinstance(self.text, str) else self.text

    @property
    def orders(self) -> tuple[str, ...]:
        """The columns that rank documents, the most important first."""
        return (self.order,) if isinstance(self.order, str) else self.order or ()

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        wanted = dict.fromkeys([*self.texts, self.id, *self.orders])
        return [name for name in wanted if name is not None]

    def only_text(self) -> ColumnNames:
        """Return the columns of the text alone."""
        return replace(self, id=None, order=None, id_is_default=False)


@dataclass
class ParsedRows:
    """The columns of some rows of a block, in row order.

    ``text`` is a string array (int32 or int64 offsets) of valid UTF-8, or a binary one of files
    that are read as bytes; of several columns, joined as ``files.textcolumns`` says. It is null
    exactly in the rows listed in ``skipped`` (row number in the file and reason), which only exist
    if the caller asked to skip bad rows. ``id`` is an array of strings or integers without nulls
    outside skipped rows, ``order`` an int64, float64, string, or (from Arrow data) any sortable
    array, or several combined by ``order_of``; both None if not asked for. ``files`` are the files
    of joined texts (``files.folders.FILES``), None without joined texts.
    """

    text: pa.Array
    id: pa.Array | None = None
    order: pa.Array | None = None
    skipped: list[tuple[int, str]] = field(default_factory=list)
    files: pa.Array | None = None


def order_of(columns: Sequence[pa.Array]) -> pa.Array | None:
    """Combine columns that rank documents: one stays, several become a structure."""
    import pyarrow as pa

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


TakeMemory = Callable[[int], memoryview]
"""Gives memory of so many bytes, with any content."""


@dataclass(frozen=True)
class Place:
    """Where rows stand in a file: bytes of a piece that begins at byte ``offset``, ends exclusive.

    A piece has no more than 2^32 bytes.
    """

    offset: int
    starts: npt.NDArray[np.uint32]
    ends: npt.NDArray[np.uint32]

    def __len__(self) -> int:
        return len(self.starts)

    def select(self, mask: Mask) -> Place:
        """Return where some of the rows are."""
        return Place(self.offset, self.starts[mask], self.ends[mask])


class RowBlock(ABC):
    """Consecutive rows of one source."""

    numbers: npt.NDArray[np.int64]
    """Number of each row in its source: line or row, counted from 1."""

    end: int = 0
    """Bytes of the source, as its ``size`` counts them, up to the end of this block."""

    place: Place | None = None
    """Where the rows stand, of a source that reads them again from there with ``block_at``."""

    language: int = 0
    """The language of programs by the ending of their file, a number of ``files.languages``."""

    def __len__(self) -> int:
        return len(self.numbers)

    @abstractmethod
    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse the named columns of all rows, or of rows in ``select``.

        Safe to call from any thread. Raises InvalidInputError, with file and row, for a row that
        is malformed, lacks a named column, or whose text is null, not a string, or not UTF-8;
        with ``skip_bad`` such rows are listed in the result instead.
        """

    @abstractmethod
    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns of the rows as an Arrow table."""

    def largest_row(self) -> tuple[int, int]:
        """Return the bytes and the number of the largest row; zeros before they are known."""
        return 0, 0

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Return the existing columns of some names, each once.

        A format that need not read the others for it does not. Values that have no type in common
        are text, as JSON writes them but for strings.
        """
        # Arrow is loaded with the rows.
        from neardup.files.columnpaths import columns_among

        return columns_among(self.to_table(select), names)

    def objects(self) -> pa.Array | None:
        """Return the rows as JSON in bytes, null where one cannot be decoded; None for tables."""
        return None

    def readable_columns(self, names: Sequence[str]) -> tuple[list[pa.Table], Mask]:
        """Return columns of the rows that can be read, in parts, and which rows cannot."""
        are_bad = np.zeros(len(self), np.bool_)
        tables = list(self._good_columns(names, ~are_bad, are_bad))
        return tables, are_bad

    def _good_columns(self, names: Sequence[str], rows: Mask, are_bad: Mask) -> Iterator[pa.Table]:
        """Yield columns of the readable rows, in order, and record the others."""
        from neardup.errors import InvalidInputError

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
        """Return a block of the same rows with spans cut out of their texts.

        A row without such spans is the same, in the bytes of its original form too; of the others
        nothing but the text is changed. Rows that cannot be used have none.
        """


class SomeRows(RowBlock):
    """Some of the rows of a block, with the numbers and the place that they have in it."""

    def __init__(self, block: RowBlock, rows: Mask) -> None:
        self.block, self._rows = block, rows
        self.numbers, self.end, self.language = block.numbers[rows], block.end, block.language
        if block.place is not None and len(self.numbers):
            self.place = block.place.select(rows)

    def of_all(self, select: Mask | None) -> Mask:
        """Return the selected ones among all rows of the block."""
        if select is None:
            return self._rows
        wanted = np.zeros(len(self._rows), np.bool_)
        wanted[self._rows] = select
        return wanted

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse them."""
        return self.block.parse(columns, select=self.of_all(select), skip_bad=skip_bad)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all their columns."""
        return self.block.to_table(self.of_all(select))

    def largest_row(self) -> tuple[int, int]:
        """Return the table of the block, all of which is read."""
        return self.block.largest_row()

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Give some of their columns."""
        return self.block.some_columns(names, self.of_all(select))

    def with_cuts(self, cuts: Cuts) -> RowBlock:
        """Return them with spans cut out of their texts."""
        rows = np.flatnonzero(self._rows)[cuts.rows]
        return SomeRows(self.block.with_cuts(replace(cuts, rows=rows)), self._rows)


class RowWriter(ABC):
    """Writes rows of one source to one file, in their original form.

    ``prepare`` encodes rows, which threads may call for several blocks at a time; ``append`` writes
    them to the file, block after block.
    """

    @abstractmethod
    def prepare(self, block: RowBlock, select: Mask) -> Any:
        """Encode the selected rows of a block of the source that made this writer."""

    @abstractmethod
    def append(self, prepared: Any) -> None:
        """Append rows that ``prepare`` has encoded."""

    def write(self, block: RowBlock, select: Mask) -> None:
        """Append the selected rows of a block."""
        self.append(self.prepare(block, select))

    @abstractmethod
    def close(self) -> None:
        """Complete the file.

        A writer that was given no row still leaves a valid, empty file, except where a file is one
        document: that one is then elsewhere.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


class KeptTexts(Protocol):
    """Texts that have come out of rows, by the block and the numbers of these."""

    def add(self, block: Hashable, numbers: npt.NDArray[np.int64], texts: Sequence[bytes]) -> None:
        """Keep the texts of some rows; numbers ascend."""
        ...

    def take(self, block: Hashable, numbers: npt.NDArray[np.int64]) -> list[bytes | None]:
        """Return the texts of some rows; None for each that is not there."""
        ...


class Source(ABC):
    """One input file, or one table in memory.

    A format is a subclass: it reads rows in ``blocks`` and writes them back with ``writer``.
    Conversion uses tables, unless ``json_lines_writer`` is defined.
    """

    name: str
    """Name in ids and outputs, with suffixes: see ``files.resolve.resolve_paths``."""

    origin: str | None = None
    """Path or URL; None for data in memory."""

    input_options: frozenset[str] = frozenset()
    """Names of those of ``InputOptions`` that concern the source."""

    size: int | None = None
    """Bytes on disk or in memory as far as known before reading; for progress and disk checks."""

    has_fixed_columns: bool = True
    """Whether all rows have the columns that the first ones have."""

    has_lasting_rows: bool = True
    """Whether the number of a row leads to it in later runs, too."""

    is_one_row: bool = False
    """Whether the source is one row, whatever it holds."""

    extracts_text: bool = False
    """Whether the text of a row comes out of it by work that is worth doing once."""

    kept_texts: KeptTexts | None = None
    """Where texts are kept that have come out of rows, for a job that reads them again."""

    @property
    def files(self) -> Sequence[Source]:
        """The sources of single files: itself, or the files that it joins."""
        return (self,)

    def as_table(self) -> Source:
        """Return the source as one of a table that a job has written and people may have saved.

        Spreadsheets save CSV with other separators.
        """
        return self

    def label_column(self) -> str | None:
        """Return the column of the labels of a data frame, which are its ids if none is named."""
        return None

    def default_id_type(self) -> pa.DataType:
        """Return the type of ids that are in no column."""
        import pyarrow as pa

        return pa.large_string()

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the ids that rows of these numbers have without a column of ids.

        The name of a source that is one row, and with the number where it may have several.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        if self.is_one_row:
            return pa.array([self.name] * len(numbers), pa.large_string())
        rows = pa.array(numbers).cast(pa.large_string())
        start_of_id, nothing = pa.array([f"{self.name}:", ""], pa.large_string())
        return pc.binary_join_element_wise(start_of_id, rows, nothing)

    def column_names(self) -> Sequence[str] | None:
        """Return the names of the columns; in JSON those of the first object.

        None where there is no row that would have any.
        """
        return None

    def listed_names(self) -> Sequence[str]:
        """Return the names of the columns, nested ones as paths, for messages."""
        from neardup.files.columnpaths import leaves_of_schema

        schema = self.arrow_schema()
        return (self.column_names() or ()) if schema is None else leaves_of_schema(schema)

    def arrow_schema(self) -> pa.Schema | None:
        """Return the types of the columns of a table; None where rows are no table, or have them.

        Raises
        ------
        InvalidInputError, ReadError
            If the source cannot be read.
        """
        return None

    def cut_refusal(self) -> InvalidInputError | None:
        """Return the error for a job that would cut text out of rows; None where that can be."""
        return None

    def check_writable(self) -> None:  # noqa: B027 - most formats always are
        """Raise MissingExtraError if rows cannot be written here in the source's own format."""

    def schema_metadata(self) -> Mapping[bytes, bytes]:
        """Return the metadata of the schema, if the format has them."""
        return {}

    @abstractmethod
    def blocks(self) -> Iterator[RowBlock]:
        """Read the source from its start, block by block; may be called again for another pass."""

    def block_at(self, place: Place, numbers: npt.NDArray[np.int64], take: TakeMemory) -> RowBlock:
        """Read rows again from a place that a block has named; any thread may.

        Parameters
        ----------
        place
            Their place in the source.
        numbers
            Numbers of the rows.
        take
            Allocates memory for them.

        Raises
        ------
        ReadError
            If the file ends before.
        """
        raise NotImplementedError

    @property
    def written_name(self) -> str:
        """Return the name of the file for unconverted rows."""
        return self.name

    @abstractmethod
    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer for ``folder / self.written_name``: same format and compression."""

    def json_lines_writer(self, output: OutputStream) -> RowWriter | None:
        """Open a writer of the rows as JSON lines with their values byte for byte.

        None where the rows are no JSON; they are then written by way of tables.
        """
        return None


class WrappedSource(Source):
    """A source around another one, with another name, columns or kinds of rows.

    Parameters
    ----------
    inner
        The other one.
    """

    def __init__(self, inner: Source) -> None:
        self.inner = inner
        self.name, self.origin, self.size = inner.name, inner.origin, inner.size
        self.input_options = inner.input_options
        self.has_fixed_columns = inner.has_fixed_columns
        self.has_lasting_rows, self.is_one_row = inner.has_lasting_rows, inner.is_one_row
        self.extracts_text = inner.extracts_text

    @property
    def kept_texts(self) -> KeptTexts | None:
        """Where the other one keeps texts."""
        return self.inner.kept_texts

    @kept_texts.setter
    def kept_texts(self, texts: KeptTexts | None) -> None:
        self.inner.kept_texts = texts

    @property
    def written_name(self) -> str:
        """Return the name of the file of the other one's rows."""
        return self.inner.written_name

    def label_column(self) -> str | None:
        """Return the column of the labels of a data frame."""
        return self.inner.label_column()

    def default_id_type(self) -> pa.DataType:
        """Return the type of ids that are in no column."""
        return self.inner.default_id_type()

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the ids that rows have without a column of ids."""
        return self.inner.default_ids(numbers)

    def column_names(self) -> Sequence[str] | None:
        """Return the names of the columns."""
        return self.inner.column_names()

    def listed_names(self) -> Sequence[str]:
        """Return the names that messages list."""
        return self.inner.listed_names()

    def arrow_schema(self) -> pa.Schema | None:
        """Return the types of the columns of a table."""
        return self.inner.arrow_schema()

    def cut_refusal(self) -> InvalidInputError | None:
        """Return the error for a job that would cut text out of rows."""
        return self.inner.cut_refusal()

    def check_writable(self) -> None:
        """Raise if rows of the other one cannot be written in its format."""
        self.inner.check_writable()

    def schema_metadata(self) -> Mapping[bytes, bytes]:
        """Return the metadata of the schema."""
        return self.inner.schema_metadata()

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of rows of the other one."""
        return self.inner.writer(folder)
