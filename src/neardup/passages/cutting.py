"""The near cut: one pass over texts in keep order, against an index of the text that stays.

A text is looked up in what stays of the texts before it. The passages that are similar go, best
first, one place per stretch, and the rest is looked up again until nothing is found. Then it is
looked up in itself: what it has again further on goes, too. What is left stays, and joins the
index. So text that repeats is indexed once, and a collection that is cut again stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from neardup.passages.align import AlignmentPlan
from neardup.passages.cut_block import CutBlock
from neardup.passages.cut_forms import Candidate, Form, StayingText
from neardup.passages.growing import LookUp
from neardup.passages.lookup import tokens_within
from neardup.tables import Bools, Floats, Int64s, Rows, TokenLists

# Tokens of texts that are looked up together: a share of those that stay, within bounds. Repeats
# within a block cost more than those of texts before it, and each block costs a look at all
# segments.
_BLOCK_SHARE, _LEAST_BLOCK, _LARGEST_BLOCK = 8, 1 << 12, 1 << 20


@dataclass(frozen=True)
class CutPlan:
    """What goes: passages found by ``alignment``, those that ``min_documents`` texts have.

    None is any that is there twice, also in one text.
    """

    alignment: AlignmentPlan
    min_documents: int | None = None


@dataclass(frozen=True)
class RemovedPassages(Rows):
    """Passages that go, each for one that stays; arrays have a row for each.

    Starts and stops (exclusive) are tokens, counted in the whole document. Of a passage that spans
    a place where something had gone before, what is left is meant, on both sides. Rows are by
    document and start.
    """

    documents: Int64s
    starts: Int64s
    stops: Int64s
    kept_documents: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats


class PassageCutter:
    """Cuts passages out of texts, for those that stay in them or that others have.

    Parameters
    ----------
    tokens
        All documents.
    order
        The documents in keep order; texts are numbered by it. The first ``n_others`` are of another
        collection and stay whole. With such, only passages that one of them has go.
    plan
        What goes.
    look_up
        How texts are indexed and looked up.
    """

    def __init__(
        self, tokens: TokenLists, order: Int64s, n_others: int, plan: CutPlan, look_up: LookUp
    ) -> None:
        self._tokens, self._order, self._n_others = tokens, order, n_others
        self._plan, self._look_up = plan, look_up
        self._sizes = np.diff(tokens.offsets)[order]
        self._staying = StayingText(plan.alignment, look_up)

    def cut(self) -> RemovedPassages:
        """Find all passages that go."""
        for texts in self._blocks(0, self._n_others):
            self._staying.add([self._whole(text) for text in texts])
        removed: list[tuple[int, Candidate]] = []
        n_tokens, n_done = int(self._sizes[self._n_others :].sum()), 0
        for texts in self._blocks(self._n_others, len(self._order)):
            block = CutBlock(
                [self._whole(text) for text in texts],
                self._staying,
                self._plan.alignment,
                self._look_up,
                is_apart=self._n_others > 0,
            )
            cuts = block.cut()
            for text, steps in zip(texts, cuts, strict=True):
                removed += [(text, each) for step in steps for each in step.chosen]
            if not self._n_others:
                block.add_to(self._staying, cuts)
            n_done += int(self._sizes[texts.start : texts.stop].sum())
            self._look_up.runner.report("cut", n_done, n_tokens)
        return self._removed(removed)

    def _blocks(self, first: int, end: int) -> Iterator[range]:
        """Part texts into blocks; the later ones are larger."""
        most = _LARGEST_BLOCK
        if self._look_up.workspace.work is not None:
            most = min(most, tokens_within(self._look_up.workspace))
        ends = np.cumsum(self._sizes)
        while first < end:
            n_tokens = min(max(self._staying.n_tokens // _BLOCK_SHARE, _LEAST_BLOCK), most)
            before = int(ends[first - 1]) if first else 0
            stop = int(np.searchsorted(ends, before + n_tokens, side="right"))
            stop = min(max(stop, first + 1), end)
            yield range(first, stop)
            first = stop

    def _whole(self, text: int) -> Form:
        document = self._order[text]
        start, stop = self._tokens.offsets[document : document + 2]
        tokens = self._tokens.values[start:stop]
        places = np.arange(len(tokens), dtype=np.int64)
        heads = self._tokens.heads[start:stop]
        if len(heads):
            heads = np.append(heads, True)
        return Form(text, places, tokens, heads, self._look_up.scheme)

    def _removed(self, found: Sequence[tuple[int, Candidate]]) -> RemovedPassages:
        """Return the passages that go, by document and place."""
        rows = np.array([(text, *each[2:7]) for text, each in found], np.int64).reshape(-1, 6)
        similarities = np.array([each.similarity for _, each in found], np.float64)
        texts, starts, stops, kept_texts, kept_starts, kept_stops = rows.T
        removed = RemovedPassages(
            texts, starts, stops, kept_texts, kept_starts, kept_stops, similarities
        )
        if self._plan.min_documents is not None:
            removed = _of_enough(removed, self._plan.min_documents)
        order = np.lexsort((removed.stops, removed.starts, removed.documents))
        removed = removed.take(order)
        documents, kept = self._order[removed.documents], self._order[removed.kept_documents]
        return replace(removed, documents=documents, kept_documents=kept)


def _of_enough(removed: RemovedPassages, min_documents: int) -> RemovedPassages:
    """Return the passages that enough documents have.

    A document that lost one for half of what stays for another has that, too. Where a passage stays
    after all, passages that were compared without it stay, too.
    """
    goes = _have_enough(removed, min_documents)
    n_left: int = len(removed)
    while n_left > np.count_nonzero(goes):
        n_left = int(np.count_nonzero(goes))
        back = removed.take(np.flatnonzero(~goes))
        for document in np.unique(back.documents).tolist():
            rows = np.flatnonzero(back.documents == document)
            starts, stops = back.starts[rows, None], back.stops[rows, None]
            is_around = (removed.starts < starts) & (stops < removed.stops)
            goes &= ~(is_around.any(axis=0) & (removed.documents == document))
            is_around = (removed.kept_starts < starts) & (stops < removed.kept_stops)
            goes &= ~(is_around.any(axis=0) & (removed.kept_documents == document))
    return removed.take(np.flatnonzero(goes))


def _have_enough(removed: RemovedPassages, min_documents: int) -> Bools:
    """Return which passages so many documents have, the one that keeps it among them."""
    have_enough: Bools = np.zeros(len(removed), np.bool_)
    for kept in np.unique(removed.kept_documents).tolist():
        rows = np.flatnonzero(removed.kept_documents == kept)
        starts, stops = removed.kept_starts[rows], removed.kept_stops[rows]
        places, of_place = np.unique(np.stack([starts, stops]), axis=1, return_inverse=True)
        for number, (start, stop) in enumerate(places.T.tolist()):
            common = np.minimum(stops, stop) - np.maximum(starts, start)
            documents = removed.documents[rows[2 * common >= stop - start]]
            n_documents = len(np.union1d(documents, kept))
            have_enough[rows[of_place.ravel() == number]] = n_documents >= min_documents
    return have_enough
