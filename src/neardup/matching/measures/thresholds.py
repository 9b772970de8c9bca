"""Thresholds: those that are counts, the lowest ones, and those tried one after another."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from neardup.errors import InvalidParameterError
from neardup.options.kinds import as_fraction

# A number as users give it.
Number = str | float | Decimal | Fraction

# Stands for no threshold: with 63 bits of sizes any two sets that share something reach it.
LEAST_SHARE = Fraction(1, 10**9)


def exact_count(what: str, value: Number) -> Fraction:
    """Read a whole number from 1 to 2^31 - 1.

    Raises
    ------
    InvalidParameterError
        For anything else; it names ``what`` was to be read.
    """
    count = as_fraction(what, value)
    if count is None or count.denominator != 1 or not 1 <= count < 2**31:
        message = f"{what} must be a whole number, 1 or more, got {value}"
        raise InvalidParameterError(message)
    return count


def rising_distances(most: int) -> Iterator[int]:
    """Yield distances to try one after another where the nearest are wanted, then ``most``.

    Powers of two that are below it.
    """
    for power in range(most.bit_length()):
        if 1 << power < most:
            yield 1 << power
    yield most


def falling_shares(floor: Fraction) -> Iterator[Fraction]:
    """Yield thresholds to try one after another where the most similar are wanted, then ``floor``.

    Those of 19/20, 18/20 and so on that are above it.
    """
    for twentieths in range(19, 0, -1):
        if Fraction(twentieths, 20) > floor:
            yield Fraction(twentieths, 20)
    yield floor
