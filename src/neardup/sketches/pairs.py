"""Pairs of rows of one or two collections, listed some at a time: all would fill the memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from neardup.tables import Int64s

# Rows of the lesser and of the greater number, one of each for every pair.
Pairs = tuple[Int64s, Int64s]

# Pairs handed on at a time.
_PIECE = 1 << 16


def count_pairs(n: int, n_left: int | None, *, is_directed: bool = False) -> int:
    """Count the pairs of n rows; of two collections, if the first ``n_left`` are one of them.

    Pairs of one collection come both ways round if they are directed.
    """
    if n_left is None:
        return n * (n - 1) // (1 if is_directed else 2)
    return n_left * (n - n_left)


def count_pairs_up_to(row: int, n: int, n_left: int | None, *, is_directed: bool = False) -> int:
    """Count the pairs of n rows whose first row is not behind ``row``."""
    n_before = row + 1
    if n_left is None and is_directed:
        return n_before * (n - 1)
    if n_left is None:
        return count_pairs(n, None) - count_pairs(n - n_before, None)
    return n_before * (n - n_left)


def list_pairs(
    n: int, n_left: int | None, choose: Callable[[int, Int64s], Int64s] | None = None
) -> Iterator[Pairs]:
    """Yield all pairs of n rows in ascending order, in pieces of about the same size.

    ``choose`` takes a row and its partners, and returns those that are wanted.
    """
    left: list[Int64s] = []
    right: list[Int64s] = []
    held = 0
    for row in range(n if n_left is None else n_left):
        partners: Int64s = np.arange(row + 1 if n_left is None else n_left, n, dtype=np.int64)
        if choose is not None:
            partners = choose(row, partners)
        left.append(np.full(len(partners), row, np.int64))
        right.append(partners)
        held += len(partners)
        if held >= _PIECE:
            yield np.concatenate(left), np.concatenate(right)
            left, right, held = [], [], 0
    if held:
        yield np.concatenate(left), np.concatenate(right)


def cut_pairs(left: Int64s, right: Int64s) -> Iterator[Pairs]:
    """Yield pairs that were found together in pieces."""
    for start in range(0, len(left), _PIECE):
        yield left[start : start + _PIECE], right[start : start + _PIECE]
