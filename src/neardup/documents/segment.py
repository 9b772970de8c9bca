"""Segments of sorted keys, filters, ids, and blocks of records.

A segment never changes. Accessed parts are verified; large files are not read on opening.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.queries import (
    N_OTHER_LISTS,
    OF_IDS,
    Found,
    Sought,
)
from neardup.documents.records import Block, DocumentBatch, PackedBlock, sets_of_indexed
from neardup.documents.scheme import DocumentScheme
from neardup.files.documents import as_text, common_id_type
from neardup.index.segments import (
    SMALL_PAGE,
    CheckedArray,
    CheckedLists,
    Segment,
    SegmentWriter,
    pack_table,
)
from neardup.index.store import SegmentRecord
from neardup.kernels.bucket import buckets as kernel
from neardup.kernels.types import sealed
from neardup.runs.disk import translated
from neardup.runs.runner import Runner
from neardup.tables import (
    Filters,
    Int64s,
    ShingleSets,
    Texts,
    Uint64s,
    WeightedSets,
    offsets_of,
)

# The sorted lists of a segment: which of its documents have a key.

_32, _LOW32 = np.uint64(32), np.uint64(0xFFFFFFFF)
_ROOM = 256


def bounds_of_pages(list_starts: Int64s) -> tuple[Int64s, Int64s]:
    """Return each list's first page and each page's start."""
    n_pages = -(-np.diff(list_starts) // kernel.PAGE)
    page_starts = offsets_of(n_pages)
    within = np.arange(page_starts[-1]) - np.repeat(page_starts[:-1], n_pages)
    starts = np.repeat(list_starts[:-1], n_pages) + within * kernel.PAGE
    bounds: Int64s = np.concatenate([starts, list_starts[-1:]]).astype(np.int64)
    return page_starts, bounds


class EntryLists:
    """Lists of entries with a thread-safe lookup by key."""

    def __init__(self, entries: CheckedArray, list_starts: Int64s, fences: Uint64s) -> None:
        page_starts, self._bounds = bounds_of_pages(list_starts)
        self.starts, self.is_checked = list_starts, np.zeros(len(fences), np.bool_)
        self._entries = entries
        self._lists = sealed(kernel.Lists(list_starts, page_starts, fences))

    def find(self, slots: kernel.Slots) -> tuple[Int64s, Int64s]:
        """Return distinct owners and documents with a common key, in order."""
        n_slots = len(slots.keys)
        if n_slots > len(self.is_checked):
            # So many touch most pages, and would be looked up again for those that are unchecked.
            self._check(np.flatnonzero(~self.is_checked))
        # Mostly few find anything. A key is in one or two pages; with less room many keys are gone
        # through again and again.
        found: Uint64s = np.empty(max(_ROOM, n_slots), np.uint64)
        unchecked: Int64s = np.empty(max(_ROOM, 2 * n_slots), np.int64)
        while True:
            n_found, n_unchecked = kernel.find_entries(
                slots,
                self._lists,
                self._entries.values,
                self._bounds,
                self.is_checked,
                found,
                unchecked,
            )
            if n_unchecked:
                self._check(unchecked[:n_unchecked])
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

    def _check(self, pages: Int64s) -> None:
        self._entries.check_ranges(self._bounds[pages], self._bounds[pages + 1])
        self.is_checked[pages] = True

    def count(self, number: int, key: int) -> int:
        """Count the entries of a key in a list."""
        while True:
            found = int(
                kernel.count_key(
                    key, number, self._lists, self._entries.values, self._bounds, self.is_checked
                )
            )
            if found >= 0:
                return found
            self._check(np.array([-1 - found]))

    def read(self, number: int) -> Uint64s:
        """Return a whole list."""
        return self._entries.part(int(self.starts[number]), int(self.starts[number + 1]))


def entries_of(keys: Uint64s, rows: Int64s) -> Uint64s:
    """Return the entries of keys of 32 bits."""
    return (keys << _32) | rows.astype(np.uint64)


# Blocks that stay decompressed, of some 16 kB each.
_BLOCKS_KEPT = 64

# Segments of at most so many documents have their ids' keys in memory once one was asked for: a
# look into a set takes a hundredth of a search on the disk, and insertions look into each segment.
_MOST_KEYS_KEPT = 8192

_NOTHING = Found()


class StoredBlocks:
    """Blocks in a file, read on access to a row."""

    def __init__(self, stored: Segment, name: str) -> None:
        self.packed = CheckedLists(stored, name).one
        self.first_rows: Int64s = stored.array(f"{name}-rows")
        self.read = lru_cache(_BLOCKS_KEPT)(self._read)

    def __len__(self) -> int:
        return int(self.first_rows[-1])

    @property
    def n_blocks(self) -> int:
        """Count the blocks of records."""
        return len(self.first_rows) - 1

    def _read(self, number: int) -> Block:
        return Block(self.packed(number))

    def places_of(self, rows: Int64s) -> Iterator[tuple[Block, int]]:
        """Yield the block and position of each row."""
        numbers = self.first_rows.searchsorted(rows, side="right") - 1
        places = rows - self.first_rows[numbers]
        for number, place in zip(numbers.tolist(), places.tolist(), strict=True):
            yield self.read(number), place


class DocumentSegment:
    """An open segment with rows numbered from 0."""

    def __init__(self, stored: Segment, scheme: DocumentScheme) -> None:
        self.stored, self.scheme, self.id_type = stored, scheme, stored.id_type
        self.n_documents = stored.record.n_documents
        entries, starts = CheckedArray(stored, "entries"), stored.array("list-starts")
        self.lists = EntryLists(entries, starts, stored.array("fences"))
        self._list_of_ids = scheme.banding.bands + OF_IDS
        self._filters = CheckedLists(stored, "filters") if scheme.has_filters else None
        self._digests, self._ids = CheckedArray(stored, "digests"), CheckedLists(stored, "ids")
        self._n_tokens = CheckedArray(stored, "n-tokens")
        self.blocks, self.gone = StoredBlocks(stored, "blocks"), StoredBlocks(stored, "gone")

    def __len__(self) -> int:
        return self.n_documents

    @property
    def n_gone(self) -> int:
        """Number of documents that were left out for their keepers."""
        return len(self.gone)

    def find(self, sought: Sought) -> Found:
        """Find rows by band key, exact copies, and left-out copies."""
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
        places = self.gone.places_of(rows[bounds[1] :])
        gone = []
        for query, (block, row) in zip(queries, places, strict=True):
            table = block.table
            if table["digest"][row].as_py() == digests[query].tolist():
                similarity: float = table["similarity"][row].as_py()
                gone.append((query, str(table["kept_id"][row]), similarity))
        return Found(candidates, (copies[is_same], own[is_same]), gone)

    def rows_of_ids(self, ids: pa.Array, hashes: Uint64s) -> tuple[Int64s, Int64s]:
        """Return matching id numbers and rows, given the ids' hashes."""
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
        return self._digests.take(rows)

    def n_tokens_of(self, rows: Int64s) -> Int64s:
        """Return the numbers of tokens of some rows."""
        return self._n_tokens.take(rows)

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        assert self._filters is not None
        # The first word of each is the size of the set.
        words, offsets = self._filters.take(rows)
        sizes = words[offsets[:-1]].astype(np.int64)
        first = np.arange(len(rows) + 1)
        return Filters(np.delete(words, offsets[:-1]), offsets - first, sizes)

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of rows as large strings."""
        return Texts(*self._ids.take(rows)).to_arrow()

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        return self._ids.one(row).tobytes().decode()

    def records(self, rows: Int64s) -> Iterator[pa.Table]:
        """Yield the records of ascending rows, block by block."""
        start = 0
        while start < len(rows):
            block, place = next(self.blocks.places_of(rows[start : start + 1]))
            first = int(rows[start]) - place
            stop = int(np.searchsorted(rows, first + len(block)))
            is_whole = stop - start == len(block)
            yield block.table if is_whole else block.table.take(pa.array(rows[start:stop] - first))
            start = stop

    def packed_records(self, rows: Int64s, runner: Runner) -> Iterator[PackedBlock]:
        """Yield packed records of ascending rows, reusing whole blocks."""
        bounds = np.searchsorted(rows, self.blocks.first_rows)

        def pack(number: int) -> PackedBlock:
            own = rows[bounds[number] : bounds[number + 1]]
            first, stop = self.blocks.first_rows[number : number + 2].tolist()
            if len(own) == stop - first:
                return PackedBlock(self.blocks.packed(number), len(own))
            records = Block(self.blocks.packed(number)).table.take(pa.array(own - first))
            return PackedBlock(pack_table(records.combine_chunks()), len(own))

        yield from runner.map(pack, np.flatnonzero(np.diff(bounds)).tolist())

    def gone_tables(self) -> Iterator[pa.Table]:
        """Yield the documents that were left out for their keepers."""
        for number in range(self.gone.n_blocks):
            yield self.gone.read(number).table

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return the sets of ascending rows."""
        texts = [block.text(row) for block, row in self.blocks.places_of(rows)]
        joined = texts[0] if len(texts) == 1 else np.concatenate([np.empty(0, np.uint8), *texts])
        own = Texts(joined, offsets_of([len(text) for text in texts]))
        ids = self.ids_of(rows) if self.scheme.shingles.tokenizer.is_by_file else None
        found: ShingleSets | WeightedSets = sets_of_indexed(own, ids, self.scheme)
        return found


