"""Tables in memory as sources: Arrow, data frames, and rows of Python objects.

A column of Python objects has the Arrow type that all its values have in common. Without one, it is
text, by one rule (``arrowcolumns.as_text``), so that equal numbers stay equal. A value that is not
text in a column of texts, or that is not Unicode, makes its row a bad row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import (
    Misread,
    as_text,
    check_batch,
    filter_rows,
    is_string,
    parse_arrow,
    plain_array,
    without_views,
)
from neardup.files.columnpaths import path_in, values_at, with_values_at
from neardup.files.cuts import Cuts, fill_holes
from neardup.files.jsonvalues import TOO_DEEP, is_too_deep, kind_of
from neardup.files.languages import IN_MEMORY as LANGUAGE_IN_MEMORY
from neardup.files.problems import SAMPLED_ROWS, check_columns, string_values
from neardup.files.rows import (
    ColumnNames,
    Mask,
    ParsedRows,
    RowBlock,
    RowWriter,
    Source,
)
from neardup.tables import Int64s

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neardup.files.streams import Destination

_BLOCK_ROWS = 8192
_BLOCK_BYTES = 8 << 20
IN_MEMORY = "data"
"""The name of rows that are in no file."""

WRITTEN_AS = "data.parquet"
"""The file in which they are written as they are."""


class TableBlock(RowBlock):
    """Consecutive rows of a table.

    Parameters
    ----------
    table
        The rows.
    first
        The number of the first one.
    path
        Their file, None in memory.
    misread
        Rows with values that the table does not have as they were.
    """

    def __init__(
        self, table: pa.Table, first: int, path: str | None = None, misread: Misread | None = None
    ) -> None:
        self._table, self._path, self._misread = table, path, misread
        self.language = LANGUAGE_IN_MEMORY if path is None else 0
        self.numbers = np.arange(first, first + len(table))

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Check the named columns and return them."""
        numbers = self.numbers if select is None else self.numbers[select]
        check_columns(
            columns,
            self._table.schema,
            path=self._path,
            sample=lambda: string_values(self._table.slice(0, SAMPLED_ROWS)),
        )
        # Strings of other columns are checked too.
        paths = [path_in(self._table.schema, name) for name in columns.names]
        heads = {path[0] for path in paths if path is not None}
        fields = enumerate(self._table.schema)
        indexes = [i for i, field in fields if field.name in heads or is_string(field.type)]
        table = filter_rows(self._table.select(indexes), select)
        return parse_arrow(
            table, numbers, columns, path=self._path, skip_bad=skip_bad, misread=self._misread
        )

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Return all columns."""
        return filter_rows(self._table, select)

    def largest_row(self) -> tuple[int, int]:
        """Return the bytes of strings of the largest row, and its number."""
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
        """Return texts, and ids if a column has them."""
        own = replace(columns, text="text", id=columns.id and "id", order=None)
        return super().parse(own, select=select, skip_bad=skip_bad)

    def with_cuts(self, cuts: Cuts) -> Self:
        """Cut spans out of the texts, which are in one column."""
        return super().with_cuts(replace(cuts, columns=("text",)))


def cut_columns(table: pa.Table, cuts: Cuts, *, path: str | None) -> pa.Table:
    """Cut spans out of the text columns of a table, which keep their types."""
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
    """Undo the changes of ``plain_array``."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _of_type(texts, kind.storage_type))
    return texts.cast(kind)


def largest_row_of(table: pa.Table, numbers: Int64s) -> tuple[int, int]:
    """Return the bytes of the longest string of a table, and the number of its row."""
    largest = 0, 0
    for column in table.columns:
        if len(table) and (is_string(column.type) or pa.types.is_large_binary(column.type)):
            sizes = pc.fill_null(pc.binary_length(column), 0).to_numpy()
            row = int(np.argmax(sizes))
            largest = max(largest, (int(sizes[row]), int(numbers[row])))
    return largest


