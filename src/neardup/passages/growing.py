"""An index that grows while it is searched, in segments that are merged in tiers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neardup.passages.additions import (
    BYTES_OF_TOKEN,
    SEGMENT_SHARE,
    SEGMENT_TOKENS,
    block_of_tokens,
    index_tokens,
    segment_tokens_within,
)
from neardup.passages.index import OpenPassages, combine
from neardup.passages.lookup import Later, WindowFinder, WindowHits, WindowPlan, within_memory
from neardup.passages.scheme import PassageScheme
from neardup.passages.search import SegmentSearcher
from neardup.passages.segment import hold_segment
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import TokenLists, Uint64s, offsets_of
from neardup.text.tokenizers import TokenFunction

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
