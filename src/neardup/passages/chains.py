"""Hits of neighbouring query windows put together to shared passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neardup.tables import Int64s


@dataclass(frozen=True)
class Hit:
    """A part of a query and the part of a document that is like it, in tokens, ends exclusive."""

    query_start: int
    query_stop: int
    start: int
    stop: int

    def joined(self, other: Hit) -> Hit:
        """Give the parts that hold those of both."""
        return Hit(
            min(self.query_start, other.query_start),
            max(self.query_stop, other.query_stop),
            min(self.start, other.start),
            max(self.stop, other.stop),
        )


@dataclass
class _OpenChain:
    hits: list[Hit]
    number: int

    @property
    def last(self) -> Hit:
        return self.hits[-1]


def chain_hits(hits: Sequence[Hit], gap: int) -> list[list[Hit]]:
    """Put hits of one query and one document into chains that run forward in both.

    Parameters
    ----------
    hits
        By ascending ``query_start``.
    gap
        Tokens that may lie between two hits of a chain, in the query and in the document, and by
        which the two distances may differ.

    Returns
    -------
    The chains, by their first hit. A hit goes to the chain that it continues best: the one whose
    last hit lies on its diagonal, or nearest to it.

    Notes
    -----
    Moved passages end up in chains of their own. Cost: for each hit, one look at the chains that
    are still open at its place.
    """
    chains: list[_OpenChain] = []
    still_open: list[_OpenChain] = []
    for hit in hits:
        still_open = [
            chain for chain in still_open if hit.query_start - chain.last.query_stop <= gap
        ]
        best: _OpenChain | None = None
        least_shift = gap + 1
        for chain in still_open:
            last = chain.last
            if hit.start - last.stop > gap or hit.start < last.start - gap:
                continue
            shift = abs((hit.start - last.start) - (hit.query_start - last.query_start))
            if shift < least_shift:
                best, least_shift = chain, shift
        if best is None:
            best = _OpenChain([], len(chains))
            chains.append(best)
            still_open.append(best)
        best.hits.append(hit)
    return [chain.hits for chain in chains]


def widest_gap(chain: Sequence[Hit]) -> int:
    """Tell at which hit to part a chain: behind the widest gap, of several the one in the middle.

    Hits that overlap have no gap between them, so that a chain of them is halved.
    """
    gaps = [
        max(after.query_start - before.query_stop, after.start - before.stop, 0)
        for before, after in pairwise(chain)
    ]
    widest = max(gaps)
    numbers = [number for number, gap in enumerate(gaps, 1) if gap == widest]
    return min(numbers, key=lambda number: abs(2 * number - len(chain)))


def without_inner(passages: Sequence[tuple[Hit, float]]) -> list[tuple[Hit, float]]:
    """Leave out passages that lie within another one in both texts; of equal ones one stays."""
    ordered = sorted(
        passages,
        key=lambda row: (row[0].query_start, -row[0].query_stop, row[0].start, -row[0].stop),
    )
    kept: list[tuple[Hit, float]] = []
    reaching: list[Hit] = []
    for hit, similarity in ordered:
        reaching = [outer for outer in reaching if outer.query_stop > hit.query_start]
        if any(outer.joined(hit) == outer for outer in reaching):
            continue
        kept.append((hit, similarity))
        reaching.append(hit)
    return kept


def hull(chain: Sequence[Hit]) -> Hit:
    """Give the parts that hold all hits of a chain."""
    whole = chain[0]
    for hit in chain[1:]:
        whole = whole.joined(hit)
    return whole


def window_starts(n_tokens: int, length: int, step: int) -> Int64s:
    """Place windows over a text so that they cover it; the last one ends with it."""
    if n_tokens <= length:
        return np.zeros(min(n_tokens, 1), np.int64)
    starts = np.arange(0, n_tokens - length, step)
    return np.append(starts, n_tokens - length).astype(np.int64)


def group_hits(documents: Int64s, hits: Sequence[Hit]) -> Iterator[tuple[int, list[Hit]]]:
    """Give the hits of each document, by ascending start in the query, documents ascending."""
    of_document: dict[int, list[Hit]] = {}
    for document, hit in zip(documents.tolist(), hits, strict=True):
        of_document.setdefault(document, []).append(hit)
    for document in sorted(of_document):
        yield document, sorted(of_document[document], key=lambda h: (h.query_start, h.start))
