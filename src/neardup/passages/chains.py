"""Join hits of neighbouring query windows to shared passages by their evidence.

First, nearby hits on one diagonal become *runs*. Then runs are linked: a gap costs its width, and
is bridged if the evidence on both sides exceeds it. So two long stretches stay one passage over a
chapter that one text lacks, but two one-line quotations are not joined over a paragraph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from neardup.kernels.passage import chains
from neardup.kernels.passage.chains import LinkRules
from neardup.tables import Bools, Floats, Int64s

# Gaps of any width.
NO_LIMIT = 1 << 40


@dataclass(frozen=True)
class Hit:
    """A part of a query and a similar part of a document, in tokens, ends exclusive."""

    query_start: int
    query_stop: int
    start: int
    stop: int

    @property
    def longer(self) -> int:
        """Tokens of the longer part."""
        return max(self.query_stop - self.query_start, self.stop - self.start)

    @property
    def size(self) -> int:
        """Tokens of both parts."""
        return self.query_stop - self.query_start + self.stop - self.start

    def joined(self, other: Hit) -> Hit:
        """Return the smallest hit that contains both hits."""
        return Hit(
            min(self.query_start, other.query_start),
            max(self.query_stop, other.query_stop),
            min(self.start, other.start),
            max(self.stop, other.stop),
        )

    def holds(self, other: Hit) -> bool:
        """Return whether another hit lies within this one, in both texts."""
        return self.joined(other) == self

    def common_share(self, other: Hit) -> float:
        """Return the share of another hit within this one, the lesser of both texts."""
        query = min(self.query_stop, other.query_stop) - max(self.query_start, other.query_start)
        document = min(self.stop, other.stop) - max(self.start, other.start)
        return max(
            min(
                query / (other.query_stop - other.query_start),
                document / (other.stop - other.start),
            ),
            0.0,
        )


@dataclass(frozen=True)
class Run:
    """Hits that follow each other closely; ``evidence`` is the number of shared tokens."""

    hits: tuple[Hit, ...]
    whole: Hit
    evidence: float


@dataclass(frozen=True)
class ChainRules:
    """Rules for joining hits.

    Hits up to ``near`` tokens apart form a run. Runs are linked over gaps of up to ``gap`` tokens;
    each token of a gap costs ``gap_cost`` shared tokens of evidence.
    """

    near: int
    gap: int
    gap_cost: float


def chain_hits(places: Int64s, similarities: Floats, rules: ChainRules) -> list[list[Run]]:
    """Join hits of one query and one document to chains that ascend in both.

    Parameters
    ----------
    places
        Hits as rows: start and stop in the query, start and stop in the document; sorted.
    similarities
        Similarity of each hit's two parts.
    rules
        Rules for joining hits.

    Returns
    -------
    Chains of runs, most evidence first.

    Notes
    -----
    The best chain is removed, then the best of the remaining runs, and so on; moved passages end up
    in separate chains. The value of a chain is the evidence of its runs minus the cost of its gaps.
    """
    lengths = np.stack([places[:, 1] - places[:, 0], places[:, 3] - places[:, 2]])
    evidence = similarities * lengths.min(axis=0)
    return _link_runs(_make_runs(places, evidence, rules), rules)


def _make_runs(places: Int64s, evidence: Floats, rules: ChainRules) -> list[Run]:
    """Make runs of hits: each hit follows its best predecessor."""
    near = rules.near
    links = _Links(places, evidence, LinkRules(near, near, near // 2, np.float64(rules.gap_cost)))
    run_of: Int64s = np.full(len(places), -1, np.int64)
    runs: list[Run] = []
    for end in np.argsort(-links.scores, kind="stable").tolist():
        members = links.chain(end, run_of < 0)
        if not members:
            continue
        of_run = places[members]
        starts, stops = of_run[:, ::2].min(axis=0).tolist(), of_run[:, 1::2].max(axis=0).tolist()
        whole = Hit(starts[0], stops[0], starts[1], stops[1])
        before = int(links.before[members[0]])
        # A branch within a run is the same passage found again.
        if before >= 0 and runs[run_of[before]].whole.holds(whole):
            run_of[members] = run_of[before]
            continue
        run_of[members] = len(runs)
        worth = float(links.scores[end] - links.scores[members[0]] + evidence[members[0]])
        runs.append(Run(tuple(Hit(*row) for row in of_run.tolist()), whole, worth))
    return sorted(runs, key=lambda run: (run.whole.query_start, run.whole.start))


def _link_runs(runs: Sequence[Run], rules: ChainRules) -> list[list[Run]]:
    """Extract chains of runs, the best first."""
    wholes = [run.whole for run in runs]
    links = _Links(
        np.array([(w.query_start, w.query_stop, w.start, w.stop) for w in wholes], np.int64),
        np.array([run.evidence for run in runs], np.float64),
        LinkRules(rules.gap, rules.gap, 0, np.float64(rules.gap_cost)),
    )
    found = []
    while not links.are_taken.all():
        end = int(np.argmax(links.scores))
        members = links.chain(end, ~links.are_taken)
        found.append([runs[number] for number in members])
        links.take(members)
    return found


class _Links:
    """The best chain ending with each part, among unused parts."""

    def __init__(self, places: Int64s, evidence: Floats, rules: LinkRules) -> None:
        n = len(places)
        self._places, self._evidence, self._rules = places, evidence, rules
        self._longest = int((places[:, 1] - places[:, 0]).max(initial=0))
        self.are_taken = np.zeros(n, np.bool_)
        self._are_open = np.ones(n, np.bool_)
        self.scores, self._greatest = np.empty(n, np.float64), np.empty(n, np.float64)
        self.before: Int64s = np.full(n, -1, np.int64)
        self._link()

    def take(self, members: Sequence[int]) -> None:
        """Remove parts from further chains."""
        self.are_taken[members] = True
        self._link()

    def chain(self, end: int, are_free: Bools) -> list[int]:
        """Return the best chain ending with a part, as far back as its parts are free."""
        members = []
        while end >= 0 and are_free[end]:
            members.append(end)
            end = int(self.before[end])
        return members[::-1]

    def _link(self) -> None:
        chains.link_hits(
            self._places,
            self._evidence,
            self.are_taken,
            self._longest,
            self._rules,
            self.scores,
            self._greatest,
            self.before,
            self._are_open,
        )


def split_chain(chain: Sequence[Run]) -> tuple[Sequence[Run], Sequence[Run]]:
    """Split a chain at its widest gap, or a single run at the widest gap of its hits."""
    if len(chain) > 1:
        cut = widest_gap([run.whole for run in chain])
        return chain[:cut], chain[cut:]
    hits = chain[0].hits
    cut = widest_gap(hits)
    return [_part_of(chain[0], hits[:cut])], [_part_of(chain[0], hits[cut:])]


def _part_of(run: Run, hits: tuple[Hit, ...]) -> Run:
    return Run(hits, hull(hits), run.evidence * len(hits) / len(run.hits))


def widest_gap(hits: Sequence[Hit]) -> int:
    """Return the index of the hit after the widest gap; ties go to the middle.

    Overlapping hits have no gap, so a run of them is halved.
    """
    gaps = [
        max(after.query_start - before.query_stop, after.start - before.stop, 0)
        for before, after in pairwise(hits)
    ]
    widest = max(gaps)
    numbers = [number for number, gap in enumerate(gaps, 1) if gap == widest]
    return min(numbers, key=lambda number: abs(2 * number - len(hits)))


def without_inner(passages: Sequence[tuple[Hit, float]]) -> list[tuple[Hit, float]]:
    """Discard passages within another one in both texts; one of equal passages is kept."""
    ordered = sorted(
        passages,
        key=lambda row: (row[0].query_start, -row[0].query_stop, row[0].start, -row[0].stop),
    )
    kept: list[tuple[Hit, float]] = []
    reaching: list[Hit] = []
    for hit, similarity in ordered:
        reaching = [outer for outer in reaching if outer.query_stop > hit.query_start]
        if any(outer.holds(hit) for outer in reaching):
            continue
        kept.append((hit, similarity))
        reaching.append(hit)
    return kept


def hull(hits: Sequence[Hit]) -> Hit:
    """Return the smallest hit that contains all hits."""
    whole = hits[0]
    for hit in hits[1:]:
        whole = whole.joined(hit)
    return whole


def window_starts(n_tokens: int, length: int, step: int) -> Int64s:
    """Place windows over a text so that they cover it; the last one ends with it."""
    if n_tokens <= length:
        return np.zeros(min(n_tokens, 1), np.int64)
    starts = np.arange(0, n_tokens - length, step)
    return np.append(starts, n_tokens - length).astype(np.int64)


def group_hits(documents: Int64s, places: Int64s) -> Iterator[tuple[int, Int64s]]:
    """Yield the numbers of each document's hits, sorted by position; documents ascend."""
    order = np.lexsort((places[:, 3], places[:, 2], places[:, 1], places[:, 0], documents))
    sorted_documents = documents[order]
    firsts = np.flatnonzero(np.diff(sorted_documents, prepend=-1))
    for first, numbers in zip(firsts.tolist(), np.split(order, firsts[1:]), strict=False):
        yield int(sorted_documents[first]), numbers
