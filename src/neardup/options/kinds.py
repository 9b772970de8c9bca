"""Kinds of option values, each checking type and range."""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import MappingView, Sequence, Set
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from numbers import Rational
from operator import index
from pathlib import Path
from typing import Any, get_args

from neardup.errors import InvalidInputError, InvalidParameterError

# Keeps every product in the kernels within 64 bits.
_MAX_DENOMINATOR = 10**9
_MOST_DIGITS = 30
# A text that is a number, or the digits of one; exact arithmetic with millions takes minutes.
_MOST_CHARACTERS = 40
_DAY = 86_400
# Compiled when they are needed, as few commands do.
_SIZE = r"([0-9]{1,30}(?:\.[0-9]{1,30})?)\s*(?:([kmgtp])(i)?)?b?"
_PERCENT = r"[0-9]{1,30}(?:\.[0-9]{1,30})?%"
_TOO_FINE = Fraction(1, 10**_MOST_DIGITS)
_TOO_LARGE = Fraction(10**_MOST_DIGITS)
_ASCII = bytes(range(128))


def _unlike(name: str, expected: str, value: Any) -> InvalidParameterError:
    return InvalidParameterError(f"{name} must be {expected}, got {value!r}")


class Kind:
    """The type and range of values."""

    def checked(self, name: str, value: Any) -> Any:
        """Return the value, a whole number as a plain ``int``."""
        return self._read(name, value)

    def _read(self, name: str, value: Any) -> Any:
        return value


class Number(Kind):
    """A number in any form, refused if too long."""

    def checked(self, name: str, value: Any) -> Any:
        """Return the number as ``Kind.checked`` does."""
        check_length(name, value)
        return super().checked(name, value)


class Whole(Number):
    """A whole number from ``least`` to ``most``, and 0 with ``or_none``."""

    def __init__(self, least: int, most: int | None = None, *, or_none: bool = False) -> None:
        self.least, self.most, self.or_none = least, most, or_none

    def _read(self, name: str, value: Any) -> Any:
        number = _as_int(value)
        if number is None:
            raise _unlike(name, "a whole number", value)
        if self.or_none and number == 0:
            return number
        if number < self.least or (self.most is not None and number > self.most):
            expected = f"be at least {self.least}"
            if self.most is not None:
                expected = f"lie between {self.least} and {self.most:,}"
            message = f"{name} must {expected}, got {number}"
            raise InvalidParameterError(message)
        return number


class CountOrPercent(Number):
    """A positive whole number or a percentage such as 10%."""

    def _read(self, name: str, value: Any) -> Any:
        is_percent = isinstance(value, str) and re.fullmatch(_PERCENT, value) is not None
        if is_percent and 0 < percent_of(value) <= 1:
            return value
        number = int(value) if isinstance(value, str) and value.isdecimal() else _as_int(value)
        if number is None:
            expected = "between 0% and 100%" if is_percent else "a whole number or a percentage"
            raise _unlike(name, f"{expected}, such as 10%", value)
        return Whole(1).checked(name, number)


class ByteSize(Number):
    """A number of bytes, optionally with a unit.

    It is ``least`` or more. Units as in 4GB or 1.5 GiB ignore case, and the B is optional.
    """

    def __init__(self, least: int) -> None:
        self.least = least

    def _read(self, name: str, value: Any) -> Any:
        number = _bytes_in(value) if isinstance(value, str) else _as_int(value)
        if number is None:
            raise _unlike(name, "a size such as 4GB", value)
        if number < self.least:
            hint = f"; write {number}GB for gigabytes" if 0 < number < 1000 else ""
            message = f"{name} must be at least {self.least // 10**6} MB, got {value}{hint}"
            raise InvalidParameterError(message)
        return number


class Seconds(Number):
    """Seconds from ``least`` to a day, with fractions."""

    def __init__(self, least: float) -> None:
        self.least = least

    def _read(self, name: str, value: Any) -> Any:
        number = _as_float(value)
        if number is None:
            raise _unlike(name, "a number of seconds", value)
        if not self.least <= number <= _DAY:
            message = f"{name} must lie between {self.least:g} and {_DAY:,} seconds, got {value}"
            raise InvalidParameterError(message)
        return number


class Share(Number):
    """A share in (0, 1], kept as the typed decimal."""

    def _read(self, name: str, value: Any) -> Any:
        exact_fraction(name, value)
        return value


class ShareOrCount(Kind):
    """A share or a count, checked by the job."""


