"""Thrift's compact protocol, in which the end of a Parquet file is written.

Arrow reads and writes it, but does neither put row groups together that were written apart, nor
survive a damaged column. A value is a plain one, a ``Struct`` or a ``List``; what is written of one
that was read are the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_INTEGERS = (4, 5, 6)


@dataclass
class Struct:
    """Fields by their numbers, each with its type."""

    fields: dict[int, tuple[int, Any]] = field(default_factory=dict)

    def __getitem__(self, number: int) -> Any:
        """Return the value of a field."""
        return self.fields[number][1]

    def __setitem__(self, number: int, value: Any) -> None:
        """Exchange the value of a field that is there."""
        self.fields[number] = self.fields[number][0], value

    def get(self, number: int) -> Any:
        """Return the value of a field, None if it is not there."""
        return self.fields.get(number, (0, None))[1]


@dataclass
class List:
    """Values of one type."""

    of: int
    values: list[Any] = field(default_factory=list)


def read_struct(data: bytes) -> Struct:
    """Read a struct; raises LookupError, ValueError or RecursionError where there is none."""
    return _Reader(data).struct()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def struct(self) -> Struct:
        found, number = Struct(), 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else self._integer()
            found.fields[number] = head & 15, self._value(head & 15)
        return found

    def _value(self, kind: int) -> Any:
        if kind in (_TRUE, _FALSE):
            return kind == _TRUE
        if kind == _BYTE:
            return self._byte()
        if kind in _INTEGERS:
            return self._integer()
        if kind == _DOUBLE:
            return self._bytes(8)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind in (_LIST, _SET):
            head = self._byte()
            count = head >> 4 if head >> 4 < 15 else self._varint()
            of = head & 15
            # Each takes a byte at least, so that a wrong count ends with the data.
            is_flag = of in (_TRUE, _FALSE)
            return List(of, [self._byte() if is_flag else self._value(of) for _ in range(count)])
        if kind == _STRUCT:
            return self.struct()
        raise ValueError(kind)

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _bytes(self, size: int) -> bytes:
        self._at += size
        if self._at > len(self._data):
            raise IndexError(self._at)
        return self._data[self._at - size : self._at]

    def _varint(self) -> int:
        value = shift = 0
        while (byte := self._byte()) & 128:
            value |= (byte & 127) << shift
            shift += 7
        return value | byte << shift

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)


def write_struct(struct: Struct) -> bytes:
    """Write a struct."""
    data = bytearray()
    _put_struct(data, struct)
    return bytes(data)


def _put_struct(data: bytearray, struct: Struct) -> None:
    before = 0
    for number, (kind, value) in struct.fields.items():
        held = (_TRUE if value else _FALSE) if kind in (_TRUE, _FALSE) else kind
        if 0 < number - before < 16:
            data.append((number - before) << 4 | held)
        else:
            data.append(held)
            _put_integer(data, number)
        before = number
        if kind not in (_TRUE, _FALSE):
            _put(data, kind, value)
    data.append(0)


def _put(data: bytearray, kind: int, value: Any) -> None:
    if kind in (_TRUE, _FALSE, _BYTE):
        data.append(value)
    elif kind in _INTEGERS:
        _put_integer(data, value)
    elif kind == _DOUBLE:
        data += value
    elif kind == _BINARY:
        _put_varint(data, len(value))
        data += value
    elif kind == _STRUCT:
        _put_struct(data, value)
    else:
        count = len(value.values)
        data.append(min(count, 15) << 4 | value.of)
        if count >= 15:
            _put_varint(data, count)
        for each in value.values:
            _put(data, value.of, each)


def _put_integer(data: bytearray, value: int) -> None:
    _put_varint(data, (value << 1 ^ value >> 63) & (1 << 64) - 1)


def _put_varint(data: bytearray, value: int) -> None:
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    data.append(value)
