"""Cuts of passages that are watched, so that a plan can tell from some texts what all take."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from neardup.passages.cut_texts import Passage
from neardup.passages.cutting import Ahead, PassageCutter
from neardup.passages.lookup import Later, WindowHits
from neardup.passages.searched import Views, join_lists
from neardup.tables import Bools, Int64s, offsets_of


class Watched:
    """The seconds of one core in which something was done, those of this thread ``alone``."""

    def __init__(self) -> None:
        self.seconds = self.alone = 0.0

    def __enter__(self) -> None:
        self._start = time.process_time(), time.thread_time()

    def __exit__(self, *_: object) -> None:
        self.seconds += time.process_time() - self._start[0]
        self.alone += time.thread_time() - self._start[1]


class _Watched(PassageCutter):
    def n_lost(self, texts: Int64s) -> int:
        """Return how many tokens some texts have lost."""
        texts = np.unique(texts)
        n_left = sum(len(self._texts.left(text)) for text in texts.tolist())
        return int(self._sizes[texts].sum()) - n_left


class CutInRounds(_Watched):
    """Cuts all texts, and tells the seconds of one core of each round.

    Behind ``most_seconds`` no other one is begun.
    """

    most_seconds = float("inf")

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.seconds: list[float] = []
        self.is_whole = True

    def _changed(self) -> Int64s:
        changed = super()._changed()
        self.is_whole = not len(changed) or sum(self.seconds) < self.most_seconds
        return changed if self.is_whole else changed[:0]

    def _take_turns(self) -> None:
        watched = Watched()
        with watched:
            super()._take_turns()
        self.seconds.append(watched.seconds)


@dataclass(frozen=True)
class Turned:
    """What some texts have lost when the first round is over, and the ``seconds`` of their turns.

    So many of them, ``n_cut``, have lost ``passages``, which have ``tokens``. Of the seconds of one
    core other threads have no part in those ``alone``.
    """

    seconds: float = 0.0
    alone: float = 0.0
    n_cut: int = 0
    passages: int = 0
    tokens: int = 0


class SomeTurns(_Watched):
    """Lets some texts have their turns in a first round, of which the others are not looked at.

    Each is as it will be when its turn comes: without what a text before it has, of which others
    have lost their copies, too. That is found first, which is no part of the work.
    """

    @property
    def turns(self) -> Int64s:
        """The texts that take turns."""
        return np.arange(self._turns.start, self._turns.stop, dtype=np.int64)

    def index(self) -> None:
        """Index all texts, once."""
        self._index(np.arange(self._n_own, dtype=np.int64))

    def take(self, chosen: Int64s) -> Turned:
        """Let some texts, which ascend, have their turns; nothing has been cut before."""
        self._texts = self._texts.untouched()
        hits = [] if self._turns.start else self._hits_anywhere(chosen)
        texts = chosen.tolist()
        watched = Watched()
        for text, found in zip(texts, hits, strict=False):
            self._lose(text, found, range(self._first_of_batch[text]))
        with watched:
            states = self._states_now(texts)
            looked_up = list(self._look_up(states))
        for text, found in zip(texts, hits, strict=False):
            self._lose(text, found, range(self._first_of_batch[text], text))
            self._lose_copies(text, found, chosen)
        with watched:
            ahead = Ahead(states, iter(looked_up), self._texts)
            for text in texts:
                self._take_turn(text, ahead)
        removed = self._texts.removed()
        lost = removed.documents[np.isin(removed.documents, chosen)]
        return Turned(
            watched.seconds, watched.alone, len(np.unique(lost)), len(lost), self.n_lost(lost)
        )

    @cached_property
    def _first_of_batch(self) -> list[int]:
        """For each text the first one of those that are looked up together with it."""
        return [batch[0] for batch in self._batches() for _ in batch]

    def _hits_anywhere(self, chosen: Int64s) -> list[WindowHits]:
        """Return what windows of whole texts are like in others, by these."""
        anywhere = Later(np.zeros(len(chosen), np.int64), np.zeros(len(chosen), np.bool_))
        found, least = [], self._plan.min_documents
        for hits in self._searched.find(0, Views(chosen, {}), anywhere):
            hits = hits.take(np.argsort(hits.documents, kind="stable"))
            if least is not None and len(hits):
                # A text has each of its own windows.
                pairs = np.stack([hits.query_starts, hits.documents])
                starts, which = np.unique(hits.query_starts, return_inverse=True)
                of_windows = np.searchsorted(starts, np.unique(pairs, axis=1)[0])
                hits = hits.take(np.bincount(of_windows)[which] >= least)
            found.append(hits)
        return found

    def _lose(self, text: int, hits: WindowHits, before: range) -> None:
        """Take out of a text what some texts before it have, in their order.

        What overlaps with what has gone is left, as it is in a round.
        """
        bounds = np.searchsorted(hits.documents, [before.start, before.stop])
        ends = np.unique(hits.documents[slice(*bounds)], return_index=True)[1] + bounds[0]
        tokens = self._texts.whole(text)
        n_more = self._how.scheme.shingles.ngram - 1
        shingles, settle = None, self._indexed[0].maker.settle
        for start, stop in pairwise([*ends.tolist(), int(bounds[1])]):
            there = hits.take(np.arange(start, stop))
            there = there.take(self._is_whole(text, there.query_starts, there.query_stops))
            if not len(there):
                continue
            if shingles is None:
                shingles = self._how.scheme.shingle(join_lists([tokens])).values
            other = int(there.documents[0])
            settled = sorted(settle(shingles, there), key=lambda each: -each[2])
            for _, hit, similarity in settled:
                stops = (
                    min(at + n_more, int(self._sizes[of]))
                    for at, of in ((hit.query_stop, text), (hit.stop, other))
                )
                gone, kept = map(Passage, (text, other), (hit.query_start, hit.start), stops)
                places = np.arange(gone.start, gone.stop)
                if len(places) > n_more and not self._texts.has_lost(text, places):
                    self._texts.remove(gone, kept, similarity)

    def _is_whole(self, text: int, starts: Int64s, stops: Int64s) -> Bools:
        """Return which windows of a text have lost nothing."""
        mask = self._texts.mask(text)
        if mask is None:
            return np.ones(len(starts), np.bool_)
        n_lost = offsets_of(~mask.unpack())
        n_more = self._how.scheme.shingles.ngram - 1
        are_whole: Bools = n_lost[np.minimum(stops + n_more, mask.size)] == n_lost[starts]
        return are_whole

    def _lose_copies(self, text: int, hits: WindowHits, chosen: Int64s) -> None:
        """Take out of the texts behind one what that has lost; of others that is found anew."""
        first = int(np.searchsorted(hits.documents, text + 1))
        rows = np.arange(first, len(hits))
        hits = hits.take(rows)
        gone = ~self._is_whole(text, hits.query_starts, hits.query_stops)
        hits = hits.take(gone & ~np.isin(hits.documents, chosen))
        n_more = self._how.scheme.shingles.ngram - 1
        firsts = np.flatnonzero(np.diff(hits.documents, prepend=-1)).tolist()
        for start, stop in pairwise([*firsts, len(hits)]):
            number = int(hits.documents[start])
            places = np.zeros(int(self._sizes[number]) + 1, np.int64)
            np.add.at(places, hits.starts[start:stop], 1)
            ends = np.minimum(hits.stops[start:stop] + n_more, len(places) - 1)
            np.add.at(places, ends, -1)
            self._texts.lose(number, np.cumsum(places)[:-1] > 0)