class Choice(Kind):
    """A value of a ``Literal``."""

    def __init__(self, literal: Any) -> None:
        self.values = _values_of(literal)

    def _read(self, name: str, value: Any) -> Any:
        if not isinstance(value, str) or value not in self.values:
            listed = " or ".join(self.values)
            if len(self.values) != 2:
                listed = f"one of {', '.join(self.values)}"
            raise _unlike(name, listed, value)
        return value


class Flag(Kind):
    """Yes or no, with no as the default."""

    def _read(self, name: str, value: Any) -> Any:
        if not isinstance(value, bool):
            raise _unlike(name, "True or False", value)
        return value


class Switch(Flag):
    """Yes or no, without a fixed default."""


class Text(Kind):
    """A string of any content."""

    def _read(self, name: str, value: Any) -> Any:
        if not isinstance(value, str):
            raise _unlike(name, "a string", value)
        return value


class Address(Text):
    """The path or URL of a file, kept as written."""


class BandShape(Kind):
    """Bands and rows per band: 20x5 or a pair."""

    def _read(self, name: str, value: Any) -> Any:
        numbers = value
        if isinstance(value, str):
            shape = re.fullmatch(r"(\d{1,6})x(\d{1,6})", value)
            numbers = [int(each) for each in shape.groups()] if shape else None
        elif hasattr(value, "bands"):
            numbers = (value.bands, value.rows)
        pair = [_as_int(each) for each in numbers] if isinstance(numbers, Sequence) else []
        if len(pair) != 2 or None in pair:
            raise _unlike(name, "two numbers, such as 20x5", value)
        return tuple(Whole(1).checked(name, each) for each in pair)


class Columns(Kind):
    """One column name, or several as a sequence."""

    def _read(self, name: str, value: Any) -> Any:
        if isinstance(value, str):
            return value
        is_names = isinstance(value, Sequence) and all(isinstance(each, str) for each in value)
        if not is_names or not value:
            raise _unlike(name, "the name of a column or a list of names", value)
        for each in value:
            if value.count(each) > 1:
                message = f"{name} names {each!r} twice; name each column once"
                raise InvalidParameterError(message)
        return value[0] if len(value) == 1 else tuple(value)


class ListedColumns(Columns):
    """Column names, separated by commas on the command line."""


def cuts_programs(tokenizer: object) -> bool:
    """Return whether a tokenizer cuts programs: code, or code:LANGUAGE."""
    return isinstance(tokenizer, str) and tokenizer.partition(":")[0] == "code"


class TokenizerName(Kind):
    """A tokenizer's name, a ``tokenizer.json`` path, or a function."""

    names = ("words", "whitespace", "characters", "bytes", "code")

    def _read(self, name: str, value: Any) -> Any:
        is_named = isinstance(value, str | os.PathLike) and (
            value in self.names or str(value).endswith(".json") or cuts_programs(value)
        )
        if not is_named and not callable(value):
            function = "" if isinstance(value, str) else " or a function"
            message = (
                f"{name} must be one of {', '.join(self.names)}, code:LANGUAGE or a tokenizer.json "
                f"file{function}, got {str(value)!r}"
            )
            raise InvalidParameterError(message)
        return value


class FunctionOrFlag(Kind):
    """Yes, no, or (in Python only) a function."""

    def _read(self, name: str, value: Any) -> Any:
        if not isinstance(value, bool) and not callable(value):
            raise _unlike(name, "True, False or a function", value)
        return value


class Location(Kind):
    """A path, of a folder too unless ``is_file``."""

    def __init__(self, is_file: bool = False) -> None:
        self.is_file = is_file

    def _read(self, name: str, value: Any) -> Any:
        if not isinstance(value, str | os.PathLike) or "\0" in os.fsdecode(value):
            raise _unlike(name, "a path", value)
        return value


def as_folder(value: Any) -> Path:
    """Return the path of a folder, or raise for another value."""
    return Path(Location().checked("folder", value))


class PathOrUrl(Location):
    """A path, or a URL that fsspec opens."""


class Documents(Kind):
    """Documents in any form or files, mostly checked by readers."""

    def _read(self, name: str, value: Any) -> Any:
        if isinstance(value, Set) and not isinstance(value, MappingView):
            message = (
                f"a {type(value).__name__} has no order, so results would differ from run to run; "
                "pass a list, such as sorted(...)"
            )
            raise InvalidInputError(message)
        return value


class Encoding(Kind):
    """The name of an encoding that allows cutting rows."""

    def _read(self, name: str, value: Any) -> Any:
        if not isinstance(value, str) or not _cuts_rows(value):
            message = (
                f"{name} must be utf-16, utf-32, or a codec that Python knows and that keeps ASCII "
                f"as single bytes, such as latin-1 or cp1252, got {value!r}"
            )
            raise InvalidParameterError(message)
        return value


