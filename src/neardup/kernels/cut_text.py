"""Texts from which tokens are removed: walked as the joined texts that they have become.

Bit ``p & 63`` of word ``p >> 6`` is set where token p is removed.
"""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, leading_zeros, trailing_zeros
from neardup.kernels.types import ConstUint64s, Int, Uint64s

_0, _1, _63 = np.uint64(0), np.uint64(1), np.uint64(63)


@inlined
def is_removed(removed: ConstUint64s, place: Int) -> bool:
    """Whether a token is removed."""
    return bool((removed[np.uint64(place >> 6)] >> np.uint64(place & 63)) & _1)


@inlined
def is_whole(removed: ConstUint64s, start: Int, stop: Int) -> bool:
    """Whether no token from start to stop, exclusive, is removed."""
    if start == stop:
        return True
    first, last = start >> 6, (stop - 1) >> 6
    for word in range(first, last + 1):
        rest = removed[np.uint64(word)]
        if word == first:
            rest = (rest >> np.uint64(start & 63)) << np.uint64(start & 63)
        if word == last:
            unused = _63 - np.uint64((stop - 1) & 63)
            rest = (rest << unused) >> unused
        if rest != _0:
            return False
    return True


@inlined
def at_or_after(removed: ConstUint64s, place: Int, stop: Int) -> Int:
    """First token from a place on that stays; ``stop`` if all before it are removed."""
    while place < stop:
        rest = ~removed[np.uint64(place >> 6)] >> np.uint64(place & 63)
        if rest != _0:
            return min(np.int64(stop), np.int64(place) + np.int64(trailing_zeros(rest)))
        place = ((place >> 6) + 1) << 6
    return stop


@inlined
def at_or_before(removed: ConstUint64s, place: Int, start: Int) -> Int:
    """Last token up to a place that stays; ``start - 1`` if all down to it are removed."""
    while place >= start:
        rest = ~removed[np.uint64(place >> 6)] << (_63 - np.uint64(place & 63))
        if rest != _0:
            return max(np.int64(start) - 1, np.int64(place) - np.int64(leading_zeros(rest)))
        place = ((place >> 6) << 6) - 1
    return start - 1


@helper
def set_removed(removed: Uint64s, start: Int, stop: Int, value: Int) -> None:
    """Remove the tokens from start to stop, exclusive, or with value 0 take them back."""
    for place in range(start, stop):
        word, bit = np.uint64(place >> 6), _1 << np.uint64(place & 63)
        if value:
            removed[word] |= bit
        else:
            removed[word] &= ~bit
