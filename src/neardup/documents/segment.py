"""Segments of an index of documents: sorted lists of keys, filters, ids and blocks of records.

A segment never changes. Large files are not read when it is opened; what is touched of them is
checked.
"""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.queries import (
    N_OTHER_LISTS,
    OF_IDS,
    Found,
    Queries,
    Sought,
    join_sets,
    lists_of_sets,
    queries_of_sets,
    queries_of_weighted_sets,
)
from neardup.documents.records import (
    Block,
    DocumentBatch,
    PackedBlock,
    set_of,
    sets_of_indexed,
)
from neardup.documents.scheme import DocumentScheme
from neardup.errors import IndexFormatError
from neardup.files.ids import as_text, common_id_type
from neardup.index.segments import Segment, SegmentWriter, pack_table
from neardup.index.store import SEGMENTS, SegmentRecord
from neardup.kernels.bucket import buckets as kernel
from neardup.kernels.types import sealed
from neardup.runs.arrays import AnyArray, CheckedPages, PageSums, count_pages
from neardup.runs.disk import part_of, translated
from neardup.runs.runner import Runner
from neardup.tables import (
    Filters,
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


# Files of a segment.

# Files that are not read when an index is opened.
UNREAD = frozenset(
    {"entries", "filters", "filter-starts", "digests", "ids", "id-starts", "blocks", "gone-blocks"}
)

# Blocks that stay decompressed, of some 16 kB each.
_BLOCKS_KEPT = 64

# Types that ids may have, by their codes in files.
ID_TYPES = (
    pa.large_string(),
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
)

# Segments of at most so many documents have their ids' keys in memory once one was asked for: a
# look into a set takes a hundredth of a search on the disk, and insertions look into each segment.
_MOST_KEYS_KEPT = 8192

_NOTHING = Found()


class StoredBlocks:
    """Blocks in a file; one is read when a row of it is asked for."""

    def __init__(self, stored: Segment, name: str, sums: Uint32s) -> None:
        index: Int64s = stored.array(f"{name}-starts", np.int64)
        data = stored.array(name, np.uint8)
        if len(index) != 2 * (len(sums) + 1) or index[len(sums)] != len(data):
            raise stored.misfit(f"{name}-starts.npy")
        # Where each block starts, then its first row, both with their ends.
        starts, self.first_rows = index[: len(sums) + 1], index[len(sums) + 1 :]
        self.pages = CheckedPages(stored.path / f"{name}.npy", data, sums, starts)
        self._starts = starts
        self.read = lru_cache(_BLOCKS_KEPT)(self._read)

    def __len__(self) -> int:
        return int(self.first_rows[-1])

    @property
    def n_blocks(self) -> int:
        """Count the blocks."""
        return len(self.first_rows) - 1

    def _read(self, number: int) -> Block:
        self.pages.check([number])
        return Block(self.pages.array[self._starts[number] : self._starts[number + 1]])

    def places_of(self, rows: Int64s) -> Iterator[tuple[Block, int]]:
        """Yield the block of each row, and its place there."""
        numbers = self.first_rows.searchsorted(rows, side="right") - 1
        places = rows - self.first_rows[numbers]
        for number, place in zip(numbers.tolist(), places.tolist(), strict=True):
            yield self.read(number), place


class DocumentSegment:
    """An open segment; rows are numbered from 0."""

    def __init__(self, stored: Segment, scheme: DocumentScheme) -> None:
        self.scheme = scheme
        self.n_documents = n = stored.record.n_documents
        layout = stored.array("layout", np.int64)
        starts, n_lists = layout[1:], scheme.banding.bands + N_OTHER_LISTS
        entries = stored.array("entries", np.uint64)
        if (
            len(starts) != n_lists + 1
            or not 0 <= layout[0] < len(ID_TYPES)
            or starts[0] != 0
            or starts[-1] != len(entries)
            or (np.diff(starts) < 0).any()
        ):
            raise stored.misfit("layout.npy")
        self.id_type: pa.DataType = ID_TYPES[int(layout[0])]
        self._list_of_ids = scheme.banding.bands + OF_IDS
        # Checksums of the pages of all files that are not read at once, one after the other.
        self._sums: Uint32s = stored.array("sums", np.uint32)
        fences = stored.array("fences", np.uint64)
        n_pages = int(bounds_of_pages(starts)[0][-1])
        if len(fences) != n_pages:
            raise stored.misfit("fences.npy")
        path = stored.path / "entries.npy"
        self.lists = EntryLists(path, entries, starts, fences, self._take_sums(stored, n_pages))

        def pages(name: str, dtype: type[np.generic], length: int | None = None) -> CheckedPages:
            array = stored.array(name, dtype, length=length)
            sums = self._take_sums(stored, count_pages(array.nbytes))
            return CheckedPages(stored.path / f"{name}.npy", array, sums)

        self._filters: tuple[CheckedPages, CheckedPages] | None = None
        if scheme.has_filters:
            self._filters = pages("filters", np.uint64), pages("filter-starts", np.int64, n + 1)
        self._digests = pages("digests", np.uint64, 2 * n)
        self._ids = pages("ids", np.uint8)
        self._id_starts = pages("id-starts", np.int64, n + 1)
        self.blocks = self._open_blocks(stored, "blocks")
        is_there = "gone-blocks" in stored.arrays
        self.gone = self._open_blocks(stored, "gone-blocks") if is_there else None
        if len(self._sums) or len(self.blocks) != n:
            raise stored.misfit("sums.npy")

    def _take_sums(self, stored: Segment, n_pages: int) -> Uint32s:
        own, self._sums = self._sums[:n_pages], self._sums[n_pages:]
        if len(own) != n_pages:
            raise stored.misfit("sums.npy")
        return own

    def _open_blocks(self, stored: Segment, name: str) -> StoredBlocks:
        n_blocks = len(stored.array(f"{name}-starts", np.int64)) // 2 - 1
        return StoredBlocks(stored, name, self._take_sums(stored, n_blocks))

    def __len__(self) -> int:
        return self.n_documents

    @property
    def n_gone(self) -> int:
        """Count the documents that were left out in favour of others."""
        return 0 if self.gone is None else len(self.gone)

    def all_pages(self) -> list[CheckedPages]:
        """Return all that was not read when the segment was opened."""
        blocks = [each.pages for each in (self.blocks, self.gone) if each is not None]
        arrays = [self.lists.pages, *(self._filters or ())]
        return [*arrays, self._digests, self._ids, self._id_starts, *blocks]

    def find(self, sought: Sought) -> Found:
        """Find rows that share a band key with texts, and exact copies, also among the gone."""
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
            table = block.table
            if table["digest"][row].as_py() == digests[query].tobytes():
                similarity: float = table["similarity"][row].as_py()
                gone.append((query, str(table["kept_id"][row]), similarity))
        return Found(candidates, (copies[is_same], own[is_same]), gone)

    def rows_of_ids(self, ids: pa.Array, hashes: Uint64s) -> tuple[Int64s, Int64s]:
        """Return matching numbers of ids, large strings of these hashes, and rows."""
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
        keys = self._id_keys
        if keys is not None:
            return digest >> 32 in keys
        return self.lists.count(self._list_of_ids, digest >> 32) > 0

    @cached_property
    def _id_keys(self) -> frozenset[int] | None:
        if self.n_documents > _MOST_KEYS_KEPT:
            return None
        entries = self.lists.read(self._list_of_ids)
        return frozenset((entries >> _32).tolist())

    def digests_of(self, rows: Int64s) -> Uint64s:
        """Return the digests of some rows, of shape (n, 2)."""
        self._digests.check_elements(2 * rows)
        digests: Uint64s = self._digests.array.reshape(-1, 2)[rows]
        return digests

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        assert self._filters is not None
        filters, starts = self._filters
        # The first word of each is the size of the set.
        first, stop = _bounds(starts, rows, filters, "a filter")
        places, offsets = places_of_lists(first + 1, stop - first - 1)
        return Filters(filters.array[places], offsets, filters.array[first].astype(np.int64))

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some rows, in any order, as large strings."""
        first, stop = _bounds(self._id_starts, rows, self._ids, "an id")
        places, offsets = places_of_lists(first, stop - first)
        return Texts(self._ids.array[places], offsets).to_arrow()

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        first, stop = self._id_starts.part(row, row + 2).tolist()
        return self._ids.part(first, stop).tobytes().decode()

    def records(self, rows: Int64s) -> Iterator[pa.Table]:
        """Yield the records of some rows, which ascend, block by block."""
        start = 0
        while start < len(rows):
            block, place = next(self.blocks.places_of(rows[start : start + 1]))
            first = int(rows[start]) - place
            stop = int(np.searchsorted(rows, first + len(block)))
            is_whole = stop - start == len(block)
            yield block.table if is_whole else block.table.take(pa.array(rows[start:stop] - first))
            start = stop

    def signed(self, rows: Int64s) -> Queries:
        """Sign some rows, which ascend, again."""
        n_tokens: Int64s = np.array(
            [block.n_tokens[row] for block, row in self.blocks.places_of(rows)], np.int64
        )
        digests, sets = self.digests_of(rows), self.sets_of(rows)
        if isinstance(sets, WeightedSets):
            return queries_of_weighted_sets(n_tokens, digests, sets, self.scheme)
        return queries_of_sets(n_tokens, digests, lists_of_sets(sets), self.scheme)

    def gone_tables(self) -> Iterator[pa.Table]:
        """Yield the documents that were left out in favour of others."""
        for number in range(0 if self.gone is None else self.gone.n_blocks):
            assert self.gone is not None
            yield self.gone.read(number).table

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return the sets of some rows, which ascend."""
        texts: list[AnyArray] = []
        sets: list[ShingleSets | WeightedSets] = []
        is_text = np.ones(len(rows), np.bool_)
        for number, (block, row) in enumerate(self.blocks.places_of(rows)):
            text = block.text(row)
            if text is None:
                is_text[number] = False
                sets.append(set_of(block, row, self.scheme))
            else:
                texts.append(text)
        joined = texts[0] if len(texts) == 1 else np.concatenate([np.empty(0, np.uint8), *texts])
        own = Texts(joined, offsets_of([len(text) for text in texts]))
        ids = self.ids_of(rows[is_text]) if self.scheme.shingles.tokenizer.is_by_file else None
        found: ShingleSets | WeightedSets = sets_of_indexed(own, ids, self.scheme)
        if not sets:
            return found
        places: Int64s = np.empty(len(rows), np.int64)
        places[is_text], places[~is_text] = np.arange(len(texts)), len(texts) + np.arange(len(sets))
        return join_sets(found, *sets).take(places)


def _bounds(
    starts: CheckedPages, rows: Int64s, pages: CheckedPages, noun: str
) -> tuple[AnyArray, AnyArray]:
    """Return where the stretches of some rows begin and end, and check these."""
    starts.check_elements(rows)
    starts.check_elements(rows + 1)
    first, stop = starts.array[rows], starts.array[rows + 1]
    is_right = (first >= 0) & (first <= stop) & (stop <= len(pages.array))
    if not is_right.all():
        message = f"{noun} does not lie where it should; build the index again"
        raise IndexFormatError(message)
    filled = first < stop
    pages.check_ranges(first[filled], stop[filled])
    return first, stop


# Writing a segment, batch after batch, within a bounded memory.

# Entries that are sorted in memory; more of them go to files, as sorted runs.
RUN_ENTRIES = 1 << 25

# Bytes of an array whose parts are small that are written together.
_WRITTEN_AT_ONCE = 1 << 20

# Gone documents per block.
_GONE_IN_BLOCK = 256

# Entries of a list that are merged at once.
_MERGED_AT_ONCE = 1 << 22


class DocumentSegmentWriter:
    """Writes a segment; made by ``new_segment``, for one thread.

    Documents are numbered as they come.
    """

    def __init__(
        self,
        writer: SegmentWriter,
        runs_folder: Path,
        scheme: DocumentScheme,
        runner: Runner,
        run_entries: int,
    ) -> None:
        self.n_documents = self._n_tokens = 0
        self._writer, self._scheme, self._runner = writer, scheme, runner
        self._id_types: list[pa.DataType] = []
        self._lists = _Runs(scheme.banding.bands + N_OTHER_LISTS, runs_folder, runner, run_entries)
        of_filters = ("filters", "filter-starts") if scheme.has_filters else ()
        # In the order of the checksums of their pages.
        self._sums = {name: PageSums() for name in (*of_filters, "digests", "ids", "id-starts")}
        self._n_words, self._n_id_bytes = 0, 0
        self._blocks = _NewBlocks(writer, "blocks")
        self._gone = _NewBlocks(writer, "gone-blocks")
        for name in self._sums:
            is_starts = name.endswith("starts")
            kind = np.int64 if is_starts else np.uint8 if name == "ids" else np.uint64
            self._append(name, np.zeros(int(is_starts), kind))

    @property
    def n_gone(self) -> int:
        """Count the gone documents."""
        return self._gone.n_rows

    def add(self, batch: DocumentBatch) -> None:
        """Write the next documents."""
        for number, (keys, rows) in enumerate(batch.lists):
            self._lists.add(number, sorted_entries(keys, rows + self.n_documents))
        self._append("digests", np.ascontiguousarray(batch.digests).reshape(-1))
        if batch.filters is not None:
            self._append_filters(batch.filters)
        ids = Texts.from_arrow(as_text(batch.ids))
        first, stop = int(ids.offsets[0]), int(ids.offsets[-1])
        self._append("ids", ids.data[first:stop])
        self._append("id-starts", ids.offsets[1:] + (self._n_id_bytes - first))
        self._n_id_bytes += stop - first
        if len(batch):
            self._id_types.append(batch.ids.type)
        self._n_tokens += int(batch.n_tokens.sum())
        self.n_documents += len(batch)
        self._blocks.append(batch.packed)
        self._lists.spill_if_many()

    def add_gone(self, gone: pa.Table, digests: Uint64s) -> None:
        """Write documents that were left out; they are not documents of the index."""
        if not len(gone):
            return
        rows = np.arange(len(gone), dtype=np.int64) + self._gone.n_rows
        number = self._scheme.banding.bands + N_OTHER_LISTS - 1
        self._lists.add(number, sorted_entries(digests[:, 0] >> _32, rows))
        self._gone.append(
            PackedBlock(pack_table(part), len(part))
            for start in range(0, len(gone), _GONE_IN_BLOCK)
            for part in [gone.slice(start, _GONE_IN_BLOCK).combine_chunks()]
        )

    def finish(self, name: str) -> SegmentRecord:
        """Write the lists, and see that all is on the disk."""
        writer = self._writer
        starts, fences, sums = self._write_lists()
        kind = common_id_type(self._id_types)
        writer.append("layout", np.concatenate([[ID_TYPES.index(kind)], starts]).astype(np.int64))
        writer.append("fences", fences)
        every = [sums, *(each.finish() for each in self._sums.values()), self._blocks.finish()]
        if self._gone.n_rows:
            every.append(self._gone.finish())
        writer.append("sums", np.concatenate(every))
        return SegmentRecord(name, self.n_documents, self._n_tokens, writer.commit())

    def _write_lists(self) -> tuple[Int64s, Uint64s, Uint32s]:
        """Write all lists; returns where they start, their fences, and the sums of their pages."""
        starts, fences, sums = [0], [np.empty(0, np.uint64)], PageSums()
        written = Buffered(self._writer, "entries", np.empty(0, np.uint64))
        for number, parts in enumerate(self._lists.merged()):
            n = 0
            for part in parts:
                written.append(part)
                sums.update(part.data)
                fences.append(part[-n % kernel.PAGE :: kernel.PAGE])
                n += len(part)
            sums.close_page()
            starts.append(starts[-1] + n)
            self._runner.report("lists", number + 1, len(self._lists))
        written.flush()
        return np.array(starts, np.int64), np.concatenate(fences), sums.finish()

    def _append(self, name: str, array: AnyArray) -> None:
        self._writer.append(name, array)
        self._sums[name].update(array.data)

    def _append_filters(self, filters: Filters) -> None:
        """Write filters, each after the size of its set."""
        words = np.insert(filters.words, filters.offsets[:-1], filters.sizes.astype(np.uint64))
        ends = filters.offsets[1:] + np.arange(1, len(filters) + 1)
        self._append("filters", words)
        self._append("filter-starts", (ends + self._n_words).astype(np.int64))
        self._n_words += len(words)


@contextmanager
def new_segment(
    folder: Path,
    name: str,
    scheme: DocumentScheme,
    runner: Runner,
    *,
    run_entries: int = RUN_ENTRIES,
) -> Iterator[DocumentSegmentWriter]:
    """Write a new segment of an index whose write lock is held; it is there after ``finish``."""
    runs = part_of(folder / SEGMENTS / f"{name}-runs")
    try:
        with SegmentWriter(folder, name) as writer:
            yield DocumentSegmentWriter(writer, runs, scheme, runner, run_entries)
    finally:
        shutil.rmtree(runs, ignore_errors=True)


class Buffered:
    """An array of a segment that grows by small parts, which are written together.

    It begins with a part, which says of what type it is.
    """

    def __init__(self, writer: SegmentWriter, name: str, first: AnyArray) -> None:
        self._writer, self._name = writer, name
        self._parts, self._size = [first], 0

    def append(self, part: AnyArray) -> None:
        """Take the next values."""
        self._parts.append(part)
        self._size += part.nbytes
        if self._size >= _WRITTEN_AT_ONCE:
            self.flush()

    def flush(self) -> None:
        """Write what was taken."""
        if self._parts:
            self._writer.append(self._name, np.concatenate(self._parts))
            self._parts, self._size = [], 0


class _NewBlocks:
    """Blocks as they are written, with their starts, first rows and checksums."""

    def __init__(self, writer: SegmentWriter, name: str) -> None:
        self.n_rows = 0
        self._writer, self._name = writer, name
        self._data = Buffered(writer, name, np.empty(0, np.uint8))
        self._sums: list[int] = []
        self._starts, self._first_rows = [0], [0]

    def append(self, packed: Iterable[PackedBlock]) -> None:
        for data, n_rows in packed:
            self._sums.append(zlib.crc32(data))
            self.n_rows += n_rows
            self._starts.append(self._starts[-1] + len(data))
            self._first_rows.append(self.n_rows)
            self._data.append(np.frombuffer(data, np.uint8))

    def finish(self) -> Uint32s:
        """Write where the blocks start, and return their checksums."""
        self._data.flush()
        index = np.array([*self._starts, *self._first_rows], np.int64)
        self._writer.append(f"{self._name}-starts", index)
        return np.array(self._sums, np.uint32)


class _Runs:
    """The entries of all lists: sorted pieces in memory, or in files where there are many."""

    def __init__(self, n_lists: int, folder: Path, runner: Runner, most: int) -> None:
        self._pieces: list[list[Uint64s]] = [[] for _ in range(n_lists)]
        self._files: list[tuple[Uint64s, Int64s]] = []
        self._folder, self._runner, self._most = folder, runner, most
        self._n_entries = 0

    def __len__(self) -> int:
        return len(self._pieces)

    def add(self, number: int, run: Uint64s) -> None:
        """Take the next entries of a list, ascending."""
        if len(run):
            self._pieces[number].append(run)
            self._n_entries += len(run)

    def spill_if_many(self) -> None:
        """Write all entries to a file, as one run for each list, if there are too many."""
        if self._n_entries < self._most:
            return
        path = self._folder / f"{len(self._files)}.npy"
        with translated(path):
            self._folder.mkdir(parents=True, exist_ok=True)
            starts = [0]
            with path.open("wb") as file:
                for run in self._runner.map(_joined, self._pieces):
                    file.write(run.data)
                    starts.append(starts[-1] + len(run))
            mapped: Uint64s = np.memmap(path, np.uint64, mode="r")
        self._files.append((mapped, np.array(starts, np.int64)))
        self._pieces = [[] for _ in self._pieces]
        self._n_entries = 0

    def merged(self) -> Iterator[Iterator[Uint64s] | Sequence[Uint64s]]:
        """Yield the entries of each list, ascending, in parts."""
        if not self._files:
            yield from (
                [run] if len(run) else [] for run in self._runner.map(_joined, self._pieces)
            )
            return
        for number, pieces in enumerate(self._pieces):
            runs = [mapped[starts[number] : starts[number + 1]] for mapped, starts in self._files]
            runs.append(_joined(pieces))
            yield merge(runs, _MERGED_AT_ONCE)


def _joined(pieces: Sequence[Uint64s]) -> Uint64s:
    """Put sorted pieces together."""
    if len(pieces) == 1:
        return pieces[0]
    joined: Uint64s = np.concatenate([np.empty(0, np.uint64), *pieces])
    joined.sort()
    return joined
