"""A segment of documents and windows, and its file format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.files.arrowcolumns import one_array
from neardup.files.documents import IdTable, as_text
from neardup.files.folders import FILES
from neardup.index.segments import Segment, SegmentWriter
from neardup.index.store import SegmentRecord
from neardup.kernels.arrays import Int, sealed
from neardup.kernels.passage import segment_kernels
from neardup.kernels.passage.segment_kernels import SegmentWindows
from neardup.passages.document_blocks import DocumentBlock
from neardup.passages.windows import NO_WINDOWS, PassageScheme, number_tokens, window_lister
from neardup.runs.runner import Runner
from neardup.tables import AnyArray, Int32s, Int64s, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies

# Buffers for kernel results, whose size is known only afterwards.

# Initial rows of a buffer.
_FIRST_ROOM = 1 << 10


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
    d has ``tokens[offsets[d] : offsets[d + 1]]``. Shingles ``overlap``; ``packed`` has the
    tokens' places. ``ids`` are large strings; ``id_type`` is their input type. ``files`` are the
    lists of joined files, or None.
    """

    make_windows: Callable[[], SegmentWindows]
    vocabulary: Uint64s
    tokens: Int32s
    offsets: Int64s
    overlap: bool
    packed: tuple[Any, ...]
    ids: pa.Array
    id_type: pa.DataType
    texts: pa.Array
    files: pa.Array | None
    release: Callable[[], None]
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
        packed: Any = *self.packed, starts, stops
        segment_kernels.find_places(tokens, self.offsets[documents], self.overlap, *packed)
        return starts, stops


def read_segment(stored: Segment, scheme: PassageScheme) -> PassageSegment:
    """Return the documents and windows of a segment."""
    table, arrays = stored.table("documents"), stored.arrays
    windows = partial(_windows_in, arrays)
    return _segment_of(table, arrays, stored.id_type, scheme, windows, stored.release)


def make_segment(
    block: DocumentBlock,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> PassageSegment:
    """Make a segment in memory, with windows made on first access."""

    def make_windows() -> SegmentWindows:
        parts = list(_window_arrays(block.tokens, scheme, frequencies, runner))
        names = dict.fromkeys(name for part in parts for name in part)
        return _windows_in(
            {name: np.concatenate([part[name] for part in parts if name in part]) for name in names}
        )

    arrays = _document_arrays(block, scheme)
    return _segment_of(
        _documents_of(block), arrays, _id_type(block), scheme, make_windows, lambda: None
    )


def _windows_in(arrays: Mapping[str, AnyArray]) -> SegmentWindows:
    names = "key-starts", "keys", "starts", "spans"
    return sealed(SegmentWindows(*(arrays[name] for name in names)))


def _segment_of(
    table: pa.Table,
    arrays: Mapping[str, AnyArray],
    id_type: pa.DataType,
    scheme: PassageScheme,
    make_windows: Callable[[], SegmentWindows],
    release: Callable[[], None],
) -> PassageSegment:
    names = "gaps", "lengths", "samples", "far-places", "far-values"
    has_files = _FILES.name in table.column_names
    return PassageSegment(
        make_windows,
        arrays["vocabulary"],
        arrays["tokens"],
        arrays["offsets"],
        scheme.shingles.ngram > 1,
        tuple(arrays[name] for name in names),
        one_array(table["id"]),
        id_type,
        one_array(table["text"]),
        one_array(table[_FILES.name]) if has_files else None,
        release,
    )


# Writing a segment: documents, their tokens, and all their windows.


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
    windows = _window_arrays(block.tokens, scheme, frequencies, runner)
    with SegmentWriter(folder, name) as writer:
        writer.add_table("documents", _documents_of(block))
        for arrays in chain([_document_arrays(block, scheme)], windows):
            for each, array in arrays.items():
                writer.append(each, array)
        return writer.commit(len(block), block.n_tokens, _id_type(block))


def _id_type(block: DocumentBlock) -> pa.DataType:
    return block.ids.type if pa.types.is_integer(block.ids.type) else pa.large_string()


def _documents_of(block: DocumentBlock) -> pa.Table:
    columns, schema = [as_text(block.ids), block.texts], DOCUMENT_SCHEMA
    if block.files is not None:
        columns, schema = [*columns, block.files], schema.append(_FILES)
    return pa.table(columns, schema)


def _document_arrays(block: DocumentBlock, scheme: PassageScheme) -> dict[str, AnyArray]:
    numbers, distinct = number_tokens(block.tokens.values)
    order = np.argsort(distinct)
    ranks: Int32s = np.empty(len(order), np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    n, offsets, spans = block.n_tokens, block.tokens.offsets, block.spans
    gaps, lengths = np.empty(n, np.uint8), np.empty(n, np.uint8)
    samples = np.empty(-(-n // segment_kernels.STEP), np.int64)
    # Unused room takes no memory.
    far = np.empty((2, 2 * n), np.int64)
    packed: Any = gaps, lengths, samples, *far
    n_far = segment_kernels.pack_places(
        offsets, spans.starts, spans.stops, scheme.shingles.ngram > 1, *packed
    )
    return {
        "vocabulary": distinct[order],
        "tokens": ranks[numbers],
        "offsets": offsets,
        "gaps": gaps,
        "lengths": lengths,
        "samples": samples,
        "far-places": far[0, :n_far].copy(),
        "far-values": far[1, :n_far].copy(),
    }


def _window_arrays(
    tokens: TokenLists,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> Iterator[dict[str, AnyArray]]:
    """Yield arrays of windows by hash function, and last where each begins."""
    # The arrays exist also without hash functions.
    yield vars(NO_WINDOWS)
    key_starts = [0]
    if scheme.num_perm:
        list_windows = window_lister(tokens, scheme, frequencies)
        for lists in runner.map(list_windows, [int(seed) for seed in scheme.seeds]):
            yield vars(lists)
            key_starts.append(key_starts[-1] + len(lists))
            runner.report("windows", len(key_starts) - 1, scheme.num_perm)
    yield {"key-starts": np.array(key_starts, np.int64)}
