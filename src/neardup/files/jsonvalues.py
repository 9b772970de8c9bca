"""Values of JSON objects: of named members, and of all members as an Arrow table.

One rule: a kernel reads a row or refuses it, and the standard library reads a refused row. The
kernel checks every object whole and accepts only syntax that all parsers read alike. A name that
is not a member may be a path (``columnpaths``): the kernel then searches the object or array at
its head.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import (
    MOST_LEVELS,
    TOO_DEEP,
    Misread,
    column_of,
    is_too_deep,
    kind_of,
)
from neardup.files.columnpaths import MISSING, columns_among, element_of, paths_in, splits, value_in
from neardup.files.problems import BadRowError, not_decodable
from neardup.files.rawrows import RawRows
from neardup.files.rows import Mask
from neardup.kernels.text import jsonstrings as kernel
from neardup.tables import Bytes, Int64s, offsets_of

# The kernel reads so many bytes after the names without a check, and writes more than there are.
_NOTHING, _ROOM = b"\0\0\0", 32

# The first offset that 32 bits do not hold.
_FAR = 1 << 31

JSON_SPACE = b" \t\r\n"


class _Places(NamedTuple):
    """Kinds and places of the values of one name in some objects."""

    kinds: Bytes
    starts: Int64s
    stops: Int64s

    def take(self, rows: Int64s) -> _Places:
        """Return the values in some of the objects, copied."""
        return _Places(self.kinds[rows], self.starts[rows], self.stops[rows])

    def put(self, rows: Int64s, places: _Places) -> None:
        """Replace the values in some of the objects."""
        self.kinds[rows], self.starts[rows], self.stops[rows] = places


class _Objects(NamedTuple):
    """Objects in some bytes; ``are_sure`` marks the objects that the kernel accepts.

    With ``is_parsed`` a parser has accepted all objects, and the kernel does not check them.
    """

    data: Bytes
    starts: Int64s
    stops: Int64s
    are_sure: Mask
    is_parsed: bool = False

    def follow(self, names: Sequence[str]) -> list[_Places]:
        """Find the value of each name, as ``columnpaths.value_in`` does."""
        heads = list(dict.fromkeys(head for name in names for head, _ in splits(name)))
        members = dict(zip(heads, self._members(heads), strict=True))
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
        here = here[self.data[values.starts[here]] == ord("{" if element is None else "[")]
        starts, stops = values.starts[here], values.stops[here]
        if element is not None:
            inner = _Places(np.empty(len(here), np.uint8), *np.zeros((2, len(here)), np.int64))
            kernel.place_elements(self.data, starts, stops, element[0], *inner)
            # An element after the end of an array is null.
            inner.kinds[inner.kinds == kernel.MISSING] = kernel.NULL
            found.put(here, self._within(rows[here], inner, element[1]))
            return found
        objects = self._replace(starts=starts, stops=stops, are_sure=self.are_sure[rows[here]])
        found.put(here, objects.follow([rest[1:]])[0])
        self.are_sure[rows[here]] = objects.are_sure
        return found

    def _members(self, names: Sequence[str]) -> list[_Places]:
        """Find members of the objects; a refused object has none."""
        parts = [name.encode() for name in names]
        joined = np.frombuffer(b"".join(parts) + _NOTHING, np.uint8)
        objects = self.data, self.starts, self.stops, joined, offsets_of(list(map(len, parts)))
        shape = len(names), len(self.starts)
        if self.is_parsed:
            starts, stops = np.empty((2, shape[1] * shape[0]), np.int64)
            kernel.find_members(*objects, starts, stops)
            starts, stops = (each.reshape(shape[::-1]).T.copy() for each in (starts, stops))
            is_there = stops > starts
            is_null = is_there & (self.data[np.where(is_there, starts, 0)] == ord("n"))
            kinds = np.select([is_null, is_there], [kernel.NULL, kernel.OTHER], kernel.MISSING)
            return list(map(_Places, kinds.astype(np.uint8), starts, stops))
        are_objects = np.empty(shape[1], np.bool_)
        kinds = np.empty(shape, np.uint8)
        starts, stops = np.zeros((2, *shape), np.int64)
        values = kinds.reshape(-1), starts.reshape(-1), stops.reshape(-1)
        kernel.place_values(*objects, *values, are_objects)
        kinds[:, ~are_objects] = kernel.MISSING
        self.are_sure[~are_objects] = False
        return list(map(_Places, kinds, starts, stops))


def find_strings(raw: RawRows, names: Sequence[str]) -> tuple[Int64s, Int64s]:
    """Return the places of strings, between their quotes, in objects that a parser accepts.

    One row for each name: an empty place without a string.
    """
    data = np.frombuffer(raw.data, np.uint8)
    objects = _Objects(data, raw.starts, raw.ends, np.ones(len(raw), np.bool_), is_parsed=True)
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
        The bytes of the values.
    are_objects
        Mask of accepted objects; values of other rows are missing.
    places
        The values, by name or path.
    """

    data: Bytes
    are_objects: Mask
    places: Mapping[str, _Places]

    @classmethod
    def find(cls, raw: RawRows, names: Sequence[str]) -> JsonValues:
        """Find the values of some names."""
        data = np.frombuffer(raw.data, np.uint8)
        are_sure: Mask = np.ones(len(raw), np.bool_)
        found = _Objects(data, raw.starts, raw.ends, are_sure).follow(names)
        return cls(data, are_sure, dict(zip(names, found, strict=True)))

    def replaced(self, rows: Mask, values: Sequence[Mapping[str, Any] | None]) -> JsonValues:
        """Return the values with those of some rows as a parser has read them, None for none.

        Values are strings, numbers or null.
        """
        parts, end = [self.data.tobytes()] if any(values) else [], len(self.data)
        indexes, places = np.flatnonzero(rows), {}
        for name, old in self.places.items():
            kinds = np.full(len(values), kernel.MISSING, np.uint8)
            starts, stops = np.zeros((2, len(values)), np.int64)
            for index, value in enumerate(values):
                if value is None:
                    continue
                kinds[index], text = _written(value[name])
                starts[index], stops[index] = end, end + len(text)
                parts.append(text)
                end += len(text)
            places[name] = old.take(np.arange(len(rows)))
            places[name].put(indexes, _Places(kinds, starts, stops))
        data = np.frombuffer(b"".join(parts), np.uint8) if parts else self.data
        return replace(self, data=data, places=places)

    def without(self, rows: Sequence[int]) -> JsonValues:
        """Return the values without those of some rows."""
        if not rows:
            return self
        places = {name: each.take(np.arange(len(each.kinds))) for name, each in self.places.items()}
        for each in places.values():
            each.kinds[rows] = kernel.MISSING
        return replace(self, places=places)

    def are_strings(self, name: str) -> Mask:
        """Return a mask of the values that are strings."""
        return self._are(name, kernel.PLAIN, kernel.ESCAPED)

    def are_integers(self, name: str) -> Mask:
        """Return a mask of the values that are whole numbers, written so."""
        return self._are(name, kernel.INTEGER)

    def are_numbers(self, name: str) -> Mask:
        """Return a mask of the values that are numbers of any kind."""
        return self._are(name, kernel.INTEGER, kernel.NUMBER)

    def are_nulls(self, name: str) -> Mask:
        """Return a mask of the values that are null."""
        return self._are(name, kernel.NULL)

    def _are(self, name: str, *kinds: int) -> Mask:
        found: Mask = np.isin(self.places[name].kinds, kinds)
        return found

    def strings(self, name: str) -> pa.Array:
        """Return the strings of a column, null for other values.

        Raises
        ------
        pyarrow.ArrowInvalid
            If one is not UTF-8.
        """
        return self._as_written(name, self.are_strings(name))

    def numbers_or_strings(self, name: str) -> pa.Array:
        """Return integers if all values are, else floats if they are numbers, else strings."""
        are_numbers = self.are_numbers(name)
        if not are_numbers.any():
            has_strings = self.are_strings(name).any()
            return self.strings(name) if has_strings else pa.nulls(len(are_numbers), pa.int64())
        numbers = self._as_written(name, are_numbers)
        kinds = [pa.int64()] if not (are_numbers & ~self.are_integers(name)).any() else []
        return _cast(numbers, [*kinds, pa.float64()])

    def integers_or_strings(self, name: str) -> pa.Array:
        """Return integers if all values are, else strings."""
        are_integers = self.are_integers(name)
        if not are_integers.any():
            return self.strings(name)
        integers = _cast(self._as_written(name, are_integers), [pa.int64()])
        if pa.types.is_string(integers.type):
            integers = pc.replace_substring_regex(integers, "^-0$", "0")
        if not self.are_strings(name).any():
            return integers
        return pc.coalesce(self.strings(name), integers.cast(pa.string()))

    def _as_written(self, name: str, rows: Mask) -> pa.Array:
        """Return some values as strings, null in other rows."""
        kinds, starts, stops = self.places[name]
        room = int((stops - starts)[rows].sum()) + _ROOM
        buffer = pa.allocate_buffer(room)
        offsets: Int64s = np.empty(len(rows) + 1, np.int64)
        kinds = np.where(rows, kinds, np.uint8(kernel.MISSING))
        out = np.frombuffer(buffer, np.uint8)
        kernel.write_values(self.data, kinds, starts, stops, out, offsets)
        is_far = offsets[-1] >= _FAR
        places = pa.py_buffer(offsets if is_far else offsets.astype(np.int32))
        validity = None if rows.all() else pa.array(rows).buffers()[1]
        kind = pa.large_string() if is_far else pa.string()
        array = pa.Array.from_buffers(kind, len(rows), [validity, places, buffer])
        array.validate(full=True)
        return array


