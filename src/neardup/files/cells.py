"""Values of columns as a condition compares them, each by itself.

What a value is does not depend on the rows beside it: types that a reader would infer of a whole
block play no part, so that conditions hold of the same rows wherever blocks are cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.tables import Bools

# What reads as a number, and as one that has no fraction; longer ones are compared as floats.
_NUMBER, _WHOLE = r"^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$", r"^-?[0-9]{1,19}$"
_MOST = 2**63 - 1
_MOST_DIGITS = str(_MOST)

# Fractions of a second that are none.
_NO_FRACTION = r"\.0+(Z?)$"


@dataclass(frozen=True)
class Cells:
    """Values of a column in some rows, or one that stands for all of them as scalars.

    Each is text, a number, a truth value, something ``other``, which compares with nothing, or
    null. Every array is null where a value is none of its kind.

    Parameters
    ----------
    texts
        Large strings.
    wholes
        Numbers that are whole and have 64 bits (int64).
    floats
        All numbers (float64), none of them NaN.
    truths
        Truth values.
    others
        True where there is something else.
    """

    texts: Any
    wholes: Any
    floats: Any
    truths: Any
    others: Any

    @classmethod
    def of_array(cls, values: pa.Array) -> Cells:
        """Return the values of an array without dictionaries, by its type."""
        kind, n = values.type, len(values)
        found = cls.nulls(n)
        if pa.types.is_boolean(kind):
            return found.but(truths=values)
        if pa.types.is_integer(kind):
            # Of unsigned ones some have more than 63 bits.
            wholes = values
            if pa.types.is_uint64(kind):
                small = pc.less_equal(values, pa.scalar(_MOST, kind))
                wholes = pc.if_else(small, values, pa.scalar(None, kind))
            return found.but(wholes=wholes.cast(pa.int64()), floats=_float(values))
        if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
            floats = _float(values)
            # Made here: the first scalar of Arrow that is made loads pandas, if that is installed.
            return found.but(
                floats=pc.if_else(pc.is_nan(floats), pa.scalar(None, pa.float64()), floats)
            )
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return found.but(texts=values.cast(pa.large_string()))
        if pa.types.is_temporal(kind) and not pa.types.is_duration(kind):
            texts = values.cast(pa.large_string())
            return found.but(texts=pc.replace_substring_regex(texts, _NO_FRACTION, r"\1"))
        return found.but(others=values.is_valid())

    @classmethod
    def of_values(cls, values: Sequence[Any]) -> Cells:
        """Return values as the standard library reads them from JSON."""
        kinds = [type(value) for value in values]

        def taken(kind: type, arrow: pa.DataType, made: Any) -> pa.Array:
            pairs = zip(values, kinds, strict=True)
            return pa.array([made(v) if k is kind else None for v, k in pairs], arrow)

        found = cls.nulls(len(values))
        wholes = taken(int, pa.int64(), lambda v: v if abs(v) <= _MOST else None)
        large = taken(int, pa.float64(), _as_float)
        floats = taken(float, pa.float64(), lambda v: None if v != v else v)
        texts = taken(str, pa.large_string(), lambda v: v.encode("utf-8", "replace").decode())
        others = pa.array([kind in (dict, list) for kind in kinds], pa.bool_())
        return found.but(
            texts=texts,
            wholes=wholes,
            floats=pc.coalesce(large, floats),
            truths=taken(bool, pa.bool_(), bool),
            others=others,
        )

    @classmethod
    def of_value(cls, value: str | float | bool | None) -> Cells:
        """Return one value for all rows."""
        array = cls.of_values([value])
        return cls(*(getattr(array, name)[0] for name in _PARTS))

    @classmethod
    def nothing(cls) -> Cells:
        """Return null for all rows."""
        return cls.of_value(None)

    @classmethod
    def nulls(cls, n: int) -> Cells:
        """Return null in so many rows."""
        return cls(
            pa.nulls(n, pa.large_string()),
            pa.nulls(n, pa.int64()),
            pa.nulls(n, pa.float64()),
            pa.nulls(n, pa.bool_()),
            pa.array(np.zeros(n, np.bool_)),
        )

    @classmethod
    def joined(cls, parts: Sequence[Cells], places: pa.Array) -> Cells:
        """Return rows of some parts, counted one part behind the other; null has no place."""
        arrays = (pa.concat_arrays([getattr(part, name) for part in parts]) for name in _PARTS)
        made = cls(*(array.take(places) for array in arrays))
        return made.but(others=made.others.fill_null(False))

    def but(self, **changed: Any) -> Cells:
        """Return the values with other arrays."""
        return Cells(**{name: changed.get(name, getattr(self, name)) for name in _PARTS})

    def without_empty(self) -> Cells:
        """Return the values, those that are empty texts as null."""
        is_empty = pc.equal(self.texts, "")
        return self.but(texts=pc.if_else(is_empty, pa.scalar(None, pa.large_string()), self.texts))

    @cached_property
    def numbers(self) -> Cells:
        """What is a number, or a text that reads as one, as JSON writes it."""
        if isinstance(self.texts, pa.Array) and self.texts.null_count == len(self.texts):
            return self
        wholes, floats = read_numbers(self.texts)
        return self.but(
            texts=pa.scalar(None, pa.large_string()),
            wholes=pc.coalesce(self.wholes, wholes),
            floats=pc.coalesce(self.floats, floats),
        )

    @property
    def as_truths(self) -> Any:
        """What is true or false, or a text that says so."""
        if isinstance(self.texts, pa.Array) and self.texts.null_count == len(self.texts):
            return self.truths
        words = pc.utf8_lower(self.texts)
        are_true, are_false = (pc.equal(words, word) for word in ("true", "false"))
        read = pc.if_else(pc.or_(are_true, are_false), are_true, pa.scalar(None, pa.bool_()))
        return pc.coalesce(self.truths, read)

    def lower(self) -> Cells:
        """Return texts in small letters; null where there is none."""
        return self.nothing().but(texts=pc.utf8_lower(self.texts))

    def upper(self) -> Cells:
        """Return texts in capital letters; null where there is none."""
        return self.nothing().but(texts=pc.utf8_upper(self.texts))

    def length(self) -> Cells:
        """Return the characters of texts; null where there is none."""
        wholes = pc.utf8_length(self.texts).cast(pa.int64())
        return self.nothing().but(wholes=wholes, floats=wholes.cast(pa.float64()))

    @property
    def are_null(self) -> Any:
        """Where there is no value."""
        found = pc.invert(self.others)
        for values in (self.texts, self.floats, self.truths):
            found = pc.and_(found, pc.is_null(values))
        return found


_PARTS = ("texts", "wholes", "floats", "truths", "others")


def _float(values: pa.Array) -> pa.Array:
    return values.cast(pa.float64(), safe=False)


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf if number > 0 else -np.inf


def read_numbers(texts: Any) -> tuple[Any, Any]:
    """Return the texts that are numbers, as whole ones and as floats."""
    no_text = pa.scalar(None, pa.large_string())
    digits = pc.if_else(pc.match_substring_regex(texts, _WHOLE), texts, no_text)
    bare = pc.utf8_ltrim(digits, "-")
    is_long = pc.and_(pc.equal(pc.utf8_length(bare), 19), pc.greater(bare, _MOST_DIGITS))
    wholes = pc.if_else(is_long, no_text, digits).cast(pa.int64())
    numbers = pc.if_else(pc.match_substring_regex(texts, _NUMBER), texts, no_text)
    return wholes, numbers.cast(pa.float64())


def cells_of_table(table: pa.Table, are_bad: Bools) -> dict[str, Cells]:
    """Return the columns of a table of the rows that are not bad, which are null."""
    columns = zip(table.column_names, table.columns, strict=True)
    return spread({name: Cells.of_array(plain_array(each)) for name, each in columns}, are_bad)


def spread(found: dict[str, Cells], are_bad: Bools) -> dict[str, Cells]:
    """Put nulls in the places of rows that were left out."""
    if not are_bad.any():
        return found
    places = pa.array(np.cumsum(~are_bad) - 1, mask=are_bad)
    return {name: Cells.joined([cells], places) for name, cells in found.items()}


# Arrays of whatever type, made plain.


def plain_array(column: pa.ChunkedArray) -> pa.Array:
    """Give a column in one piece, without dictionaries, extension types and string views."""
    if isinstance(column.type, pa.BaseExtensionType):
        chunks = [chunk.storage for chunk in column.chunks]
        column = pa.chunked_array(chunks, column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type):
        column = column.cast(pa.large_string())
    return one_array(column)


def one_array(column: pa.ChunkedArray) -> pa.Array:
    """Give a column in one piece; strings that do not fit 32-bit offsets get wider ones."""
    if column.num_chunks == 1:
        return column.chunk(0)
    if pa.types.is_string(column.type) and column.nbytes >= 1 << 31:
        column = column.cast(pa.large_string())
    return column.combine_chunks()
