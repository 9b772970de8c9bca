"""A reader's view of an index of passages: its segments, and pending documents in memory."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa

from neardup.files.ids import as_text, common_id_type, join_ids
from neardup.index.handle import IndexHandle, OpenFiles, SharedFolder, open_frequencies
from neardup.index.index import OpenIndex
from neardup.index.segments import Segment, open_segment, pack_table, unpack_table
from neardup.index.store import Manifest, SegmentRecord
from neardup.options.choices import InverseFrequency
from neardup.passages.documents import DocumentBlock, join_blocks
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import DocumentsById, PassageSegment, hold_segment, read_segment
from neardup.passages.windows import PassageScheme, restore_scheme
from neardup.runs.runner import Runner, release_memory
from neardup.tables import Int64s, TokenLists, TokenSpans, Uint32s
from neardup.text.weighting import DocumentFrequencies


@dataclass(frozen=True)
class OpenPassages(OpenIndex[PassageScheme, PassageSegment]):
    """An index of passages, with a searcher per segment.

    With ``gives_back``, little of its files stays in memory.
    """

    frequencies: DocumentFrequencies | None
    searchers: tuple[SegmentSearcher, ...]
    gives_back: bool = False

    texts_in: ClassVar = "documents.arrow"

    def document_sizes(self) -> Int64s:
        """Return the number of tokens of each document that is not removed."""
        sizes = [
            np.delete(np.diff(segment.offsets), removed)
            for segment, removed in zip(self.segments, self.removed, strict=True)
        ]
        return np.concatenate([np.empty(0, np.int64), *sizes])

    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return the ids and texts of documents, whose numbers ascend."""
        tables = [
            pa.table(
                {
                    "id": segment.ids_of(rows).cast(self.id_type),
                    "text": segment.texts.take(pa.array(rows)),
                }
            )
            for segment, rows in self.by_segment(documents)
        ]
        schema = pa.schema([("id", self.id_type), ("text", pa.large_string())])
        return pa.concat_tables(tables) if tables else schema.empty_table()

    def weighed_by(self, idf: InverseFrequency) -> OpenPassages:
        """Return an index without min-hashes, with other inverse document frequencies."""
        scheme = self.scheme.weighed_by(idf)
        searchers = tuple(
            SegmentSearcher(segment, scheme, self.frequencies) for segment in self.segments
        )
        return replace(self, scheme=scheme, searchers=searchers)

    def leave(self, number: int) -> None:
        """Free the memory of a segment's files, if ``gives_back`` is set."""
        if self.gives_back:
            self.segments[number].let_go()

    def search_bytes(self, n_threads: int) -> int:
        """Return the approximate memory of a search of all segments."""
        return sum(searcher.memory_bytes(n_threads) for searcher in self.searchers)

    def in_turns(
        self, first: int, n_threads: int, fits: Callable[[int], bool]
    ) -> Iterator[Sequence[int]]:
        """Yield groups of segment numbers that fit into memory together.

        If all fit, data of the search stay for the next one; otherwise they are freed after each
        group.
        """
        turns: list[list[int]] = [[]]
        n_bytes = 0
        for number in range(first, len(self.segments)):
            needed = self.searchers[number].memory_bytes(n_threads)
            if turns[-1] and not fits(n_bytes + needed):
                turns.append([])
                n_bytes = 0
            turns[-1].append(number)
            n_bytes += needed
        for turn in filter(None, turns):
            yield turn
            if len(turns) > 1:
                for number in turn:
                    self.searchers[number].forget()
                # The C library would keep much of it, in fragments.
                release_memory()

    def counts(self) -> dict[str, Any]:
        """Return the document counts for ``describe``."""
        return {
            "documents": self.n_documents,
            "removed_documents": sum(map(len, self.removed)),
            "tokens": self.manifest.pending.n_tokens
            + sum(record.n_tokens for record in self.manifest.segments),
            "windows": sum(len(segment.windows.starts) for segment in self.segments),
        }

    def describe(self, folder: Path) -> dict[str, Any]:
        """Describe an index, with defaults that the first versions did not write."""
        return {**super().describe(folder), "scheme": self.scheme.describe()}