class Delimiter(Kind):
    r"""A CSV separator: one ASCII character, ``\t`` or ``tab``."""

    def _read(self, name: str, value: Any) -> Any:
        found = "\t" if value in ("\\t", "tab") else value
        is_one = isinstance(found, str) and len(found) == 1 and found.isascii()
        if not is_one or found in '"\r\n\0':
            message = (
                f"{name} must be one ASCII character, such as ';' or '|', or tab; no quote and no "
                f"line end; got {value!r}"
            )
            raise InvalidParameterError(message)
        return found


def _cuts_rows(encoding: str) -> bool:
    """Return whether rows can be cut at ASCII characters in an encoding."""
    try:
        codec = codecs.lookup(encoding).name
        # Some codecs that lookup finds decode bytes to bytes.
        "".encode(codec)
        if codec.startswith(("utf-16", "utf-32")):
            return True
        # After an escape other characters of these are ASCII bytes.
        return not codec.startswith("iso2022") and _ASCII.decode(codec) == _ASCII.decode("ascii")
    except (LookupError, ValueError):
        return False


def percent_of(value: str) -> Fraction:
    """Return the fraction of a percentage such as 10%."""
    return Fraction(value.removesuffix("%")) / 100


def exact_fraction(name: str, value: str | float | Decimal | Fraction) -> Fraction:
    """Read a number in (0, 1] as its exact decimal.

    InvalidParameterError for other values, or a denominator above 10^9 in lowest terms.
    """
    fraction = as_fraction(name, value)
    if fraction is None:
        raise _unlike(name, "a number in (0, 1]", value)
    if not 0 < fraction <= 1:
        hint = f"; write {float(fraction) / 100:g} for {value} %" if 2 <= fraction <= 100 else ""
        message = f"{name} must lie in (0, 1], got {value}{hint}"
        raise InvalidParameterError(message)
    if fraction.denominator > _MAX_DENOMINATOR:
        message = f"{name} may have a denominator of 10^9 at most (nine decimals), got {value}"
        raise InvalidParameterError(message)
    return fraction


def as_fraction(name: str, value: str | float | Decimal | Fraction) -> Fraction | None:
    """Read a number exactly, or return None for other values.

    A number with more than 30 places before or behind the point is replaced by one with 30.
    InvalidParameterError if it has more than 40 characters or digits.
    """
    check_length(name, value)
    if isinstance(value, Fraction):
        return value
    try:
        # str() returns the shortest decimal of this float: the digits that were typed.
        number = Decimal(str(value))
        if number.is_finite() and abs(number.adjusted()) > _MOST_DIGITS:
            large = -_TOO_LARGE if number < 0 else _TOO_LARGE
            return large if number.adjusted() > 0 else _TOO_FINE
        return Fraction(number)
    except (InvalidOperation, ValueError, OverflowError):
        return None


def check_length(name: str, value: Any) -> None:
    """Raise InvalidParameterError for more than 40 characters or digits."""
    if isinstance(value, str | bytes):
        length = len(value)
    elif isinstance(value, Decimal):
        length = len(value.as_tuple().digits)
    elif isinstance(value, Rational):
        parts = (int(value.numerator), int(value.denominator))
        # Three bits and a third are a digit.
        length = sum(part.bit_length() for part in parts) * 3 // 10
    else:
        return
    if length > _MOST_CHARACTERS:
        message = f"{name} may have {_MOST_CHARACTERS} characters at most, got {length:,}"
        raise InvalidParameterError(message)


def _bytes_in(text: str) -> int | None:
    size = re.fullmatch(_SIZE, text.strip(), re.ASCII | re.IGNORECASE)
    if size is None:
        return None
    number, prefix, is_binary = size.groups()
    power = " kmgtp".index(prefix.lower()) if prefix else 0
    return int(Decimal(number) * (1024 if is_binary else 1000) ** power)


def _as_int(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    try:
        return index(value)
    except TypeError:
        return None


def _as_float(value: Any) -> float | None:
    try:
        return None if isinstance(value, bool | bytes) else float(value)
    except (TypeError, ValueError):
        return None


def _values_of(literal: Any) -> tuple[str, ...]:
    """Collect the values of a ``Literal`` or of a union."""
    values: list[str] = []
    for part in get_args(literal):
        values += [part] if isinstance(part, str) else _values_of(part)
    return tuple(values)
