"""Alignment: all that long documents share with those of an index, as passages of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from neardup.passages.chains import NO_LIMIT, ChainRules, Hit, chain_hits, group_hits
from neardup.passages.containment import ContainedSettler, group_contained
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import Later, WindowCounts, WindowFinder, WindowHits, WindowPlan
from neardup.passages.matches import Matches
from neardup.passages.plan import SearchPlan
from neardup.passages.scheme import PassageScheme, check_length, make_passage_scheme
from neardup.passages.settle import Balance, Settler
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies

# Shared tokens, on either side of a gap, that make up for a token in it. More leave revised
# editions in pieces, fewer join quotations that stand near each other with all that is between.
_GAP_COST = 0.2

# The share of the memory that documents take which are read from an index.
_READ_SHARE = 0.1

# Where a gap of a given width is allowed, nearer hits are still the better ones.
_LEAST_COST = 2**-10


@dataclass(frozen=True)
class AlignmentPlan:
    """How shared passages are found.

    Query windows of ``length`` tokens, one every ``step``, are looked up by ``search``, at a
    threshold of their own; their hits are put together as ``chains`` says. Passages below
    ``threshold`` are left out, those of fewer than ``min_tokens`` tokens in both texts, and windows
    found in more than ``max_documents`` documents. If few of ``min_tokens`` are to be missed, ends
    are looked for that leave so many. Where an index has shingles of several tokens, tokens stand
    for shingles here.
    """

    search: SearchPlan
    threshold: Fraction
    length: int
    step: int
    chains: ChainRules
    min_tokens: int
    max_documents: int | None = None
    misses_few: bool = False

    @property
    def windows(self) -> WindowPlan:
        """Which windows are looked up."""
        return WindowPlan(self.search, self.length, self.step, self.max_documents)


class PassageMaker:
    """Makes passages of what windows of texts are like.

    ``tokens_of`` gives the tokens of a document that was found, by its number, and ``heads_of``
    which of them begin a character, and that one begins behind the last; none if all do.
    """

    def __init__(
        self,
        plan: AlignmentPlan,
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
        tokens_of: Callable[[int], Uint64s],
        heads_of: Callable[[int], Bools] | None = None,
    ) -> None:
        self._plan, self._tokens_of, self._heads_of = plan, tokens_of, heads_of
        # So many shingles behind a passage share tokens with it.
        self._overlap = scheme.shingles.ngram - 1
        self._balance = Balance(scheme, frequencies)

    def settle(
        self,
        tokens: Uint64s,
        found: WindowHits,
        own: int | None = None,
        heads: Bools | None = None,
    ) -> Iterator[tuple[int, Hit, float]]:
        """Yield the documents that share a passage with a query, the passage, its similarity.

        ``own`` is the document that is the query itself, if one is. With ``heads``, those of the
        query, passages begin and end with a character.
        """
        places = np.stack(
            [found.query_starts, found.query_stops, found.starts, found.stops], axis=1
        )
        plan, times = self._plan, self._plan.search.times
        for document, numbers in group_hits(found.documents, places):
            texts = tokens, self._tokens_of(document)
            hits, similarities = places[numbers], found.similarities[numbers]
            if times:
                near = plan.length if plan.chains.gap == NO_LIMIT else plan.chains.gap
                settler: Settler = ContainedSettler(
                    texts,
                    self._balance,
                    plan.threshold,
                    plan.length,
                    times,
                    near,
                    plan.min_tokens,
                )
                chains = group_contained(hits, similarities, times, near)
            else:
                settler = Settler(
                    texts,
                    self._balance,
                    plan.threshold,
                    plan.length,
                    self._overlap if document == own else None,
                    plan.min_tokens if plan.misses_few else 0,
                )
                chains = chain_hits(hits, similarities, plan.chains)
            for hit, similarity in settler.settle(chains):
                whole: Hit | None = hit
                if heads is not None and self._heads_of is not None and len(heads):
                    whole = self._whole_characters(hit, heads, self._heads_of(document))
                if whole is None or settler.size(whole) < plan.min_tokens:
                    continue
                known = similarity if whole == hit else settler.similarity(whole)
                if known is not None:
                    yield document, whole, known

    def _whole_characters(self, hit: Hit, heads: Bools, others: Bools) -> Hit | None:
        """Shrink a passage to the characters of which it has all tokens, in both texts."""
        ends: list[int] = []
        for each, start, stop in (
            (heads, hit.query_start, hit.query_stop),
            (others, hit.start, hit.stop),
        ):
            edges = start + np.flatnonzero(each[start : stop + self._overlap + 1])
            if not len(edges):
                return None
            n_lost = min(stop + self._overlap, len(each) - 1) - int(edges[-1])
            if edges[0] >= stop - n_lost:
                return None
            ends += [int(edges[0]), stop - n_lost]
        return Hit(*ends)


class Aligner:
    """Finds what the documents of a block share with those of an index."""

    def __init__(
        self, index: OpenPassages, plan: AlignmentPlan, workspace: Workspace, runner: Runner
    ) -> None:
        self._index = index
        self._finder = WindowFinder(index, plan.windows, workspace, runner)
        self._workspace = workspace
        # Segments of which documents were read, with the bytes of all their tokens.
        self._read: dict[int, int] = {}
        self._maker = PassageMaker(plan, index.scheme, index.frequencies, self._document_tokens)

    def take_counts(self) -> WindowCounts:
        """Return what happened since they were taken last."""
        counts, self._finder.counts = self._finder.counts, WindowCounts()
        return counts

    def align(
        self,
        queries: TokenLists,
        report: Callable[[float], None],
        later: Later | None = None,
    ) -> Matches:
        """Find all shared passages, in the order of the queries and of places in them.

        ``report`` is called with the share of the work that is done. ``later`` says which
        documents each query may find; None is all.
        """
        rows: list[tuple[int, int, Hit, float]] = []
        for query, hits in enumerate(self._finder.find(queries, later, report)):
            start, stop = (int(offset) for offset in queries.offsets[query : query + 2])
            own = int(later.firsts[query]) if later and later.are_own[query] else None
            tokens = queries.values[start:stop]
            found = [(query, *row) for row in self._maker.settle(tokens, hits, own)]
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

    def _document_tokens(self, document: int) -> Uint64s:
        number = int(self._index.segments_of(np.array([document]))[0])
        segment = self._index.segments[number]
        if number not in self._read:
            needed = segment.vocabulary.nbytes + segment.tokens.nbytes
            if not self._workspace.fits(sum(self._read.values()) + needed, _READ_SHARE):
                for each in self._read:
                    self._index.leave(each)
                self._read = {}
            self._read[number] = needed
        local = document - int(self._index.first_documents[number])
        start, stop = segment.offsets[local], segment.offsets[local + 1]
        return segment.vocabulary[segment.tokens[start:stop]]


def make_alignment_plan(
    search: SearchPlan,
    min_tokens: int,
    gap: int | None = None,
    threshold: Fraction | None = None,
) -> AlignmentPlan:
    """Choose windows for an index: its shortest passage, one beginning every half of it.

    Passages go on over gaps of up to ``gap`` tokens; None: as far as their evidence carries. They
    are at ``threshold``; None: at that of the windows.
    """
    length = search.min_tokens
    step = step_of(length)
    chains = ChainRules(length, NO_LIMIT, _GAP_COST)
    if gap is not None:
        chains = ChainRules(min(length, gap), gap, _LEAST_COST)
    threshold = search.threshold if threshold is None else threshold
    return AlignmentPlan(search, threshold, length, step, chains, min_tokens)


def step_of(length: int) -> int:
    """Return every how many tokens a window of so many begins."""
    return max(length // 2, 1)


def certain_length(plan: AlignmentPlan) -> int:
    """Give the length in tokens from which a shared passage is sure to hold a whole window."""
    return plan.length + plan.step - 1


def make_window_scheme(min_tokens: int, *, ngram: int = 1, **options: Any) -> PassageScheme:
    """Make the scheme of an index in which passages of ``min_tokens`` hold a window whole."""
    check_length(min_tokens, ngram)
    length = windows_for(min_tokens - ngram + 1)
    return make_passage_scheme(min_tokens=length + ngram - 1, ngram=ngram, **options)


def windows_for(min_tokens: int) -> int:
    """Give the length of windows so that passages of ``min_tokens`` hold one of them whole."""
    return max(int(Fraction(2, 3) * (min_tokens + 1)), 1)
