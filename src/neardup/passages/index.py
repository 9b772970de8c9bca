"""An index of passages, with its pending documents and changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.documents import ReadingPass, as_text, common_id_type, join_ids
from neardup.files.rows import Source
from neardup.index.handle import IndexHandle, store_frequencies
from neardup.index.index import (
    Addition,
    OpenIndex,
    RemovalResult,
    check_all_found,
    wanted_ids,
)
from neardup.index.segments import Segment, check_all, open_segment, pack_table, unpack_table
from neardup.index.store import Contents, Manifest, SegmentRecord
from neardup.options.choices import InverseFrequency
from neardup.options.option import no_effect
from neardup.passages.documents import (
    DocumentBlock,
    PassageReading,
    gather,
    join_blocks,
    read_documents,
    without_rows,
)
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import (
    DocumentsById,
    PassageSegment,
    hold_segment,
    read_segment,
    write_segment,
)
from neardup.passages.windows import PassageScheme, restore_scheme
from neardup.runs.runner import Runner, release_memory
from neardup.tables import Int64s, TokenLists, TokenSpans, Uint32s, places_of_lists
from neardup.text.weighting import DocumentFrequencies, count_documents

# Tokens of documents that are read together.
_TOKENS_AT_A_TIME = 1 << 20


@dataclass(frozen=True)
class OpenPassages(OpenIndex[PassageScheme, PassageSegment]):
    """An index of passages, with a searcher per segment.

    With ``gives_back``, little of its files stays in memory.
    """

    frequencies: DocumentFrequencies | None
    searchers: tuple[SegmentSearcher, ...]
    gives_back: bool = False

    def opener(self) -> Callable[[Path], OpenPassages]:
        """Return a function that opens this state in another process."""
        pending = self.segments[len(self.manifest.segments) :]
        return partial(
            open_segments,
            contents=self.contents,
            scheme=self.scheme,
            frequencies=self.frequencies,
            runner=Runner(1),
            pending=pending,
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
            if self.gives_back:
                segment.let_go()

    def weighed_by(self, idf: InverseFrequency) -> OpenPassages:
        """Return an index without min-hashes, with other inverse document frequencies."""
        scheme = self.scheme.weighed_by(idf)
        searchers = tuple(
            SegmentSearcher(segment, scheme, self.frequencies) for segment in self.segments
        )
        return replace(self, scheme=scheme, searchers=searchers)

    def leave(self, number: int) -> None:
        """Free a segment's file memory, if ``gives_back`` is set."""
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
        """Describe an index, adding defaults that first versions omitted."""
        return {**super().describe(folder), "scheme": self.scheme.describe()}


def open_segments(
    folder: Path,
    contents: Contents,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
    pending: Sequence[PassageSegment] = (),
) -> OpenPassages:
    """Open a known state of an index, verifying its segments.

    ``pending`` are further segments in memory.
    """
    stored = [open_segment(folder, record) for record in contents.manifest.segments]
    check_all(stored, runner)
    segments = [*(read_segment(each, scheme) for each in stored), *pending]
    searchers = [SegmentSearcher(each, scheme, frequencies) for each in segments]
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
    # Pending documents are rewritten when one of them is removed.
    n_pending = len(segments) - len(contents.manifest.segments)
    removed = (*contents.removed[:-1], *[np.empty(0, np.uint32)] * n_pending)
    return OpenPassages(contents, scheme, segments, removed, frequencies, tuple(searchers))


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


class PendingSegment(DocumentsById):
    """A segment of pending documents with windows made on demand.

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
        """The texts of all documents."""
        return self.block.texts

    @property
    def offsets(self) -> Int64s:
        """Start of each document's tokens."""
        return self.block.tokens.offsets

    @cached_property
    def _held(self) -> PassageSegment:
        return hold_segment("pending", self.block, *self._made_by, Runner(1))[1]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._held, name)


