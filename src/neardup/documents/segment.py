"""A segment of an index of documents, which never changes."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from neardup.documents import blocks
from neardup.documents.blocks import Block
from neardup.documents.entries import EntryLists, bounds_of_pages
from neardup.documents.queries import sets_of_texts
from neardup.documents.scheme import DocumentScheme
from neardup.documents.searchable import Searchable, interleave
from neardup.documents.segment_files import Gone, SegmentSums, StoredBlocks, misfit
from neardup.errors import IndexFormatError
from neardup.storage.pages import CheckedPages
from neardup.storage.segments import Segment
from neardup.tables import (
    Bools,
    Filters,
    Int64s,
    ShingleSets,
    Texts,
    Uint32s,
    Uint64s,
    WeightedSets,
)

# Types that ids may have, by their codes in files.
ID_TYPES = (
    pa.large_string(),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
)

# Segments of at most so many documents have their ids' keys in memory once one was asked for: a
# look into a set takes a hundredth of a search on the disk, and insertions look into each segment.
_MOST_KEYS_KEPT = 8192

# Numbers of the layout before those of where lists start.
HEAD_OF_LAYOUT = 1

# Lists behind those of the bands: of the digests and ids of documents, and of the digests of gone.
N_OTHER_LISTS = 3


class DocumentSegment(Searchable):
    """An open segment; rows are numbered from 0.

    Raises
    ------
    IndexFormatError
        If its files do not fit together; methods raise it for what is damaged.
    """

    def __init__(self, stored: Segment, scheme: DocumentScheme) -> None:
        self.scheme, self.name = scheme, stored.record.name
        self.n_documents = n = stored.record.n_documents
        self.n_tokens = stored.record.n_tokens
        layout = stored.array("layout", np.int64)
        n_lists = scheme.banding.bands + N_OTHER_LISTS
        is_whole = len(layout) == HEAD_OF_LAYOUT + n_lists + 1 and 0 <= layout[0] < len(ID_TYPES)
        starts = layout[HEAD_OF_LAYOUT:]
        entries = stored.array("entries", np.uint64)
        if (
            not is_whole
            or starts[0] != 0
            or starts[-1] != len(entries)
            or (np.diff(starts) < 0).any()
        ):
            raise misfit(stored, "layout")
        self.id_type: pa.DataType = ID_TYPES[int(layout[0])]
        fences = stored.array("fences", np.uint64)
        digests = stored.array("digests", np.uint64, length=2 * n)
        sums = SegmentSums(stored)
        n_pages = int(bounds_of_pages(starts)[0][-1])
        if len(fences) != n_pages:
            raise misfit(stored, "fences")
        path = stored.path
        self.lists = EntryLists(path / "entries.npy", entries, starts, fences, sums.take(n_pages))
        self._filters, self._filter_starts = None, None
        if scheme.has_filters:
            words = stored.array("filters", np.uint64)
            of_filters = stored.array("filter-starts", np.int64, length=n + 1)
            self._filters = sums.pages(path / "filters.npy", words)
            self._filter_starts = sums.pages(path / "filter-starts.npy", of_filters)
        self._digests = sums.pages(path / "digests.npy", digests)
        n_blocks = len(stored.array("block-index", np.int64, ndim=2)) - 1
        self.blocks = StoredBlocks(stored, "blocks", "block-index", sums.take(n_blocks))
        self.gone: StoredBlocks | None = None
        if "gone-blocks" in stored.arrays:
            n_gone = len(stored.array("gone-index", np.int64, ndim=2)) - 1
            self.gone = StoredBlocks(stored, "gone-blocks", "gone-index", sums.take(n_gone))
        if not sums.are_used or len(self.blocks) != n:
            raise misfit(stored, "sums")

    def __len__(self) -> int:
        return self.n_documents

    def all_pages(self) -> list[CheckedPages]:
        """Return all that was not read when the segment was opened."""
        arrays = [self.lists.pages, self._filters, self._filter_starts, self._digests]
        arrays += [stored.pages for stored in (self.blocks, self.gone) if stored is not None]
        return [pages for pages in arrays if pages is not None]

    def candidates(self, keys: Uint32s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        """Return queries and rows that share a band key, each pair once, in their order."""
        return self.lists.find(0, keys, is_wanted)

    def rows_of_digests(self, digests: Uint64s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        """Return queries and rows of equal digests."""
        queries, rows = self._find_one(self.scheme.banding.bands, digests[:, 0], is_wanted)
        is_same = (self.digests_of(rows) == digests[queries]).all(axis=1)
        return queries[is_same], rows[is_same]

    def rows_of_ids(self, ids: pa.Array, hashes: Uint64s) -> tuple[Int64s, Int64s]:
        """Return which ids, large strings of these hashes, which rows have."""
        every = np.ones(len(hashes), np.bool_)
        queries, rows = self._find_one(self.scheme.banding.bands + 1, hashes, every)
        if not len(rows):
            return queries, rows
        found = self.ids_of(rows)
        is_same = [
            found[i].as_py() == ids[query].as_py() for i, query in enumerate(queries.tolist())
        ]
        return queries[is_same], rows[is_same]

    def may_have_id(self, digest: int) -> bool:
        """Return whether it may have an id of this hash."""
        return self.lists.count(self.scheme.banding.bands + 1, digest >> 32) > 0

    @cached_property
    def id_keys(self) -> frozenset[int] | None:
        """The higher halves of the hashes of its ids, unless they are many."""
        if self.n_documents > _MOST_KEYS_KEPT:
            return None
        entries = self.lists.read(self.scheme.banding.bands + 1)
        return frozenset((entries >> np.uint64(32)).tolist())

    def find_gone(self, digests: Uint64s, is_wanted: Bools) -> list[tuple[int, str, float]]:
        """Find gone documents of equal digests: queries, ids of what they went for, similarities.

        They come in the order of queries, and then as they went.
        """
        if self.gone is None:
            return []
        queries, rows = self._find_one(self.scheme.banding.bands + 2, digests[:, 0], is_wanted)
        found = []
        for query, row in zip(queries.tolist(), rows.tolist(), strict=True):
            ((block, places),) = self.gone.blocks_of(np.array([row]))
            gone = Gone(block, int(places[0]))
            if gone.digest == digests[query].tobytes():
                found.append((query, gone.kept_id, gone.similarity))
        return found

    def _find_one(self, number: int, hashes: Uint64s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        keys = (hashes >> np.uint64(32)).astype(np.uint32).reshape(-1, 1)
        return self.lists.find(number, keys, is_wanted)

    def digests_of(self, rows: Int64s) -> Uint64s:
        """Return the digests of some rows, of shape (n, 2)."""
        self._digests.check_elements(2 * rows)
        digests: Uint64s = self._digests.array.reshape(-1, 2)[rows]
        return digests

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        starts, filters = self._filter_starts, self._filters
        assert starts is not None
        assert filters is not None
        starts.check_elements(rows)
        starts.check_elements(rows + 1)
        first, stop = starts.array[rows], starts.array[rows + 1]
        if len(rows) and not (first.min() >= 0 and (first < stop).all()):
            message = "a filter does not lie where it should; build the index again"
            raise IndexFormatError(message)
        filters.check_ranges(first, stop)
        # The first word of each is the size of the set.
        n_words = stop - first - 1
        offsets: Int64s = np.concatenate([[0], np.cumsum(n_words)]).astype(np.int64)
        places = np.repeat(first + 1 - offsets[:-1], n_words) + np.arange(offsets[-1])
        return Filters(filters.array[places], offsets, filters.array[first].astype(np.int64))

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some rows, in any order, as large strings."""
        order = np.argsort(rows, kind="stable")
        found = [
            block.id(row)
            for block, places in self.blocks.blocks_of(rows[order])
            for row in places.tolist()
        ]
        ids: list[str] = [""] * len(rows)
        for place, own in zip(order.tolist(), found, strict=True):
            ids[place] = own
        return pa.array(ids, pa.large_string())

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        number = int(np.searchsorted(self.blocks.first_rows, row, side="right")) - 1
        return self.blocks.read(number).id(row - int(self.blocks.first_rows[number]))

    def block_of(self, row: int) -> tuple[Block, int]:
        """Return the block of a row, and its place there."""
        ((block, places),) = self.blocks.blocks_of(np.array([row]))
        return block, int(places[0])

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return what the measure compares of some rows, which ascend."""
        of_texts: list[tuple[Block, int]] = []
        of_sets: list[tuple[Block, int]] = []
        are_texts: list[bool] = []
        for block, places in self.blocks.blocks_of(rows):
            states = block.columns[blocks.STATES].data
            for row in places.tolist():
                is_text = states[row] == blocks.OF_TEXT
                are_texts.append(is_text)
                (of_texts if is_text else of_sets).append((block, row))
        texts = _join(of_texts, blocks.TEXTS)
        if not of_sets:
            return sets_of_texts(texts, self.scheme)
        stored = self._stored_sets(of_sets)
        if not of_texts:
            return stored
        return interleave(sets_of_texts(texts, self.scheme), stored, np.array(are_texts))

    def _stored_sets(self, of_sets: list[tuple[Block, int]]) -> ShingleSets | WeightedSets:
        values = _join(of_sets, blocks.SETS)
        offsets = values.offsets // 8
        starts, sizes = offsets[:-1], np.diff(offsets)
        if self.scheme.weighted is None:
            return ShingleSets(values.data.view(np.uint64), starts, sizes)
        weights: Int64s = _join(of_sets, blocks.WEIGHTS).data.view(np.int64)
        sums = np.concatenate([[0], np.cumsum(weights)])
        totals: Int64s = np.diff(sums[offsets])
        return WeightedSets(values.data.view(np.uint64), weights, starts, sizes, totals)


def _join(cells: list[tuple[Block, int]], column: int) -> Texts:
    """Put cells of one column together."""
    parts = [block.cell(column, row) for block, row in cells]
    offsets: Int64s = np.zeros(len(parts) + 1, np.int64)
    np.cumsum([len(part) for part in parts], out=offsets[1:])
    return Texts(np.concatenate([np.empty(0, np.uint8), *parts]), offsets)
