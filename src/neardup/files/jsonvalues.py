"""Values of JSON objects: of named members, and of all members as an Arrow table.

One rule: a kernel reads a row or refuses it, and the standard library reads a refused row. The
kernel checks every object whole and accepts only syntax that all parsers read alike. It finds
members of the object itself, so that a row with a value within another one is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import TOO_DEEP, Misread, column_of, kind_of
from neardup.files.columnpaths import MISSING, element_of, splits, value_in
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
        The values, by name.
    """

    data: Bytes
    are_objects: Mask
    places: Mapping[str, _Places]

    @classmethod
    def find(cls, raw: RawRows, names: Sequence[str]) -> JsonValues:
        """Find the values of some members."""
        data = np.frombuffer(raw.data, np.uint8)
        parts = [name.encode() for name in names]
        joined = np.frombuffer(b"".join(parts) + _NOTHING, np.uint8)
        shape = len(names), len(raw)
        are_objects = np.empty(len(raw), np.bool_)
        kinds = np.empty(shape, np.uint8)
        starts, stops = np.zeros((2, *shape), np.int64)
        values = kinds.reshape(-1), starts.reshape(-1), stops.reshape(-1)
        offsets = offsets_of(list(map(len, parts)))
        kernel.place_values(data, raw.starts, raw.ends, joined, offsets, *values, are_objects)
        kinds[:, ~are_objects] = kernel.MISSING
        places = map(_Places, kinds, starts, stops)
        return cls(data, are_objects, dict(zip(names, places, strict=True)))

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


# Places of values in the text of an object that the standard library accepts.

_SPACE = re.compile(r"[ \t\r\n]*")
_decoder = json.JSONDecoder()


def place_in(text: str, name: str, at: int = 0) -> tuple[int, int] | None:
    """Return the place of a value of an object, as ``columnpaths.value_in`` finds the value."""
    members = dict(_members(text, at))
    for head, rest in splits(name):
        if head in members and (found := _place_within(text, *members[head], rest)):
            return found
    return None


def _place_within(text: str, start: int, stop: int, rest: str) -> tuple[int, int] | None:
    if not rest or text.startswith("null", start):
        return start, stop
    element = element_of(rest)
    if element is None:
        is_field = rest[0] == "." and text[start] == "{"
        return place_in(text, rest[1:], start) if is_field else None
    elements = list(_members(text, start)) if text[start] == "[" else []
    number, rest = element
    return _place_within(text, *elements[number][1], rest) if number < len(elements) else None


def _members(text: str, at: int) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the name and place of each value of an object, or of an array, without names."""
    at = _behind_space(text, at)
    is_object, key = text[at] == "{", ""
    at = _behind_space(text, at + 1)
    while text[at] not in "}]":
        if is_object:
            key, at = _decoder.raw_decode(text, at)
            at = _behind_space(text, _behind_space(text, at) + 1)
        start = at
        _, at = _decoder.raw_decode(text, start)
        yield key, (start, at)
        at = _behind_space(text, at)
        if text[at] == ",":
            at = _behind_space(text, at + 1)


def _behind_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    assert found is not None
    return found.end()


# Members as columns.


def objects_to_table(raw: RawRows, *, path: str, names: Sequence[str] | None = None) -> pa.Table:
    """Return the members of JSON objects, or the existing members of some names, as columns.

    Types are inferred, but strings stay strings; values of several kinds become text.
    """

    def bad_row(index: int, reason: str, *, is_bad_row: bool = True) -> InvalidInputError:
        number = int(raw.numbers[index])
        return InvalidInputError(reason, path=path, row=number, is_bad_row=is_bad_row)

    rows = []
    for index in range(len(raw)):
        try:
            rows.append(load_object(raw[index]))
        except BadRowError as bad:
            raise bad_row(index, str(bad)) from None
    columns: dict[str, pa.Array] = {}
    for name in dict.fromkeys((key for row in rows for key in row) if names is None else names):
        values = [row.get(name) if names is None else value_in(row, name) for row in rows]
        if any(value is not MISSING for value in values):
            misread: Misread = {}
            values = [None if value is MISSING else value for value in values]
            try:
                columns[name] = column_of(name, values, misread)
            except InvalidInputError as error:
                row = (error.row or 1) - 1
                raise bad_row(row, error.reason_in_both, is_bad_row=False) from None
            reasons = {row: why for row, found in misread.items() for key, why in found if not key}
            for row, reason in reasons.items():
                raise bad_row(row - 1, reason)
    return pa.table(columns)
