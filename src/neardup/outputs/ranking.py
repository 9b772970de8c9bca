"""Which rows of a table have which ranks by a value, whatever the number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from neardup.tables import Floats, Int64s, Uint64s

# Bits of a value that are told apart in one pass over all rows.
_BITS = 16
# Rows that are counted at a time, unless a batch has more: each time takes as long as 2^_BITS rows.
_AT_ONCE = 1 << 18
_SIGN = np.uint64(1 << 63)


class Ranking:
    """Rows by a value, the largest first; of equal ones that which comes first.

    Parameters
    ----------
    values
        Gives all rows that have a rank, some at a time: their places, ascending, and their values,
        none of which is NaN. The same each time that it is called.

    Notes
    -----
    Exact. Ranks are found by counting the bits of all values from the first ones on, in four passes
    for any number of ranks. Memory: 0.5 MB for each rank that is asked for, and the rows.
    """

    def __init__(self, values: Callable[[], Iterator[tuple[Int64s, Floats]]]) -> None:
        self._batches = values

    def values(self, ranks: Sequence[int]) -> list[float]:
        """Return the values of the rows of some ranks, from 0."""
        return [_value_of(key) for key, _ in self._find(ranks)]

    def median(self, n: int) -> float:
        """Return the median of the values, of which there are ``n``; NaN of none."""
        return float(np.mean(self.values([(n - 1) // 2, n // 2]))) if n else np.nan

    def rows(self, ranges: Sequence[range]) -> list[Int64s]:
        """Return the places of the rows of some ranges of ranks, in the order of these."""
        wanted = [each for each in ranges if len(each)]
        ends = self._find([rank for each in wanted for rank in (each[0], each[-1])])
        bounds = list(zip(wanted, ends[::2], ends[1::2], strict=True))
        found: list[list[tuple[Uint64s, Int64s]]] = [[] for _ in bounds]
        # Rows that were met of those that have the first value of a range, and the last.
        met = np.zeros((len(bounds), 2), np.int64)
        for places, keys in self._keys():
            for k, (ranks, (first, n_before), (last, n_before_last)) in enumerate(bounds):
                is_it = (keys > first) & (keys < last)
                for side, (key, before) in enumerate(((first, n_before), (last, n_before_last))):
                    equal = np.flatnonzero(keys == key)
                    numbers = before + met[k, side] + np.arange(len(equal))
                    is_it[equal[(numbers >= ranks[0]) & (numbers <= ranks[-1])]] = True
                    met[k, side] += len(equal)
                if is_it.any():
                    found[k].append((keys[is_it], places[is_it]))
        parts = iter(found)
        return [_in_order(next(parts)) if len(each) else np.empty(0, np.int64) for each in ranges]

    def _find(self, ranks: Sequence[int]) -> list[tuple[np.uint64, int]]:
        """Return the keys at some ranks, and how many rows come before the first of such a key."""
        prefixes, rests = [np.uint64(0)] * len(ranks), list(ranks)
        for shift in range(64 - _BITS, -1, -_BITS):
            counts = {prefix: np.zeros(1 << _BITS, np.int64) for prefix in prefixes}
            for _, keys in self._keys():
                tops = keys >> np.uint64(shift)
                above = tops >> np.uint64(_BITS)
                for prefix, count in counts.items():
                    here = tops if shift + _BITS == 64 else tops[above == prefix]
                    bits = (here & np.uint64((1 << _BITS) - 1)).astype(np.int64)
                    count += np.bincount(bits, minlength=1 << _BITS)
            for k, (prefix, rest) in enumerate(zip(prefixes, rests, strict=True)):
                ends = np.cumsum(counts[prefix])
                bits = int(np.searchsorted(ends, rest, side="right"))
                rests[k] = rest - (int(ends[bits - 1]) if bits else 0)
                prefixes[k] = (prefix << np.uint64(_BITS)) | np.uint64(bits)
        return [(key, rank - rest) for key, rank, rest in zip(prefixes, ranks, rests, strict=True)]

    def _keys(self) -> Iterator[tuple[Int64s, Uint64s]]:
        """Yield the places and the keys of all rows, many at a time."""
        waiting: list[tuple[Int64s, Floats]] = []
        n_waiting = 0
        for places, values in self._batches():
            waiting.append((places, values))
            n_waiting += len(places)
            if n_waiting >= _AT_ONCE:
                yield _joined(waiting)
                waiting, n_waiting = [], 0
        if waiting:
            yield _joined(waiting)


def _joined(batches: Sequence[tuple[Int64s, Floats]]) -> tuple[Int64s, Uint64s]:
    places, values = (np.concatenate(each) for each in zip(*batches, strict=True))
    return places, _keys_of(values)


def _keys_of(values: Floats) -> Uint64s:
    """Return whole numbers that ascend as values descend, and are equal where these are."""
    # Zero has two signs, and one value.
    bits = (np.asarray(values, np.float64) + 0.0).view(np.uint64)
    return np.where(bits >= _SIGN, bits, ~(bits | _SIGN))


def _value_of(key: np.uint64) -> float:
    bits = key if key >= _SIGN else ~key & ~_SIGN
    return float(np.array([bits], np.uint64).view(np.float64)[0])


def _in_order(parts: Sequence[tuple[Uint64s, Int64s]]) -> Int64s:
    keys, places = (np.concatenate(each) for each in zip(*parts, strict=True))
    return places[np.lexsort((places, keys))]