def _written(value: Any) -> tuple[int, bytes]:
    """Return the kind and the bytes of a value, as the kernel finds them."""
    if value is None:
        return kernel.NULL, b""
    if isinstance(value, str):
        return kernel.PLAIN, b'"' + value.encode() + b'"'
    return kernel.INTEGER if isinstance(value, int) else kernel.NUMBER, repr(value).encode()


def _cast(numbers: pa.Array, kinds: Sequence[pa.DataType]) -> pa.Array:
    """Return numbers that are written down in the first type that holds all, else as strings."""
    for kind in kinds:
        try:
            return numbers.cast(kind)
        except pa.ArrowInvalid:
            continue
    return numbers


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


# All members as columns. Arrow reads objects at once if that changes no value; else the standard
# library reads them one by one.


def objects_to_table(raw: RawRows, *, path: str, names: Sequence[str] | None = None) -> pa.Table:
    """Return the members of JSON objects, or the existing members of some names, as columns.

    Types are inferred, but strings stay strings; values of several kinds become text.
    """
    table = _read_table(raw, path)
    # A name may lead to one thing in some rows and to another in others.
    if table is not None and all(
        len(list(paths_in(table.schema, each))) < 2 for each in names or ()
    ):
        return table if names is None else columns_among(table, names)
    rows = []
    for index, number in enumerate(raw.numbers.tolist()):
        try:
            rows.append(load_object(raw[index]))
        except BadRowError as bad:
            raise InvalidInputError(str(bad), path=path, row=number, is_bad_row=True) from None
    columns: dict[str, pa.Array] = {}
    for name in dict.fromkeys((key for row in rows for key in row) if names is None else names):
        values = [row.get(name) if names is None else value_in(row, name) for row in rows]
        if any(value is not MISSING for value in values):
            misread: Misread = {}
            values = [None if value is MISSING else value for value in values]
            columns[name] = column_of(name, values, misread)
            reasons = {row: why for row, found in misread.items() for key, why in found if not key}
            for row, reason in reasons.items():
                number = int(raw.numbers[row - 1])
                raise InvalidInputError(reason, path=path, row=number, is_bad_row=True)
    return pa.table(columns)


