"""An index of passages, with its pending documents and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from neardup.files.documents import ReadingPass
from neardup.files.rows import Source
from neardup.index.handle import IndexHandle, store_frequencies
from neardup.index.open_index import Addition, OpenIndex, RemovalResult, wanted_ids
from neardup.index.segments import Segment, check_all, open_segment, pack_table, unpack_table
from neardup.index.store import Contents, Manifest, SegmentRecord
from neardup.options.choices import InverseFrequency
from neardup.passages.document_blocks import (
    DocumentBlock,
    DocumentReading,
    gather,
    join_blocks,
    read_documents,
    without_rows,
)
from neardup.passages.passage_segment import (
    PassageSegment,
    make_segment,
    read_segment,
    write_segment,
)
from neardup.passages.segment_search import SegmentSearcher
from neardup.passages.windows import PassageScheme, restore_scheme
from neardup.runs.runner import Runner, release_memory
from neardup.tables import Int64s, TokenLists, TokenSpans, places_of_lists
from neardup.text.weighting import DocumentFrequencies, count_documents

# Tokens of documents that are read together.
_TOKENS_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class OpenPassages(OpenIndex[PassageScheme, PassageSegment]):
    """An index of passages, with a searcher per segment.

    With ``frees_files``, little of its files stays in memory.
    """

    frequencies: DocumentFrequencies | None
    searchers: tuple[SegmentSearcher, ...]
    frees_files: bool = False

    def opener(self) -> Callable[[Path], OpenPassages]:
        """Return a function that opens this state in another process."""
        return partial(
            open_segments,
            contents=self.contents,
            scheme=self.scheme,
            frequencies=self.frequencies,
            runner=Runner(1),
        )

    @property
    def text_bytes(self) -> int:
        """Bytes of the texts in segments."""
        return sum(each.texts.nbytes for each in self.segments[: len(self.manifest.segments)])

    def document_sizes(self) -> Int64s:
        """Return the number of tokens of each remaining document."""
        sizes = [
            np.delete(np.diff(segment.offsets), removed)
            for segment, removed in zip(self.segments, self.removed, strict=True)
        ]
        return np.concatenate([np.empty(0, np.int64), *sizes])

    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return the ids and texts of ascending documents."""
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

    def tokens_of(self, documents: Int64s) -> Iterator[TokenLists]:
        """Yield the tokens of ascending documents in batches."""
        for segment, rows in self.by_segment(documents):
            starts = segment.offsets[rows]
            sizes = segment.offsets[rows + 1] - starts
            groups = (np.cumsum(sizes) - sizes) // _TOKENS_AT_A_TIME
            bounds = np.flatnonzero(np.diff(groups, prepend=-1, append=-1))
            for first, stop in pairwise(bounds.tolist()):
                places, offsets = places_of_lists(starts[first:stop], sizes[first:stop])
                yield TokenLists(segment.vocabulary[segment.tokens[places]], offsets)
            if self.frees_files:
                segment.release()

    def with_idf(self, idf: InverseFrequency) -> OpenPassages:
        """Return the index with another inverse frequency of tokens.

        Only for an index without min-hashes, which would be those of other weights.
        """
        scheme = self.scheme.with_idf(idf)
        searchers = tuple(
            SegmentSearcher(segment, scheme, self.frequencies) for segment in self.segments
        )
        return replace(self, scheme=scheme, searchers=searchers)

    def release_file(self, number: int) -> None:
        """Free the memory of a segment's file, if ``frees_files``."""
        if self.frees_files:
            self.segments[number].release()

    def groups_in_memory(
        self, first: int, n_threads: int, fits: Callable[[int], bool]
    ) -> Iterator[Sequence[int]]:
        """Yield groups of segment numbers that fit into memory together.

        Search data of the segments stay in memory if there is one group. Otherwise they are freed
        after each group.
        """
        groups: list[list[int]] = [[]]
        n_bytes = 0
        for number in range(first, len(self.segments)):
            needed = self.searchers[number].memory_bytes(n_threads)
            if groups[-1] and not fits(n_bytes + needed):
                groups.append([])
                n_bytes = 0
            groups[-1].append(number)
            n_bytes += needed
        for group in filter(None, groups):
            yield group
            if len(groups) > 1:
                for number in group:
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