# Writing a segment, batch after batch, within a bounded memory.

# Memory of unsorted entries; more of them go to files, one for each list.
MEMORY_BYTES = 1 << 28

# Gone documents per block.
_GONE_IN_BLOCK = 256

# Rows that are copied at once.
_COPIED_AT_ONCE = 1 << 14


class DocumentSegmentWriter:
    """Write a new segment within ``new_segment``, in one thread.

    Documents are numbered in the order of addition.
    """

    def __init__(
        self, writer: SegmentWriter, lists: _Lists, scheme: DocumentScheme, runner: Runner
    ) -> None:
        self.n_documents = self._n_tokens = 0
        self._writer, self._scheme, self._runner = writer, scheme, runner
        self._id_types: list[pa.DataType] = []
        self._lists = lists
        self._blocks, self._gone = _NewBlocks(writer, "blocks"), _NewBlocks(writer, "gone")
        # Arrays of no documents, which give the types.
        filters = Filters(np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int64))
        self._append(
            pa.array([], pa.large_string()),
            np.empty((0, 2), np.uint64),
            np.empty(0, np.int64),
            filters if scheme.has_filters else None,
        )

    @property
    def n_gone(self) -> int:
        """Count the documents left out so far."""
        return self._gone.n_rows

    def add(self, batch: DocumentBatch) -> None:
        """Write the next documents."""
        for number, (keys, rows) in enumerate(batch.lists):
            self._lists.add(number, entries_of(keys, rows + self.n_documents))
        if len(batch):
            self._id_types.append(batch.ids.type)
        self._append(as_text(batch.ids), batch.digests, batch.n_tokens, batch.filters)
        for packed in batch.packed:
            self._blocks.append(packed)

    def add_segment(self, segment: DocumentSegment, rows: Int64s) -> None:
        """Write ascending rows of another segment by merging arrays."""
        numbers: Int64s = np.full(len(segment), -1, np.int64)
        numbers[rows] = np.arange(len(rows)) + self.n_documents
        for number in range(len(self._lists) - 1):
            entries = segment.lists.read(number)
            own = numbers[(entries & _LOW32).astype(np.int64)]
            kept = own >= 0
            # Rows keep their order, and entries theirs.
            self._lists.add(number, (entries[kept] & ~_LOW32) | own[kept].astype(np.uint64))
        if len(rows):
            self._id_types.append(segment.id_type)
        for start in range(0, len(rows), _COPIED_AT_ONCE):
            some = rows[start : start + _COPIED_AT_ONCE]
            filters = segment.filters_of(some) if self._scheme.has_filters else None
            signatures = segment.digests_of(some), segment.n_tokens_of(some), filters
            self._append(segment.ids_of(some), *signatures)
        for packed in segment.packed_records(rows, self._runner):
            self._blocks.append(packed)

    def _append(
        self, ids: pa.Array, digests: Uint64s, n_tokens: Int64s, filters: Filters | None
    ) -> None:
        append = self._writer.append
        append("digests", digests)
        append("n-tokens", n_tokens)
        if filters is not None:
            # Each after the size of its set.
            words = np.insert(filters.words, filters.offsets[:-1], filters.sizes.astype(np.uint64))
            self._writer.append_lists("filters", words, np.diff(filters.offsets) + 1)
        texts = Texts.from_arrow(ids)
        data = texts.data[texts.offsets[0] : texts.offsets[-1]]
        self._writer.append_lists("ids", data, np.diff(texts.offsets))
        self._n_tokens += int(n_tokens.sum())
        self.n_documents += len(ids)

    def add_gone(self, gone: pa.Table, digests: Uint64s) -> None:
        """Write left-out documents, without adding them to the index."""
        if not len(gone):
            return
        rows = np.arange(len(gone), dtype=np.int64) + self._gone.n_rows
        self._lists.add(len(self._lists) - 1, entries_of(digests[:, 0] >> _32, rows))
        for start in range(0, len(gone), _GONE_IN_BLOCK):
            part = gone.slice(start, _GONE_IN_BLOCK).combine_chunks()
            self._gone.append(PackedBlock(pack_table(part), len(part)))

    def finish(self) -> SegmentRecord:
        """Write the lists, and sync all to the disk."""
        append, starts = self._writer.append, [0]
        for name in ("entries", "fences"):
            append(name, np.empty(0, np.uint64))
        numbers = range(len(self._lists))
        for number, entries in enumerate(self._runner.map(self._lists.read, numbers)):
            append("entries", entries)
            append("fences", entries[:: kernel.PAGE])
            starts.append(starts[-1] + len(entries))
            self._runner.report("lists", number + 1, len(self._lists))
        append("list-starts", np.array(starts, np.int64))
        id_type = common_id_type(self._id_types)
        return self._writer.commit(self.n_documents, self._n_tokens, id_type)


