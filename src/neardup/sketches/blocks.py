"""Blocks of large texts: runs of characters that are sketched one by one.

A small part of a large text is lost in the sketch of the whole; in that of a block it is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.tables import Bytes, Int64s, Texts

# Bytes of a text in which characters are counted at a time.
_PIECE = 1 << 20


@dataclass(frozen=True)
class BlockPlaces:
    """Where blocks of about ``size`` characters lie in their texts: ``ends`` are exclusive.

    Of texts that are bytes they are bytes.
    """

    size: int
    starts: Int64s
    ends: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: Int64s) -> BlockPlaces:
        """Return the places of some blocks."""
        return BlockPlaces(self.size, self.starts[rows], self.ends[rows])


def cut_texts(texts: Texts, size: int, *, is_bytes: bool) -> tuple[Texts, Int64s, BlockPlaces]:
    """Cut each text into blocks of a size, the last one of half to one and a half of that.

    Parameters
    ----------
    texts
        n texts.
    size
        Characters of a block, 1 or more.
    is_bytes
        Whether texts are bytes, each of which counts as a character.

    Returns
    -------
    The blocks, sharing the memory of the texts; the text of each; and their places there. A text of
    less than one and a half blocks is one block, an empty one too.
    """
    offsets, owners, starts, ends = [], [], [], []
    for number in range(len(texts)):
        first, stop = int(texts.offsets[number]), int(texts.offsets[number + 1])
        data = texts.data[first:stop]
        is_wide = not is_bytes and bool((data >= 128).any())
        length = _count_characters(data) if is_wide else len(data)
        cuts = np.arange(max(1, (2 * length + size) // (2 * size)), dtype=np.int64) * size
        offsets.append(first + (_find_characters(data, cuts) if is_wide else cuts))
        owners.append(np.full(len(cuts), number, np.int64))
        starts.append(cuts)
        ends.append(np.append(cuts[1:], length))
    nothing: Int64s = np.empty(0, np.int64)
    bounds = np.concatenate([nothing, *offsets, texts.offsets[-1:]]).astype(np.int64)
    places = BlockPlaces(size, np.concatenate([nothing, *starts]), np.concatenate([nothing, *ends]))
    return Texts(texts.data, bounds), np.concatenate([nothing, *owners]), places


def join_places(size: int, parts: list[BlockPlaces]) -> BlockPlaces:
    """Put places one behind the other."""
    nothing: Int64s = np.empty(0, np.int64)
    return BlockPlaces(
        size,
        np.concatenate([nothing, *(part.starts for part in parts)]),
        np.concatenate([nothing, *(part.ends for part in parts)]),
    )


def _count_characters(data: Bytes) -> int:
    return sum(
        int(np.count_nonzero(_begins(data[start : start + _PIECE])))
        for start in range(0, len(data), _PIECE)
    )


def _find_characters(data: Bytes, numbers: Int64s) -> Int64s:
    """Return the bytes at which some characters begin, by their ascending numbers."""
    found: Int64s = np.empty(len(numbers), np.int64)
    n_before = 0
    for start in range(0, len(data), _PIECE):
        begins = np.flatnonzero(_begins(data[start : start + _PIECE]))
        here = slice(*np.searchsorted(numbers, [n_before, n_before + len(begins)]))
        found[here] = start + begins[numbers[here] - n_before]
        n_before += len(begins)
    return found


def _begins(data: Bytes) -> Bytes:
    """Mark the bytes of UTF-8 that begin a character."""
    marked: Bytes = (data & np.uint8(0xC0)) != 0x80
    return marked
