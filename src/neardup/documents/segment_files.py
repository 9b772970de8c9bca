"""Files of a segment of documents: blocks, what went for others, and checksums of pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np

from neardup.documents import blocks
from neardup.documents.blocks import Block
from neardup.errors import IndexFormatError
from neardup.storage.arrays import AnyArray
from neardup.storage.pages import CheckedPages, count_pages
from neardup.storage.segments import Segment
from neardup.tables import Int64s, Uint32s

# What is too large to be read when an index is opened: what is touched of it is checked.
UNREAD = frozenset({"entries", "filters", "filter-starts", "digests", "blocks", "gone-blocks"})

# Blocks that stay decompressed, of some 16 kB each.
_BLOCKS_KEPT = 64

GONE_IDS, GONE_KEPT, GONE_DIGESTS, GONE_SIMILARITIES = range(4)


class StoredBlocks:
    """Blocks in a file; one is read when a row of it is asked for.

    ``index`` has for each block where it starts, its first row and its size before compression,
    and one row for the end.
    """

    def __init__(self, stored: Segment, name: str, index: str, sums: Uint32s) -> None:
        self._index: Int64s = stored.array(index, np.int64, ndim=2)
        path = stored.path / f"{name}.npy"
        data = stored.array(name, np.uint8)
        if len(self._index) != len(sums) + 1 or self._index[-1, 0] != len(data):
            raise misfit(stored, index)
        self.pages = CheckedPages(path, data, sums, np.ascontiguousarray(self._index[:, 0]))
        self.first_rows: Int64s = np.ascontiguousarray(self._index[:, 1])
        # A look-up reads texts, and then ids of the same documents.
        self.read = lru_cache(_BLOCKS_KEPT)(self._read)

    def __len__(self) -> int:
        return int(self.first_rows[-1])

    @property
    def n_blocks(self) -> int:
        """Count the blocks."""
        return len(self.first_rows) - 1

    def _read(self, number: int) -> Block:
        """Read a block, if it is not one of the last ones.

        Raises
        ------
        IndexFormatError
            If it is damaged.
        """
        return blocks.unpack(*self.packed(number))

    def packed(self, number: int) -> tuple[AnyArray, int]:
        """Return a block as it is stored, with its size before compression."""
        self.pages.check([number])
        start, stop = int(self._index[number, 0]), int(self._index[number + 1, 0])
        return self.pages.array[start:stop], int(self._index[number, 2])

    def blocks_of(self, rows: Int64s) -> Iterator[tuple[Block, Int64s]]:
        """Yield the blocks of some rows, which ascend, each with its own rows' places in it."""
        numbers = np.searchsorted(self.first_rows, rows, side="right") - 1
        bounds = [0, *(np.flatnonzero(np.diff(numbers)) + 1).tolist(), len(rows)]
        for start, stop in pairwise(bounds):
            if stop > start:
                number = int(numbers[start])
                yield self.read(number), rows[start:stop] - self.first_rows[number]


@dataclass(frozen=True)
class Gone:
    """A document that went for another one: a row of a block of those."""

    block: Block
    row: int

    @property
    def id(self) -> str:
        """Its id, as text."""
        return self.block.cell(GONE_IDS, self.row).tobytes().decode()

    @property
    def kept_id(self) -> str:
        """The id of the document that stayed for it."""
        return self.block.cell(GONE_KEPT, self.row).tobytes().decode()

    @property
    def digest(self) -> bytes:
        """The digest of its tokens."""
        return self.block.cell(GONE_DIGESTS, self.row).tobytes()

    @property
    def similarity(self) -> float:
        """How similar the two are."""
        return float(self.block.cell(GONE_SIMILARITIES, self.row).view(np.float64)[0])


class SegmentSums:
    """The checksums of pages of a segment's arrays, one array after the other."""

    def __init__(self, stored: Segment) -> None:
        self._stored = stored
        self._sums: Uint32s = stored.array("sums", np.uint32)
        self._used = 0

    def take(self, n_pages: int) -> Uint32s:
        """Return those of the next array."""
        own = self._sums[self._used : self._used + n_pages]
        self._used += n_pages
        if len(own) != n_pages:
            raise misfit(self._stored, "sums")
        return own

    def pages(self, path: Path, array: AnyArray) -> CheckedPages:
        """Return the pages of the next array, which all have one width."""
        return CheckedPages(path, array, self.take(count_pages(array.nbytes)))

    @property
    def are_used(self) -> bool:
        """Whether no more are left."""
        return self._used == len(self._sums)


def misfit(stored: Segment, name: str) -> IndexFormatError:
    """Return the error for a file that does not fit to the others."""
    message = "the file does not fit to the others of its segment; build the index again"
    return IndexFormatError(message, path=str(stored.path / f"{name}.npy"))
