"""Rows of Arrow tables: checks, blocks and conversion of columns."""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError, NeardupError, ReadError, option_name
from neardup.files.columnpaths import (
    columns_among,
    path_in,
    values_at,
    with_columns,
    with_values_at,
)
from neardup.files.cuts import Cuts, fill_holes
from neardup.files.encodings import IN_MEMORY as LANGUAGE_IN_MEMORY
from neardup.files.problems import check_columns, encoding_advice, id_advice, not_utf8, null_text
from neardup.files.rows import (
    ColumnNames,
    Mask,
    ParsedRows,
    Problems,
    RowBlock,
    join_texts,
    order_of,
)
from neardup.files.streams import one_line, reading

Misread = dict[int, list[tuple[str | None, str]]]
"""Reasons why rows are bad, by row number: if their column is one of texts, always if None."""


def parse_arrow(
    table: pa.Table,
    numbers: npt.NDArray[np.int64],
    columns: ColumnNames,
    *,
    path: str | None,
    skip_bad: bool,
    is_decoded: bool = True,
    misread: Misread | None = None,
) -> ParsedRows:
    """Parse the text, id and order columns of a table.

    Strings of columns that are not named are checked, too: later readers can no longer leave a row
    out. Unless ``is_decoded``, an encoding may be named for text that is not UTF-8. ``misread`` are
    rows with values that the table does not have as they were.
    """
    check_columns(columns, table.schema, path=path)
    table = with_columns(table, columns.names)
    reasons: dict[int, str] = {}
    misread = misread or {}
    for index in np.flatnonzero(np.isin(numbers, [*misread])).tolist():
        for column, reason in misread[int(numbers[index])]:
            if column is None or column in columns.texts:
                reasons.setdefault(index, reason)
    texts = [_text(table, name, columns, path) for name in columns.texts]
    ids = None if columns.id is None else _ids(table, columns.id, columns, path)
    orders = [_order(table, name, path) for name in columns.orders]
    joined = join_texts(texts)
    nulls = [(joined, null_text(columns.texts))]
    strings = list(zip(columns.texts, texts, strict=True))
    if columns.id is not None:
        nulls.append((ids, f"column {columns.id!r} is null{id_advice(columns)}"))
        strings.append((columns.id, ids))
    strings += zip(columns.orders, orders, strict=True)
    for place, field in enumerate(table.schema):
        if is_string(field.type) and field.name not in columns.names:
            strings.append((field.name, plain_array(table.column(place))))
    for array, reason in nulls:
        for index in np.flatnonzero(array.is_null()).tolist() if array.null_count else ():
            reasons.setdefault(index, reason)
    for name, array in strings:
        for index, reason in _not_unicode(array, name, is_decoded=is_decoded):
            reasons.setdefault(index, reason)
    problems = Problems(numbers, path, skip_bad)
    for index in sorted(reasons):
        problems.add(index, reasons[index])
    return problems.blank_bad_rows(ParsedRows(joined, ids, order_of(orders)))


def check_batch(data: pa.RecordBatch | pa.Table, where: str, *, path: str | None = None) -> None:
    """Check all columns for errors that Arrow does not detect.

    Arrow does not check offsets, lengths, indices and bits from a file, a stream or another
    library; a wrong one ends the process, or reads memory outside the data. Strings that are not
    UTF-8 are harmless, and left to ``parse_arrow``, which names their rows.

    Slices of the rows need no other check. ``where`` names the rows in errors.
    """
    try:
        data.validate(full=True)
        return
    except pa.ArrowException:
        pass
    for name, column in zip(data.schema.names, data.columns, strict=True):
        try:
            for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
                _bytes_of(chunk).validate(full=True)
        except pa.ArrowException as error:
            message = (
                f"{where}, column {name!r}: damaged data ({one_line(error)}); get an "
                "intact copy, or write it anew"
            )
            raise InvalidInputError(message, path=path) from error


