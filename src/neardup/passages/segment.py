"""A segment of documents and windows, and its file format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.files.documents import IdTable, as_text
from neardup.files.folders import FILES
from neardup.index.segments import Segment, SegmentInMemory, SegmentWriter
from neardup.index.store import SegmentRecord
from neardup.kernels.passage import segments
from neardup.kernels.passage.segments import SegmentWindows
from neardup.kernels.types import Int, sealed
from neardup.passages.documents import DocumentBlock
from neardup.passages.windows import PassageScheme, WindowLists, count_windows, number_tokens
from neardup.runs.runner import Runner
from neardup.tables import AnyArray, Bytes, Int32s, Int64s, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies

# Buffers for kernel results, whose size is known only afterwards.

# Initial rows of a buffer.
_FIRST_ROOM = 1 << 10


def fill_array(fill: Callable[[Int64s], Int], room: Int64s, *, axis: int = 0) -> tuple[Int64s, int]:
    """Run a kernel again with a larger array if needed.

    ``fill`` returns the needed size along ``axis``. Returns the final array and that size.
    """
    while (n := int(fill(room))) > room.shape[axis]:
        shape = list(room.shape)
        shape[axis] = 2 * n
        room = np.empty(shape, np.int64)
    return room, n


def fill_in_parts(
    fill: Callable[[int, Int64s], tuple[Int, Int]], n_items: int, n_columns: int
) -> Iterator[Int64s]:
    """Run a kernel over items, yielding its results in parts.

    ``fill`` gets the first unprocessed item and an array with ``n_columns``, processes as many
    items as fit, and returns the next item and the number of rows. The array grows if an item does
    not fit. A part is overwritten by the next one.
    """
    done = 0
    room: Int64s = np.empty((_FIRST_ROOM, n_columns), np.int64)
    while done < n_items:
        reached, n = (int(number) for number in fill(done, room))
        if n:
            yield room[:n]
        if reached == done:
            room = np.empty((4 * len(room), n_columns), np.int64)
        done = reached


DOCUMENT_SCHEMA = pa.schema([("id", pa.large_string()), ("text", pa.large_string())])

# Optional column for texts joined from several files: the start of each file.
_FILES = pa.field("files", FILES)


@dataclass(frozen=True)
class PassageSegment:
    """An open segment of documents.

    ``tokens`` are numbers of entries of ``vocabulary``, which are ascending token hashes; document
    d has ``tokens[offsets[d] : offsets[d + 1]]``. Shingles ``overlap``. ``ids`` are large strings;
    ``id_type`` is their input type. ``files`` are the lists of joined files, or None.
    """

    name: str
    make_windows: Callable[[], SegmentWindows]
    vocabulary: Uint64s
    tokens: Int32s
    offsets: Int64s
    overlap: bool
    gaps: Bytes
    lengths: Bytes
    samples: Int64s
    far_places: Int64s
    far_values: Int64s
    ids: pa.Array
    id_type: pa.DataType
    texts: pa.Array
    files: pa.Array | None
    let_go: Callable[[], None]
    """Frees the memory of mapped files; pages are read again on access."""

    @cached_property
    def windows(self) -> SegmentWindows:
        """The windows of all documents, made on first access."""
        return self.make_windows()

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def _id_table(self) -> IdTable:
        return IdTable(self.ids)

    def rows_of_ids(self, ids: pa.Array, _: Uint64s) -> tuple[Int64s, Int64s]:
        """Return matching numbers of ids and rows.

        Among pending documents, the last one of an id has replaced the others.
        """
        rows = self._id_table.find(ids)
        found = np.flatnonzero(rows >= 0)
        return found, rows[found]

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some documents, as large strings."""
        return self.ids.take(pa.array(rows))

    def token_lists(self) -> TokenLists:
        """Return the token hashes of all documents."""
        return TokenLists(self.vocabulary[self.tokens], self.offsets)

    def byte_places(self, tokens: Int64s, documents: Int64s) -> tuple[Int64s, Int64s]:
        """Return the byte spans of a segment's tokens in texts."""
        starts, stops = np.empty_like(tokens), np.empty_like(tokens)
        segments.find_places(
            tokens,
            self.offsets[documents],
            self.overlap,
            self.gaps,
            self.lengths,
            self.samples,
            self.far_places,
            self.far_values,
            starts,
            stops,
        )
        return starts, stops


def _documents_of(block: DocumentBlock) -> pa.Table:
    columns, schema = [as_text(block.ids), block.texts], DOCUMENT_SCHEMA
    if block.files is not None:
        columns, schema = [*columns, block.files], schema.append(_FILES)
    return pa.table(columns, schema)


def read_segment(stored: Segment, scheme: PassageScheme) -> PassageSegment:
    """Return the documents and windows of a segment."""
    return _segment_of(stored, scheme, partial(_windows_in, stored.arrays))


def _windows_in(arrays: Mapping[str, AnyArray]) -> SegmentWindows:
    names = "key-starts", "keys", "starts", "spans"
    return sealed(SegmentWindows(*(arrays[name] for name in names)))


