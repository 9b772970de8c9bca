"""Segments of sorted keys, filters, ids, and blocks of records.

A segment never changes. Accessed parts are verified; large files are not read on opening.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.queries import NO_PAIRS, Queries, make_slots, sets_of_texts
from neardup.documents.records import Packed
from neardup.documents.scheme import DocumentScheme
from neardup.files.documents import as_text, common_id_type, hash_ids
from neardup.index.segments import (
    SMALL_PAGE,
    CheckedArray,
    CheckedLists,
    Segment,
    SegmentWriter,
    pack_table,
    unpack_table,
)
from neardup.index.store import SegmentRecord
from neardup.kernels.arrays import sealed
from neardup.kernels.bucket import bucket_kernels as kernel
from neardup.runs.disk import write_errors
from neardup.runs.runner import Runner
from neardup.tables import Filters, Int64s, ShingleSets, Texts, Uint64s, WeightedSets, offsets_of

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
            # So many keys are in most pages: to check all pages now saves a second lookup.
            self._check(np.flatnonzero(~self.is_checked))
        # Few keys are found, mostly. Each one touches one page or two; with less room for unchecked
        # pages the loop would repeat the lookup many times.
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
        if not n_found:
            return NO_PAIRS
        found = np.unique(found[:n_found])
        return (found >> _32).astype(np.int64), (found & _LOW32).astype(np.int64)

    def _check(self, pages: Int64s) -> None:
        self._entries.check_ranges(self._bounds[pages], self._bounds[pages + 1])
        self.is_checked[pages] = True

    def read(self, number: int) -> Uint64s:
        """Return a whole list."""
        return self._entries.part(int(self.starts[number]), int(self.starts[number + 1]))


def entries_of(keys: Uint64s, rows: Int64s) -> Uint64s:
    """Return entries: a key in the upper 32 bits, its row in the lower ones."""
    return (keys << _32) | rows.astype(np.uint64)


# Blocks that stay decompressed, of some 16 kB each.
_BLOCKS_KEPT = 64


class DocumentSegment:
    """An open segment with rows numbered from 0."""

    def __init__(self, stored: Segment, scheme: DocumentScheme) -> None:
        self.stored, self.scheme, self.id_type = stored, scheme, stored.id_type
        self.n_documents = stored.record.n_documents
        entries, starts = CheckedArray(stored, "entries"), stored.array("list-starts")
        self.lists = EntryLists(entries, starts, stored.array("fences"))
        # The list of ids follows those of bands.
        self._list_of_ids = scheme.banding.bands
        self._filters = CheckedLists(stored, "filters") if scheme.has_filters else None
        self._digests, self._ids = CheckedArray(stored, "digests"), CheckedLists(stored, "ids")
        self._n_tokens = CheckedArray(stored, "n-tokens")
        self._packed = CheckedLists(stored, "blocks").one
        self._first_rows: Int64s = stored.array("blocks-rows")
        self._block = lru_cache(_BLOCKS_KEPT)(lambda block: unpack_table(self._packed(block)))

    def __len__(self) -> int:
        return self.n_documents

    def find(self, queries: Queries) -> tuple[Int64s, Int64s]:
        """Return texts and rows with a common band key, in order."""
        return self.lists.find(queries.slots)

    def rows_of_ids(self, ids: pa.Array, hashes: Uint64s) -> tuple[Int64s, Int64s]:
        """Return matching id numbers and rows, given the ids' hashes."""
        numbers: Int64s = np.full(len(hashes), self._list_of_ids, np.int64)
        slots = make_slots(hashes >> _32, numbers, np.arange(len(hashes)))
        queries, rows = self.lists.find(slots)
        if not len(rows):
            return queries, rows
        is_same = pc.equal(self.ids_of(rows), ids.take(pa.array(queries)))
        is_same = is_same.to_numpy(zero_copy_only=False)
        return queries[is_same], rows[is_same]

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
        for block, own in self._by_block(rows):
            table = self._block(block)
            yield table if len(own) == len(table) else table.take(pa.array(own))

    def packed_records(self, rows: Int64s, runner: Runner) -> Iterator[Packed]:
        """Yield packed records of ascending rows, reusing whole blocks."""

        def pack(part: tuple[int, Int64s]) -> Packed:
            block, own = part
            data: Any = self._packed(block)
            if len(own) < self._first_rows[block + 1] - self._first_rows[block]:
                data = pack_table(unpack_table(data).take(pa.array(own)).combine_chunks())
            return data, len(own)

        yield from runner.map(pack, self._by_block(rows))

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return the sets of ascending rows."""
        parts = [(self._block(block)["text"].chunk(0), own) for block, own in self._by_block(rows)]
        # Slices, because ``take`` is slow for a single text.
        texts = [every.slice(row, 1) for every, own in parts for row in own.tolist()]
        own, tokenizer = pa.concat_arrays(texts), self.scheme.shingles.tokenizer
        if tokenizer.is_by_file:
            return sets_of_texts(tokenizer.texts_in_index(own, self.ids_of(rows)), self.scheme)
        return sets_of_texts(Texts.from_arrow(own), self.scheme)

    def _by_block(self, rows: Int64s) -> list[tuple[int, Int64s]]:
        """Return blocks with the places of ascending rows in them."""
        blocks = self._first_rows.searchsorted(rows, side="right") - 1
        places = rows - self._first_rows[blocks]
        bounds = [*np.flatnonzero(np.diff(blocks, prepend=-1)).tolist(), len(rows)]
        return [(int(blocks[start]), places[start:stop]) for start, stop in pairwise(bounds)]


# Writing a segment, batch after batch, within a bounded memory.


@dataclass(frozen=True)
class DocumentBatch:
    """Documents that are ready to be written to a segment.

    ``ids`` are large strings or integers.
    """

    ids: pa.Array
    signed: Queries
    packed: list[Packed]


# Memory of unsorted entries; more of them go to files, one for each list.
MEMORY_BYTES = 1 << 28

# Rows that are copied at once.
_COPIED_AT_ONCE = 1 << 14


class DocumentSegmentWriter:
    """Write a new segment within ``new_segment``, in one thread.

    Documents are numbered in the order of addition.
    """

    def __init__(
        self,
        writer: SegmentWriter,
        lists: Sequence[IO[bytes]],
        scheme: DocumentScheme,
        runner: Runner,
    ) -> None:
        self.n_documents = self._n_tokens = 0
        self._writer, self._scheme, self._runner = writer, scheme, runner
        self._id_types: list[pa.DataType] = []
        # Unsorted entries of each list, in memory or in a file.
        self._lists = lists
        self._block_rows: list[int] = []
        # Arrays of no documents, which give the types.
        self._append_blocks([(b"", 0)])
        filters = Filters(np.empty(0, np.uint64), np.zeros(1, np.int64), np.empty(0, np.int64))
        self._append(
            pa.array([], pa.large_string()),
            np.empty((0, 2), np.uint64),
            np.empty(0, np.int64),
            filters if scheme.has_filters else None,
        )

    def add(self, batch: DocumentBatch) -> None:
        """Write the next documents."""
        signed, ids = batch.signed, as_text(batch.ids)
        filled = np.flatnonzero(signed.is_filled)
        for number, keys in enumerate(signed.keys[filled].T):
            self._add_entries(number, entries_of(keys >> _32, filled + self.n_documents))
        rows = np.arange(len(ids)) + self.n_documents
        self._add_entries(len(self._lists) - 1, entries_of(hash_ids(ids) >> _32, rows))
        if len(ids):
            self._id_types.append(batch.ids.type)
        self._append(ids, signed.digests, signed.n_tokens, signed.filters)
        self._append_blocks(batch.packed)

    def add_segment(self, segment: DocumentSegment, rows: Int64s) -> None:
        """Write ascending rows of another segment by merging arrays."""
        numbers: Int64s = np.full(len(segment), -1, np.int64)
        numbers[rows] = np.arange(len(rows)) + self.n_documents
        for number in range(len(self._lists)):
            entries = segment.lists.read(number)
            own = numbers[(entries & _LOW32).astype(np.int64)]
            kept = own >= 0
            # Rows keep their order, so that sorted entries stay sorted.
            self._add_entries(number, (entries[kept] & ~_LOW32) | own[kept].astype(np.uint64))
        if len(rows):
            self._id_types.append(segment.id_type)
        for start in range(0, len(rows), _COPIED_AT_ONCE):
            some = rows[start : start + _COPIED_AT_ONCE]
            filters = segment.filters_of(some) if self._scheme.has_filters else None
            signatures = segment.digests_of(some), segment.n_tokens_of(some), filters
            self._append(segment.ids_of(some), *signatures)
        self._append_blocks(segment.packed_records(rows, self._runner))

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

    def _append_blocks(self, blocks: Iterable[Packed]) -> None:
        for packed, n_rows in blocks:
            data = np.frombuffer(packed, np.uint8)
            self._writer.append_lists("blocks", data, np.array([len(data)]))
            self._block_rows.append(n_rows)

    def _add_entries(self, number: int, entries: Uint64s) -> None:
        with write_errors(self._writer.path):
            self._lists[number].write(entries.data)

    def _sorted_entries(self, number: int) -> Uint64s:
        entries = self._lists[number]
        with write_errors(self._writer.path):
            entries.seek(0)
            return np.sort(np.frombuffer(entries.read(), np.uint64))

    def finish(self) -> SegmentRecord:
        """Write the lists, and sync all to the disk."""
        append, starts = self._writer.append, [0]
        for name in ("entries", "fences"):
            append(name, np.empty(0, np.uint64))
        numbers = range(len(self._lists))
        for number, entries in enumerate(self._runner.map(self._sorted_entries, numbers)):
            append("entries", entries)
            append("fences", entries[:: kernel.PAGE])
            starts.append(starts[-1] + len(entries))
            self._runner.report("lists", number + 1, len(self._lists))
        append("list-starts", np.array(starts, np.int64))
        append("blocks-rows", offsets_of(self._block_rows))
        id_type = common_id_type(self._id_types)
        return self._writer.commit(self.n_documents, self._n_tokens, id_type)


@contextmanager
def new_segment(
    folder: Path, name: str, scheme: DocumentScheme, runner: Runner
) -> Iterator[DocumentSegmentWriter]:
    """Write a segment of a locked index, complete after ``finish``."""
    with (
        SegmentWriter(folder, name, page_bytes=SMALL_PAGE, direct="blocks") as writer,
        ExitStack() as stack,
    ):
        n_lists = scheme.banding.bands + 1
        lists = []
        for _ in range(n_lists):
            most = max(MEMORY_BYTES // n_lists, 1)
            file = tempfile.SpooledTemporaryFile(  # noqa: SIM115 - closed by _close
                most, dir=str(writer.path.parent)
            )
            stack.callback(_close, file)
            lists.append(file)
        yield DocumentSegmentWriter(writer, lists, scheme, runner)


def _close(file: IO[bytes]) -> None:
    # A full disk refuses to write what is not needed any more.
    with suppress(OSError):
        file.close()