def _read_table(raw: RawRows, path: str) -> pa.Table | None:
    """Read objects at once; None if that cannot be done, or would change a value."""
    if not len(raw):
        return pa.table({})
    _check_depth(raw, path)
    data = raw.joined_by(b"\n")
    # One block larger than the data: Arrow then never has to look for a place to cut.
    options = pj.ReadOptions(use_threads=False, block_size=len(data) + 1)
    schema = pa.schema([])
    try:
        while True:
            parsing = pj.ParseOptions(explicit_schema=schema)
            table = pj.read_json(pa.BufferReader(data), options, parsing)
            # Arrow takes strings that look like dates for dates.
            plain = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
            if plain == table.schema:
                break
            schema = plain
        # A whole number that is read as a float may have been rounded.
        floats = [column for column in table.columns if pa.types.is_float64(column.type)]
        is_exact = all((pc.max(pc.abs(column)).as_py() or 0) < 2**53 for column in floats)
        if table.num_rows == len(raw) and is_exact:
            table.validate(full=True)
            return table
    except (pa.ArrowException, ValueError):
        pass
    return None


def _check_depth(raw: RawRows, path: str) -> None:
    """Raise InvalidInputError for the first row whose values are nested too deep.

    Arrow descends by the stack of the process, which would end it. Only rows with many brackets
    are parsed, and most of these have them in their text.
    """
    array = np.frombuffer(raw.data, np.uint8)
    opened = np.flatnonzero((array == ord("[")) | (array == ord("{")))
    n_opened = np.searchsorted(opened, raw.ends) - np.searchsorted(opened, raw.starts)
    for index in np.flatnonzero(n_opened > MOST_LEVELS + 1).tolist():
        try:
            is_deep = is_too_deep(load_object(raw[index]))
        except BadRowError as bad:
            is_deep = str(bad) == TOO_DEEP
        if is_deep:
            raise InvalidInputError(TOO_DEEP, path=path, row=int(raw.numbers[index]))


def _plain(kind: pa.DataType) -> pa.DataType:
    """Return a type with strings in place of timestamps."""
    if pa.types.is_timestamp(kind):
        return pa.string()
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_plain(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_plain(field.type)) for field in kind])
    return kind