def _segment_of(
    stored: Segment, scheme: PassageScheme, make_windows: Callable[[], SegmentWindows]
) -> PassageSegment:
    table, arrays = stored.table("documents"), stored.arrays
    has_files = _FILES.name in table.column_names
    return PassageSegment(
        stored.record.name,
        make_windows,
        arrays["vocabulary"],
        arrays["tokens"],
        arrays["offsets"],
        scheme.shingles.ngram > 1,
        arrays["gaps"],
        arrays["lengths"],
        arrays["samples"],
        arrays["far-places"],
        arrays["far-values"],
        _in_one(table["id"]),
        stored.id_type,
        _in_one(table["text"]),
        _in_one(table[_FILES.name]) if has_files else None,
        stored.let_go,
    )


def _in_one(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without copying if possible."""
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


_NO_WINDOWS = np.empty(0, np.uint64), np.empty(0, np.uint32), np.empty((0, 3), np.uint32)

# Writing a segment: documents, their tokens, and all their windows.

_FIRST_ROOM_FAR = 1 << 12


def write_segment(
    folder: Path,
    name: str,
    block: DocumentBlock,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> SegmentRecord:
    """Write a segment and report the completed hash functions.

    The bytes do not depend on the number of threads.
    """
    with SegmentWriter(folder, name) as writer:
        _write(writer, block, scheme, frequencies, runner)
        return writer.commit(len(block), block.n_tokens, _id_type(block))


def hold_segment(
    name: str,
    block: DocumentBlock,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> tuple[SegmentRecord, PassageSegment]:
    """Make a segment in memory, as if written and opened."""
    held = SegmentInMemory()
    _write(held, block, scheme, frequencies, runner)
    record = SegmentRecord(name, len(block), block.n_tokens, 0, 0, 0)
    return record, read_segment(held.segment(record, _id_type(block)), scheme)


def pending_segment(
    block: DocumentBlock, scheme: PassageScheme, frequencies: DocumentFrequencies | None
) -> PassageSegment:
    """Make a segment in memory, with windows made on first access."""
    held = SegmentInMemory()
    _write_documents(held, block, scheme)
    record = SegmentRecord("pending", len(block), block.n_tokens, 0, 0, 0)

    def make_windows() -> SegmentWindows:
        windows = SegmentInMemory()
        _write_windows(windows, block.tokens, scheme, frequencies, Runner(1))
        return _windows_in(windows.segment(record, _id_type(block)).arrays)

    return _segment_of(held.segment(record, _id_type(block)), scheme, make_windows)


def _id_type(block: DocumentBlock) -> pa.DataType:
    return block.ids.type if pa.types.is_integer(block.ids.type) else pa.large_string()


def _write(
    writer: SegmentWriter | SegmentInMemory,
    block: DocumentBlock,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> None:
    _write_documents(writer, block, scheme)
    _write_windows(writer, block.tokens, scheme, frequencies, runner)


def _write_windows(
    writer: SegmentWriter | SegmentInMemory,
    tokens: TokenLists,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> None:
    key_starts = [0]
    # The arrays exist also without hash functions.
    _append_windows(writer, WindowLists(*_NO_WINDOWS))
    for done, lists in enumerate(_all_windows(tokens, scheme, frequencies, runner), 1):
        _append_windows(writer, lists)
        key_starts.append(key_starts[-1] + len(lists))
        runner.report("windows", done, scheme.num_perm)
    writer.append("key-starts", np.array(key_starts, np.int64))


def _all_windows(
    tokens: TokenLists,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> Iterator[WindowLists]:
    if scheme.num_perm:
        _, list_windows = count_windows(tokens, scheme, frequencies)
        yield from runner.map(list_windows, [int(seed) for seed in scheme.seeds])


def _append_windows(writer: SegmentWriter | SegmentInMemory, lists: WindowLists) -> None:
    writer.append("keys", lists.keys)
    writer.append("starts", lists.starts)
    writer.append("spans", lists.spans)


def _write_documents(
    writer: SegmentWriter | SegmentInMemory, block: DocumentBlock, scheme: PassageScheme
) -> None:
    writer.add_table("documents", _documents_of(block))
    numbers, distinct = number_tokens(block.tokens.values)
    order = np.argsort(distinct)
    ranks: Int32s = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    writer.append("vocabulary", distinct[order])
    writer.append("tokens", ranks[numbers])
    writer.append("offsets", block.tokens.offsets)
    n = block.n_tokens
    gaps, lengths = np.empty(n, np.uint8), np.empty(n, np.uint8)
    samples = np.empty(-(-n // segments.STEP), np.int64)
    spans = block.spans

    def pack(far: Int64s) -> Int:
        return segments.pack_places(
            block.tokens.offsets,
            spans.starts,
            spans.stops,
            scheme.shingles.ngram > 1,
            gaps,
            lengths,
            samples,
            far[0],
            far[1],
        )

    far, n_far = fill_array(pack, np.empty((2, _FIRST_ROOM_FAR), np.int64), axis=1)
    writer.append("gaps", gaps)
    writer.append("lengths", lengths)
    writer.append("samples", samples)
    writer.append("far-places", far[0, :n_far])
    writer.append("far-values", far[1, :n_far])
