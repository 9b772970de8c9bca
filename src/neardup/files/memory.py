"""Tables in memory: Arrow, data frames and Python objects.

A column of Python objects has the Arrow type that all its values have in common. Without one, it is
text, by one rule (``arrowcolumns.as_text``), so that equal numbers stay equal. A value that is not
text in a column of texts, or that is not Unicode, makes its row a bad row.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import Misread, TableBlock, check_batch, column_of, without_views
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.streams import Destination

_BLOCK_ROWS = 8192
_BLOCK_BYTES = 8 << 20
IN_MEMORY = "data"
"""The name of rows that are in no file."""

WRITTEN_AS = "data.parquet"
"""The file in which they are written as they are."""


class MemorySource(Source):
    """An Arrow table as a source, written as Parquet.

    Row numbers count from 1, as in files; ids are positions, counted from 0 as in Python.
    ``misread`` is as in ``parse_arrow``.
    """

    block_type: type[TableBlock] = TableBlock

    def __init__(
        self, table: pa.Table, *, misread: Misread | None = None, block_rows: int = _BLOCK_ROWS
    ) -> None:
        check_batch(table, "the table")
        table = without_views(table)
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
        """Return the positions of rows, counted from 0."""
        return pa.array(numbers - 1).cast(pa.large_string())

    def schema(self) -> pa.Schema:
        """Return the columns of the table, with its metadata."""
        return self._table.schema

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Slice the table without copying it."""
        for start in range(0, len(self._table), self._block_rows):
            rows = self._table.slice(start, self._block_rows)
            block = self.block_type(rows, start + 1, self.origin, self._misread)
            block.end = self._table.nbytes * (start + len(block)) // len(self._table)
            yield block

    def writer(self, folder: Destination) -> RowWriter:
        """Open a Parquet writer with the schema of the table."""
        # The writer of Parquet takes long to import, and few runs write rows of memory.
        from neardup.files.writers import TableWriter

        return TableWriter(folder / WRITTEN_AS, self._table.schema)


class FrameSource(MemorySource):
    """A data frame of pandas, with its labels as ids.

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
        """Return the label column, None if labels are row numbers."""
        metadata = self._table.schema.metadata
        levels = [name for name in _about(metadata)["index_columns"] if isinstance(name, str)]
        if len(levels) > 1:
            message = (
                "ids are labels of the index, and a MultiIndex has several for a row; name a "
                "column of ids with id_column (--id-column), or pass frame.reset_index()"
            )
            raise InvalidInputError(message)
        return levels[0] if levels else None

    def default_ids(self, numbers: npt.NDArray[np.int64]) -> pa.Array:
        """Return the numbers of rows as pandas counts them."""
        return pa.array(numbers - 1)


def _about(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    """Return the metadata of a schema for pandas."""
    about: dict[str, Any] = json.loads(metadata[b"pandas"])
    return about


def _with_named_index(table: pa.Table) -> pa.Table:
    """Rename index columns with a missing or duplicate name."""
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


# Sources of the objects that a caller hands over.


def is_arrow(data: Any) -> bool:
    """Return whether an object has an Arrow interface."""
    return hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__")


def arrow_source(data: Any) -> MemorySource:
    """Return the source of a table, data frame or column."""
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
    """Return the source of a data frame, converting objects individually."""
    misread: Misread = {}
    changed = frame
    for place, kind in enumerate(frame.dtypes):
        if str(kind) == "object" and len(frame):
            values = frame.iloc[:, place].tolist()
            column = column_of(str(frame.columns[place]), values, misread)
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
    """Return a source of texts or dictionaries, by first item."""
    if not items:
        return MemorySource(pa.table({"text": pa.array([], pa.string())}))
    misread: Misread = {}
    first = next((item for item in items if item is not None), "")
    are_texts = not isinstance(first, dict)
    # One look at all types is much faster than one at each item, which finds the row.
    fitting = {str, type(None), int, float, bool} if are_texts else {dict}
    is_fitting = set(map(type, items)) <= fitting
    for row, item in enumerate(items, 1) if not is_fitting else ():
        is_text = item is None or isinstance(item, str) or np.isscalar(item)
        is_good = is_text if are_texts else isinstance(item, dict)
        if not is_good or isinstance(item, bytes):
            expected = "only strings" if are_texts else "strings or dictionaries"
            message = f"expected {expected} in the list, got {type(item).__name__} in row {row}"
            raise InvalidInputError(message)
    if are_texts:
        column = column_of("text", items, misread, are_texts=True)
        return MemorySource(pa.table({"text": column}), misread=misread)
    names = list(dict.fromkeys(name for row in items for name in row))
    columns = [column_of(name, [row.get(name) for row in items], misread) for name in names]
    return MemorySource(pa.table(columns, names=list(map(str, names))), misread=misread)
