"""Alignment: all passages that long documents share with documents of an index."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from neardup.passages.index import OpenPassages
from neardup.passages.lookup import Later, WindowCounts, WindowFinder, WindowHits, WindowPlan
from neardup.passages.matches import PassageMatches
from neardup.passages.plan import SearchPlan
from neardup.passages.refine import (
    NO_LIMIT,
    ChainRules,
    Hit,
    HitRun,
    Passage,
    PassageRefiner,
    TokenBalance,
    chain_hits,
    group_hits,
)
from neardup.passages.windows import PassageScheme, check_length, make_passage_scheme
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.tables import Bools, Floats, Int64s, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies

# Passages of queries that are contained in longer passages of documents.


def group_contained(
    places: Int64s, similarities: Floats, times: int, near: int
) -> list[list[HitRun]]:
    """Group hits of one query and one document, in any order within the document.

    Rows of ``places`` are start and stop in the query, start and stop in the document; sorted.
    ``similarities`` are the shares of the query's parts that the document's parts contain. A
    document's part is at most ``times`` as long as the query's part, and hits are at most ``near``
    tokens of the query apart. Each hit joins the group whose part of the document grows least.
    Groups are chains of one run, most evidence first.
    """
    groups: list[tuple[Hit, list[int]]] = []
    n_closed = 0
    hits = [Hit(*row) for row in places.tolist()]
    for number, hit in enumerate(hits):
        while n_closed < len(groups) and groups[n_closed][0].query_stop + near < hit.query_start:
            n_closed += 1
        chosen, least = -1, 0
        for group in range(n_closed, len(groups)):
            whole, members = groups[group]
            if whole.query_stop + near < hit.query_start or (
                # A different part of the document with the same window.
                hits[members[-1]].query_start == hit.query_start
            ):
                continue
            both = whole.joined(hit)
            growth = (both.stop - both.start) - (whole.stop - whole.start)
            is_short = both.stop - both.start <= times * (both.query_stop - both.query_start)
            if is_short and (chosen < 0 or growth < least):
                chosen, least = group, growth
        if chosen < 0:
            groups.append((hit, [number]))
        else:
            whole, members = groups[chosen]
            members.append(number)
            groups[chosen] = whole.joined(hit), members
    chains = []
    for whole, members in groups:
        # The overlap with the previous hit is not counted as evidence again.
        stop, evidence = whole.query_start, 0.0
        for number in members:
            hit = hits[number]
            new = max(hit.query_stop - max(stop, hit.query_start), 0)
            evidence += float(similarities[number]) * new
            stop = max(stop, hit.query_stop)
        # Of several parts with equal evidence, the shortest comes first.
        evidence -= (whole.stop - whole.start) / (_WIDER * times)
        chains.append([HitRun(tuple(hits[number] for number in members), whole, evidence)])
    return sorted(chains, key=lambda chain: -chain[0].evidence)


class ContainedRefiner(PassageRefiner):
    """Make passages in which the document contains a share of the query's part.

    That share is at least the threshold. The document's part weighs at most ``times`` the query's
    part, and begins and ends with shared tokens; the part with the greatest Tversky index is
    chosen. Parts of the query up to ``near`` tokens apart are joined while these conditions hold.
    Ends that leave fewer than ``min_tokens`` of the query are a last resort.
    """

    def __init__(
        self,
        texts: tuple[Uint64s, Uint64s],
        balance: TokenBalance,
        threshold: Fraction,
        reach: int,
        times: int,
        near: int,
        min_tokens: int,
    ) -> None:
        super().__init__(texts, balance, threshold, reach, min_tokens=min_tokens)
        self._times, self._near = times, near

    def refine(self, chains: Sequence[Sequence[HitRun]]) -> list[Passage]:
        """Make passages of groups, and join groups whose document parts stay short enough.

        Of passages that overlap by half in the query, only the best is returned.
        """
        joined: list[Passage] = []
        for hit, similarity in super().refine(chains):
            last: Passage = hit, similarity
            while (both := self._joined_with_any(joined, last[0])) is not None:
                last = both
            joined.append(last)
        return joined

    def _joined_with_any(self, passages: list[Passage], hit: Hit) -> Passage | None:
        """Remove the first passage that can be joined with a hit, and return the joined one."""
        for number, (other, _) in enumerate(passages):
            before, after = sorted([other, hit], key=lambda each: each.query_start)
            if after.query_start - before.query_stop > self._near:
                continue
            both = before.joined(after)
            similarity = self.similarity(both)
            if similarity is not None:
                del passages[number]
                return both, similarity
        return None

    def size(self, hit: Hit) -> int:
        """Return the length of the query's part, which must reach ``min_tokens``."""
        return hit.query_stop - hit.query_start

    def _common_share(self, one: Hit, other: Hit) -> float:
        """Return the share of another passage's query part that lies in this one."""
        query = min(one.query_stop, other.query_stop) - max(one.query_start, other.query_start)
        return max(query / (other.query_stop - other.query_start), 0.0)

    def _ends(self, whole: Hit) -> Iterator[Hit]:
        """Yield the passage with optimized ends, then the original one."""
        best = whole
        for _ in range(_ROUNDS):
            before = best
            best = self._with_part(self._with_query(best))
            if best == before:
                break
        yield best
        yield self._with_part(self._stretched(best))
        yield self._with_part(whole)
        yield whole

    def _stretched(self, whole: Hit) -> Hit:
        """Move the query's ends to the most similar part of sufficient length."""
        low = max(whole.query_start - self._reach, 0)
        first = max(whole.start - self._around(whole), 0)
        last = min(whole.stop + self._around(whole), len(self._others))
        query = self._tokens[low : whole.query_stop + self._reach]
        start, stop = self._best_range(
            query, self._others[first:last], self._min_tokens, self._threshold.denominator
        )
        return Hit(low + start, low + stop, first, last)

    def _with_part(self, hit: Hit) -> Hit:
        """Move the document's ends to the greatest index."""
        query = self._tokens[hit.query_start : hit.query_stop]
        _, total, _ = self._balance.weigh(query, query[:0])
        low, high = max(hit.start - self._around(hit), 0), hit.stop + self._around(hit)
        start = hit.stop - self._best_part(self._others[low : hit.stop][::-1], query, total)
        stop = start + self._best_part(self._others[start:high], query, total)
        return Hit(hit.query_start, hit.query_stop, start, stop)

    def _around(self, hit: Hit) -> int:
        """Return the search range around the document's ends, scaled from the query's."""
        return self._reach * max((hit.stop - hit.start) // self.size(hit), 1)

    def _best_part(self, text: Uint64s, query: Uint64s, total: int) -> int:
        """Return the number of tokens to take of a text, at least one."""
        shared, own = self._balance.weigh_parts(text, query)
        index = self._index(shared, total, own)
        index[own > self._times * total] = -1.0
        return int(index[1:].argmax()) + 1

    def _with_query(self, hit: Hit) -> Hit:
        """Move the query's ends to maximize shared minus unshared weight.

        At least half of the passage is kept.
        """
        least = (self.size(hit) + 1) // 2
        low, high = max(hit.query_start - self._reach, 0), hit.query_stop + self._reach
        backwards = self._tokens[low : hit.query_stop][::-1]
        start = hit.query_stop - self._best_of_query(backwards, hit, least)
        least = (hit.query_stop - start + 1) // 2
        stop = start + self._best_of_query(self._tokens[start:high], hit, least)
        return replace(hit, query_start=start, query_stop=stop)

    def _best_of_query(self, query: Uint64s, hit: Hit, least: int) -> int:
        shared, own = self._balance.weigh_parts(query, self._others[hit.start : hit.stop])
        return int((2 * shared - own)[least:].argmax()) + least

    def _worth(self, hit: Hit) -> float:
        shared, of_query, of_document = self._balance.weigh(
            self._tokens[hit.query_start : hit.query_stop], self._others[hit.start : hit.stop]
        )
        return float(self._index(np.array(shared), of_query, np.array(of_document)))

    def _index(self, shared: Int64s, of_query: int, of_document: Int64s) -> Floats:
        """Return Tversky's index, with a small weight on tokens of the document only."""
        either = _WIDER * self._times * of_query + of_document - shared
        index: Floats = _WIDER * self._times * shared / np.maximum(either, 1)
        return index

    def _compare(self, hit: Hit) -> tuple[int, int]:
        shared, of_query, of_document = self._balance.weigh(
            self._tokens[hit.query_start : hit.query_stop], self._others[hit.start : hit.stop]
        )
        if of_document > self._times * of_query:
            shared = 0
        return shared, max(of_query, 1)


# Parts that windows find are narrow; joined, they extend over the maximum.
_WIDER = 2

# Ends in one text depend on the ends in the other; they rarely move after these rounds.
_ROUNDS = 4


# Shared tokens, on either side of a gap, that compensate for a token in it. More split revised
# editions, fewer join nearby quotations with all the text between them.
_GAP_COST = 0.2

# Share of the memory for documents that are read from an index.
_READ_SHARE = 0.1

# Cost of a token within an allowed gap, so that nearer hits are preferred.
_LEAST_COST = 2**-10


@dataclass(frozen=True)
class AlignmentPlan:
    """Options of the search for shared passages.

    Query windows of ``length`` tokens, one every ``step``, are looked up by ``search`` at its own
    threshold; their hits are joined by the rules in ``chains``. Passages below ``threshold`` and
    those with fewer than ``min_tokens`` tokens in both texts are discarded, and so are windows
    found in more than ``max_documents`` documents. With high recall for ``min_tokens``, ends are
    moved outwards to reach this length. For an index of shingles of several tokens, tokens mean
    shingles here.
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
        """Query windows to look up."""
        return WindowPlan(self.search, self.length, self.step, self.max_documents)


class PassageMaker:
    """Make passages of the hits of a text's windows.

    ``tokens_of`` returns the tokens of a document by its number. ``heads_of`` marks tokens that
    begin a character, with a true element after the last token; it is empty if all tokens do.
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
        # This many shingles after a passage share tokens with it.
        self._overlap = scheme.shingles.ngram - 1
        self._balance = TokenBalance(scheme, frequencies)

    def refine(
        self,
        tokens: Uint64s,
        found: WindowHits,
        own: int | None = None,
        heads: Bools | None = None,
    ) -> Iterator[tuple[int, Hit, float]]:
        """Yield documents with their passages and similarities for a query.

        ``own`` is the number of the query's own document, if it is indexed. With ``heads`` of the
        query, passages begin and end with whole characters.
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
                refiner: PassageRefiner = ContainedRefiner(
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
                refiner = PassageRefiner(
                    texts,
                    self._balance,
                    plan.threshold,
                    plan.length,
                    self._overlap if document == own else None,
                    plan.min_tokens if plan.misses_few else 0,
                )
                chains = chain_hits(hits, similarities, plan.chains)
            for hit, similarity in refiner.refine(chains):
                whole: Hit | None = hit
                if heads is not None and self._heads_of is not None and len(heads):
                    whole = self._whole_characters(hit, heads, self._heads_of(document))
                if whole is None or refiner.size(whole) < plan.min_tokens:
                    continue
                known = similarity if whole == hit else refiner.similarity(whole)
                if known is not None:
                    yield document, whole, known

    def _whole_characters(self, hit: Hit, heads: Bools, others: Bools) -> Hit | None:
        """Shrink a passage to characters that lie in it completely, in both texts."""
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
    """Align documents of a block with documents of an index."""

    def __init__(
        self, index: OpenPassages, plan: AlignmentPlan, workspace: Workspace, runner: Runner
    ) -> None:
        self._index = index
        self._finder = WindowFinder(index, plan.windows, workspace, runner)
        self._workspace = workspace
        # Bytes of all tokens of the segments whose documents were read.
        self._read: dict[int, int] = {}
        self._maker = PassageMaker(plan, index.scheme, index.frequencies, self._document_tokens)

    def take_counts(self) -> WindowCounts:
        """Return and reset the counts."""
        counts, self._finder.counts = self._finder.counts, WindowCounts()
        return counts

    def align(
        self,
        queries: TokenLists,
        report: Callable[[float], None],
        later: Later | None = None,
    ) -> PassageMatches:
        """Find all shared passages, ordered by query and position in it.

        ``report`` is called with the completed share of the work. ``later`` restricts the documents
        that each query may find; None is no restriction.
        """
        rows: list[tuple[int, int, Hit, float]] = []
        for query, hits in enumerate(self._finder.find(queries, later, report)):
            start, stop = (int(offset) for offset in queries.offsets[query : query + 2])
            own = int(later.firsts[query]) if later and later.are_own[query] else None
            tokens = queries.values[start:stop]
            found = [(query, *row) for row in self._maker.refine(tokens, hits, own)]
            rows.extend(sorted(found, key=lambda row: (row[2].query_start, row[1], row[2].start)))
        passages = [row[2] for row in rows]
        return PassageMatches(
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
    """Choose windows of the index's shortest passage length, one every half of it.

    Passages continue over gaps of up to ``gap`` tokens; None: as far as their evidence supports.
    ``threshold`` is theirs; None: the threshold of the windows.
    """
    length = search.min_tokens
    step = step_of(length)
    chains = ChainRules(length, NO_LIMIT, _GAP_COST)
    if gap is not None:
        chains = ChainRules(min(length, gap), gap, _LEAST_COST)
    threshold = search.threshold if threshold is None else threshold
    return AlignmentPlan(search, threshold, length, step, chains, min_tokens)


def step_of(length: int) -> int:
    """Return the distance between window starts for a window length."""
    return max(length // 2, 1)


def certain_length(plan: AlignmentPlan) -> int:
    """Return the length from which a shared passage certainly contains a whole window."""
    return plan.length + plan.step - 1


def make_window_scheme(min_tokens: int, *, ngram: int = 1, **options: Any) -> PassageScheme:
    """Make an index scheme so that passages of ``min_tokens`` contain a whole window."""
    check_length(min_tokens, ngram)
    length = windows_for(min_tokens - ngram + 1)
    return make_passage_scheme(min_tokens=length + ngram - 1, ngram=ngram, **options)


def windows_for(min_tokens: int) -> int:
    """Return the window length so that passages of ``min_tokens`` contain a whole window."""
    return max(int(Fraction(2, 3) * (min_tokens + 1)), 1)
