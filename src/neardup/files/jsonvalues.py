"""Values of named members of JSON objects, found in their bytes without parsing the rest.

Kernels check every object whole, and accept only syntax that all parsers read alike. A name that
is not a member may be a path (``columnpaths``): then the object or array at its head is searched in
the same way.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import as_text
from neardup.files.columnpaths import MISSING, columns_among, element_of, paths_in, splits, value_in
from neardup.files.problems import BadRowError, not_decodable
from neardup.files.rawrows import RawRows
from neardup.files.rows import Mask
from neardup.kernels.file import jsonstrings as kernel
from neardup.tables import Bytes, Int64s

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.files.rawrows import RawRows

# Bytes after the names, which are read without a check of their end.
_NOTHING = b"\0\0\0"

# Kernels write so many bytes more than there are.
_ROOM = 32

# As many bytes are more than 32-bit offsets reach.
_FAR = 1 << 31


def joined_names(names: Sequence[str]) -> tuple[Bytes, Int64s]:
    """Return names as kernels take them."""
    parts = [name.encode() for name in names]
    offsets: Int64s = np.array(list(accumulate(map(len, parts), initial=0)), np.int64)
    return np.frombuffer(b"".join(parts) + _NOTHING, np.uint8), offsets


class _Places(NamedTuple):
    """Values of one name in some objects: kinds and places."""

    kinds: Bytes
    starts: Int64s
    stops: Int64s

    def take(self, rows: Int64s) -> _Places:
        """Return the values in some of the objects."""
        return _Places(self.kinds[rows], self.starts[rows], self.stops[rows])

    def put(self, rows: Int64s, places: _Places) -> None:
        """Replace the values in some of the objects."""
        self.kinds[rows], self.starts[rows], self.stops[rows] = places


class _Objects(NamedTuple):
    """Objects in some bytes; ``are_sure`` marks objects that ``find`` has read in full."""

    data: Bytes
    starts: Int64s
    stops: Int64s
    are_sure: Mask
    find: Callable[[_Objects, Sequence[str]], list[_Places]]

    def follow(self, names: Sequence[str]) -> list[_Places]:
        """Find the value of each name, as ``columnpaths.value_in`` does."""
        heads = list(dict.fromkeys(head for name in names for head, _ in splits(name)))
        members = dict(zip(heads, self.find(self, heads), strict=True))
        found = []
        for name in names:
            own = members[name].take(np.arange(len(self.starts)))
            for head, rest in splits(name):
                lacking = (own.kinds == kernel.MISSING) & (members[head].kinds != kernel.MISSING)
                rows = np.flatnonzero(lacking)
                if rest and len(rows):
                    own.put(rows, self._within(rows, members[head].take(rows), rest))
            found.append(own)
        return found

    def _within(self, rows: Int64s, values: _Places, rest: str) -> _Places:
        """Find the rest of a path in the values of objects; null within null."""
        if not rest:
            return values
        found = values.take(np.arange(len(rows)))
        found.kinds[values.kinds != kernel.NULL] = kernel.MISSING
        element = element_of(rest)
        if element is None and rest[0] != ".":
            return found
        here = np.flatnonzero(values.kinds == kernel.OTHER)
        here = here[self.data[values.starts[here]] == (_OBJECT if element is None else _ARRAY)]
        starts, stops = values.starts[here], values.stops[here]
        if element is not None:
            inner = _elements(self.data, starts, stops, element[0])
            found.put(here, self._within(rows[here], inner, element[1]))
            return found
        objects = self._replace(starts=starts, stops=stops, are_sure=self.are_sure[rows[here]])
        found.put(here, objects.follow([rest[1:]])[0])
        self.are_sure[rows[here]] = objects.are_sure
        return found


_OBJECT, _ARRAY = ord("{"), ord("[")


def _elements(data: Bytes, starts: Int64s, stops: Int64s, index: int) -> _Places:
    """Return an element of each array; null in shorter arrays."""
    kinds = np.empty(len(starts), np.uint8)
    places = _Places(kinds, np.zeros_like(starts), np.zeros_like(starts))
    kernel.place_elements(data, starts, stops, index, *places)
    kinds[kinds == kernel.MISSING] = kernel.NULL
    return places


def _place(objects: _Objects, names: Sequence[str]) -> list[_Places]:
    """Find members of valid objects; others have none."""
    shape = len(names), len(objects.starts)
    are_objects = np.empty(len(objects.starts), np.bool_)
    kinds = np.empty(shape, np.uint8)
    starts, stops = np.zeros((2, *shape), np.int64)
    kernel.place_values(
        objects.data,
        objects.starts,
        objects.stops,
        *joined_names(names),
        kinds.reshape(-1),
        starts.reshape(-1),
        stops.reshape(-1),
        are_objects,
    )
    kinds[:, ~are_objects] = kernel.MISSING
    objects.are_sure[~are_objects] = False
    return list(map(_Places, kinds, starts, stops))


def _find(objects: _Objects, names: Sequence[str]) -> list[_Places]:
    """Find members of objects with a parser, and whether they are null."""
    found = [np.empty(len(objects.starts) * len(names), np.int64) for _ in range(2)]
    kernel.find_members(objects.data, objects.starts, objects.stops, *joined_names(names), *found)
    starts, stops = (each.reshape(-1, len(names)).T.copy() for each in found)
    is_there = stops > starts
    is_null = is_there & (objects.data[np.where(is_there, starts, 0)] == ord("n"))
    kinds = np.where(is_there, np.uint8(kernel.OTHER), np.uint8(kernel.MISSING))
    return list(map(_Places, np.where(is_null, np.uint8(kernel.NULL), kinds), starts, stops))


def find_strings(raw: RawRows, names: Sequence[str]) -> tuple[Int64s, Int64s]:
    """Return where strings of objects that a parser takes stand, between their quotes.

    One row for each name: an empty place where there is no string.
    """
    data = np.frombuffer(raw.data, np.uint8)
    objects = _Objects(data, raw.starts, raw.ends, np.ones(len(raw), np.bool_), _find)
    found = objects.follow(names)
    starts: Int64s = np.stack([each.starts for each in found])
    stops: Int64s = np.stack([each.stops for each in found])
    are_strings = np.stack([each.kinds != kernel.MISSING for each in found]) & (stops > starts)
    are_strings &= data[np.where(are_strings, starts, 0)] == ord('"')
    return np.where(are_strings, starts + 1, 0), np.where(are_strings, stops - 1, 0)


@dataclass(frozen=True)
class JsonValues:
    """The values of some members of some rows.

    Parameters
    ----------
    data
        The bytes of the rows.
    are_objects
        Mask of valid objects; values of other rows are missing.
    names
        Names of the members, or paths to them.
    kinds, starts, stops
        A row for each name, as ``place_values`` gives them.
    """

    data: Bytes
    are_objects: Mask
    names: Sequence[str]
    kinds: Bytes
    starts: Int64s
    stops: Int64s

    @classmethod
    def find(cls, raw: RawRows, names: Sequence[str]) -> JsonValues:
        """Find the values of these names, each given once."""
        data = np.frombuffer(raw.data, np.uint8)
        are_sure: Mask = np.ones(len(raw), np.bool_)
        found = _Objects(data, raw.starts, raw.ends, are_sure, _place).follow(names)
        parts = (np.stack(part) for part in zip(*found, strict=True))
        return cls(data, are_sure, names, *parts).of(are_sure)

    def of(self, rows: Mask) -> JsonValues:
        """Return the values of these rows; others are missing."""
        return replace(self, kinds=np.where(rows, self.kinds, np.uint8(kernel.MISSING)))

    def are_strings(self, name: str) -> Mask:
        """Return which values are strings."""
        return self._are(name, kernel.PLAIN) | self._are(name, kernel.ESCAPED)

    def are_integers(self, name: str) -> Mask:
        """Return which values are whole numbers, written so."""
        return self._are(name, kernel.INTEGER)

    def are_numbers(self, name: str) -> Mask:
        """Return which values are numbers of any kind."""
        return self._are(name, kernel.INTEGER) | self._are(name, kernel.NUMBER)

    def are_nulls(self, name: str) -> Mask:
        """Return which values are null."""
        return self._are(name, kernel.NULL)

    def _are(self, name: str, kind: int) -> Mask:
        found: Mask = self.kinds[self.names.index(name)] == kind
        return found

    def strings(self, name: str) -> pa.Array:
        """Return the strings of a column, null where a value is none.

        Raises
        ------
        pyarrow.ArrowInvalid
            If one is not UTF-8.
        """
        return self._written(name, self.are_strings(name))

    def numbers_or_strings(self, name: str) -> pa.Array:
        """Return integers if all values are, else floats if they are numbers, else strings.

        Raises
        ------
        pyarrow.ArrowInvalid
            If one is not UTF-8, if there are strings and numbers, or numbers that are too large.
        """
        are_strings, are_numbers = self.are_strings(name), self.are_numbers(name)
        if not are_numbers.any():
            if are_strings.any():
                return self.strings(name)
            return pa.nulls(len(are_strings), pa.int64())
        if are_strings.any():
            message = "strings and numbers"
            raise pa.ArrowInvalid(message)
        numbers = self._written(name, are_numbers)
        if np.array_equal(self.are_integers(name), are_numbers):
            # Some may be too large.
            with contextlib.suppress(pa.ArrowInvalid):
                return numbers.cast(pa.int64())
        return numbers.cast(pa.float64())

    def integers_or_strings(self, name: str) -> pa.Array:
        """Return integers if all values are, else strings.

        Raises
        ------
        pyarrow.ArrowInvalid
            If one is not UTF-8, or too large.
        """
        are_integers = self.are_integers(name)
        if not are_integers.any():
            return self.strings(name)
        integers = self._written(name, are_integers).cast(pa.int64())
        if not self.are_strings(name).any():
            return integers
        return pc.coalesce(self.strings(name), integers.cast(pa.string()))

    def _written(self, name: str, rows: Mask) -> pa.Array:
        """Return some values as strings, null in other rows."""
        n = self.names.index(name)
        starts, stops = self.starts[n], self.stops[n]
        room = int((stops - starts)[rows].sum()) + _ROOM
        buffer = pa.allocate_buffer(room)
        offsets: Int64s = np.empty(len(rows) + 1, np.int64)
        kinds = np.where(rows, self.kinds[n], np.uint8(kernel.MISSING))
        out = np.frombuffer(buffer, np.uint8)
        kernel.write_values(self.data, kinds, starts, stops, out, offsets)
        is_far = offsets[-1] >= _FAR
        places = pa.py_buffer(offsets if is_far else offsets.astype(np.int32))
        validity = None if rows.all() else pa.array(rows).buffers()[1]
        kind = pa.large_string() if is_far else pa.string()
        array = pa.Array.from_buffers(kind, len(rows), [validity, places, buffer])
        array.validate(full=True)
        return array


# JSON objects as Python's values and as Arrow tables of all columns, with types inferred.
#
# Arrow reads them at once where that changes no value; else the standard library does, one by one.


JSON_SPACE = b" \t\r\n"

MOST_LEVELS = 40
"""How deep the values of a row may be nested to become columns.

