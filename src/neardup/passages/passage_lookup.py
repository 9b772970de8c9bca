"""Search all index segments for many queries on several cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa

from neardup.index.store import SegmentRecord, segment_bytes
from neardup.passages.document_blocks import DocumentBlock
from neardup.passages.open_passages import (
    SEGMENT_TOKENS,
    OpenPassages,
    combine,
    open_segments,
    temporary_contents,
)
from neardup.passages.passage_matches import PassageMatches
from neardup.passages.passage_segment import make_segment, write_segment
from neardup.passages.search_plan import SearchPlan
from neardup.passages.segment_search import Batch, SegmentHits, SegmentSearcher
from neardup.passages.windows import PassageQueries, PassageScheme, gather_queries
from neardup.runs.exchange import Shuffle
from neardup.runs.progress import report_part
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import (
    Bools,
    Floats,
    Int32s,
    Int64s,
    Rows,
    TokenLists,
    TokenSpans,
    Uint64s,
    offsets_of,
)

# Queries per task.
_CHUNK = 128


@dataclass(frozen=True)
class FoundPassages(Rows):
    """Passages similar to queries, in arrays of one row each.

    ``documents`` are counted through all segments; ``starts`` to ``stops`` (exclusive) are tokens.
    """

    queries: Int64s
    documents: Int64s
    starts: Int64s
    stops: Int64s
    similarities: Floats


@dataclass(frozen=True)
class LookupRequest:
    """Queries to look up, optionally only at later positions.

    Query k finds passages from token ``tokens[k]`` of ``documents[k]`` on, if given; documents are
    counted through all segments.
    """

    queries: PassageQueries
    documents: Int64s | None = None
    tokens: Int64s | None = None


# Shares of the memory: search data of segments, queries, waiting passages, and cached index files.
_SEARCH_SHARE, _QUERIES_SHARE, _WAITING_SHARE, _FILES_SHARE = 0.35, 0.25, 0.15, 0.1
# Memory per token of queries, with its text and position, while blocks are joined.
_BYTES_OF_QUERIES = 60

# Numbers of lookups, for the names of temporary files.
_numbers = count()


def find_passages(
    index: OpenPassages,
    requests: Sequence[LookupRequest],
    plan: SearchPlan,
    workspace: Workspace,
    runner: Runner,
    report: Callable[[float], None],
) -> Iterator[FoundPassages]:
    """Yield the passages similar to the queries of each part.

    The order is queries, documents, positions. ``report`` is called with the completed share.

    All parts are looked up in as many segments as fit into memory, then in the next ones. So the
    passages of each part wait for later segments, in files if there are too many.
    """
    name = f"passages-{next(_numbers)}"
    waiting = Shuffle(name, workspace, len(requests), in_memory=None, share=_WAITING_SHARE)
    fits = partial(workspace.fits, share=_SEARCH_SHARE)
    first = _first_segment(index, requests)
    n_segments = len(index.segments) - first
    n_queries = max(sum(len(part.queries) for part in requests), 1)
    with waiting:
        for segments in index.groups_in_memory(first, runner.workers, fits):
            shares = [(number - first) / n_segments for number in (segments[0], segments[-1] + 1)]
            report_turn, n_done = report_part(report, *shares), 0
            for number, n_chunk, found in _find_chunks(index, segments, requests, plan, runner):
                if len(found):
                    waiting.add(found.to_batch(), np.full(len(found), number))
                n_done += n_chunk
                report_turn(n_done / n_queries)
    try:
        for number in range(len(requests)):
            found = FoundPassages.of_batches(list(waiting.read(number)))
            yield found.take(np.argsort(found.queries, kind="stable"))
    finally:
        # The caller may stop early.
        waiting.discard()


def find_whole(
    index: OpenPassages,
    texts: TokenLists,
    plan: SearchPlan,
    workspace: Workspace,
    runner: Runner,
    report: Callable[[float], None],
) -> PassageMatches:
    """Find the passages that are similar to whole texts."""
    starts, stops = texts.offsets[:-1], texts.offsets[1:]
    queries = gather_queries(texts.values, starts, stops, index.scheme, index.frequencies)
    (found,) = find_passages(index, [LookupRequest(queries)], plan, workspace, runner, report)
    return PassageMatches(
        found.queries,
        np.zeros(len(found), np.int64),
        (stops - starts)[found.queries],
        found.documents,
        found.starts,
        found.stops,
        found.similarities,
    )


def within_memory(index: OpenPassages, workspace: Workspace) -> OpenPassages:
    """Return an index that frees its files, unless all fit."""
    fits = workspace.fits(segment_bytes(index.manifest.segments), _FILES_SHARE)
    return replace(index, frees_files=not fits)


def tokens_at_a_time(indexes: Sequence[OpenPassages], workspace: Workspace, runner: Runner) -> int:
    """Return the least number of query tokens per lookup.

    If not all segments fit, each lookup reloads them, so larger batches pay off; 1 if all fit.
    """
    searchers = (searcher for index in indexes for searcher in index.searchers)
    n_bytes = sum(searcher.memory_bytes(runner.workers) for searcher in searchers)
    if workspace.fits(n_bytes, _SEARCH_SHARE):
        return 1
    return tokens_within(workspace)


def tokens_within(workspace: Workspace) -> int:
    """Return the number of query tokens that fit into memory."""
    return workspace.share(_QUERIES_SHARE) // _BYTES_OF_QUERIES


def _find_chunks(
    index: OpenPassages,
    segments: Sequence[int],
    requests: Sequence[LookupRequest],
    plan: SearchPlan,
    runner: Runner,
) -> Iterator[tuple[int, int, FoundPassages]]:
    def chunks() -> Iterator[tuple[int, int, list[Int32s]]]:
        for number, part in enumerate(requests):
            entries = [index.searchers[segment].entries(part.queries) for segment in segments]
            for first in range(0, len(part.queries), _CHUNK):
                yield number, first, entries

    def find(chunk: tuple[int, int, list[Int32s]]) -> tuple[int, int, FoundPassages]:
        number, first, entries = chunk
        part = requests[number]
        batch = Batch(part.queries, first, min(first + _CHUNK, len(part.queries)))
        parts = []
        for segment, of_segment in zip(segments, entries, strict=True):
            first_tokens = _first_tokens(index, segment, part, first, len(batch))
            hits = index.searchers[segment].search(batch, first_tokens, of_segment, plan)
            parts.append(_found(index, segment, hits))
        return number, len(batch), FoundPassages.joined(parts)

    yield from runner.map(find, chunks())


def _first_segment(index: OpenPassages, requests: Sequence[LookupRequest]) -> int:
    n_documents = index.first_documents[-1]
    least = min(
        (
            0 if part.documents is None else part.documents.min(initial=n_documents)
            for part in requests
        ),
        default=n_documents,
    )
    return int(index.segments_of(np.array([least]))[0])


def _first_tokens(
    index: OpenPassages, number: int, part: LookupRequest, first: int, n_queries: int
) -> Int64s:
    """Return the least start in a segment for each query."""
    first_tokens: Int64s = np.zeros(n_queries, np.int64)
    if part.documents is not None and part.tokens is not None:
        offsets = index.searchers[number].segment.offsets
        chosen = slice(first, first + n_queries)
        documents = part.documents[chosen] - index.first_documents[number]
        is_here = (documents >= 0) & (documents < len(offsets) - 1)
        first_tokens[is_here] = offsets[documents[is_here]] + part.tokens[chosen][is_here]
        first_tokens[documents >= len(offsets) - 1] = offsets[-1]
    return first_tokens


def _found(index: OpenPassages, number: int, hits: SegmentHits) -> FoundPassages:
    offsets = index.searchers[number].segment.offsets
    documents = np.searchsorted(offsets, hits.starts, side="right") - 1
    kept = index.are_kept(number, documents)
    hits, documents = hits.take(kept), documents[kept]
    return FoundPassages(
        hits.queries,
        documents + index.first_documents[number],
        hits.starts - offsets[documents],
        hits.stops - offsets[documents],
        hits.shared / hits.either,
    )


# Windows of long queries, looked up together for many queries.

# Windows per lookup. A query with more windows is looked up alone.
_WINDOWS_AT_A_TIME = 1 << 14


@dataclass(frozen=True)
class WindowPlan:
    """Options of query windows: ``length`` tokens, one every ``step``.

    Windows found in more than ``max_documents`` documents are discarded.
    """

    search: SearchPlan
    length: int
    step: int
    max_documents: int | None = None


@dataclass(frozen=True)
class DocumentLimits:
    """Limit the documents of each query's results.

    Query k finds passages of document ``firsts[k]`` and of later documents. If ``are_own[k]``, the
    query is that document, and each of its windows finds only passages after itself there. With
    ``finds_before``, query k searches all documents except ``firsts[k]``.
    """

    firsts: Int64s
    are_own: Bools
    finds_before: bool = False


@dataclass
class WindowCounts:
    """Counts of searched windows, too frequent windows, and hits."""

    windows: int = 0
    frequent_windows: int = 0
    hits: int = 0

    def __iadd__(self, other: WindowCounts) -> Self:
        self.windows += other.windows
        self.frequent_windows += other.frequent_windows
        self.hits += other.hits
        return self


@dataclass(frozen=True)
class WindowHits(Rows):
    """Hits of the windows of one query, one row each.

    Tokens ``query_starts`` to ``query_stops`` (exclusive) of the query, and ``starts`` to ``stops``
    of one of the ``documents``, counted through all segments.
    """

    query_starts: Int64s
    query_stops: Int64s
    documents: Int64s
    starts: Int64s
    stops: Int64s
    similarities: Floats


def window_starts(n_tokens: int, length: int, step: int) -> Int64s:
    """Return the starts of windows that cover a text."""
    if n_tokens <= length:
        return np.zeros(min(n_tokens, 1), np.int64)
    starts = np.arange(0, n_tokens - length, step)
    return np.append(starts, n_tokens - length).astype(np.int64)


@dataclass(frozen=True)
class _QueryPart:
    """Windows of some queries, as token ranges and query numbers.

    ``left_out`` has the document that each query must not find, if any.
    """

    n_queries: int
    numbers: Int64s
    starts: Int64s
    stops: Int64s
    request: LookupRequest
    left_out: Int64s | None

    def hits(self, found: FoundPassages) -> Iterator[WindowHits]:
        """Yield the hits of each query, given those of the windows."""
        if self.left_out is not None:
            found = found.take(found.documents != self.left_out[self.numbers[found.queries]])
        starts, stops = self.starts[found.queries], self.stops[found.queries]
        hits = WindowHits(starts, stops, *list(vars(found).values())[1:])
        rows = np.searchsorted(self.numbers[found.queries], np.arange(self.n_queries + 1))
        for row, end in pairwise(rows.tolist()):
            yield hits.take(slice(row, end))


class WindowFinder:
    """Look up the windows of queries in an index."""

    def __init__(
        self, index: OpenPassages, plan: WindowPlan, workspace: Workspace, runner: Runner
    ) -> None:
        self.counts = WindowCounts()
        self._index, self._plan, self._workspace, self._runner = index, plan, workspace, runner

    def find(
        self, queries: TokenLists, limits: DocumentLimits | None, report: Callable[[float], None]
    ) -> Iterator[WindowHits]:
        """Yield each query's window hits, ascending, reporting completed shares."""
        offsets, plan = queries.offsets, self._plan
        starts = [window_starts(n, plan.length, plan.step) for n in np.diff(offsets).tolist()]
        n_windows = np.array([len(each) for each in starts], np.int64)
        groups = (np.cumsum(n_windows) - n_windows) // _WINDOWS_AT_A_TIME
        bounds = np.append(np.flatnonzero(np.diff(groups, prepend=-1)), len(queries)).tolist()
        parts = []
        for first, stop in pairwise(bounds):
            part = TokenLists(
                queries.values[offsets[first] : offsets[stop]],
                offsets[first : stop + 1] - offsets[first],
            )
            own = None
            if limits is not None:
                own = replace(
                    limits, firsts=limits.firsts[first:stop], are_own=limits.are_own[first:stop]
                )
            parts.append(self._cut(part, starts[first:stop], own))
        found_of_parts = self._look_up([part.request for part in parts], report)
        for windows, found in zip(parts, found_of_parts, strict=True):
            self.counts.windows += len(windows.numbers)
            for hits in windows.hits(found):
                self.counts.hits += len(hits)
                yield hits

    def _cut(
        self, queries: TokenLists, starts_of: Sequence[Int64s], limits: DocumentLimits | None
    ) -> _QueryPart:
        """Divide queries into windows at their starts."""
        offsets, index = queries.offsets, self._index
        numbers = np.repeat(np.arange(len(queries)), [len(each) for each in starts_of])
        starts, sizes = np.concatenate(starts_of), np.diff(offsets)[numbers]
        stops = np.minimum(starts + self._plan.length, sizes)
        firsts = offsets[numbers]
        windows = gather_queries(
            queries.values, firsts + starts, firsts + stops, index.scheme, index.frequencies
        )
        documents = tokens = left_out = None
        if limits is not None and limits.finds_before:
            left_out = limits.firsts
        elif limits is not None:
            # This many shingles after a window share tokens with it.
            overlap = index.scheme.shingles.ngram - 1
            own = np.minimum(starts + self._plan.length + overlap, sizes)
            documents, tokens = limits.firsts[numbers], np.where(limits.are_own[numbers], own, 0)
        request = LookupRequest(windows, documents, tokens)
        return _QueryPart(len(queries), numbers, starts, stops, request, left_out)

    def _look_up(
        self, requests: Sequence[LookupRequest], report: Callable[[float], None]
    ) -> Iterator[FoundPassages]:
        """Yield each part's window hits, without too frequent windows."""
        find = partial(
            find_passages,
            self._index,
            plan=self._plan.search,
            workspace=self._workspace,
            runner=self._runner,
            report=report,
        )
        max_documents = self._plan.max_documents
        if max_documents is None:
            yield from find(requests)
            return
        # The documents of a window are counted over all segments and parts.
        rest = []
        for part, found in zip(
            requests, find([LookupRequest(part.queries) for part in requests]), strict=True
        ):
            pairs = np.unique(np.stack([found.queries, found.documents]), axis=1)
            is_frequent = np.bincount(pairs[0], minlength=len(part.queries)) > max_documents
            self.counts.frequent_windows += int(is_frequent.sum())
            if part.documents is None:
                yield found.take(~is_frequent[found.queries])
            else:
                nowhere = self._index.first_documents[-1]
                rest.append(replace(part, documents=np.where(is_frequent, nowhere, part.documents)))
        if rest:
            yield from find(rest)