class MemorySource(Source):
    """An Arrow table as a source; written as Parquet.

    Parameters
    ----------
    table
        The rows; row numbers count from 1, as in files. Ids are positions, which count from 0 as
        they do in Python.
    texts
        The rows as strings, where they are nothing else.
    misread
        Rows with values that the table does not have as they were.
    block_rows
        Most rows of a block.
    """

    def __init__(
        self,
        table: pa.Table,
        *,
        texts: list[str] | None = None,
        misread: Misread | None = None,
        block_rows: int = _BLOCK_ROWS,
    ) -> None:
        check_batch(table, "the table")
        table = without_views(table)
        self.texts = texts
        self.name = IN_MEMORY
        self.size = table.nbytes
        self._table, self._misread = table, misread
        bytes_per_row = max(1, table.nbytes // max(1, len(table)))
        self._block_rows = max(1, min(block_rows, _BLOCK_BYTES // bytes_per_row))

    @property
    def written_name(self) -> str:
        """Return the name of a Parquet file."""
        return WRITTEN_AS

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the positions of rows in the table, in a list or in a column."""
        return pa.array(numbers - 1).cast(pa.large_string())

    def column_names(self) -> list[str]:
        """Return the names of the columns."""
        names: list[str] = self._table.column_names
        return names

    def arrow_schema(self) -> pa.Schema:
        """Return the types of the columns."""
        return self._table.schema

    def schema_metadata(self) -> Mapping[bytes, bytes]:
        """Return the metadata of the table."""
        return self._table.schema.metadata or {}

    def blocks(self) -> Iterator[RowBlock]:
        """Slice the table; nothing is copied."""
        for start in range(0, len(self._table), self._block_rows):
            rows = self._table.slice(start, self._block_rows)
            block = TableBlock(rows, start + 1, self.origin, self._misread)
            block.end = self._table.nbytes * (start + len(block)) // len(self._table)
            yield block

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet with the schema of the table."""
        # The writer of Parquet takes long to import, and few runs write rows of memory.
        from neardup.files.parquetwriter import TableWriter

        return TableWriter(folder / WRITTEN_AS, self._table.schema)


class FrameSource(MemorySource):
    """A data frame of pandas, whose documents go by the labels of its index.

    Labels that are not the numbers of the rows become a column, with the name of the index, or the
    name of ``reset_index``. The metadata of the schema mark it as the index for pandas.
    """

    def __init__(self, frame: Any, misread: Misread | None = None) -> None:
        index = frame.index
        is_numbered = isinstance(index, sys.modules["pandas"].RangeIndex)
        is_numbered = is_numbered and (index.start, index.step, index.name) == (0, 1, None)
        table = pa.Table.from_pandas(frame, preserve_index=None if is_numbered else True)
        super().__init__(table if is_numbered else _with_named_index(table), misread=misread)

    def label_column(self) -> str | None:
        """Return the column of the labels, None if these are the numbers of the rows."""
        metadata = self._table.schema.metadata
        levels = [name for name in _about(metadata)["index_columns"] if isinstance(name, str)]
        if len(levels) > 1:
            message = (
                "ids are labels of the index, and a MultiIndex has several for a row; name a "
                "column of ids with id_column (--id-column), or hand over frame.reset_index()"
            )
            raise InvalidInputError(message)
        return levels[0] if levels else None

    def default_id_type(self) -> pa.DataType:
        """Return the type of row numbers."""
        return pa.int64()

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the numbers of rows as pandas counts them."""
        return pa.array(numbers - 1)


def _about(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Return the metadata of a schema for pandas."""
    about: dict[str, Any] = json.loads(metadata[b"pandas"])
    return about


def _with_named_index(table: pa.Table) -> pa.Table:
    """Rename columns of an index without a name, or with one that another column has."""
    metadata = table.schema.metadata
    about = _about(metadata)
    levels: list[str] = about["index_columns"]
    taken = set(table.column_names)
    names: dict[str, str] = {}
    for number, level in enumerate(levels):
        if level != f"__index_level_{number}__":
            continue
        usual = ["index"] if len(levels) == 1 else []
        candidates = chain(usual, (f"level_{i}" for i in count(number)))
        names[level] = next(name for name in candidates if name not in taken)
        taken.add(names[level])
    about["index_columns"] = [names.get(level, level) for level in levels]
    for column in about["columns"]:
        column["field_name"] = names.get(column["field_name"], column["field_name"])
    table = table.rename_columns([names.get(name, name) for name in table.column_names])
    return table.replace_schema_metadata({**metadata, b"pandas": json.dumps(about).encode()})


class DatasetSource(MemorySource):
    """A ``pyarrow.dataset.Dataset``, read batch by batch; written as Parquet.

    Parameters
    ----------
    dataset
        The rows, in the order of the dataset's files.
    block_rows
        Most rows of a block.
    """

    def __init__(self, dataset: Any, *, block_rows: int = _BLOCK_ROWS) -> None:
        super().__init__(dataset.schema.empty_table())
        self.size = None
        self._dataset, self._rows_of_block = dataset, block_rows

    def blocks(self) -> Iterator[RowBlock]:
        """Read the dataset from its start; only blocks that are in use are in memory."""
        start = 0
        batches = self._dataset.to_batches(batch_size=self._rows_of_block, fragment_readahead=1)
        for batch in batches:
            if len(batch):
                check_batch(batch, f"{len(batch):,} rows from row {start + 1:,}")
                yield TableBlock(without_views(pa.Table.from_batches([batch])), start + 1)
            start += len(batch)


# Sources of the objects that a caller hands over.


def is_dataset(data: Any) -> bool:
    """Return whether an object is a dataset of Arrow's, which are loaded only if they are used."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(data, module.Dataset)


def refusal(data: Any) -> str:
    """Describe the expected data for an object without rows, and a remedy."""
    kind = type(data).__name__
    if hasattr(data, "collect"):
        return f"expected rows, got a {kind}, which has not read them yet; hand over its .collect()"
    if hasattr(data, "to_table") or hasattr(data, "toArrow") or hasattr(data, "compute"):
        method = next(name for name in ("to_table", "toArrow", "compute") if hasattr(data, name))
        return f"expected rows, got a {kind}; hand over its .{method}()"
    if isinstance(data, Mapping) and data and all(map(_holds_rows, data.values())):
        names = ", ".join(map(repr, data))
        first = next(iter(data))
        return f"expected one collection, got a {kind} of {names}; hand over one: data[{first!r}]"
    if isinstance(data, Mapping):
        return (
            f"expected rows, got a {kind}; hand over a list of dictionaries, a row each, or where "
            "it has columns pyarrow.table(data)"
        )
    return f"expected a path, a list of strings or dictionaries, or an Arrow table, got {kind}"


def _holds_rows(value: Any) -> bool:
    # A dataset of Hugging Face speaks Arrow since version 4, and has columns since ever.
    return is_arrow(value) or hasattr(value, "column_names")


def is_arrow(data: Any) -> bool:
    """Return whether an object has an Arrow interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def arrow_source(data: Any) -> MemorySource:
    """Make a source of a table, a data frame, or anything else that speaks Arrow.

    A single column without a name is taken for texts.
    """
    pandas = sys.modules.get("pandas")
    try:
        if pandas is not None and isinstance(data, pandas.DataFrame):
            return _frame_source(data)
        if pandas is not None and isinstance(data, pandas.Series) and str(data.dtype) == "object":
            return rows_source(data.tolist())
        return MemorySource(data if isinstance(data, pa.Table) else _to_table(data))
    except InvalidInputError:
        raise
    except (pa.ArrowException, ValueError, TypeError) as error:
        message = f"expected a table, got a {type(data).__name__} that Arrow cannot read: {error}"
        raise InvalidInputError(message) from error


def _frame_source(frame: Any) -> FrameSource:
    """Make a source of a frame of pandas, whose columns of objects are read value by value."""
    misread: dict[int, list[tuple[str | None, str]]] = {}
    changed = frame
    for place, kind in enumerate(frame.dtypes):
        if str(kind) == "object" and len(frame):
            values = frame.iloc[:, place].tolist()
            column = _column(str(frame.columns[place]), values, misread)
            if pa.types.is_large_string(column.type):
                changed = changed.copy(deep=False) if changed is frame else changed
                texts = np.array(column.to_pylist(), object)
                changed.isetitem(place, texts)
    return FrameSource(changed, misread)


def _to_table(data: Any) -> pa.Table:
    if isinstance(data, pa.ChunkedArray | pa.Array):
        return pa.table({"text": data})
    try:
        return pa.table(data)
    except (pa.ArrowException, ValueError, TypeError):
        if hasattr(data, "__arrow_c_stream__"):
            return pa.table({"text": pa.chunked_array(data)})
        return pa.table({"text": pa.array(data)})


def rows_source(items: list[Any]) -> MemorySource:
    """Make a source of a list of texts or of dictionaries; the first item decides."""
    if not items:
        return MemorySource(pa.table({"text": pa.array([], pa.string())}))
    misread: dict[int, list[tuple[str | None, str]]] = {}
    first = next((item for item in items if item is not None), "")
    are_texts = not isinstance(first, dict)
    # One look at all types is much faster than one at each item, which finds the row.
    fitting = {str, type(None), int, float, bool} if are_texts else {dict}
    is_fitting = set(map(type, items)) <= fitting
    for row, item in enumerate(items, 1) if not is_fitting else ():
        is_good = item is None or np.isscalar(item) if are_texts else isinstance(item, dict)
        if not is_good or isinstance(item, bytes):
            expected = "only strings" if are_texts else "strings or dictionaries"
            message = f"expected {expected} in the list, got {type(item).__name__} in row {row}"
            raise InvalidInputError(message + _item_advice(item))
    if are_texts:
        column = _column("text", items, misread, are_texts=True)
        texts = None if column.null_count or misread else items
        return MemorySource(pa.table({"text": column}), texts=texts, misread=misread)
    names = list(dict.fromkeys(name for row in items for name in row))
    columns = [_column(name, [row.get(name) for row in items], misread) for name in names]
    return MemorySource(pa.table(columns, names=list(map(str, names))), misread=misread)


def _item_advice(item: Any) -> str:
    """Describe how to pass a document that is not a string, if its kind is likely."""
    if isinstance(item, bytes):
        return "; decode bytes to texts"
    if not isinstance(item, list | tuple | set | frozenset):
        return ""
    if all(isinstance(token, str) for token in item):
        return (
            "; to compare tokens of your own, join each document's to one string, such as "
            "' '.join(tokens), with tokenizer='whitespace', and ngram=1 for sets of them"
        )
    return "; a row with an id is a dictionary, such as {'id': 7, 'text': 'as written'}"


def _column(
    name: str,
    values: list[Any],
    misread: dict[int, list[tuple[str | None, str]]],
    *,
    are_texts: bool = False,
) -> pa.Array:
    """Make a column of Python values; note rows that are bad where it is a column of texts."""
    types = set(map(type, values))
    nested = tuple(kind for kind in types if issubclass(kind, list | tuple | Mapping))
    for row, value in enumerate(values, 1) if nested else ():
        if isinstance(value, nested) and is_too_deep({name: value}):
            raise InvalidInputError(f"column {name!r}: {TOO_DEEP}", row=row)
    if not are_texts or types <= {str, type(None)}:
        for kind in (None, pa.uint64()) if types <= {int, type(None)} else (None,):
            try:
                column = pa.array(values, kind)
            except (pa.ArrowException, ValueError, TypeError, OverflowError):
                continue
            if not (pa.types.is_binary(column.type) and str in types):
                return column
    texts = []
    for row, value in enumerate(values, 1):
        text = as_text(value)
        if text is not None and not text.isascii():
            try:
                text.encode()
            except UnicodeEncodeError as error:
                reason = f"column {name!r} is not Unicode at character {error.start + 1}"
                misread.setdefault(row, []).append((None, reason))
                text = None
        if text is not None and not isinstance(value, str):
            reason = f"column {name!r} holds {_kind_of(value)}, not text"
            misread.setdefault(row, []).append((name, reason))
        texts.append(text)
    return pa.array(texts, pa.large_string())


def _kind_of(value: Any) -> str:
    known = (str, bool, int, float, list, dict)
    return kind_of(value) if isinstance(value, known) else f"a value of {type(value).__name__}"