class PendingDocuments:
    """Pending documents, in a few segments that grow.

    A segment with computed windows stays unchanged until more than half its tokens have been added
    after it.
    """

    def __init__(self, made_by: tuple[PassageScheme, DocumentFrequencies | None]) -> None:
        self.made_by = made_by
        self._rows: tuple[bytes, ...] = ()
        self._blocks: list[DocumentBlock] = []
        self._searchers: list[SegmentSearcher] = []

    def read(self, rows: tuple[bytes, ...]) -> list[SegmentSearcher]:
        """Return the segments of some rows, cached by row."""
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

    def add(
        self,
        sources: Sequence[Source],
        options: PassageReading,
        runner: Runner,
        *,
        segment_tokens: int = SEGMENT_TOKENS,
    ) -> Addition:
        """Add all documents, or none after an error.

        The first addition determines the inverse document frequencies, if tokens are weighted by
        them; it reads the input twice.
        """
        with self.changing(runner) as index:
            return self._add(index, sources, options, runner, segment_tokens)

    def replace(
        self,
        identifier: str | int,
        sources: Sequence[Source],
        options: PassageReading,
        runner: Runner,
    ) -> RemovalResult:
        """Replace the document of an id in one change."""
        with self.changing(runner) as index:
            found = self._rows_of_ids(index.contents, wanted_ids([identifier]))
            n_removed = sum(len(rows) for _, rows in found)
            left = self._view_of(_without(index.contents, found), runner)
            self._add(left, sources, options, runner, SEGMENT_TOKENS)
            return RemovalResult(n_removed, left.n_documents + 1)

    def _add(
        self,
        index: OpenPassages,
        sources: Sequence[Source],
        options: PassageReading,
        runner: Runner,
        segment_tokens: int,
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
        for block in gather(blocks, segment_tokens):
            sizes = np.diff(block.tokens.offsets)
            addition.take(block.ids, block.places, sizes, block.skipped, block.n_ignored)
            # The windows of a segment take longer than anything else.
            addition.check_repeats()
            if not len(block):
                continue
            if not records:
                if block.n_tokens < segment_tokens and _may_wait(contents, block):
                    packed = [pack_block(block)]
                    contents = contents.with_pending(packed, len(block), block.n_tokens)
                    break
                # Pending documents come first.
                block = join_blocks([*map(unpack_block, contents.pending), block])
            name = contents.manifest.free_name(first + len(records))
            record = write_segment(self.folder, name, block, scheme, frequencies, runner)
            records.append(record)
        if records:
            contents = contents.with_segments(records, first)
        self.database.commit(contents)
        return addition

    def _merge(self, index: OpenPassages, first: int, runner: Runner) -> None:
        # Documents are not tokenised again.
        stored = zip(index.segments[first:], index.removed[first:], strict=True)
        records: list[SegmentRecord] = []
        n_done = 0
        for block in gather((_stored_block(*each) for each in stored), SEGMENT_TOKENS):
            if len(block):
                name = index.manifest.free_name(len(records))
                made = block, index.scheme, index.frequencies, runner
                records.append(write_segment(self.folder, name, *made))
                n_done += len(block)
                runner.report("compact", n_done, index.n_documents)
        self.database.commit(index.contents.with_segments(records, first))

    def remove(
        self, ids: Iterable[str | int], runner: Runner, *, deny: bool = False
    ) -> RemovalResult:
        """Remove documents by id, all of them or none."""
        if deny:
            raise no_effect("deny", "in an index of passages", "use one of documents")
        wanted = wanted_ids(ids)
        with self.writing() as contents:
            found = self._rows_of_ids(contents, wanted)
            check_all_found(wanted, found)
            after = _without(contents, found)
            if len(wanted):
                self.database.commit(after)
            return RemovalResult(len(wanted), after.manifest.n_documents)

    def _rows_of_ids(self, contents: Contents, wanted: pa.Array) -> list[tuple[Int64s, Int64s]]:
        """Return matching ids and rows by segment, including pending documents."""
        columns = [self._ids_in(record) for record in contents.manifest.segments]
        waiting = [as_text(unpack_block(row).ids) for row in contents.pending]
        columns.append(pa.chunked_array(waiting, pa.large_string()))
        found = []
        for column, removed in zip(columns, contents.removed, strict=True):
            places = pc.index_in(column, value_set=wanted).fill_null(-1).to_numpy()
            rows = np.setdiff1d(np.flatnonzero(places >= 0), removed)
            found.append((places[rows], rows))
        return found

    def _ids_in(self, record: SegmentRecord) -> pa.ChunkedArray:
        searcher = self._parts.get(replace(record, n_removed=0))
        if searcher is None:
            return open_segment(self.folder, record).table("documents")["id"]
        return pa.chunked_array([searcher.segment.ids])


def _may_wait(contents: Contents, block: DocumentBlock) -> bool:
    pending = contents.manifest.pending
    return (
        pending.n_documents + len(block) <= MOST_PENDING
        and pending.n_tokens + block.n_tokens <= MOST_PENDING_TOKENS
    )


def _without(contents: Contents, found: Sequence[tuple[Int64s, Int64s]]) -> Contents:
    """Return the contents without some rows, rewriting pending documents."""
    *of_segments, (_, rows) = found
    after = contents.without(of_segments)
    if len(rows):
        block = without_rows(join_blocks([*map(unpack_block, contents.pending)]), rows)
        after = after.with_segments((), len(of_segments))
        if len(block):
            after = after.with_pending([pack_block(block)], len(block), block.n_tokens)
    return after


def _stored_block(segment: PassageSegment, removed: Uint32s) -> DocumentBlock:
    if isinstance(segment, PendingSegment):
        return segment.block
    tokens = segment.token_lists()
    n = len(tokens.values)
    documents = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
    starts, stops = segment.byte_places(np.arange(n, dtype=np.int64), documents)
    ids = segment.ids.cast(segment.id_type)
    spans = TokenSpans(starts, stops)
    block = DocumentBlock(ids, segment.texts, tokens, spans, files=segment.files)
    return without_rows(block, removed)
