"""Temporary indexes of passages, in memory or in a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from neardup.files.rows import ColumnNames
from neardup.index.index import Addition
from neardup.passages.documents import DocumentBlock, gather
from neardup.passages.index import (
    SEGMENT_TOKENS,
    OpenPassages,
    combine,
    open_segments,
    temporary_contents,
)
from neardup.passages.lookup import Later, WindowFinder, WindowHits, WindowPlan, within_memory
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import hold_segment, write_segment
from neardup.passages.windows import PassageScheme
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Int64s, TokenLists, TokenSpans, Uint64s, offsets_of
from neardup.text.tokenizers import TokenFunction
from neardup.text.weighting import DocumentFrequencies, count_documents

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


# A passage index of texts in memory, stored in memory or in a temporary folder.


def index_in_memory(
    documents: Iterable[DocumentBlock], columns: ColumnNames, scheme: PassageScheme, runner: Runner
) -> tuple[OpenPassages, Addition]:
    """Index documents like ``add_documents``, in one segment in memory."""
    blocks = list(documents)
    frequencies = None
    if scheme.weighting.idf != "unary":
        frequencies = count_documents(block.tokens for block in blocks)
    index = combine(temporary_contents(scheme), scheme, frequencies, [])
    addition = Addition(index, columns, scheme.least_shingles)
    for block in blocks:
        sizes = np.diff(block.tokens.offsets)
        addition.take(block.ids, block.places, sizes, block.skipped)
    addition.check_repeats()
    for block in gather(blocks, addition.n_tokens + 1):
        if len(block):
            index = _index_of(block, scheme, frequencies, runner)
    return index, addition


def _index_of(
    block: DocumentBlock,
    scheme: PassageScheme,
    frequencies: DocumentFrequencies | None,
    runner: Runner,
) -> OpenPassages:
    record, segment = hold_segment("s0", block, scheme, frequencies, runner)
    searcher = SegmentSearcher(segment, scheme, frequencies)
    return combine(temporary_contents(scheme, [record]), scheme, frequencies, [searcher])


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
        """Yield the passages similar to each query's windows."""
        index = within_memory(index, self.workspace)
        finder = WindowFinder(index, self.windows, self.workspace, self.runner)
        return finder.find(queries, later, lambda _: None)

    def index(self, lists: TokenLists) -> OpenPassages:
        """Index lists of shingles in memory, in one segment."""
        return _index_of(block_of_tokens(lists), self.scheme, None, self.runner)


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


def join_lists(parts: Sequence[TokenLists]) -> TokenLists:
    """Concatenate several lists of tokens."""
    sizes = np.concatenate([np.empty(0, np.int64), *(np.diff(part.offsets) for part in parts)])
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    return TokenLists(values, offsets_of(sizes))


def lists_of(values: Sequence[Uint64s]) -> TokenLists:
    """Return arrays as lists."""
    offsets = offsets_of([len(each) for each in values])
    return TokenLists(np.concatenate([np.empty(0, np.uint64), *values]), offsets)
