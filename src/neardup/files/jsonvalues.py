"""What named members of JSON objects hold, found in their bytes without parsing what else there is.

Kernels check every object whole, and are sure of what all parsers take and read alike.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
        Of the members.
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
        are_objects = np.empty(len(raw), np.bool_)
        kinds = np.empty((len(names), len(raw)), np.uint8)
        starts, stops = np.zeros((2, *kinds.shape), np.int64)
        kernel.place_values(
            data,
            raw.starts,
            raw.ends,
            *joined_names(names),
            kinds.reshape(-1),
            starts.reshape(-1),
            stops.reshape(-1),
            are_objects,
        )
        return cls(data, are_objects, names, kinds, starts, stops).of(are_objects)

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
