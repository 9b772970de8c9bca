"""Texts in which others are looked up, whoever does it: an index for each round of a cut.

``SearchedInThreads`` has the indexes in a folder, and looks up in threads of this process.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neardup.matching.join import cut_runs
from neardup.passages.additions import SEGMENT_TOKENS, index_tokens, segment_tokens_within
from neardup.passages.cut_texts import CutTexts, Mask
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import (
    Later,
    WindowFinder,
    WindowHits,
    WindowPlan,
    tokens_at_a_time,
    within_memory,
)
from neardup.passages.scheme import PassageScheme
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.tables import Int64s, TokenLists, Uint64s, offsets_of
from neardup.text.tokenizers import TokenFunction


@dataclass(frozen=True)
class Views:
    """Texts as they are looked up, or as others are looked up in them: a row for each.

    ``masks`` say what is left of those that have lost something, by row.
    """

    texts: Int64s
    masks: Mapping[int, Mask]

    def __len__(self) -> int:
        return len(self.texts)

    def places_of(self, row: int, start: int, stop: int) -> Int64s:
        """Return the tokens of the whole text that some tokens of a row are."""
        mask = self.masks.get(row)
        if mask is None:
            return np.arange(start, stop, dtype=np.int64)
        return np.flatnonzero(mask.unpack())[start:stop].astype(np.int64)

    def tokens(self, row: int, texts: CutTexts) -> Uint64s:
        """Return the tokens of a row."""
        return texts.masked(int(self.texts[row]), self.masks.get(row))

    def lists(self, texts: CutTexts, start: int = 0, stop: int | None = None) -> TokenLists:
        """Return the tokens of consecutive rows, of all without a range."""
        stop = len(self) if stop is None else stop
        return join_lists([self.tokens(row, texts) for row in range(start, stop)])


class SearchedTexts(ABC):
    """Texts that a ``PassageCutter`` looks up in: one index after the other is made of them."""

    @property
    @abstractmethod
    def tokens_at_a_time(self) -> int:
        """Tokens of texts that are best looked up together; 1 if it does not matter how many."""

    @abstractmethod
    def add(self, views: Views) -> None:
        """Make one more index of some texts, of which the rows are the documents."""

    @abstractmethod
    def find(self, number: int, views: Views, later: Later) -> Iterator[WindowHits]:
        """Yield what windows of each row are like in an index, in shingles; rows are queries.

        Indexes are numbered as they were added.
        """


@dataclass(frozen=True)
class HowSearched:
    """How texts are indexed, and looked up."""

    scheme: PassageScheme
    windows: WindowPlan
    tokenizer: str | Path | TokenFunction | None


class SearchedInThreads(SearchedTexts):
    """Indexes in a folder, which are searched within some memory.

    Parameters
    ----------
    texts
        The texts.
    how
        How they are indexed.
    folder
        Where folders of indexes are made.
    runner
        Does the work.
    workspace
        Says how much memory there is.
    """

    def __init__(
        self,
        texts: CutTexts,
        how: HowSearched,
        folder: Path,
        runner: Runner,
        workspace: Workspace = IN_MEMORY,
    ) -> None:
        self._texts, self._how, self._folder = texts, how, folder
        self._runner, self._workspace = runner, workspace
        self._indexes: list[OpenPassages] = []
        self._tokens_at_a_time = 1

    @property
    def tokens_at_a_time(self) -> int:
        """Tokens of texts that the memory has room for, where not all that is searched fits."""
        return self._tokens_at_a_time

    def add(self, views: Views) -> None:
        """Make an index of as large segments as the memory has room for."""
        n_tokens = segment_tokens_within(self._workspace, SEGMENT_TOKENS)
        lists = (
            views.lists(self._texts, start, stop)
            for start, stop in cut_runs(self._texts.sizes()[views.texts], n_tokens)
        )
        index = index_tokens(
            self._folder / f"round-{len(self._indexes)}",
            lists,
            scheme=self._how.scheme,
            tokenizer=self._how.tokenizer,
            runner=self._runner,
        )
        self._indexes.append(index)
        self._tokens_at_a_time = tokens_at_a_time(self._indexes, self._workspace, self._runner)

    def find(self, number: int, views: Views, later: Later) -> Iterator[WindowHits]:
        """Look all rows up in one index, segment after segment."""
        # What is made of an index for a look-up stays if it fits, of each of them.
        room = Workspace(self._workspace.memory // len(self._indexes), self._workspace.work)
        if self._tokens_at_a_time == 1:
            room = IN_MEMORY
        index = within_memory(self._indexes[number], room)
        finder = WindowFinder(index, self._how.windows, room, self._runner)
        queries = self._how.scheme.shingle(views.lists(self._texts))
        yield from finder.find(queries, later, report_to_nobody)


def report_to_nobody(_: float) -> None:
    """Report nothing: who cuts reports tokens by batches."""


def join_lists(texts: list[Uint64s]) -> TokenLists:
    """Put the tokens of some texts one behind the other."""
    sizes = [len(text) for text in texts]
    offsets = offsets_of(sizes)
    return TokenLists(np.concatenate([np.empty(0, np.uint64), *texts]), offsets)
