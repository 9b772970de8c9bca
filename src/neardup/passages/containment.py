"""Passages of queries that are contained in longer ones of documents.

A summary has a tenth of the words of what it sums up, from all over it, and nearly all of its own
are there: its containment is great, its Jaccard similarity small. Windows of a query are looked up
as others are, and what each finds is the part of a document that holds most of it for its length.
Here such parts are put together: the passage of the query goes on for as long as the smallest part
of the document that holds what is shared weighs no more than ``times`` what it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from neardup.passages.chains import Hit, Run
from neardup.passages.settle import Balance, Passage, Settler
from neardup.tables import Floats, Int64s, Uint64s


def group_contained(places: Int64s, similarities: Floats, times: int, near: int) -> list[list[Run]]:
    """Put hits of one query and one document together, whatever their order in the document.

    Parameters
    ----------
    places
        Hits as rows: start and stop in the query, start and stop in the document; sorted.
    similarities
        Which share of the query's part the document's holds.
    times
        How many times as long as the query's part the document's may be.
    near
        Tokens of the query that may lie between two hits.

    Returns
    -------
    Groups of hits as chains of one run, those with most evidence first.

    Notes
    -----
    Each hit goes to the group whose part of the document grows least by it.
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
                # Another part of the document that holds the same window.
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
        # What lies in the hit before, too, is no further evidence.
        stop, evidence = whole.query_start, 0.0
        for number in members:
            hit = hits[number]
            new = max(hit.query_stop - max(stop, hit.query_start), 0)
            evidence += float(similarities[number]) * new
            stop = max(stop, hit.query_stop)
        # Of several parts that hold as much the shortest comes first.
        evidence -= (whole.stop - whole.start) / (_WIDER * times)
        chains.append([Run(tuple(hits[number] for number in members), whole, evidence)])
    return sorted(chains, key=lambda chain: -chain[0].evidence)


class ContainedSettler(Settler):
    """Makes passages of groups of hits: each is held by the document's to a share, the threshold.

    The document's weighs at most ``times`` what the query's does, and begins and ends with what is
    shared; of those the one of the greatest Tversky index is taken. Parts of the query up to
    ``near`` tokens apart are one passage where that is still so. Ends that leave less than
    ``min_tokens`` of the query are not taken if there are others.
    """

    def __init__(
        self,
        texts: tuple[Uint64s, Uint64s],
        balance: Balance,
        threshold: Fraction,
        reach: int,
        times: int,
        near: int,
        min_tokens: int,
    ) -> None:
        super().__init__(texts, balance, threshold, reach, min_tokens=min_tokens)
        self._times, self._near = times, near

    def settle(self, chains: Sequence[Sequence[Run]]) -> list[Passage]:
        """Make passages of groups, as one where the document's part of both is still short enough.

        Of what overlaps by half in the query, only the part that holds it best is told.
        """
        joined: list[Passage] = []
        for hit, similarity in super().settle(chains):
            last: Passage = hit, similarity
            while (both := self._joined_with_any(joined, last[0])) is not None:
                last = both
            joined.append(last)
        return joined

    def _joined_with_any(self, passages: list[Passage], hit: Hit) -> Passage | None:
        """Join one with the first passage that may be one with it, which is taken out."""
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
        """Return the tokens by which a passage is long enough or not: of the query."""
        return hit.query_stop - hit.query_start

    def _common_share(self, one: Hit, other: Hit) -> float:
        """Return which share of another passage one has, in the query: all is held once."""
        query = min(one.query_stop, other.query_stop) - max(one.query_start, other.query_start)
        return max(query / (other.query_stop - other.query_start), 0.0)

    def _ends(self, whole: Hit) -> Iterator[Hit]:
        """Yield the passage with ends where they are best, and the one that was found."""
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
        """Move the ends in the query to where most is shared of what is long enough."""
        low = max(whole.query_start - self._reach, 0)
        first = max(whole.start - self._around(whole), 0)
        last = min(whole.stop + self._around(whole), len(self._others))
        query = self._tokens[low : whole.query_stop + self._reach]
        start, stop = self._best_range(
            query, self._others[first:last], self._min_tokens, self._threshold.denominator
        )
        return Hit(low + start, low + stop, first, last)

    def _with_part(self, hit: Hit) -> Hit:
        """Move the ends in the document to where the index is greatest."""
        query = self._tokens[hit.query_start : hit.query_stop]
        _, total, _ = self._balance.weigh(query, query[:0])
        low, high = max(hit.start - self._around(hit), 0), hit.stop + self._around(hit)
        start = hit.stop - self._best_part(self._others[low : hit.stop][::-1], query, total)
        stop = start + self._best_part(self._others[start:high], query, total)
        return Hit(hit.query_start, hit.query_stop, start, stop)

    def _around(self, hit: Hit) -> int:
        """Return where in the document ends are looked for: as far as in the query, stretched."""
        return self._reach * max((hit.stop - hit.start) // self.size(hit), 1)

    def _best_part(self, text: Uint64s, query: Uint64s, total: int) -> int:
        """Return how many tokens to take of a text, one at least."""
        shared, own = self._balance.weigh_parts(text, query)
        index = self._index(shared, total, own)
        index[own > self._times * total] = -1.0
        return int(index[1:].argmax()) + 1

    def _with_query(self, hit: Hit) -> Hit:
        """Move the ends in the query to where most is shared, and least is not.

        What is shared counts 1, what is not counts against it; half of the passage stays.
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
        """Return the index of a passage."""
        shared, of_query, of_document = self._balance.weigh(
            self._tokens[hit.query_start : hit.query_stop], self._others[hit.start : hit.stop]
        )
        return float(self._index(np.array(shared), of_query, np.array(of_document)))

    def _index(self, shared: Int64s, of_query: int, of_document: Int64s) -> Floats:
        """Return Tversky's index, of which what only the document has is a small part."""
        either = _WIDER * self._times * of_query + of_document - shared
        index: Floats = _WIDER * self._times * shared / np.maximum(either, 1)
        return index

    def _compare(self, hit: Hit) -> tuple[int, int]:
        """Weigh what two passages share, and what the query's has."""
        shared, of_query, of_document = self._balance.weigh(
            self._tokens[hit.query_start : hit.query_stop], self._others[hit.start : hit.stop]
        )
        if of_document > self._times * of_query:
            shared = 0
        return shared, max(of_query, 1)


# The parts that windows find are narrow: put together, they reach over as much as they may.
_WIDER = 2

# Ends in one text depend on those in the other; they seldom move any further.
_ROUNDS = 4
