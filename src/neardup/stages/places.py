"""Compact positions of all input documents, and which of them were removed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from neardup.reading.catalogue import RowNumbers
from neardup.tables import Bools, Int64s, Uint64s, offsets_of

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = ("file", "row", "is_duplicate")
"""Columns of ``clusters.parquet`` with this information."""

_WORD = 64
# Documents whose bits are unpacked at the same time.
_AT_ONCE = 1 << 16


class DocumentPlaces:
    """File and row of each input document, and whether it was removed.

    Documents are numbered in input order. ``files`` are the names of the files with documents, in
    that order.

    Parameters
    ----------
    batches
        All documents with the ``COLUMNS``: documents of a file are consecutive, and their rows
        ascend.

    Notes
    -----
    Memory: a quarter of a byte per document, and 16 bytes per run of rows without a gap.
    """

    def __init__(self, batches: Iterable[pa.Table]) -> None:
        numbers: dict[str, int] = {}
        starts: list[int] = []
        numbered, words = RowNumbers(), _Words()
        n = 0
        last = -1
        for batch in batches:
            encoded = batch["file"].combine_chunks().dictionary_encode()
            names = encoded.dictionary.to_pylist()
            files = np.array([numbers.get(name, -1) for name in names], np.int64)
            codes = encoded.indices.to_numpy()
            begins = np.flatnonzero(np.diff(codes, prepend=-1))
            for begin in begins.tolist():
                code = codes[begin]
                if names[code] not in numbers:
                    files[code] = numbers[names[code]] = len(starts)
                    starts.append(n + begin)
            here = files[codes]
            rows = batch["row"].to_numpy()
            is_same = np.concatenate([[last], here])[: len(rows)] == here
            numbered.add(rows, ~is_same)
            words.add(batch["is_duplicate"].to_numpy())
            if len(rows):
                last = int(here[-1])
            n += len(rows)
        self.files, self._numbers = list(numbers), numbers
        self._n = n
        self._starts: Int64s = np.array([*starts, n], np.int64)
        self._numbered = numbered
        self._words = words.join()
        n_gone: Int64s = np.bitwise_count(self._words).astype(np.int64)
        self._before = offsets_of(n_gone)

    def __len__(self) -> int:
        return self._n

    def files_of(self, numbers: Int64s) -> Int64s:
        """Return the indexes of documents' files in ``files``."""
        found: Int64s = np.searchsorted(self._starts, numbers, side="right") - 1
        return found

    def find(self, file: str, rows: Int64s) -> Int64s:
        """Return the documents in rows of a file; -1 if there is none."""
        number = self._numbers.get(file)
        if number is None:
            return np.full(len(rows), -1, np.int64)
        firsts, first_rows = self._numbered.firsts, self._numbered.rows
        low, high = np.searchsorted(firsts, self._starts[number : number + 2])
        runs = low + np.searchsorted(first_rows[low:high], rows, side="right") - 1
        is_before = runs < low
        runs = np.maximum(runs, low)
        found = firsts[runs] + rows - first_rows[runs]
        is_there = ~is_before & (found < firsts[runs + 1])
        return np.where(is_there, found, -1)

    def went(self, numbers: Int64s) -> Bools:
        """Return a mask of the removed documents."""
        bits = self._words[numbers // _WORD] >> (numbers % _WORD).astype(np.uint64)
        is_set: Bools = (bits & np.uint64(1)).astype(np.bool_)
        return is_set

    def n_gone_before(self, numbers: Int64s) -> Int64s:
        """Return the number of removed documents before each document."""
        in_word = numbers // _WORD
        below = (np.uint64(1) << (numbers % _WORD).astype(np.uint64)) - np.uint64(1)
        words = np.append(self._words, np.uint64(0))[in_word]
        found: Int64s = self._before[in_word] + np.bitwise_count(words & below)
        return found

    def n_same_before(self, numbers: Int64s) -> Int64s:
        """Return the number of earlier documents of the same file and side."""
        starts = self._starts[self.files_of(numbers)]
        n_gone = self.n_gone_before(numbers) - self.n_gone_before(starts)
        return np.where(self.went(numbers), n_gone, numbers - starts - n_gone)

    def of_side(self, *, went: bool, file: int | None = None) -> Iterator[Int64s]:
        """Yield all removed or kept documents, some at a time; optionally of one file."""
        start, stop = (0, self._n) if file is None else self._starts[file : file + 2].tolist()
        for low in range(start, stop, _AT_ONCE):
            numbers = np.arange(low, min(low + _AT_ONCE, stop))
            chosen = numbers[self.went(numbers) == went]
            if len(chosen):
                yield chosen


class _Words:
    """Append bits in pieces of any length, as words."""

    def __init__(self) -> None:
        self._parts: list[npt.NDArray[np.uint8]] = []
        self._rest: Bools = np.empty(0, np.bool_)

    def add(self, bits: Bools) -> None:
        bits = np.concatenate([self._rest, bits])
        n_whole = len(bits) // 8 * 8
        self._parts.append(np.packbits(bits[:n_whole], bitorder="little"))
        self._rest = bits[n_whole:]

    def join(self) -> Uint64s:
        self._parts.append(np.packbits(self._rest, bitorder="little"))
        packed = np.concatenate(self._parts)
        padded = np.concatenate([packed, np.zeros(-len(packed) % 8, np.uint8)])
        words: Uint64s = padded.view("<u8").astype(np.uint64, copy=False)
        return words