What is written as Parquet deeper than that, Arrow does not read back.
"""

TOO_DEEP = (
    f"its values are nested deeper than {MOST_LEVELS} levels, of which no columns are made; "
    "write the rows as they are, or flatten them first"
)


def load_object(raw_row: bytes, *, errors: str = "strict") -> dict[str, Any]:
    """Read one object with the standard library; raises BadRowError.

    ``errors`` is the treatment of bytes that are not UTF-8, as for ``bytes.decode``.
    """
    try:
        row = json.loads(raw_row.rstrip(JSON_SPACE).decode(errors=errors))
    except UnicodeDecodeError as error:
        raise BadRowError(not_decodable(error, "utf-8")) from None
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        message = f"not a JSON object: {what} at character {error.pos + 1}"
        raise BadRowError(message) from None
    except RecursionError:
        raise BadRowError(TOO_DEEP) from None
    except ValueError as error:
        message = f"not a JSON object: {error}"
        raise BadRowError(message) from None
    if not isinstance(row, dict):
        message = f"not a JSON object: it is {kind_of(row)}"
        raise BadRowError(message)
    return row


def kind_of(value: Any) -> str:
    """Return the name of a kind of value, for errors."""
    kinds = {str: "a string", bool: "true or false", dict: "an object", list: "an array"}
    return "null" if value is None else kinds.get(type(value), "a number")


def objects_to_table(raw: RawRows, *, path: str) -> pa.Table:
    """Give JSON objects as a table; types are inferred by Arrow, but strings stay strings."""
    table = _read_table(raw, path)
    return _to_table_one_by_one(raw, path) if table is None else table


def some_to_table(raw: RawRows, names: Sequence[str], *, path: str) -> pa.Table:
    """Return existing columns of JSON objects; values of several kinds become text."""
    table = _read_table(raw, path)
    # A name may lead to one thing in some rows and to another in others.
    if table is not None and all(len(list(paths_in(table.schema, name))) < 2 for name in names):
        return columns_among(table, names)
    rows = _load_all(raw, path)
    columns = {}
    for name in dict.fromkeys(names):
        values = [value_in(row, name) for row in rows]
        if all(value is MISSING for value in values):
            continue
        values = [None if value is MISSING else value for value in values]
        columns[name] = _column(values, name, path, raw.numbers)
    return pa.table(columns)


def _read_table(raw: RawRows, path: str) -> pa.Table | None:
    """Read objects at once; None where that cannot be done, or would change a value."""
    if not len(raw):
        return pa.table({})
    check_depth(raw, path)
    try:
        table = read_inferred(raw.joined_by(b"\n"))
        if table.num_rows == len(raw) and not _lost_digits(table):
            table.validate(full=True)
            return table
    except (pa.ArrowException, ValueError):
        pass
    return None


def read_json(data: bytes | memoryview, options: pj.ParseOptions) -> pa.Table:
    """Read objects with Arrow in this thread; needs at least one."""
    # One block larger than the data: Arrow then never has to look for a place to cut.
    read_options = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    return pj.read_json(pa.BufferReader(pa.py_buffer(data)), read_options, options)


def read_inferred(data: bytes | memoryview) -> pa.Table:
    """Read all columns of objects; strings stay strings."""
    table = read_json(data, pj.ParseOptions(explicit_schema=pa.schema([])))
    if _has(table.schema, pa.types.is_timestamp):
        schema = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
        table = read_json(data, pj.ParseOptions(explicit_schema=schema))
    return table


def check_depth(raw: RawRows, path: str) -> None:
    """Raise InvalidInputError for the first row whose values are nested too deep.

    Arrow descends by the stack of the process, which would end it. Only rows with many brackets
    are parsed, and most of these have them in their text.
    """
    array = np.frombuffer(raw.data, np.uint8)
    opened = np.flatnonzero((array == ord("[")) | (array == ord("{")))
    n_opened = np.searchsorted(opened, raw.ends) - np.searchsorted(opened, raw.starts)
    # The row itself is an object.
    for index in np.flatnonzero(n_opened > MOST_LEVELS + 1).tolist():
        try:
            is_deep = is_too_deep(load_object(raw[index]))
        except BadRowError as bad:
            is_deep = str(bad) == TOO_DEEP
        if is_deep:
            raise InvalidInputError(TOO_DEEP, path=path, row=int(raw.numbers[index]))


def is_too_deep(row: Mapping[str, Any]) -> bool:
    """Return whether the values of a row are nested deeper than ``MOST_LEVELS``."""
    nested = (list, tuple, Mapping)
    level = [value for value in row.values() if isinstance(value, nested)]
    for _ in range(MOST_LEVELS):
        children = (each.values() if isinstance(each, Mapping) else each for each in level)
        level = [child for each in children for child in each if isinstance(child, nested)]
    return bool(level)


def _has(types: Any, test: Any) -> bool:
    """Return whether a schema or a nested type has a type that passes the test."""
    children = [types.field(i).type for i in range(_n_fields(types))]
    return any(test(child) or _has(child, test) for child in children)


def _n_fields(types: Any) -> int:
    return len(types) if isinstance(types, pa.Schema) else types.num_fields


def _plain(kind: pa.DataType) -> pa.DataType:
    """Undo that Arrow takes strings which look like dates for dates."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind


def _lost_digits(table: pa.Table) -> bool:
    """Return whether a whole number, read as a float, may have been rounded."""
    floats = [column for column in table.columns if pa.types.is_float64(column.type)]
    return any((pc.max(pc.abs(column)).as_py() or 0) >= 2**53 for column in floats)


def _to_table_one_by_one(raw: RawRows, path: str) -> pa.Table:
    rows = _load_all(raw, path)
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_column([row.get(name) for row in rows], name, path, raw.numbers) for name in names]
    return pa.table(columns, names=names)


def _load_all(raw: RawRows, path: str) -> list[dict[str, Any]]:
    rows = []
    for index in range(len(raw)):
        try:
            rows.append(load_object(raw[index]))
        except BadRowError as bad:
            number = int(raw.numbers[index])
            raise InvalidInputError(str(bad), path=path, row=number, is_bad_row=True) from None
    return rows


def _column(values: list[Any], name: str, path: str, numbers: Int64s) -> pa.Array:
    """Return values as a column of a type that they have in common, else of text."""
    are_integers = all(value is None or type(value) is int for value in values)
    for kind in (None, pa.uint64()) if are_integers else (None,):
        with contextlib.suppress(pa.ArrowException, ValueError, TypeError, OverflowError):
            return pa.array(values, kind)
    texts = []
    for number, value in zip(numbers.tolist(), values, strict=True):
        text = as_text(value)
        try:
            texts.append(None if text is None else text.encode())
        except UnicodeEncodeError:
            message = f"column {name!r} holds half of a surrogate pair, which is not text"
            raise InvalidInputError(message, path=path, row=number, is_bad_row=True) from None
    return pa.array(texts, pa.large_binary()).cast(pa.large_string())