@contextlib.contextmanager
def arrow_errors(path: str, kind: str) -> Iterator[None]:
    """Translate errors of Arrow for a damaged file."""
    unreadable = f"not {kind} that Arrow can read: "
    with reading(path):
        try:
            yield
        except NeardupError:
            raise
        except OSError as error:
            if error.errno is not None:
                raise
            # Arrow's words for damage in the middle, not the system's.
            message = unreadable + one_line(error)
            if "page integrity" in message:
                message = (
                    "damaged: the checksum of a page is not that of its bytes; get another copy"
                )
            raise ReadError(message, path=path) from error
        except (
            pa.ArrowInvalid,
            pa.ArrowNotImplementedError,
            pa.ArrowKeyError,
            pa.ArrowIndexError,
            EOFError,
            UnicodeDecodeError,
        ) as error:
            raise InvalidInputError(unreadable + one_line(error), path=path) from error


def _bytes_of(array: pa.Array) -> pa.Array:
    """Return strings as binary values, other arrays unchanged."""
    if not is_string(array.type):
        return array
    kind = pa.binary() if pa.types.is_string(array.type) else pa.large_binary()
    return pa.Array.from_buffers(kind, len(array), array.buffers(), array.null_count, array.offset)


def is_string(kind: pa.DataType) -> bool:
    """Return whether a type is a string, not a dictionary."""
    # Extension types that users define have no hash, so this is no look-up.
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def filter_rows(table: pa.Table, select: Mask | None) -> pa.Table:
    """Keep the rows of a mask, all rows without one."""
    if select is None or select.all():
        return table
    try:
        return table.filter(pa.array(select))
    except pa.ArrowNotImplementedError:
        # Arrow filters no run-end encoded columns.
        edges = np.flatnonzero(np.diff(np.concatenate([[False], select, [False]]).view(np.int8)))
        runs = [table.slice(start, stop - start) for start, stop in edges.reshape(-1, 2)]
        return pa.concat_tables(runs) if runs else table.slice(0, 0)


def _text(table: pa.Table, name: str, columns: ColumnNames, path: str | None) -> pa.Array:
    array = _without_type(table, name, pa.string())
    if not is_string(array.type):
        remedy = f"; name another with {option_name(columns.text_option)}"
        raise _other_type(name, array, "text" + remedy, path)
    return array


def _ids(table: pa.Table, name: str, columns: ColumnNames, path: str | None) -> pa.Array:
    array = _without_type(table, name, pa.string())
    if not is_string(array.type) and not pa.types.is_integer(array.type):
        expected = "strings or whole numbers"
        if pa.types.is_floating(array.type):
            # Pandas stores whole numbers as floats if one is missing.
            expected += "; make them whole numbers, in pandas with .astype('Int64')"
        raise _other_type(name, array, expected + id_advice(columns), path)
    if is_string(array.type):
        # Spreadsheets save a missing id as an empty string. It is not one id of several rows.
        is_empty = pc.equal(pc.binary_length(array), 0)
        if pc.any(is_empty).as_py():
            return pc.if_else(is_empty, pa.scalar(None, array.type), array)
    return array


def _order(table: pa.Table, name: str, path: str | None) -> pa.Array:
    array = _without_type(table, name, pa.int64())
    kind = array.type
    sorts = pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or is_string(kind)
    if not sorts or pa.types.is_boolean(kind):
        raise _other_type(name, array, "numbers, dates or strings", path)
    return array


def _without_type(table: pa.Table, name: str, kind: pa.DataType) -> pa.Array:
    """Return a column, with a type if all values are null."""
    array = plain_array(table.column(name))
    return array.cast(kind) if pa.types.is_null(array.type) else array


def _other_type(name: str, array: pa.Array, expected: str, path: str | None) -> InvalidInputError:
    message = f"column {name!r} holds {array.type} values, not {expected}"
    return InvalidInputError(message, path=path)


