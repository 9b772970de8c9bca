"""Kinds of values: what each takes, and the words in which it refuses the rest."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from neardup.errors import InvalidParameterError
from neardup.matching.measures import exact_count
from neardup.options.kinds import (
    ByteSize,
    Choice,
    Columns,
    CountOrPercent,
    Flag,
    FunctionOrFlag,
    Location,
    Seconds,
    Share,
    Text,
    TokenizerName,
    Whole,
    exact_fraction,
)
from tests.each import each_of

THREE = Literal["one", "two"] | Literal["three"]


@each_of(
    ("kind", "values"),
    [
        (Whole(1), (1, 2**70)),
        (Whole(1, 3), (1, 3)),
        (ByteSize(10**6), (10**6, 2**70)),
        (CountOrPercent(), (1, 2**70, "10%", "0.5%", "100%")),
        (Share(), ("0.8", 0.8, 1, Decimal("0.5"), Fraction(1, 3), np.float64(0.25))),
        (Choice(THREE), ("one", "two", "three")),
        (Flag(), (True, False)),
        (Text(), ("", "text")),
        (TokenizerName(), ("words", "bytes", "a.json", Path("a.json"), str.split)),
        (FunctionOrFlag(), (print, True, False)),
        (Location(), ("a", Path("a"))),
        (Columns(), ("text", ("a", "b"))),
    ],
)
def test_checked__accepts(kind, values):
    for value in values:
        assert kind.checked("x", value) is value


MILLION = 10**6
LONG = (
    *("0." + "9" * MILLION, "9" * MILLION, "1e" + "9" * MILLION, " " * MILLION + "1", "9" * 41),
    *(b"1" * MILLION, 10**20_000, -(10**20_000), Decimal("0." + "9" * MILLION)),
    *(Fraction(1, 10**20_000), Fraction(10**20_000), "10" * MILLION + "%", "1" * 41 + "GB"),
)
NUMBERS = [Whole(1), CountOrPercent(), ByteSize(1), Seconds(0)]


@each_of("kind", [*NUMBERS, Share()], ids=lambda kind: type(kind).__name__)
def test_numbers__of_many_characters(kind):
    """They are refused by their length, before any arithmetic, and not repeated."""
    for value in LONG:
        with pytest.raises(InvalidParameterError) as caught:
            kind.checked("x", value)
        assert re.fullmatch(r"x [a-z ]*40 characters[a-z, ]* [\d,]+", str(caught.value))


def test_numbers__of_many_places():
    """A short one that stands for a long one is not written out either."""
    for text in ("1e-999999999", "1e999999999", "-1e999999999", "0e999999999", "1e31", "nan"):
        for value in (text, Decimal(text)):
            with pytest.raises(InvalidParameterError, match=r"\(0, 1\]|denominator"):
                exact_fraction("x", value)
            with pytest.raises(InvalidParameterError):
                exact_count("x", value)
    for value in LONG:
        with pytest.raises(InvalidParameterError, match=r"x\b.* 40 characters"):
            exact_count("x", value)
    assert exact_count("x", "2147483647") == 2**31 - 1
    assert exact_fraction("x", "0." + "8" + "0" * 37) == Fraction(4, 5)


def test_columns__plain_values():
    """One of a list is a name like any other; several are a tuple."""
    assert Columns().checked("x", ["text"]) == "text"
    assert Columns().checked("x", ["a", "b"]) == ("a", "b")


@each_of(
    ("text", "n_bytes"),
    [
        ("4GB", 4 * 10**9),
        ("512 MB", 512 * 10**6),
        ("1.5GiB", 3 * 2**29),
        (" 2gb ", 2 * 10**9),
        ("2g", 2 * 10**9),
        ("2Gi", 2**31),
        ("20000kB", 2 * 10**7),
        ("0.5T", 5 * 10**11),
        ("1PiB", 2**50),
        ("16000000", 16 * 10**6),
        ("16000000.9 B", 16 * 10**6),
        (np.int64(10**9), 10**9),
    ],
)
def test_byte_size__units(text, n_bytes):
    found = ByteSize(16 * 10**6).checked("x", text)
    assert (found, type(found)) == (n_bytes, int)
