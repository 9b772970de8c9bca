"""A segment of an index of documents, which never changes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents import blocks
from neardup.documents.blocks import Block
from neardup.documents.queries import (
    N_OTHER_LISTS,
    OF_IDS,
    Found,
    Sought,
    interleave,
    sets_of_cells,
    sets_of_texts,
)
from neardup.documents.scheme import DocumentScheme
from neardup.errors import IndexFormatError
from neardup.files.ids import as_text
from neardup.index.segments import Segment
from neardup.kernels.bucket import entries as kernel
from neardup.kernels.types import sealed
from neardup.runs.arrays import AnyArray, CheckedPages, count_pages
from neardup.tables import (
    Filters,
    Floats,
    Int64s,
    ShingleSets,
    Texts,
    Uint32s,
    Uint64s,
    WeightedSets,
    offsets_of,
    places_of_lists,
)

# The sorted lists of a segment: which of its documents have a key.

_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)
_ROOM = 256


def bounds_of_pages(list_starts: Int64s) -> tuple[Int64s, Int64s]:
    """Return the first page of each list, and where each page starts, both with their ends."""
    n_pages = -(-np.diff(list_starts) // kernel.PAGE)
    page_starts = offsets_of(n_pages)
    within = np.arange(page_starts[-1]) - np.repeat(page_starts[:-1], n_pages)
    starts = np.repeat(list_starts[:-1], n_pages) + within * kernel.PAGE
    bounds: Int64s = np.concatenate([starts, list_starts[-1:]]).astype(np.int64)
    return page_starts, bounds


class EntryLists:
    """Lists of entries, in memory or mapped, in which keys are looked up.

    ``pages`` check what is touched. For any number of threads.
    """

    def __init__(
        self, path: Path, entries: Uint64s, list_starts: Int64s, fences: Uint64s, sums: Uint32s
    ) -> None:
        page_starts, self._bounds = bounds_of_pages(list_starts)
        self.starts = list_starts
        self.entries = entries
        self.pages = CheckedPages(path, entries, sums, self._bounds)
        self._lists = sealed(kernel.Lists(list_starts, page_starts, fences))

    def find(self, slots: kernel.Slots) -> tuple[Int64s, Int64s]:
        """Return which owners have a key in common with which documents.

        Pairs are in the order of owners and documents, each once.
        """
        n_slots = len(slots.keys)
        if n_slots > len(self.pages.is_checked):
            # So many touch most pages, and would be looked up again for those that are unchecked.
            self.pages.check_all()
        # Mostly few find anything. A key is in one or two pages; with less room many keys are gone
        # through again and again.
        found: Uint64s = np.empty(max(_ROOM, n_slots), np.uint64)
        unchecked: Int64s = np.empty(max(_ROOM, 2 * n_slots), np.int64)
        while True:
            n_found, n_unchecked = kernel.find_entries(
                slots,
                self._lists,
                self.entries,
                self._bounds,
                self.pages.is_checked,
                found,
                unchecked,
            )
            if n_unchecked:
                self.pages.check(unchecked[:n_unchecked].tolist())
            elif n_found > len(found):
                found = np.empty(n_found, np.uint64)
            else:
                break
        found = found[:n_found]
        if n_found > 1:
            found.sort()
            is_new = np.empty(n_found, np.bool_)
            is_new[0] = True
            np.not_equal(found[1:], found[:-1], out=is_new[1:])
            found = found[is_new]
        return (found >> _32).astype(np.int64), (found & _LOW32).astype(np.int64)

    def count(self, number: int, key: int) -> int:
        """Count the entries of a list that have one key."""
        while True:
            found = int(
                kernel.count_key(
                    key, number, self._lists, self.entries, self._bounds, self.pages.is_checked
                )
            )
            if found >= 0:
                return found
            self.pages.check([-1 - found])

    def read(self, number: int) -> Uint64s:
        """Return a whole list, all of which is checked."""
        first, stop = self._lists.page_starts[number : number + 2].tolist()
        self.pages.check(list(range(first, stop)))
        own: Uint64s = self.entries[self.starts[number] : self.starts[number + 1]]
        return own


def sorted_entries(keys: Uint64s, rows: Int64s) -> Uint64s:
    """Return the entries of keys of 32 bits, ascending."""
    entries: Uint64s = (keys << _32) | rows.astype(np.uint64)
    entries.sort()
    return entries


def merge(runs: Sequence[Uint64s], at_once: int) -> Iterator[Uint64s]:
    """Merge ascending runs of entries; yields the result in parts of about so many.

    Memory 16 bytes for each entry of a part; of runs that are mapped only parts are touched.
    """
    total = sum(map(len, runs))
    n_parts = max(1, -(-total // at_once))
    if len(runs) == 1 and n_parts == 1:
        yield runs[0]
        return
    starts = [0] * len(runs)
    for part in range(1, n_parts + 1):
        # Keys are hashes, so that equal ranges have about equal shares.
        bound = np.uint64(
            min(part * (2**64 // n_parts) if part < n_parts else 2**64 - 1, 2**64 - 1)
        )
        stops = [len(run) if part == n_parts else int(np.searchsorted(run, bound)) for run in runs]
        merged: Uint64s = np.concatenate(
            [run[start:stop] for run, start, stop in zip(runs, starts, stops, strict=True)]
        )
        merged.sort(kind="stable")
        if len(merged):
            yield merged
        starts = stops


# Files of a segment of documents: blocks, what went for others, and checksums of pages.

# What is too large to be read when an index is opened: what is touched of it is checked.
UNREAD = frozenset(
    {"entries", "filters", "filter-starts", "digests", "ids", "id-starts", "blocks", "gone-blocks"}
)

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
            raise stored.misfit(f"{index}.npy")
        self.pages = CheckedPages(path, data, sums, np.ascontiguousarray(self._index[:, 0]))
        self.first_rows: Int64s = np.ascontiguousarray(self._index[:, 1])
        self.read = lru_cache(_BLOCKS_KEPT)(self._read)

    def __len__(self) -> int:
        return int(self.first_rows[-1])

    @property
    def n_blocks(self) -> int:
        """Count the blocks."""
        return len(self.first_rows) - 1

    def _read(self, number: int) -> Block:
        """Read a block, if it is not one of the last ones."""
        return blocks.unpack(*self.packed(number))

    def packed(self, number: int) -> tuple[AnyArray, int]:
        """Return a block as it is stored, with its size before compression."""
        self.pages.check([number])
        start, stop = int(self._index[number, 0]), int(self._index[number + 1, 0])
        return self.pages.array[start:stop], int(self._index[number, 2])

    def places_of(self, rows: Int64s) -> Iterator[tuple[Block, int]]:
        """Yield the block of each row, and its place there."""
        numbers = self.first_rows.searchsorted(rows, side="right") - 1
        places = rows - self.first_rows[numbers]
        for number, place in zip(numbers.tolist(), places.tolist(), strict=True):
            yield self.read(number), place


def cells_of_gone(
    ids: pa.Array, kept_ids: pa.Array, digests: Uint64s, similarities: Floats
) -> list[Texts]:
    """Return the columns of a block of documents that went for others."""
    n = len(ids)
    cells = [Texts.from_arrow(as_text(ids)), Texts.from_arrow(as_text(kept_ids))]
    return [*cells, blocks.cells_of(digests, n), blocks.cells_of(similarities, n)]


def columns_of_gone(block: Block) -> tuple[pa.Array, pa.Array, Uint64s, Floats]:
    """Return what ``cells_of_gone`` has put into a block; ids are large strings."""
    digests: Uint64s = block.column(GONE_DIGESTS).data.view(np.uint64).reshape(-1, 2)
    similarities: Floats = block.column(GONE_SIMILARITIES).data.view(np.float64)
    ids, kept_ids = (block.column(each).to_arrow() for each in (GONE_IDS, GONE_KEPT))
    return ids, kept_ids, digests, similarities


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
            raise self._stored.misfit("sums.npy")
        return own

    def pages(self, path: Path, array: AnyArray) -> CheckedPages:
        """Return the pages of the next array, which all have one width."""
        return CheckedPages(path, array, self.take(count_pages(array.nbytes)))

    @property
    def are_used(self) -> bool:
        """Whether no more are left."""
        return self._used == len(self._sums)


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


_NOTHING = Found()


class DocumentSegment:
    """An open segment; rows are numbered from 0."""

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
            raise stored.misfit("layout.npy")
        self.id_type: pa.DataType = ID_TYPES[int(layout[0])]
        self._list_of_ids = scheme.banding.bands + OF_IDS
        fences = stored.array("fences", np.uint64)
        digests = stored.array("digests", np.uint64, length=2 * n)
        ids = stored.array("ids", np.uint8)
        id_starts = stored.array("id-starts", np.int64, length=n + 1)
        sums = SegmentSums(stored)
        n_pages = int(bounds_of_pages(starts)[0][-1])
        if len(fences) != n_pages:
            raise stored.misfit("fences.npy")
        path = stored.path
        self.lists = EntryLists(path / "entries.npy", entries, starts, fences, sums.take(n_pages))
        self._filters, self._filter_starts = None, None
        if scheme.has_filters:
            words = stored.array("filters", np.uint64)
            of_filters = stored.array("filter-starts", np.int64, length=n + 1)
            self._filters = sums.pages(path / "filters.npy", words)
            self._filter_starts = sums.pages(path / "filter-starts.npy", of_filters)
        self._digests = sums.pages(path / "digests.npy", digests)
        self._ids = sums.pages(path / "ids.npy", ids)
        self._id_starts = sums.pages(path / "id-starts.npy", id_starts)
        n_blocks = len(stored.array("block-index", np.int64, ndim=2)) - 1
        self.blocks = StoredBlocks(stored, "blocks", "block-index", sums.take(n_blocks))
        self.gone: StoredBlocks | None = None
        if "gone-blocks" in stored.arrays:
            n_gone = len(stored.array("gone-index", np.int64, ndim=2)) - 1
            self.gone = StoredBlocks(stored, "gone-blocks", "gone-index", sums.take(n_gone))
        if not sums.are_used or len(self.blocks) != n:
            raise stored.misfit("sums.npy")

    def __len__(self) -> int:
        return self.n_documents

    @property
    def n_gone(self) -> int:
        """Count the documents that went for others."""
        return 0 if self.gone is None else len(self.gone)

    def all_pages(self) -> list[CheckedPages]:
        """Return all that was not read when the segment was opened."""
        arrays = [self.lists.pages, self._filters, self._filter_starts, self._digests]
        arrays += [self._ids, self._id_starts]
        arrays += [stored.pages for stored in (self.blocks, self.gone) if stored is not None]
        return [pages for pages in arrays if pages is not None]

    def find(self, sought: Sought) -> Found:
        """Find what texts share a band key with, and what is here, or went, with their digests."""
        owners, rows = self.lists.find(sought.slots)
        if not len(owners):
            return _NOTHING
        n = len(sought.queries)
        bounds = owners.searchsorted((n, 2 * n)).tolist()
        candidates = owners[: bounds[0]], rows[: bounds[0]]
        if bounds[0] == len(owners):
            return Found(candidates)
        digests = sought.queries.digests
        copies, own = owners[bounds[0] : bounds[1]] - n, rows[bounds[0] : bounds[1]]
        is_same = (self.digests_of(own) == digests[copies]).all(axis=1)
        queries = (owners[bounds[1] :] - 2 * n).tolist()
        places = () if self.gone is None else self.gone.places_of(rows[bounds[1] :])
        gone = []
        for query, (block, row) in zip(queries, places, strict=True):
            if block.cell(GONE_DIGESTS, row).tobytes() == digests[query].tobytes():
                similarity = float(block.cell(GONE_SIMILARITIES, row).view(np.float64)[0])
                gone.append((query, block.cell(GONE_KEPT, row).tobytes().decode(), similarity))
        return Found(candidates, (copies[is_same], own[is_same]), gone)

    def rows_of_ids(self, ids: pa.Array, hashes: Uint64s) -> tuple[Int64s, Int64s]:
        """Return which ids, large strings of these hashes, which rows have."""
        n = len(hashes)
        keys = (hashes >> _32).astype(np.uint32)
        number: Int64s = np.full(n, self._list_of_ids, np.int64)
        slots = sealed(kernel.Slots(keys, number, np.arange(n, dtype=np.int64)))
        queries, rows = self.lists.find(slots)
        if not len(rows):
            return queries, rows
        is_same = pc.equal(self.ids_of(rows), ids.take(pa.array(queries)))
        is_same = is_same.to_numpy(zero_copy_only=False)
        return queries[is_same], rows[is_same]

    def may_have_id(self, _: str, digest: int) -> bool:
        """Return whether it may have an id of this hash."""
        return self.lists.count(self._list_of_ids, digest >> 32) > 0

    @cached_property
    def id_keys(self) -> frozenset[int] | None:
        """The higher halves of the hashes of its ids, unless they are many."""
        if self.n_documents > _MOST_KEYS_KEPT:
            return None
        entries = self.lists.read(self._list_of_ids)
        return frozenset((entries >> np.uint64(32)).tolist())

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
        first, stop = _bounds(starts, rows)
        if len(rows) and not (first.min() >= 0 and (first < stop).all()):
            message = "a filter does not lie where it should; build the index again"
            raise IndexFormatError(message)
        filters.check_ranges(first, stop)
        # The first word of each is the size of the set.
        places, offsets = places_of_lists(first + 1, stop - first - 1)
        return Filters(filters.array[places], offsets, filters.array[first].astype(np.int64))

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some rows, in any order, as large strings."""
        first, stop = _bounds(self._id_starts, rows)
        self._check_ids(bool((first >= 0).all() and (first <= stop).all()))
        self._check_ids(not len(rows) or int(stop.max()) <= len(self._ids.array))
        filled = first < stop
        self._ids.check_ranges(first[filled], stop[filled])
        places, offsets = places_of_lists(first, stop - first)
        return Texts(self._ids.array[places], offsets).to_arrow()

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        first, stop = self._id_starts.part(row, row + 2).tolist()
        self._check_ids(0 <= first <= stop <= len(self._ids.array))
        return self._ids.part(first, stop).tobytes().decode()

    def _check_ids(self, lie_right: bool) -> None:
        if not lie_right:
            message = "an id does not lie where it should; build the index again"
            raise IndexFormatError(message)

    def block_of(self, row: int) -> tuple[Block, int]:
        """Return the block of a row, and its place there."""
        return next(self.blocks.places_of(np.array([row])))

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return what the measure compares of some rows, which ascend."""
        of_texts: list[tuple[Block, int]] = []
        of_sets: list[tuple[Block, int]] = []
        are_texts: list[bool] = []
        for block, row in self.blocks.places_of(rows):
            is_text = block.is_text(row)
            are_texts.append(is_text)
            (of_texts if is_text else of_sets).append((block, row))
        texts = _join(of_texts, blocks.TEXTS)
        tokenizer = self.scheme.shingles.tokenizer
        if tokenizer.is_by_file:
            ids = self.ids_of(rows[np.array(are_texts, np.bool_)])
            texts = tokenizer.texts_in_index(texts.to_arrow(), ids)
        if not of_sets:
            return sets_of_texts(texts, self.scheme)
        cells = _join(of_sets, blocks.SETS), _join(of_sets, blocks.WEIGHTS)
        stored = sets_of_cells(*cells, self.scheme)
        if not of_texts:
            return stored
        return interleave(sets_of_texts(texts, self.scheme), stored, np.array(are_texts))


def _bounds(starts: CheckedPages, rows: Int64s) -> tuple[AnyArray, AnyArray]:
    """Return where the stretches of some rows begin and end."""
    starts.check_elements(rows)
    starts.check_elements(rows + 1)
    return starts.array[rows], starts.array[rows + 1]


def _join(cells: list[tuple[Block, int]], column: int) -> Texts:
    """Put cells of one column together."""
    parts = [block.cell(column, row) for block, row in cells]
    if len(parts) == 1:
        return Texts(parts[0], np.array([0, len(parts[0])], np.int64))
    return Texts(np.concatenate([np.empty(0, np.uint8), *parts]), offsets_of(list(map(len, parts))))