# Memory per token while a segment is gathered.
BYTES_OF_TOKEN = 110
# A temporary index may have many smaller segments, but very many slow a search down.
_MOST_TOKENS, _LEAST_TOKENS = 1 << 22, 1 << 18
# Share of the memory for one segment.
SEGMENT_SHARE = 0.45


def segment_tokens_within(workspace: Workspace, most: int | None = None) -> int:
    """Return the tokens per segment of a temporary index.

    ``most`` is best for an index that fits into memory and is searched many times.
    """
    if workspace.work is None and most is not None:
        return most
    room = workspace.share(SEGMENT_SHARE) // BYTES_OF_TOKEN
    return min(max(room, _LEAST_TOKENS), _MOST_TOKENS if most is None else most)


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
    runner: Runner
    workspace: Workspace
    folder: Path

    def find(
        self, index: OpenPassages, queries: TokenLists, limits: DocumentLimits | None = None
    ) -> Iterator[WindowHits]:
        """Yield the passages similar to each query's windows."""
        index = within_memory(index, self.workspace)
        finder = WindowFinder(index, self.windows, self.workspace, self.runner)
        return finder.find(queries, limits, lambda _: None)

    def index(self, lists: TokenLists) -> OpenPassages:
        """Index lists of shingles in memory, in one segment."""
        scheme, block = self.scheme, block_of_tokens(lists)
        segment = make_segment(block, scheme, None, self.runner)
        # All threads make the windows now, not the first one that searches.
        _ = segment.windows
        record = SegmentRecord("s0", len(block), block.n_tokens, 0, 0, 0)
        searcher = SegmentSearcher(segment, scheme, None)
        return combine(temporary_contents(scheme, [record]), scheme, None, [searcher])


