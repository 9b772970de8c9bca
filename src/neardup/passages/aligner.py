"""Find all passages that documents share with an index."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from neardup.kernels.arrays import sealed
from neardup.kernels.passage import refine
from neardup.kernels.passage.chains import ChainRules
from neardup.kernels.passage.ends import PassageRules, WordWeights
from neardup.passages.open_passages import OpenPassages
from neardup.passages.passage_lookup import (
    DocumentLimits,
    WindowCounts,
    WindowFinder,
    WindowHits,
    WindowPlan,
)
from neardup.passages.passage_matches import PassageMatches
from neardup.passages.search_plan import SearchPlan
from neardup.passages.windows import PassageScheme, check_length, make_passage_scheme
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Int64s, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

# Gaps of any width.
NO_LIMIT = 1 << 40

# Shared tokens, on either side of a gap, that compensate for a token in it. More split revised
# editions, fewer join nearby quotations with all the text between them.
_GAP_COST = 0.2

# Cost of a token within an allowed gap, so that nearer hits are preferred.
_LEAST_COST = 2**-10


@dataclass(frozen=True)
class AlignmentPlan:
    """Options of the search for shared passages.

    Query windows of ``length`` tokens, one every ``step``, are looked up by ``search`` at its own
    threshold; ``chains`` joins their hits. Passages below ``threshold`` or with fewer than
    ``min_tokens`` tokens in a text are discarded, and so are windows in more than ``max_documents``
    documents. With high recall for ``min_tokens``, ends are moved outwards to reach this length.
    With ``is_once``, a stretch of a query is in one passage per document. If an index has shingles
    of several tokens, tokens mean shingles here.
    """

    search: SearchPlan
    threshold: Fraction
    length: int
    step: int
    chains: ChainRules
    min_tokens: int
    max_documents: int | None = None
    misses_few: bool = False
    is_once: bool = False

    @property
    def windows(self) -> WindowPlan:
        """Query windows to look up."""
        return WindowPlan(self.search, self.length, self.step, self.max_documents)


# Minimum similarity of the ends of a passage, per mille of the threshold; chosen on passages
# reworded by 20 to 50 %. With a fifth less, as much uncopied as copied text is added; no unrelated
# text reaches half the similarity of a good copy by chance.
_OF_THRESHOLD = 700

# Tokens by which an end moves at most; their alignment takes a quarter of a byte per pair.
_MOST_REACH = 4096


class PassageMaker:
    """Make passages of the hits of a text's windows.

    ``texts_of`` yields the tokens of documents by their numbers, some at a time. ``heads_of`` marks
    a document's tokens that begin a character, and the end; it is empty if all do.
    """

    def __init__(
        self,
        plan: AlignmentPlan,
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
        texts_of: Callable[[Int64s], Iterable[TokenLists]],
        heads_of: Callable[[int], Bools] | None = None,
    ) -> None:
        self._min_tokens, self._texts_of, self._heads_of = plan.min_tokens, texts_of, heads_of
        # This many shingles after a passage share tokens with it.
        self._overlap = scheme.shingles.ngram - 1
        self._chains, times, self._threshold = plan.chains, plan.search.times, plan.threshold
        self._is_once = plan.is_once and not times
        p, q = plan.threshold.as_integer_ratio()
        self._rules = PassageRules(
            *(p, q, min(plan.length, _MOST_REACH), times),
            near=plan.length if plan.chains.gap == NO_LIMIT else plan.chains.gap,
            min_tokens=plan.min_tokens if times or plan.misses_few else 0,
            least_of_end=_OF_THRESHOLD * p // q,
        )
        # Copies count even with binary frequencies: as a set, a long passage is its vocabulary, of
        # which two spellings of one text share little although they share most of their words.
        weighting = scheme.weighting
        self._tf = "raw" if weighting.tf == "binary" else weighting.tf
        self._weights = WordWeights(
            *(term_frequencies(self._tf, 0), np.empty(0, np.uint64), np.empty(0)), np.float64(1)
        )
        if frequencies is not None and weighting.idf != "unary":
            inverses = frequencies.idf_of_counts(frequencies.counts, weighting.idf)
            rarest = frequencies.idf_of_counts(np.zeros(1, np.int64), weighting.idf)[0]
            self._weights = self._weights._replace(
                hashes=frequencies.hashes, inverses=inverses, rarest=rarest
            )

    def refine(
        self, tokens: Uint64s, found: WindowHits, own: int = -1, heads: Bools | None = None
    ) -> WindowHits:
        """Return the passages of a query, by document.

        ``own`` is the number of the query's own document, or -1. With ``heads`` of the query,
        passages have whole characters.
        """
        order = np.lexsort(
            (found.stops, found.starts, found.query_stops, found.query_starts, found.documents)
        )
        found = found.take(order)
        bounds = np.flatnonzero(np.diff(found.documents, prepend=-1, append=-1))
        documents, first = found.documents[bounds[:-1]], 0
        parts = []
        for texts in self._texts_of(documents):
            stop = first + len(texts)
            parts.append(
                self._refine_some(
                    *(tokens, texts, documents[first:stop]),
                    found.take(slice(bounds[first], bounds[stop])),
                    *(own, heads),
                )
            )
            first = stop
        return WindowHits.joined(parts)

    def _refine_some(
        self,
        tokens: Uint64s,
        texts: TokenLists,
        documents: Int64s,
        found: WindowHits,
        own: int,
        heads: Bools | None,
    ) -> WindowHits:
        """Return the passages of a query in some documents, given their ``texts``."""
        most = max(len(tokens), int(np.diff(texts.offsets).max(initial=0))) + 1
        if most > len(self._weights.term_weights):
            table = term_frequencies(self._tf, 2 * most)
            self._weights = sealed(self._weights._replace(term_weights=table))
        hits = np.stack([found.query_starts, found.query_stops, found.starts, found.stops], axis=1)
        aparts = np.where(documents == own, np.int64(self._overlap), np.int64(-1))
        passages: Int64s = np.empty((len(hits), 7), np.int64)
        rules = self._chains, self._rules, self._weights
        n_passages = refine.refine_hits(
            *(tokens, texts.values, texts.offsets, hits, found.similarities),
            np.searchsorted(found.documents, np.append(documents, documents[-1] + 1)),
            *(aparts, *rules, passages),
        )
        rows = passages[:n_passages]
        if heads is not None and self._heads_of is not None and len(heads):
            for row in rows:
                number = int(row[0])
                if self._fit_characters(row, heads, self._heads_of(int(documents[number]))):
                    document = texts.values[texts.offsets[number] : texts.offsets[number + 1]]
                    refine.measure_passages(
                        *(tokens, document, int(aparts[number])), *rules[1:], row[np.newaxis]
                    )
            rows = rows[rows[:, 5] >= 0]
        sizes = rows[:, [2, 4]] - rows[:, [1, 3]]
        longer = sizes[:, 0] if self._rules.times else sizes.max(axis=1)
        rows = rows[longer >= self._min_tokens]
        if self._is_once:
            rows = rows[one_per_stretch(rows, self._threshold) | (aparts[rows[:, 0]] >= 0)]
        shares = [shared / either for shared, either in rows[:, 5:].tolist()]
        return WindowHits(
            *(rows[:, 1], rows[:, 2], documents[rows[:, 0]], rows[:, 3], rows[:, 4]),
            np.array(shares, np.float64),
        )

    def _fit_characters(self, row: Int64s, heads: Bools, others: Bools) -> bool:
        """Shrink a passage to complete characters of both texts.

        Returns whether it has become shorter. Its common weight becomes -1 if nothing is left.
        """
        before = row.copy()
        for each, ends in ((heads, row[1:3]), (others, row[3:5])):
            start, stop = ends.tolist()
            edges = start + np.flatnonzero(each[start : stop + self._overlap + 1])
            n_lost = 0
            if len(edges):
                n_lost = min(stop + self._overlap, len(each) - 1) - int(edges[-1])
            if not len(edges) or edges[0] >= stop - n_lost:
                row[5] = -1
                return False
            ends[:] = int(edges[0]), stop - n_lost
        return not np.array_equal(before, row)


def one_per_stretch(rows: Int64s, threshold: Fraction) -> Bools:
    """Mark passages that mostly lie outside a better passage.

    Rows are document, places, common weight, and total. A better passage of the same document
    exceeds the threshold by more weight, and must not cover half of the query part.
    """
    are_left: Bools = np.ones(len(rows), np.bool_)
    surplus = rows[:, 5] - float(threshold) * rows[:, 6]
    order = np.lexsort((-surplus, rows[:, 0]))
    for of_document in np.split(order, np.flatnonzero(np.diff(rows[order, 0])) + 1):
        for number, row in enumerate(of_document.tolist()):
            better = of_document[:number][are_left[of_document[:number]]]
            starts, stops = rows[better, 1], rows[better, 2]
            common = np.minimum(stops, rows[row, 2]) - np.maximum(starts, rows[row, 1])
            are_left[row] = not (2 * common >= rows[row, 2] - rows[row, 1]).any()
    return are_left


class Aligner:
    """Align documents of a block with documents of an index."""

    def __init__(
        self, index: OpenPassages, plan: AlignmentPlan, workspace: Workspace, runner: Runner
    ) -> None:
        self._finder = WindowFinder(index, plan.windows, workspace, runner)
        self._maker = PassageMaker(plan, index.scheme, index.frequencies, index.tokens_of)

    def take_counts(self) -> WindowCounts:
        """Return and reset the counts."""
        counts, self._finder.counts = self._finder.counts, WindowCounts()
        return counts

    def align(
        self,
        queries: TokenLists,
        report: Callable[[float], None],
        limits: DocumentLimits | None = None,
    ) -> PassageMatches:
        """Find all shared passages, sorted by query and position.

        ``report`` is called with the completed share of the work. ``limits`` restricts the
        documents of each query's results.
        """
        parts: list[WindowHits] = []
        sizes = np.zeros(len(queries), np.int64)
        for query, hits in enumerate(self._finder.find(queries, limits, report)):
            if not len(hits):
                continue
            start, stop = (int(offset) for offset in queries.offsets[query : query + 2])
            own = int(limits.firsts[query]) if limits and limits.are_own[query] else -1
            found = self._maker.refine(queries.values[start:stop], hits, own)
            order = np.lexsort((found.starts, found.documents, found.query_starts))
            parts.append(found.take(order))
            sizes[query] = len(found)
        found = WindowHits.joined(parts)
        return PassageMatches(np.repeat(np.arange(len(queries)), sizes), *vars(found).values())


def make_alignment_plan(
    search: SearchPlan, min_tokens: int, gap: int | None = None, threshold: Fraction | None = None
) -> AlignmentPlan:
    """Choose windows of the index's shortest passage length.

    A window begins every half of this length. Passages continue over gaps of up to ``gap`` tokens;
    None: as far as their evidence supports. A None ``threshold`` is the windows' threshold.
    """
    length = search.min_tokens
    step = step_of(length)
    chains = ChainRules(length, NO_LIMIT, np.float64(_GAP_COST))
    if gap is not None:
        chains = ChainRules(min(length, gap), gap, np.float64(_LEAST_COST))
    threshold = search.threshold if threshold is None else threshold
    return AlignmentPlan(search, threshold, length, step, chains, min_tokens)


def step_of(length: int) -> int:
    """Return the distance between window starts for a window length."""
    return max(length // 2, 1)


def certain_length(plan: AlignmentPlan) -> int:
    """Return the shortest passage length that surely contains a window."""
    return plan.length + plan.step - 1


def make_window_scheme(min_tokens: int, *, ngram: int = 1, **options: Any) -> PassageScheme:
    """Make an index scheme with windows within passages of ``min_tokens``."""
    check_length(min_tokens, ngram)
    length = window_length(min_tokens - ngram + 1)
    return make_passage_scheme(min_tokens=length + ngram - 1, ngram=ngram, **options)


def window_length(min_tokens: int) -> int:
    """Return the longest windows of which passages of ``min_tokens`` contain one.

    Windows of length L begin every L / 2 tokens, so that L + L / 2 - 1 tokens contain one.
    """
    return max(2 * (min_tokens + 1) // 3, 1)
