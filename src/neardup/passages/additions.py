"""Add, replace and remove documents of a passage index, compact it, or let one grow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.ids import as_text
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, Source
from neardup.index.handle import OpenFiles, store_frequencies
from neardup.index.index import (
    Addition,
    CompactionResult,
    RemovalResult,
    check_all_found,
    store_next,
    wanted_ids,
    without,
)
from neardup.index.store import PendingRecord, SegmentRecord, free_name
from neardup.options.option import no_effect
from neardup.passages.documents import (
    DocumentBlock,
    PassageReading,
    join_blocks,
    read_documents,
)
from neardup.passages.index import (
    MOST_PENDING,
    MOST_PENDING_TOKENS,
    OpenPassages,
    PassageHandle,
    PendingSegment,
    combine,
    open_segments,
    pack_block,
    unpack_block,
)
from neardup.passages.lookup import Later, WindowFinder, WindowHits, WindowPlan, within_memory
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import (
    PassageSegment,
    document_table,
    hold_segment,
    write_segment,
)
from neardup.passages.windows import PassageScheme
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s, TokenLists, TokenSpans, Uint32s, Uint64s, offsets_of
from neardup.text.tokenizers import TokenFunction
from neardup.text.weighting import count_documents

# Documents are gathered until they fill a segment.

# Tokens per segment, and memory per token while the segment is gathered.
SEGMENT_TOKENS, BYTES_OF_TOKEN = 1 << 24, 110
# A temporary index may have many smaller segments, but very many slow a search down.
_MOST_TOKENS, _LEAST_TOKENS = 1 << 22, 1 << 18
# Share of the memory for one segment.
SEGMENT_SHARE = 0.45


def segment_tokens_within(workspace: Workspace, most: int | None = None) -> int:
    """Return the number of tokens per segment of a temporary index.

    ``most`` is best for an index that fits into memory and is searched many times.
    """
    if workspace.work is None and most is not None:
        return most
    room = workspace.share(SEGMENT_SHARE) // BYTES_OF_TOKEN
    return min(max(room, _LEAST_TOKENS), _MOST_TOKENS if most is None else most)


def gather(blocks: Iterable[DocumentBlock], n_tokens: int) -> Iterator[DocumentBlock]:
    """Join blocks until they have ``n_tokens`` tokens.

    The parts of a block are freed while the block is in use.
    """
    gathered: list[DocumentBlock] = []
    n_gathered = 0
    for block in chain(blocks, [None]):
        if block is not None:
            gathered.append(block)
            n_gathered += block.n_tokens
        if gathered and (block is None or n_gathered >= n_tokens):
            del block
            joined = join_blocks(gathered)
            gathered.clear()
            yield joined
            del joined
            n_gathered = 0


def add_documents(
    handle: PassageHandle,
    sources: Sequence[Source],
    options: PassageReading,
    runner: Runner,
    *,
    segment_tokens: int = SEGMENT_TOKENS,
) -> Addition:
    """Add all documents, or none after an error.

    The first addition determines the inverse document frequencies, if tokens are weighted by them;
    it reads the input twice.
    """
    with handle.changing(runner) as opened:
        return _add(handle, opened, sources, options, runner, segment_tokens)


def replace_document(
    handle: PassageHandle,
    identifier: str | int,
    sources: Sequence[Source],
    options: PassageReading,
    runner: Runner,
) -> RemovalResult:
    """Put the one document of some sources in the place of that with its id, in one change."""
    with handle.changing(runner) as opened:
        found = _rows_of_ids(opened, wanted_ids([identifier]))
        n_removed = sum(len(rows) for _, rows in found)
        left = _without(opened, found)
        _add(handle, left, sources, options, runner, n_removed=n_removed)
        return RemovalResult(n_removed, opened.manifest.n_documents - n_removed + 1)


def _add(
    handle: PassageHandle,
    opened: OpenFiles,
    sources: Sequence[Source],
    options: PassageReading,
    runner: Runner,
    segment_tokens: int = SEGMENT_TOKENS,
    *,
    n_removed: int = 0,
) -> Addition:
    """Add documents within ``handle.changing``, after ``n_removed`` removals."""
    folder, options = handle.folder, options.for_sources(sources)
    manifest, index = opened.manifest, handle.read(opened)
    scheme, frequencies = index.scheme, index.frequencies
    if scheme.weighting.idf != "unary" and frequencies is None:
        counting = ReadingPass("count", sources, runner)
        counted = read_documents(sources, scheme.tokenizer, options, counting)
        frequencies = count_documents(block.tokens for block in counted)
        # An addition without documents does not determine the frequencies.
        if frequencies.n_documents:
            name = free_name(manifest, 9999)
            counted_in = store_frequencies(folder, name, frequencies)
            manifest = replace(manifest, frequencies=counted_in)
    addition = Addition(index, options.columns, scheme.least_shingles)
    reading = ReadingPass("read", sources, runner)
    blocks = read_documents(sources, scheme.tokenizer, options, reading)
    waiting = opened.contents.pending
    # A removal has already rewritten the pending documents.
    packed = [*waiting] if n_removed else []
    for block in gather(blocks, segment_tokens):
        sizes = np.diff(block.tokens.offsets)
        addition.take(block.ids, block.places, sizes, block.skipped, block.n_ignored)
        # The windows of a segment take longer than anything else.
        addition.check_repeats()
        if not len(block):
            continue
        is_last = block.n_tokens < segment_tokens
        if is_last and manifest == opened.manifest and _may_wait(manifest.pending, block):
            packed.append(pack_block(block))
            pending = manifest.pending.with_rows(packed[-1:], len(block), block.n_tokens)
            manifest = replace(manifest, pending=pending)
            break
        # Pending documents come first.
        block = join_blocks([*map(unpack_block, waiting), block])
        waiting, packed = (), []
        name = free_name(manifest, len(manifest.segments))
        record = write_segment(folder, name, block, scheme, frequencies, runner)
        segments = (*manifest.segments, record)
        manifest = replace(manifest, segments=segments, pending=PendingRecord())
    is_laid_out = n_removed or not packed
    removed = _with_new(opened.removed[:-1], len(manifest.segments)) if is_laid_out else None
    store_next(handle.database, manifest, removed, packed)
    return addition


def _may_wait(pending: PendingRecord, block: DocumentBlock) -> bool:
    return (
        pending.n_documents + len(block) <= MOST_PENDING
        and pending.n_tokens + block.n_tokens <= MOST_PENDING_TOKENS
    )


# Compaction rewrites an index without removed documents.


def compact_index(
    handle: PassageHandle, runner: Runner, *, segment_tokens: int = SEGMENT_TOKENS
) -> CompactionResult:
    """Write all segments anew, without removed documents and as few as possible.

    Search results stay the same. Documents are not tokenised again.
    """
    folder = handle.folder
    with handle.changing(runner) as opened:
        manifest, index = opened.manifest, handle.read(opened)
        blocks = map(_stored_block, index.segments, index.removed)
        records: list[SegmentRecord] = []
        n_done = 0
        for block in gather(blocks, segment_tokens):
            if len(block):
                name = free_name(manifest, len(records))
                records.append(
                    write_segment(folder, name, block, index.scheme, index.frequencies, runner)
                )
                n_done += len(block)
                runner.report("compact", n_done, index.n_documents)
        after = replace(manifest, segments=tuple(records), pending=PendingRecord())
        store_next(handle.database, after, _with_new((), len(records)))
        # A segment may be larger than its pending documents were.
        n_freed = max(0, manifest.n_bytes - after.n_bytes)
        return CompactionResult(len(records), index.n_documents, n_freed)


def _stored_block(segment: PassageSegment, removed: Uint32s) -> DocumentBlock:
    if isinstance(segment, PendingSegment):
        return segment.block
    tokens = segment.token_lists()
    n = len(tokens.values)
    documents = np.repeat(np.arange(len(tokens)), np.diff(tokens.offsets))
    starts, stops = segment.byte_places(np.arange(n, dtype=np.int64), documents)
    ids = segment.ids.cast(segment.id_type)
    spans = TokenSpans(starts, stops)
    return _kept(DocumentBlock(ids, segment.texts, tokens, spans, files=segment.files), removed)


def _kept(block: DocumentBlock, removed: npt.NDArray[Any]) -> DocumentBlock:
    if not len(removed):
        return block
    keep: Bools = np.ones(len(block), np.bool_)
    keep[removed] = False
    tokens, mask = block.tokens, pa.array(keep)
    sizes = np.diff(tokens.offsets)
    of_kept = np.repeat(keep, sizes)
    return DocumentBlock(
        block.ids.filter(mask),
        block.texts.filter(mask),
        replace(tokens, values=tokens.values[of_kept], offsets=offsets_of(sizes[keep])),
        TokenSpans(block.spans.starts[of_kept], block.spans.stops[of_kept]),
        files=None if block.files is None else block.files.filter(mask),
    )


# Removal of documents from an index.


def remove_documents(
    handle: PassageHandle, ids: Iterable[str | int], runner: Runner, *, deny: bool = False
) -> RemovalResult:
    """Take documents out; all of them or none. No tokenizer is needed for it."""
    if deny:
        raise no_effect("deny", "in an index of passages", "use one of documents")
    wanted = wanted_ids(ids)
    with handle.changing(runner) as files:
        found = _rows_of_ids(files, wanted)
        check_all_found(wanted, found)
        left, n_documents = _without(files, found), files.manifest.n_documents - len(wanted)
        if len(wanted):
            store_next(handle.database, left.manifest, left.removed, left.contents.pending)
        return RemovalResult(len(wanted), n_documents)


def _without(files: OpenFiles, found: Sequence[tuple[Int64s, Int64s]]) -> OpenFiles:
    """Return the files with more removed rows; pending documents are rewritten."""
    contents, (_, rows) = files.contents, found[-1]
    manifest, waiting = contents.manifest, contents.pending
    if len(rows):
        block = _kept(join_blocks([*map(unpack_block, waiting)]), rows)
        waiting = (pack_block(block),) if len(block) else ()
        pending = PendingRecord()
        for data in waiting:
            pending = pending.with_rows([data], len(block), block.n_tokens)
        manifest = replace(manifest, pending=pending)
    removed = (*without(contents.removed[:-1], found[:-1]), contents.removed[-1])
    return replace(
        files, contents=replace(contents, manifest=manifest, removed=removed, pending=waiting)
    )


def _rows_of_ids(files: OpenFiles, wanted: pa.Array) -> list[tuple[Int64s, Int64s]]:
    """Return matching ids and rows per segment and for pending documents."""
    columns = [document_table(segment)["id"] for segment in files.segments]
    waiting = [as_text(unpack_block(row).ids) for row in files.contents.pending]
    columns.append(pa.chunked_array(waiting, pa.large_string()))
    found = []
    for column, before in zip(columns, files.removed, strict=True):
        places = pc.index_in(column, value_set=wanted).fill_null(-1).to_numpy()
        rows = np.setdiff1d(np.flatnonzero(places >= 0), before)
        found.append((places[rows], rows))
    return found


def _with_new(removed: Sequence[Uint32s], n_segments: int) -> list[Uint32s]:
    """Return removed rows per segment, none for new segments and pending documents."""
    nothing: Uint32s = np.empty(0, np.uint32)
    return [*removed, *([nothing] * (n_segments - len(removed) + 1))]


# A passage index of texts in memory, stored in memory or in a temporary folder.


def index_in_memory(
    documents: Iterable[DocumentBlock], columns: ColumnNames, scheme: PassageScheme, runner: Runner
) -> tuple[OpenPassages, Addition]:
    """Index documents like ``add_documents``, in one segment in memory."""
    blocks = list(documents)
    frequencies = None
    if scheme.weighting.idf != "unary":
        frequencies = count_documents(block.tokens for block in blocks)
    index = combine(scheme, frequencies, [])
    addition = Addition(index, columns, scheme.least_shingles)
    for block in blocks:
        sizes = np.diff(block.tokens.offsets)
        addition.take(block.ids, block.places, sizes, block.skipped, block.n_ignored)
    addition.check_repeats()
    for block in gather(blocks, addition.n_tokens + 1):
        if len(block):
            name = free_name(index.manifest, 0)
            record, segment = hold_segment(name, block, scheme, frequencies, runner)
            searcher = SegmentSearcher(segment, scheme, frequencies)
            index = combine(scheme, frequencies, [searcher], [record])
    return index, addition


def index_tokens(
    folder: Path, lists: TokenLists, scheme: PassageScheme, runner: Runner
) -> OpenPassages:
    """Index lists of shingles in a new folder, in one segment without texts and byte positions."""
    folder.mkdir()
    record = write_segment(folder, "s0", block_of_tokens(lists), scheme, None, runner)
    return open_segments(folder, [record], [np.empty(0, np.uint32)], scheme, None, runner)


def block_of_tokens(lists: TokenLists) -> DocumentBlock:
    """Return documents that consist of tokens only."""
    # Unwritten zeros take no memory.
    nothing = np.zeros(len(lists.values), np.int64)
    # These documents are never found by their ids.
    blank = pa.array([""], pa.large_string()).take(pa.array(np.zeros(len(lists), np.int64)))
    return DocumentBlock(blank, blank, lists, TokenSpans(nothing, nothing))


# A segment is merged with the one before it unless that has this many times its tokens.
_TIER = 2


@dataclass(frozen=True)
class LookUp:
    """Options of indexing and lookup: scheme, windows, threads, memory.

    Segments that do not fit into memory are written to ``folder``.
    """

    scheme: PassageScheme
    windows: WindowPlan
    tokenizer: str | Path | TokenFunction | None
    runner: Runner
    workspace: Workspace
    folder: Path

    def find(
        self, index: OpenPassages, queries: TokenLists, later: Later | None = None
    ) -> Iterator[WindowHits]:
        """Yield the passages of an index that are similar to windows of each query."""
        index = within_memory(index, self.workspace)
        finder = WindowFinder(index, self.windows, self.workspace, self.runner)
        return finder.find(queries, later, lambda _: None)

    def index(self, lists: TokenLists) -> OpenPassages:
        """Index lists of shingles in memory, in one segment."""
        record, segment = hold_segment("s0", block_of_tokens(lists), self.scheme, None, self.runner)
        return combine(self.scheme, None, [SegmentSearcher(segment, self.scheme, None)], [record])


class GrowingIndex:
    """Searchable lists of shingles that can grow at any time.

    Lists are numbered in order of addition. Each addition is a segment. A segment is merged with
    its predecessors until each is larger than all later ones together, so that there are few, and
    each shingle is rewritten a few times.
    """

    def __init__(self, look_up: LookUp) -> None:
        self._look_up = look_up
        self._segments: list[OpenPassages] = []
        self._n_tokens: list[int] = []
        self._all: OpenPassages | None = None
        self._n_written = 0
        self._most_tokens = segment_tokens_within(look_up.workspace, SEGMENT_TOKENS)

    @property
    def n_tokens(self) -> int:
        """Count the shingles of all lists."""
        return sum(self._n_tokens)

    def add(self, lists: TokenLists, index: OpenPassages | None = None) -> None:
        """Add lists, with their index if it exists already."""
        n_merged, n_tokens = 0, len(lists.values)
        for size in reversed(self._n_tokens):
            if size > _TIER * n_tokens or size + n_tokens > self._most_tokens:
                break
            n_merged, n_tokens = n_merged + 1, n_tokens + size
        if n_merged:
            merged = self._segments[-n_merged:]
            lists = join_lists([each.segments[0].token_lists() for each in merged] + [lists])
            del self._segments[-n_merged:], self._n_tokens[-n_merged:]
            index = None
        workspace = self._look_up.workspace
        is_held = workspace.fits(BYTES_OF_TOKEN * (self.n_tokens + n_tokens), SEGMENT_SHARE)
        if not is_held:
            index = self._write(lists)
        self._segments.append(index or self._look_up.index(lists))
        self._n_tokens.append(n_tokens)
        self._all = None

    def find(self, queries: TokenLists) -> Iterator[WindowHits]:
        """Yield the passages of all lists that are similar to windows of each query."""
        if not self._segments:
            return iter([WindowHits.of_none() for _ in range(len(queries))])
        return self._look_up.find(self._opened(), queries)

    def shingles_of(self, number: int) -> Uint64s:
        """Return a list by its number."""
        index = self._opened()
        of_segment = int(index.segments_of(np.array([number]))[0])
        segment = index.segments[of_segment]
        local = number - int(index.first_documents[of_segment])
        start, stop = segment.offsets[local : local + 2]
        return segment.vocabulary[segment.tokens[start:stop]]

    def _opened(self) -> OpenPassages:
        if self._all is None:
            records = [part.manifest.segments[0] for part in self._segments]
            searchers = [part.searchers[0] for part in self._segments]
            self._all = combine(self._look_up.scheme, None, searchers, records)
        return self._all

    def _write(self, lists: TokenLists) -> OpenPassages:
        self._n_written += 1
        folder, look_up = self._look_up.folder / f"{self._n_written}", self._look_up
        return index_tokens(folder, lists, look_up.scheme, look_up.runner)


def join_lists(parts: Sequence[TokenLists]) -> TokenLists:
    """Concatenate lists."""
    sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.offsets) for part in parts)])
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    return TokenLists(values, offsets_of(sizes))


def lists_of(values: Sequence[Uint64s]) -> TokenLists:
    """Return arrays as lists."""
    offsets = offsets_of([len(each) for each in values])
    return TokenLists(np.concatenate([np.empty(0, np.uint64), *values]), offsets)