class GrowingIndex:
    """Searchable lists of shingles that can grow at any time.

    Lists are numbered in order of addition. Each addition is a segment, merged with predecessors
    until each is larger than all later ones together: a shingle is rewritten a few times.
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
            parts = [*(each.segments[0].token_lists() for each in merged), lists]
            sizes = np.concatenate([np.diff(part.offsets) for part in parts])
            lists = TokenLists(np.concatenate([part.values for part in parts]), offsets_of(sizes))
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
        """Yield the passages of all lists similar to each query."""
        if not self._segments:
            return iter([WindowHits.of_none() for _ in range(len(queries))])
        return self._look_up.find(self._opened(), queries)

    def tokens_of(self, numbers: Int64s) -> Iterator[TokenLists]:
        """Yield batches of lists by their ascending numbers."""
        return self._opened().tokens_of(numbers)

    def _opened(self) -> OpenPassages:
        if self._all is None:
            records = [part.manifest.segments[0] for part in self._segments]
            searchers = [part.searchers[0] for part in self._segments]
            scheme = self._look_up.scheme
            self._all = combine(temporary_contents(scheme, records), scheme, None, searchers)
        return self._all

    def _write(self, lists: TokenLists) -> OpenPassages:
        """Index lists of shingles in a folder, as one segment without texts."""
        self._n_written += 1
        scheme, runner = self._look_up.scheme, self._look_up.runner
        folder = self._look_up.folder / f"{self._n_written}"
        folder.mkdir()
        record = write_segment(folder, "s0", block_of_tokens(lists), scheme, None, runner)
        return open_segments(folder, temporary_contents(scheme, [record]), scheme, None, runner)


def lists_of(values: Sequence[Uint64s]) -> TokenLists:
    """Return arrays as lists."""
    offsets = offsets_of([len(each) for each in values])
    return TokenLists(np.concatenate([np.empty(0, np.uint64), *values]), offsets)
