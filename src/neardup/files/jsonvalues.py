"""What named members of JSON objects hold, found in their bytes without parsing what else there is.

Kernels check every object whole, and are sure of what all parsers take and read alike. A name that
is no member's may be a path (``columnpaths``): then what is in the object or array at its head is
gone through in the same way.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.arrowcolumns import is_utf8
from neardup.files.cells import Cells, read_numbers
from neardup.files.columnpaths import element_of, splits
from neardup.files.rawrows import RawRows
from neardup.files.rows import Mask
from neardup.kernels.file import jsonstrings as kernel
from neardup.tables import Bytes, Int64s

# Behind the names, whose characters are read without a look at where they end.
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
    """Values of one name in some objects: what they are, and where."""

    kinds: Bytes
    starts: Int64s
    stops: Int64s

    def take(self, rows: Int64s) -> _Places:
        """Return those in some of the objects."""
        return _Places(self.kinds[rows], self.starts[rows], self.stops[rows])

    def put(self, rows: Int64s, places: _Places) -> None:
        """Put others into the places of those in some of the objects."""
        self.kinds[rows], self.starts[rows], self.stops[rows] = places


class _Objects(NamedTuple):
    """Objects in some bytes; ``are_sure`` notes in which of them ``find`` has no doubt of any."""

    data: Bytes
    starts: Int64s
    stops: Int64s
    are_sure: Mask
    find: Callable[[_Objects, Sequence[str]], list[_Places]]

    def follow(self, names: Sequence[str]) -> list[_Places]:
        """Find what each name leads to, as ``columnpaths.value_in`` does."""
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
        """Find what leads on from a value in each of some objects; whatever is in null is null."""
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
    """Return an element of each of some arrays; null of those that have not so many."""
    kinds = np.empty(len(starts), np.uint8)
    places = _Places(kinds, np.zeros_like(starts), np.zeros_like(starts))
    kernel.place_elements(data, starts, stops, index, *places)
    kinds[kinds == kernel.MISSING] = kernel.NULL
    return places


def _place(objects: _Objects, names: Sequence[str]) -> list[_Places]:
    """Find members of objects of which there is no doubt; others have none."""
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
    """Find members of objects that a parser takes; of what they are, only if they are null."""
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
        The bytes that rows are in.
    are_objects
        Which rows are objects beyond doubt; values of others are missing.
    names
        Of the members, or what leads to them.
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
        """Return the values of these rows only; those of others are missing."""
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

    def are_missing(self, name: str) -> Mask:
        """Return where there is no value."""
        return self._are(name, kernel.MISSING)

    def are_utf8(self, name: str) -> Mask:
        """Return where values are no strings, or strings of UTF-8."""
        are_strings = self.are_strings(name)
        are_good: Mask = np.ones(len(are_strings), np.bool_)
        try:
            self._written(name, are_strings)
        except pa.ArrowInvalid:
            n = self.names.index(name)
            for row in np.flatnonzero(are_strings).tolist():
                are_good[row] = is_utf8(bytes(self.data[self.starts[n, row] : self.stops[n, row]]))
        return are_good

    def cells(self, name: str) -> Cells:
        """Return the values of a column, of which strings are UTF-8."""
        n, are_others = self.names.index(name), self._are(name, kernel.OTHER)
        first = self.data[np.where(are_others, self.starts[n], 0)]
        are_true, are_false = (are_others & (first == ord(letter)) for letter in "tf")
        wholes, floats = read_numbers(self._written(name, self.are_numbers(name)))
        found = Cells.nulls(len(are_others))
        return found.but(
            texts=self.strings(name).cast(pa.large_string()),
            wholes=wholes,
            floats=floats,
            truths=pa.array(are_true, mask=~(are_true | are_false)),
            others=pa.array(are_others & ~are_true & ~are_false),
        )

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
