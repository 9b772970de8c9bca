"""Ids, texts and values of columns that are given one at a time, checked and as arrays."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from neardup.errors import InvalidInputError

Id = str | int

_LEAST, _LARGEST_SIGNED, _LARGEST = -(2**63), 2**63 - 1, 2**64 - 1


def checked_id(value: object) -> Id:
    """Return an id, whole numbers as ``int``.

    Raises
    ------
    InvalidInputError
        If it is neither a string of valid characters nor a whole number of 64 bits.
    """
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError as error:
            message = f"an id must be a string of valid characters: {error}"
            raise InvalidInputError(message) from None
        return str(value)
    if isinstance(value, numbers.Integral) and not isinstance(value, bool):
        number = int(value)
        if _LEAST <= number <= _LARGEST:
            return number
    message = f"an id must be a string or a whole number of 64 bits, got {value!r}"
    raise InvalidInputError(message)


def ids_of_values(values: Sequence[Id]) -> pa.Array:
    """Return checked ids as an array: of whole numbers, if one type of these holds all."""
    numbers_only = [value for value in values if not isinstance(value, str)]
    if len(numbers_only) == len(values):
        least, most = min(numbers_only, default=0), max(numbers_only, default=0)
        if most <= _LARGEST_SIGNED:
            return pa.array(values, pa.int64())
        if least >= 0:
            return pa.array(values, pa.uint64())
    return pa.array(list(map(str, values)), pa.large_string())


def as_texts(texts: Sequence[str | None]) -> pa.Array:
    """Return texts as an array.

    Raises
    ------
    InvalidInputError
        If one cannot be written as UTF-8.
    """
    try:
        return pa.array(texts, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError, TypeError) as error:
        message = f"a text must be a string of valid characters: {error}"
        raise InvalidInputError(message) from None


def types_of_values(columns: Mapping[str, Any], names: Sequence[str]) -> tuple[pa.DataType, ...]:
    """Return the type that the value of each column has in a table.

    Raises
    ------
    InvalidInputError
        If a table cannot have such a value.
    """
    types = []
    for name in names:
        try:
            types.append(pa.array([columns.get(name)]).type)
        except (pa.ArrowException, OverflowError, UnicodeEncodeError, TypeError) as error:
            message = f"column {name!r} cannot have this value: {error}"
            raise InvalidInputError(message) from None
    return tuple(types)


def runs_of_types(
    types: Sequence[tuple[pa.DataType, ...]],
) -> Iterator[tuple[int, int, tuple[pa.DataType, ...]]]:
    """Yield runs of rows whose columns have one type each: start, stop and the types.

    A value that is None goes with every type.
    """
    start, current = 0, None
    for row, own in enumerate(types):
        common = own if current is None else _common(current, own)
        if common is None:
            assert current is not None
            yield start, row, current
            start, common = row, own
        current = common
    if current is not None:
        yield start, len(types), current


def _common(
    first: tuple[pa.DataType, ...], second: tuple[pa.DataType, ...]
) -> tuple[pa.DataType, ...] | None:
    common = []
    for one, other in zip(first, second, strict=True):
        if pa.types.is_null(one) or one == other:
            common.append(other)
        elif pa.types.is_null(other):
            common.append(one)
        else:
            return None
    return tuple(common)
