"""Alignment: all that long documents share with those of an index, as passages of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from neardup.kernels import weights
from neardup.passages.chains import (
    Hit,
    chain_hits,
    group_hits,
    hull,
    widest_gap,
    without_inner,
)
from neardup.passages.ends import grow_equal, refine_ends
from neardup.passages.index import OpenIndex
from neardup.passages.matches import Matches
from neardup.passages.query_windows import Later, WindowCounts, WindowFinder, WindowHits, WindowPlan
from neardup.passages.scheme import PassageScheme, check_length, make_passage_scheme
from neardup.passages.search import SearchPlan
from neardup.passages.weights import inverse_frequencies
from neardup.runtime.runner import Runner
from neardup.tables import Int64s, TokenLists, Uint64s
from neardup.text.weighting import term_frequencies

# Window lengths that may lie between two hits of a passage, unless told otherwise: a paragraph or
# two that one text lacks. Fewer leave revised editions in pieces, more join quotations that stand
# near each other with all that is between.
_GAP_LENGTHS = 8


@dataclass(frozen=True)
class AlignmentPlan:
    """How shared passages are found.

    Query windows of ``length`` tokens, one every ``step``, are looked up by ``search``; their hits
    are chained over gaps of up to ``gap`` tokens. Passages of fewer than ``min_tokens`` tokens in
    both texts are left out, as are windows found in more than ``max_documents`` documents. Where an
    index has shingles of several tokens, tokens stand for shingles here.
    """

    search: SearchPlan
    length: int
    step: int
    gap: int
    min_tokens: int
    max_documents: int | None = None


class Aligner:
    """Finds what the documents of a block share with those of an index."""

    def __init__(self, index: OpenIndex, plan: AlignmentPlan, runner: Runner) -> None:
        self._index, self._plan = index, plan
        windows = WindowPlan(plan.search, plan.length, plan.step, plan.max_documents)
        self._finder = WindowFinder(index, windows, runner)
        # So many shingles behind a passage share tokens with it.
        self._overlap = index.scheme.shingles.ngram - 1

    @property
    def counts(self) -> WindowCounts:
        """What happened on the way."""
        return self._finder.counts

    def align(
        self, queries: TokenLists, report: Callable[[float], None], later: Later | None = None
    ) -> Matches:
        """Find all shared passages, in the order of the queries and of places in them.

        ``report`` is called with the share of the tokens that are done. ``later`` says which
        documents each query may find; None is all.
        """
        rows: list[tuple[int, int, Hit, float]] = []
        for query, hits in enumerate(self._finder.find(queries, later, report)):
            start, stop = (int(offset) for offset in queries.offsets[query : query + 2])
            own = int(later.firsts[query]) if later and later.are_own[query] else None
            found = [
                (query, document, hit, similarity)
                for document, hit, similarity in self._align_one(
                    queries.values[start:stop], hits, own
                )
            ]
            rows.extend(sorted(found, key=lambda row: (row[2].query_start, row[1], row[2].start)))
        passages = [row[2] for row in rows]
        return Matches(
            np.array([row[0] for row in rows], np.int64),
            np.array([hit.query_start for hit in passages], np.int64),
            np.array([hit.query_stop for hit in passages], np.int64),
            np.array([row[1] for row in rows], np.int64),
            np.array([hit.start for hit in passages], np.int64),
            np.array([hit.stop for hit in passages], np.int64),
            np.array([row[3] for row in rows], np.float64),
        )

    def _align_one(
        self, tokens: Uint64s, found: WindowHits, own: int | None
    ) -> Iterator[tuple[int, Hit, float]]:
        """Give the passages that a query shares; ``own`` is the document that it is itself."""
        hits = [
            Hit(*places)
            for places in zip(
                found.query_starts.tolist(),
                found.query_stops.tolist(),
                found.starts.tolist(),
                found.stops.tolist(),
                strict=True,
            )
        ]
        for document, of_document in group_hits(found.documents, hits):
            others = self._document_tokens(document)
            is_itself = document == own
            settled = [
                (hit, similarity)
                for chain in chain_hits(of_document, self._plan.gap)
                for hit, similarity in self._settle(tokens, others, chain, is_itself)
            ]
            for hit, similarity in without_inner(settled):
                longer = max(hit.query_stop - hit.query_start, hit.stop - hit.start)
                if longer >= self._plan.min_tokens:
                    yield document, hit, similarity

    def _document_tokens(self, document: int) -> Uint64s:
        number = int(self._index.segments_of(np.array([document]))[0])
        segment = self._index.segments[number]
        local = document - int(self._index.first_documents[number])
        start, stop = segment.offsets[local], segment.offsets[local + 1]
        return segment.vocabulary[segment.tokens[start:stop]]

    def _settle(
        self, tokens: Uint64s, others: Uint64s, chain: Sequence[Hit], is_own: bool
    ) -> list[tuple[Hit, float]]:
        """Make passages of a chain that are as similar as asked for, as few as can be.

        Two passages of one text (``is_own``) never overlap.
        """
        passages: list[tuple[Hit, float]] = []
        # Not by recursion: a chain may have thousands of hits, and lose one at a time.
        parts = [chain]
        while parts:
            part = parts.pop()
            settled = self._make_passage(tokens, others, part, is_own)
            if settled is not None:
                self._append_joined(tokens, others, passages, settled, is_own)
            elif len(part) > 1:
                cut = widest_gap(part)
                parts += [part[cut:], part[:cut]]
        return passages

    def _make_passage(
        self, tokens: Uint64s, others: Uint64s, chain: Sequence[Hit], is_own: bool
    ) -> tuple[Hit, float] | None:
        """Make one passage of a chain, if that is as similar as asked for.

        Ends that were refined may lie behind a difference that makes it less similar than asked
        for; then they are only moved over equal tokens.
        """
        whole = hull(chain)
        refined = refine_ends(tokens, others, whole, self._plan.length)
        ends = [grow_equal(tokens, others, refined), grow_equal(tokens, others, whole), whole]
        for hit in dict.fromkeys(ends):
            similarity = self._similarity(tokens, others, hit, is_own)
            if similarity is not None:
                return hit, similarity
        return None

    def _append_joined(
        self,
        tokens: Uint64s,
        others: Uint64s,
        passages: list[tuple[Hit, float]],
        last: tuple[Hit, float],
        is_own: bool,
    ) -> None:
        """Append a passage, as one with those before it as long as that is similar enough.

        A chain is parted at its gaps, and not always where it is least similar.
        """
        while passages:
            both = passages[-1][0].joined(last[0])
            similarity = self._similarity(tokens, others, both, is_own)
            if similarity is None:
                break
            last = both, similarity
            passages.pop()
        passages.append(last)

    def _similarity(self, tokens: Uint64s, others: Uint64s, hit: Hit, is_own: bool) -> float | None:
        """Give the similarity of two passages; None if it is below the threshold.

        None also for passages of one text that overlap.
        """
        if is_own and hit.start < hit.query_stop + self._overlap:
            return None
        shared, either = self._compare(tokens, others, hit)
        threshold = self._plan.search.threshold
        if shared * threshold.denominator < either * threshold.numerator:
            return None
        return shared / either

    def _compare(self, tokens: Uint64s, others: Uint64s, hit: Hit) -> tuple[int, int]:
        """Weigh what two passages share, and what either has.

        With binary frequencies copies count here, too: as a set a long passage is its vocabulary,
        of which two spellings of one text share little though they share most of their words.
        """
        scheme = self._index.scheme
        query = tokens[hit.query_start : hit.query_stop]
        document = others[hit.start : hit.stop]
        hashes, numbers = np.unique(np.concatenate([query, document]), return_inverse=True)
        inverses = inverse_frequencies(hashes, scheme, self._index.frequencies)
        tf = "raw" if scheme.weighting.tf == "binary" else scheme.weighting.tf
        of_both = []
        for part in (numbers[: len(query)], numbers[len(query) :]):
            counts = np.bincount(part, minlength=len(hashes)).astype(np.int64)
            table = term_frequencies(tf, int(counts.max()))
            weighed: Int64s = np.empty(len(hashes), np.int64)
            weights.fill_weights(counts, table, inverses, weighed)
            of_both.append(weighed)
        shared, either = np.minimum(*of_both).sum(), np.maximum(*of_both).sum()
        return int(shared), max(int(either), 1)


def make_alignment_plan(
    search: SearchPlan,
    min_tokens: int,
    gap: int | None = None,
    max_documents: int | None = None,
) -> AlignmentPlan:
    """Choose windows for an index: its shortest passage, one beginning every half of it."""
    length = search.min_tokens
    step = max(length // 2, 1)
    chosen = _GAP_LENGTHS * length if gap is None else gap
    return AlignmentPlan(search, length, step, chosen, min_tokens, max_documents)


def certain_length(plan: AlignmentPlan) -> int:
    """Give the length in tokens from which a shared passage is sure to hold a whole window."""
    return plan.length + plan.step - 1


def make_window_scheme(min_tokens: int, *, ngram: int = 1, **options: Any) -> PassageScheme:
    """Make the scheme of an index in which passages of ``min_tokens`` tokens hold a window whole.

    Raises
    ------
    InvalidParameterError
        For the first option that is out of range.
    """
    check_length(min_tokens, ngram)
    length = windows_for(min_tokens - ngram + 1)
    return make_passage_scheme(min_tokens=length + ngram - 1, ngram=ngram, **options)


def windows_for(min_tokens: int) -> int:
    """Give the length of windows so that passages of ``min_tokens`` hold one of them whole."""
    return max(int(Fraction(2, 3) * (min_tokens + 1)), 1)