def open_segments(
    folder: Path,
    records: Sequence[SegmentRecord],
    removed: Sequence[Uint32s],
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
    pending: Sequence[PassageSegment] = (),
) -> OpenPassages:
    """Open some segments of an index with known scheme and frequencies as an index.

    Every byte of them is checked. ``removed`` has the removed rows of each segment, ``pending`` are
    further segments in memory.
    """
    segments = [read_segment(open_segment(folder, record, runner), scheme) for record in records]
    searchers = [SegmentSearcher(each, scheme, frequencies) for each in (*segments, *pending)]
    return combine(scheme, frequencies, searchers, records, removed)


def combine(
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    searchers: Sequence[SegmentSearcher],
    records: Sequence[SegmentRecord] = (),
    removed: Sequence[Uint32s] | None = None,
) -> OpenPassages:
    """Combine segments to an index; without ``removed`` all documents are there."""
    if removed is None:
        removed = [np.empty(0, np.uint32)] * len(searchers)
    manifest = Manifest(scheme.describe(), segments=tuple(records))
    segments = tuple(searcher.segment for searcher in searchers)
    return OpenPassages(manifest, scheme, segments, tuple(removed), frequencies, tuple(searchers))


_Decided = tuple[PassageScheme, DocumentFrequencies | None]


class PassageHandle(IndexHandle[OpenPassages, _Decided, SegmentSearcher]):
    """An open index of passages; its segments keep their lookup tables."""

    kind: ClassVar = "passages"

    def restore(self, files: OpenFiles) -> _Decided:
        """Restore the scheme and the frequencies."""
        scheme = restore_scheme(files.manifest.scheme, self.tokenizer)
        return scheme, open_frequencies(files)

    def open_part(self, segment: Segment, restored: _Decided) -> SegmentSearcher:
        """Open the files of a segment."""
        scheme, frequencies = restored
        return SegmentSearcher(read_segment(segment, scheme), scheme, frequencies)

    def view_of(
        self, files: OpenFiles, restored: _Decided, parts: tuple[SegmentSearcher, ...]
    ) -> OpenPassages:
        """Combine all segments to an index."""
        scheme, frequencies = restored
        if self._pending is None or self._pending.made_by is not restored:
            self._pending = PendingDocuments(restored)
        pending = self._pending.read(files.contents.pending)
        waiting = tuple(searcher.segment for searcher in pending)
        segments = (*(searcher.segment for searcher in parts), *waiting)
        # Pending documents are rewritten when one of them is removed.
        removed = (*files.removed[:-1], *[np.empty(0, np.uint32)] * len(waiting))
        searchers = (*parts, *pending)
        return OpenPassages(files.manifest, scheme, segments, removed, frequencies, searchers)

    _pending: PendingDocuments | None = None


# Maximum pending documents and tokens: each process that searches the index computes their windows.
MOST_PENDING, MOST_PENDING_TOKENS = 1 << 10, 1 << 18


def pack_block(block: DocumentBlock) -> bytes:
    """Serialize documents for a row of the database."""
    offsets, spans = pa.array(block.tokens.offsets), block.spans
    columns = {
        "id": block.ids,
        "text": block.texts,
        **{
            name: pa.LargeListArray.from_arrays(offsets, pa.array(values))
            for name, values in (
                ("token", block.tokens.values), ("start", spans.starts), ("stop", spans.stops)
            )
        },
    }  # fmt: skip
    if block.files is not None:
        columns["files"] = block.files
    return pack_table(pa.table(columns))


def unpack_block(data: bytes) -> DocumentBlock:
    """Return the documents of a row, whose checksum has been verified."""
    table = unpack_table(data)
    column = {name: table[name].combine_chunks() for name in table.column_names}
    tokens, starts, stops = (column[name].values.to_numpy() for name in ("token", "start", "stop"))
    return DocumentBlock(
        column["id"],
        column["text"],
        TokenLists(tokens, column["token"].offsets.to_numpy()),
        TokenSpans(starts, stops),
        files=column.get("files"),
    )