def open_segments(
    folder: Path,
    contents: Contents,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> OpenPassages:
    """Open a known state of an index, verifying its segments."""
    stored = [open_segment(folder, record) for record in contents.manifest.segments]
    check_all(stored, runner)
    made_by = scheme, frequencies
    searchers = [SegmentSearcher(read_segment(each, scheme), *made_by) for each in stored]
    searchers += PendingDocuments(made_by).read(contents.pending)
    return combine(contents, scheme, frequencies, searchers)


def temporary_contents(scheme: PassageScheme, records: Sequence[SegmentRecord] = ()) -> Contents:
    """Return the contents of an index without a database."""
    return Contents(Manifest(scheme.describe())).with_segments(records, 0)


def combine(
    contents: Contents,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    searchers: Sequence[SegmentSearcher],
) -> OpenPassages:
    """Combine segments and pending documents into an index."""
    segments = tuple(searcher.segment for searcher in searchers)
    removed = [*contents.removed[:-1]]
    first, of_pending = 0, contents.removed[-1]
    for segment in segments[len(removed) :]:
        stop = first + len(segment)
        removed.append(of_pending[(of_pending >= first) & (of_pending < stop)] - np.uint32(first))
        first = stop
    return OpenPassages(contents, scheme, segments, tuple(removed), frequencies, tuple(searchers))


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
    """Return the documents of a verified row."""
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


class PendingDocuments:
    """Pending documents, in a few segments that grow.

    A segment stays unchanged until more than half its tokens have been added after it, so that a
    document's windows are made a few times.
    """

    def __init__(self, made_by: tuple[PassageScheme, DocumentFrequencies | None]) -> None:
        self.made_by = made_by
        self._rows: tuple[bytes, ...] = ()
        self._parts: list[tuple[list[DocumentBlock], SegmentSearcher]] = []

    def read(self, rows: tuple[bytes, ...]) -> list[SegmentSearcher]:
        """Return the segments of some rows, cached by row."""
        n = len(self._rows)
        if rows[:n] != self._rows:
            n, self._parts = 0, []
        self._rows = rows
        new = [*map(unpack_block, rows[n:])]
        while new and self._parts:
            blocks, searcher = self._parts[-1]
            segment = searcher.segment
            if len(segment.tokens) > 2 * sum(block.n_tokens for block in new):
                break
            new = blocks + new
            self._parts.pop()
        if new:
            segment = make_segment(join_blocks(new), *self.made_by, Runner(1))
            self._parts.append((new, SegmentSearcher(segment, *self.made_by)))
        return [searcher for _, searcher in self._parts]


# Tokens per segment.
SEGMENT_TOKENS = 1 << 24

_Decided = tuple[PassageScheme, DocumentFrequencies | None]


class PassageHandle(IndexHandle[OpenPassages]):
    """An open index of passages with cached lookup tables."""

    kind: ClassVar = "passages"
    is_lazy: ClassVar = False
    _pending: PendingDocuments | None = None

    def restore(self, contents: Contents, frequencies: DocumentFrequencies | None) -> _Decided:
        """Restore the scheme and the frequencies."""
        return restore_scheme(contents.manifest.scheme, self.tokenizer), frequencies

    def open_part(self, segment: Segment, restored: _Decided) -> SegmentSearcher:
        """Return the searcher of a segment."""
        scheme, frequencies = restored
        return SegmentSearcher(read_segment(segment, scheme), scheme, frequencies)

    def view_of(
        self, contents: Contents, restored: _Decided, parts: tuple[SegmentSearcher, ...]
    ) -> OpenPassages:
        """Combine all segments and pending documents to an index."""
        if self._pending is None or self._pending.made_by is not restored:
            self._pending = PendingDocuments(restored)
        return combine(contents, *restored, (*parts, *self._pending.read(contents.pending)))

    def add(self, sources: Sequence[Source], options: DocumentReading, runner: Runner) -> Addition:
        """Add all documents, or none after an error.

        The first addition determines the inverse document frequencies, if tokens are weighted by
        them; it reads the input twice.
        """
        with self.changing(runner) as index:
            return self._add(index, sources, options, runner)

    def replace(
        self,
        identifier: str | int,
        sources: Sequence[Source],
        options: DocumentReading,
        runner: Runner,
    ) -> RemovalResult:
        """Replace the document of an id in one change."""
        with self.changing(runner) as index:
            left = self.without(index, wanted_ids([identifier]), runner)
            self._add(left, sources, options, runner)
            return RemovalResult(index.n_documents - left.n_documents, left.n_documents + 1)

    def _add(
        self,
        index: OpenPassages,
        sources: Sequence[Source],
        options: DocumentReading,
        runner: Runner,
    ) -> Addition:
        """Add documents within ``changing``, possibly after removals from ``index``."""
        options = options.for_sources(sources)
        contents, scheme, frequencies = index.contents, index.scheme, index.frequencies
        if scheme.weighting.idf != "unary" and frequencies is None:
            counting = ReadingPass("count", sources, runner)
            counted = read_documents(sources, scheme.tokenizer, options, counting)
            frequencies = count_documents(block.tokens for block in counted)
            # An addition without documents does not determine the frequencies.
            if frequencies.n_documents:
                contents = store_frequencies(self.folder, contents, frequencies)
        addition = Addition(index, options.columns, scheme.least_shingles)
        reading = ReadingPass("read", sources, runner)
        blocks = read_documents(sources, scheme.tokenizer, options, reading)
        first, records = len(contents.manifest.segments), list[SegmentRecord]()
        for block in gather(blocks, SEGMENT_TOKENS):
            sizes = np.diff(block.tokens.offsets)
            addition.take(block.ids, block.places, sizes, block.skipped)
            # The windows of a segment take longer than anything else.
            addition.check_repeats()
            if not len(block):
                continue
            if not records:
                pending = contents.manifest.pending
                is_small = (
                    pending.n_documents + len(block) <= MOST_PENDING
                    and pending.n_tokens + block.n_tokens <= MOST_PENDING_TOKENS
                )
                if is_small and block.n_tokens < SEGMENT_TOKENS:
                    packed = [pack_block(block)]
                    contents = contents.with_pending(packed, len(block), block.n_tokens)
                    break
                # Pending documents come first.
                block = join_blocks([*_stored_blocks(index, first), block])
            name = contents.manifest.free_name(first + len(records))
            record = write_segment(self.folder, name, block, scheme, frequencies, runner)
            records.append(record)
        if records:
            contents = contents.with_segments(records, first)
        self.database.commit(contents)
        return addition

    def _merge(self, index: OpenPassages, first: int, runner: Runner) -> None:
        # Documents are not tokenised again.
        records: list[SegmentRecord] = []
        n_done = 0
        for block in gather(_stored_blocks(index, first), SEGMENT_TOKENS):
            if len(block):
                name = index.manifest.free_name(len(records))
                made = block, index.scheme, index.frequencies, runner
                records.append(write_segment(self.folder, name, *made))
                n_done += len(block)
                runner.report("compact", n_done, index.n_documents)
        self.database.commit(index.contents.with_segments(records, first))


def _stored_blocks(index: OpenPassages, first: int) -> Iterator[DocumentBlock]:
    for segment, removed in zip(index.segments[first:], index.removed[first:], strict=True):
        tokens = segment.token_lists()
        n = len(tokens.values)
        documents = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
        spans = TokenSpans(*segment.byte_places(np.arange(n, dtype=np.int64), documents))
        ids = segment.ids.cast(segment.id_type)
        block = DocumentBlock(ids, segment.texts, tokens, spans, files=segment.files)
        yield without_rows(block, removed)