@contextmanager
def new_segment(
    folder: Path, name: str, scheme: DocumentScheme, runner: Runner
) -> Iterator[DocumentSegmentWriter]:
    """Write a segment of a locked index, complete after ``finish``."""
    with (
        SegmentWriter(folder, name, page_bytes=SMALL_PAGE, direct="blocks") as writer,
        closing(_Lists(scheme.banding.bands + N_OTHER_LISTS, writer.path.parent)) as lists,
    ):
        yield DocumentSegmentWriter(writer, lists, scheme, runner)


class _NewBlocks:
    """Blocks in the order of writing, with their first rows."""

    def __init__(self, writer: SegmentWriter, name: str) -> None:
        self.n_rows, self._writer, self._name = 0, writer, name
        writer.append_lists(name, np.empty(0, np.uint8), np.empty(0, np.int64))
        writer.append(f"{name}-rows", np.zeros(1, np.int64))

    def append(self, packed: PackedBlock) -> None:
        data = np.frombuffer(packed.data, np.uint8)
        self.n_rows += packed.n_rows
        self._writer.append_lists(self._name, data, np.array([len(data)]))
        self._writer.append(f"{self._name}-rows", np.array([self.n_rows]))


class _Lists:
    """Entries of all lists, in memory or in a file for each list."""

    def __init__(self, n_lists: int, folder: Path) -> None:
        self._folder = folder
        most = max(MEMORY_BYTES // n_lists, 1)
        self._spools = [
            tempfile.SpooledTemporaryFile(most, dir=str(folder))  # noqa: SIM115 - closed by close
            for _ in range(n_lists)
        ]

    def __len__(self) -> int:
        return len(self._spools)

    def add(self, number: int, entries: Uint64s) -> None:
        """Add entries of a list in any order."""
        with translated(self._folder):
            self._spools[number].write(entries.data)

    def read(self, number: int) -> Uint64s:
        """Return all entries of a list, ascending."""
        spool = self._spools[number]
        with translated(self._folder):
            spool.seek(0)
            entries = np.frombuffer(spool.read(), np.uint64)
        return np.sort(entries)

    def close(self) -> None:
        """Remove all files."""
        for spool in self._spools:
            # A full disk refuses to write what is not needed any more.
            with suppress(OSError):
                spool.close()
