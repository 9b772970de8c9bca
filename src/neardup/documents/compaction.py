"""Writing segments of an index anew, as one, without what was taken out of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.documents import blocks
from neardup.documents.batches import PackedBlocks, pack_cells
from neardup.documents.blocks import Block
from neardup.documents.handle import DocumentHandle
from neardup.documents.index import OpenDocuments
from neardup.documents.segment import DocumentSegment
from neardup.documents.segment_files import Gone
from neardup.documents.segment_writer import DocumentSegmentWriter, new_segment
from neardup.runtime.runner import Runner
from neardup.storage.generations import free_name, store_next
from neardup.storage.handle import OpenFiles
from neardup.storage.manifest import SegmentRecord
from neardup.tables import Floats, Int64s, Texts, Uint64s

# Rows whose filters and digests are copied at once.
_ROWS_AT_ONCE = 1 << 16

_LOW32 = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True)
class Compaction:
    """How many segments and documents an index has now, and how many bytes less."""

    n_segments: int
    n_documents: int
    n_freed_bytes: int


def compact_documents(handle: DocumentHandle, runner: Runner) -> Compaction:
    """Write an index anew as one segment, without removed documents; answers stay the same.

    Texts are not tokenised again. Memory does not grow with them.

    Raises
    ------
    IndexLockedError
        If another writer is at work.
    ReadError, WriteError, IndexFormatError
        If files cannot be read or written, or are damaged.
    """
    with handle.changing(runner) as files:
        before = files.manifest.segments
        index = handle.read(files)
        is_compact = len(before) <= 1 and not any(map(len, index.removed))
        if not is_compact:
            merge_segments(handle, files, 0, len(before), runner)
        after = handle.reopen(runner).manifest.segments
        n_freed = _bytes_of(before) - _bytes_of(after)
        return Compaction(len(after), index.n_documents, n_freed)


def merge_segments(
    handle: DocumentHandle, files: OpenFiles, first: int, stop: int, runner: Runner
) -> None:
    """Put neighbouring segments together, in a block of ``handle.changing``.

    Raises
    ------
    WriteError, IndexFormatError
        If files cannot be written, or are damaged.
    """
    manifest, index = files.manifest, handle.read(files)
    name = free_name(manifest, 0)
    merged: list[SegmentRecord] = []
    with new_segment(handle.folder, name, index.scheme, runner) as writer:
        copying = _Copying(index, writer)
        for number in range(first, stop):
            copying.copy(number)
            runner.report("compact", number - first + 1, stop - first)
        copying.flush()
        if writer.n_documents or writer.n_gone:
            merged.append(writer.finish(name))
    records = [*manifest.segments[:first], *merged, *manifest.segments[stop:]]
    store_next(handle.folder, manifest, records, manifest.files)


class _Copying:
    """Copies segments, one behind the other.

    Full blocks of which nothing is lost are copied as they are; rows of others are pooled.
    """

    def __init__(self, index: OpenDocuments, writer: DocumentSegmentWriter) -> None:
        self._index, self._writer = index, writer
        self._pool: list[tuple[list[Texts], pa.Table | None]] = []
        self._schema = pa.schema([])
        self._pooled_bytes = 0

    def copy(self, number: int) -> None:
        segment = self._index.segments[number]
        assert isinstance(segment, DocumentSegment)
        live = self._index.live_rows(number)
        first = self._writer.n_documents
        n_tokens = self._copy_blocks(segment, live)
        self._copy_columns(segment, live, n_tokens)
        self._writer.add_runs(_renumbered(segment, live, first, self._index.scheme.banding.bands))
        self._copy_gone(segment, number)

    def flush(self) -> None:
        """Pack the pooled rows."""
        if not self._pool:
            return
        columns = zip(*(cells for cells, _ in self._pool), strict=True)
        cells = [blocks.join_cells(parts) for parts in columns]
        user = [table for _, table in self._pool if table is not None]
        more = pa.concat_tables(user, promote_options="default") if user else None
        self._writer.add_blocks(pack_cells(cells, more))
        self._pool, self._pooled_bytes, self._schema = [], 0, pa.schema([])

    def _copy_blocks(self, segment: DocumentSegment, live: Int64s) -> int:
        """Copy the blocks of live rows; returns how many tokens all of these have."""
        starts = segment.blocks.first_rows
        bounds = np.searchsorted(live, starts)
        n_lost_tokens = 0
        for number in range(segment.blocks.n_blocks):
            start, n_rows = int(starts[number]), int(starts[number + 1] - starts[number])
            rows = live[bounds[number] : bounds[number + 1]] - start
            data, raw_size = segment.blocks.packed(number)
            if len(rows) == n_rows and 2 * raw_size >= blocks.BLOCK_BYTES:
                self.flush()
                packed = PackedBlocks([data.tobytes()], [n_rows], [raw_size])
                self._writer.add_blocks(packed)
                continue
            block = blocks.unpack(data, raw_size)
            n_lost_tokens += int(block.n_tokens.sum() - block.n_tokens[rows].sum())
            if len(rows):
                self._add_to_pool(block, rows, raw_size)
        return segment.n_tokens - n_lost_tokens

    def _add_to_pool(self, block: Block, rows: Int64s, raw_size: int) -> None:
        cells, user = block.take(rows)
        if user is not None and not self._goes_with(user.schema):
            self.flush()
            self._schema = user.schema
        self._pool.append((cells, user))
        self._pooled_bytes += raw_size
        if self._pooled_bytes >= 2 * blocks.BLOCK_BYTES:
            self.flush()

    def _goes_with(self, schema: pa.Schema) -> bool:
        """Take the schema of the next rows, if no value in the pool changes its type by that."""
        try:
            self._schema = pa.unify_schemas([self._schema, schema])
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            return False
        return True

    def _copy_columns(self, segment: DocumentSegment, live: Int64s, n_tokens: int) -> None:
        has_filters = self._index.scheme.has_filters
        for start in range(0, len(live), _ROWS_AT_ONCE):
            rows = live[start : start + _ROWS_AT_ONCE]
            filters = segment.filters_of(rows) if has_filters else None
            # All tokens with the first rows.
            of_rows = 0 if start else n_tokens
            self._writer.add_columns(segment.digests_of(rows), filters, of_rows, segment.id_type)

    def _copy_gone(self, segment: DocumentSegment, number: int) -> None:
        """Copy what went for documents that are still there."""
        for ids, kept_ids, digests, similarities in gone_of(segment):
            keepers = self._index.documents_of_ids(kept_ids)
            end = self._index.first_documents[number + 1]
            is_there = (keepers >= 0) & (keepers < end)
            if is_there.any():
                mask = pa.array(is_there)
                self._writer.add_gone(
                    ids.filter(mask),
                    kept_ids.filter(mask),
                    digests[is_there],
                    similarities[is_there],
                )


def gone_of(
    segment: DocumentSegment,
) -> Iterator[tuple[pa.Array, pa.Array, Uint64s, Floats]]:
    """Yield ids, kept ids, digests and similarities of gone documents, block by block."""
    if segment.gone is None:
        return
    for number in range(segment.gone.n_blocks):
        block = segment.gone.read(number)
        gone = [Gone(block, row) for row in range(len(block))]
        yield (
            pa.array([each.id for each in gone], pa.large_string()),
            pa.array([each.kept_id for each in gone], pa.large_string()),
            np.frombuffer(b"".join(each.digest for each in gone), np.uint64).reshape(-1, 2),
            np.array([each.similarity for each in gone]),
        )


def _renumbered(
    segment: DocumentSegment, live: Int64s, first: int, n_bands: int
) -> Callable[[int], Uint64s]:
    """Return what reads a list of a segment with the numbers that its rows have now."""
    n_lists = n_bands + 2
    if len(live) == len(segment):

        def shifted(number: int) -> Uint64s:
            if number >= n_lists:
                return np.empty(0, np.uint64)
            run: Uint64s = segment.lists.read(number) + np.uint64(first)
            return run

        return shifted
    now: Int64s = np.full(len(segment), -1, np.int64)
    now[live] = np.arange(first, first + len(live))

    def mapped(number: int) -> Uint64s:
        if number >= n_lists:
            return np.empty(0, np.uint64)
        entries = segment.lists.read(number)
        rows = now[(entries & _LOW32).astype(np.int64)]
        is_live = rows >= 0
        run: Uint64s = (entries[is_live] & ~_LOW32) | rows[is_live].astype(np.uint64)
        return run

    return mapped


def _bytes_of(records: Sequence[SegmentRecord]) -> int:
    return sum(file.size for record in records for file in record.files.values())