class PendingSegment(DocumentsById):
    """A segment of documents that wait, whose windows are made when it is first searched.

    It has the attributes of ``PassageSegment``.
    """

    def __init__(
        self,
        blocks: Sequence[DocumentBlock],
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
    ) -> None:
        self.blocks, self._made_by = tuple(blocks), (scheme, frequencies)
        self.n_tokens = sum(block.n_tokens for block in blocks)
        self._n_documents = sum(map(len, blocks))
        self.id_type = common_id_type(block.ids.type for block in blocks)

    @property
    def is_held(self) -> bool:
        """Whether its windows are computed."""
        return "_held" in vars(self)

    def __len__(self) -> int:
        return self._n_documents

    @cached_property
    def block(self) -> DocumentBlock:
        """All documents in one block."""
        return join_blocks(self.blocks)

    @cached_property
    def ids(self) -> pa.Array:
        """The ids, as large strings."""
        return as_text(join_ids([block.ids for block in self.blocks]))

    @property
    def texts(self) -> pa.Array:
        """The texts."""
        return self.block.texts

    @property
    def offsets(self) -> Int64s:
        """Where the tokens of each document begin."""
        return self.block.tokens.offsets

    @cached_property
    def _held(self) -> PassageSegment:
        return hold_segment("pending", self.block, *self._made_by, Runner(1))[1]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._held, name)


class PendingDocuments:
    """The pending documents, in a few segments that grow with new rows.

    A segment with computed windows stays unchanged until more than half its tokens have been added
    after it.
    """

    def __init__(self, made_by: tuple[PassageScheme, DocumentFrequencies | None]) -> None:
        self.made_by = made_by
        self._rows: tuple[bytes, ...] = ()
        self._blocks: list[DocumentBlock] = []
        self._searchers: list[SegmentSearcher] = []

    def read(self, rows: tuple[bytes, ...]) -> list[SegmentSearcher]:
        """Return the segments of some rows; rows that were read before are cached."""
        n = len(self._rows)
        if rows[:n] != self._rows:
            n, self._blocks, self._searchers = 0, [], []
        self._rows = rows
        self._blocks += map(unpack_block, rows[n:])
        if len(rows) > n:
            kept = list(self._searchers)
            n_kept = sum(len(_pending_of(searcher).blocks) for searcher in kept)
            n_new = sum(block.n_tokens for block in self._blocks[n_kept:])
            while kept:
                last = _pending_of(kept[-1])
                if last.is_held and last.n_tokens > 2 * n_new:
                    break
                n_new, n_kept = n_new + last.n_tokens, n_kept - len(last.blocks)
                kept.pop()
            new = PendingSegment(self._blocks[n_kept:], *self.made_by)
            self._searchers = [*kept, SegmentSearcher(cast("PassageSegment", new), *self.made_by)]
        return self._searchers


def _pending_of(searcher: SegmentSearcher) -> PendingSegment:
    return cast("PendingSegment", searcher.segment)


# The last index that this process received and opened, for consecutive tasks.
_opened: dict[str, OpenPassages] = {}


class SharedPassages:
    """An open index of passages, which other processes open on first use.

    Parameters
    ----------
    index
        The index, opened in this process.
    folder
        Folder of its files; None: only in memory, not available to other processes.
    """

    def __init__(self, index: OpenPassages, folder: SharedFolder | None) -> None:
        self._index: OpenPassages | None = index
        self._folder, self._key = folder, secrets.token_hex(8)
        self._parts = (
            index.manifest.segments,
            index.removed,
            index.scheme,
            index.frequencies,
        )
        self._pending = index.segments[len(index.manifest.segments) :]

    def __getstate__(self) -> dict[str, Any]:
        """Omit the open index."""
        return vars(self) | {"_index": None}

    @property
    def opened(self) -> OpenPassages:
        """The index. Another process checks every byte of its files on opening."""
        if self._index is None:
            if self._key not in _opened:
                _opened.clear()
                assert self._folder is not None
                with self._folder.open() as folder:
                    _opened[self._key] = open_segments(
                        folder, *self._parts, Runner(1), self._pending
                    )
            self._index = _opened[self._key]
        return self._index