def _not_unicode(
    array: pa.Array, name: str, *, is_decoded: bool = True
) -> Iterator[tuple[int, str]]:
    """Yield the rows that are not UTF-8, and why."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid:
        for index, value in enumerate(array.cast(pa.large_binary())):
            try:
                (value.as_py() or b"").decode()
            except UnicodeDecodeError as error:
                advice = "" if is_decoded else encoding_advice(error.object)
                yield index, not_utf8(error, f"column {name!r}") + advice


# Arrays of any type, made plain.


def plain_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a contiguous column without dictionaries and extension types."""
    if isinstance(column.type, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        column = pa.chunked_array(chunks, column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return one_array(column)


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Return a contiguous column, with 64-bit offsets if necessary."""
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_string(column.type) and column.nbytes >= 1 << 31:
        column = column.cast(pa.large_string())
    return column.combine_chunks()


def without_views(table: pa.Table) -> pa.Table:
    """Replace string views by large strings, so Arrow can filter."""
    kinds = [field.with_type(_without_views(field.type)) for field in table.schema]
    schema = pa.schema(kinds, table.schema.metadata)
    return table if schema == table.schema else table.cast(schema)


def _without_views(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_string_view(kind):
        return pa.large_string()
    if pa.types.is_binary_view(kind):
        return pa.large_binary()
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, _without_views(kind.value_type), kind.ordered)
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_without_views(field.type)) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        inner = kind.value_field.with_type(_without_views(kind.value_type))
        if inner.type == kind.value_type:
            return kind
        return pa.list_(inner) if pa.types.is_list(kind) else pa.large_list(inner)
    return kind


# Rows of a table.


class TableBlock(RowBlock):
    """Consecutive rows of a table from number ``first`` on."""

    def __init__(
        self, table: pa.Table, first: int, path: str | None = None, misread: Misread | None = None
    ) -> None:
        self._table, self._path = table, path
        self._misread: Misread = misread or {}
        # The rows among those of the table; None for all.
        self._rows: Mask | None = None
        self.language = LANGUAGE_IN_MEMORY if path is None else 0
        self.numbers = np.arange(first, first + len(table))

    @property
    def schema(self) -> pa.Schema:
        """The schema of the table."""
        return self._table.schema

    def _columns(self, names: Sequence[str] | None) -> pa.Table:
        """Return the rows, with at least the named columns."""
        table = self._table
        if names is not None:
            # Strings of other columns are checked, too.
            paths = [path_in(table.schema, name) for name in names]
            heads = {path[0] for path in paths if path is not None}
            fields = enumerate(table.schema)
            table = table.select(
                [i for i, each in fields if each.name in heads or is_string(each.type)]
            )
        return filter_rows(table, self._rows)

    def select(self, rows: Mask | None) -> Self:
        """Return some of the rows as a block."""
        if rows is None or rows.all():
            return self
        made = super().select(rows)
        of_table = rows
        if self._rows is not None:
            of_table = self._rows.copy()
            of_table[self._rows] = rows
        made._rows = of_table  # noqa: SLF001 - of this class
        return made

    def _read_columns(self, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Check the named columns and return them."""
        check_columns(columns, self.schema, path=self._path)
        return parse_arrow(
            self._columns(columns.names),
            self.numbers,
            columns,
            path=self._path,
            skip_bad=skip_bad,
            misread=self._misread,
        )

    def _read_table(self, names: Sequence[str] | None) -> pa.Table:
        """Return all columns, or existing ones of some names as valid UTF-8."""
        if names is None:
            return self._columns(None)
        table = columns_among(self._columns(names), names)
        problems = Problems(self.numbers, self._path, skip_bad=False)
        for name, column in zip(table.column_names, table.columns, strict=True):
            if is_string(column.type):
                for index, reason in _not_unicode(plain_array(column), name):
                    problems.add(index, reason)
        return table

    def with_cuts(self, cuts: Cuts) -> TableBlock:
        """Cut spans out of the columns of the texts, keeping their types."""
        table = self._columns(None)
        paths = [path for name in cuts.columns if (path := path_in(table.schema, name))]
        columns = [values_at(table, path) for path in paths]
        texts = [plain_array(column) for column in columns]
        texts = [each.cast(pa.string()) if pa.types.is_null(each.type) else each for each in texts]
        rows = pa.array(cuts.changed)
        holes_of = cuts.holes_of_texts([text.take(rows) for text in texts])
        for path, column, text, holes in zip(paths, columns, texts, holes_of, strict=True):
            if not len(holes):
                continue
            in_all = replace(holes, strings=cuts.changed[holes.strings])
            try:
                values = _of_type(fill_holes(text, in_all, cuts.replacement), column.type)
            except pa.ArrowInvalid as error:
                name = ".".join(path)
                message = f"the texts of column {name!r} do not fit {column.type} any more: {error}"
                raise InvalidInputError(message, path=self._path) from None
            table = with_values_at(table, path, values)
        return self._with(table)

    def _with(self, table: pa.Table) -> Self:
        """Return a block of the same rows with another table."""
        made = copy(self)
        made._table, made._rows = table, None  # noqa: SLF001 - of this class
        return made


class StoredBlock(TableBlock):
    """Consecutive documents of an index, with texts and ids."""

    def _read_columns(self, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Return texts, and ids if a column has them."""
        own = replace(columns, text="text", id=columns.id and "id", order=None)
        return super()._read_columns(own, skip_bad=skip_bad)

    def with_cuts(self, cuts: Cuts) -> TableBlock:
        """Cut spans out of the text column."""
        return super().with_cuts(replace(cuts, columns=("text",)))


def _of_type(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    """Undo the changes of ``plain_array``."""
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _of_type(texts, kind.storage_type))
    return texts.cast(kind)


# Columns of Python values.

_EXACT = 1 << 53

MOST_LEVELS = 40
"""How deep the values of a row may be nested to become columns: Arrow does not read deeper ones."""

TOO_DEEP = (
    f"its values are nested deeper than {MOST_LEVELS} levels, of which no columns are made; "
    "write the rows as they are, or flatten them first"
)


def column_of(
    name: str, values: Sequence[Any], misread: Misread, *, are_texts: bool = False
) -> pa.Array:
    """Return values as a column of one type, else text.

    Rows, counted from 1, with a value that is not Unicode, or that is not text in a column of
    text, are added to ``misread``.
    """
    types = set(map(type, values))
    nested = tuple(kind for kind in types if issubclass(kind, list | tuple | Mapping))
    for row, value in enumerate(values, 1) if nested else ():
        if isinstance(value, nested) and is_too_deep({name: value}):
            raise InvalidInputError(f"column {name!r}: {TOO_DEEP}", row=row)
    if not are_texts or types <= {str, type(None)}:
        # Arrow infers no type for whole numbers of 64 bits without a sign.
        kinds = [None, pa.uint64()] if types <= {int, type(None)} else [None]
        for kind in kinds:
            try:
                column = pa.array(values, kind)
            except (pa.ArrowException, ValueError, TypeError, OverflowError):
                continue
            if not (pa.types.is_binary(column.type) and str in types):
                return column
    return _text_column(name, values, misread)


def _text_column(name: str, values: Sequence[Any], misread: Misread) -> pa.Array:
    """Return values as a column of text, null if they are not Unicode."""
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
            reason = f"column {name!r} holds {describe_kind(value)}, not text"
            misread.setdefault(row, []).append((name, reason))
        texts.append(text)
    return pa.array(texts, pa.large_string())


def is_too_deep(row: Mapping[str, Any]) -> bool:
    """Return whether values are nested deeper than ``MOST_LEVELS``."""
    nested = (list, tuple, Mapping)
    level: list[Any] = [row]
    for _ in range(MOST_LEVELS + 1):
        children = (each.values() if isinstance(each, Mapping) else each for each in level)
        level = [child for each in children for child in each if isinstance(child, nested)]
        if not level:
            return False
    return True


def describe_kind(value: Any) -> str:
    """Return the name of a kind of value, for errors."""
    kinds = {str: "a string", bool: "true or false", dict: "an object", list: "an array"}
    kinds |= {int: "a number", float: "a number", type(None): "null"}
    return next(
        (name for kind, name in kinds.items() if isinstance(value, kind)),
        f"a value of {type(value).__name__}",
    )


def as_text(value: Any) -> str | None:
    """Return a value as text. Null and NaN are None."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            return None
        is_whole = value.is_integer() and abs(value) < _EXACT
        return str(int(value)) if is_whole else repr(float(value))
    if isinstance(value, bool | int):
        return str(value).lower()
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    # Pandas has two more missing values.
    return None if type(value).__name__ in ("NAType", "NaTType") else str(value)


# Columns of several tables.


class ColumnTypes:
    """Common column types of several tables."""

    def __init__(self) -> None:
        self._types: dict[str, pa.DataType] = {}
        self._with_large: set[str] = set()
        self._with_negative: set[str] = set()
        self._metadata: dict[bytes, bytes] | None = None

    def add(self, table: pa.Table) -> None:
        """Add the column types of a table."""
        self._metadata = self._metadata or table.schema.metadata
        for field, column in zip(table.schema, table.columns, strict=True):
            if pa.types.is_integer(field.type) and len(column):
                low, high = pc.min_max(column).as_py().values()
                if high is not None and max(high, -low) > _EXACT:
                    self._with_large.add(field.name)
                if low is not None and low < 0:
                    self._with_negative.add(field.name)
            known = self._types.setdefault(field.name, field.type)
            if known != field.type:
                self._types[field.name] = _common_type(known, field.type)

    @property
    def schema(self) -> pa.Schema:
        """The schema of all tables so far."""
        fields = []
        for name, kind in self._types.items():
            is_inexact = pa.types.is_floating(kind) and name in self._with_large
            is_too_long = kind == pa.uint64() and name in self._with_negative
            fields.append((name, pa.large_string() if is_inexact or is_too_long else kind))
        return pa.schema(fields, self._metadata)


def _common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    if pa.types.is_integer(a) and pa.types.is_integer(b) and pa.uint64() in (a, b):
        return pa.uint64()
    schemas = [pa.schema([("", kind)]) for kind in (a, b)]
    try:
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return pa.large_string()


def fitted(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Cast a table to a schema, adding missing null columns."""
    if table.schema.equals(schema, check_metadata=True):
        return table
    found: dict[str, pa.ChunkedArray] = dict(zip(table.column_names, table.columns, strict=True))
    nulls = pa.nulls(len(table))
    columns = [found.get(name, nulls) for name in schema.names]
    if table.column_names == schema.names:
        # Several may have the same name.
        columns = table.columns
    pairs = zip(columns, schema, strict=True)
    return pa.Table.from_arrays(
        [cast_column(column, field) for column, field in pairs], schema=schema
    )


def cast_column(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    """Cast a column to a field's type, even to text."""
    kind = column.type
    if kind == field.type:
        return column
    is_text = pa.types.is_string(kind) or pa.types.is_null(kind)
    if pa.types.is_large_string(field.type) and not is_text:
        texts = [as_text(value) for value in column.to_pylist()]
        return pa.chunked_array([pa.array(texts, field.type)])
    # This casts structures with other fields, too.
    one = pa.table({field.name: column})
    empty = pa.schema([field]).empty_table()
    return pa.concat_tables([empty, one], promote_options="permissive").column(0)


def joined(tables: Sequence[pa.Table]) -> pa.Table:
    """Concatenate tables, casting columns to common types, else text."""
    if all(table.schema == tables[0].schema for table in tables):
        return pa.concat_tables(tables)
    types = ColumnTypes()
    for table in tables:
        types.add(table)
    schema = types.schema
    return pa.concat_tables([schema.empty_table(), *(fitted(table, schema) for table in tables)])
