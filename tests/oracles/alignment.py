"""Alignment of two texts by its definition: hits of all windows, chains without gaps, their ends.

What lies between two hits of a passage is always part of a window, so that there are no gaps here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from tests.oracles import passages, search

Tokens = tuple[int, ...]


class Match(NamedTuple):
    """Tokens of a query that are like those of a document, ends exclusive."""

    query_start: int
    query_stop: int
    start: int
    stop: int


class Row(NamedTuple):
    """A match and how similar it is."""

    match: Match
    similarity: Fraction


@dataclass(frozen=True)
class Plan:
    """Passages of ``min_tokens`` or more, found by windows of ``length`` tokens."""

    min_tokens: int
    length: int
    threshold: Fraction
    num_perm: int
    recall: Fraction = Fraction(99, 100)
    seed: int = 42

    @cached_property
    def hits(self) -> int:
        numbers = range(self.num_perm, 0, -1)
        return next(
            n
            for n in numbers
            if search.probability_of_hits(self.num_perm, n, self.threshold) >= self.recall
        )


def align(
    query: Tokens,
    document: Tokens,
    plan: Plan,
    *,
    is_own: bool = False,
    lost: Container[int] = (),
) -> list[Row]:
    """Find what two texts share; of one text with itself what it has again, behind itself.

    Hits that have one of the places of the document that are ``lost`` are left out.
    """
    hits = [
        Match(start, stop, i, j + 1)
        for start, stop in windows(len(query), plan)
        for i, j, *_ in similar_parts(query[start:stop], document, plan, stop if is_own else 0)
        if not any(place in lost for place in range(i, j + 1))
    ]
    found = [
        row
        for chain in chains(sorted(hits))
        for row in settle(query, document, chain, plan, is_own)
    ]
    return sorted(row for row in without_inner(found) if longer(row.match) >= plan.min_tokens)


def windows(n_tokens: int, plan: Plan) -> list[tuple[int, int]]:
    """Windows that begin every half of their length, and one that ends with the text."""
    if n_tokens <= plan.length:
        return [(0, n_tokens)] if n_tokens else []
    starts = [*range(0, n_tokens - plan.length, max(plan.length // 2, 1)), n_tokens - plan.length]
    return [(start, start + plan.length) for start in starts]


@lru_cache(maxsize=1 << 14)
def similar_parts(
    window: Tokens, document: Tokens, plan: Plan, first: int
) -> list[passages.Passage]:
    """The best sub-texts of those between candidates, from token ``first`` on."""
    wanted = _keys(window, plan)
    candidates = [
        (i, j)
        for i in range(first, len(document))
        for j in range(i + plan.length - 1, len(document))
        if sum(a == b for a, b in zip(wanted, _keys(document[i : j + 1], plan), strict=True))
        >= plan.hits
    ]
    rows = search.hull_rows(candidates, len(document))
    scheme = search.Scheme(plan.length, plan.num_perm, seed=plan.seed)
    return passages.picked(search.similar(scheme, window, document, plan.threshold, rows))


@lru_cache(maxsize=1 << 16)
def _keys(tokens: Tokens, plan: Plan) -> list[object]:
    return search.Scheme(plan.length, plan.num_perm, seed=plan.seed).keys(tokens)


def chains(hits: Sequence[Match]) -> list[list[Match]]:
    """Hits on one diagonal, each of which begins before or where the one before it ends."""
    found: list[list[Match]] = []
    for hit in hits:
        for chain in found:
            last = chain[-1]
            is_on = hit.start - last.start == hit.query_start - last.query_start
            if is_on and hit.query_start <= last.query_stop and hit.start <= last.stop:
                chain.append(hit)
                break
        else:
            found.append([hit])
    return found


def settle(
    query: Tokens, document: Tokens, chain: Sequence[Match], plan: Plan, is_own: bool
) -> list[Row]:
    """Make passages of a chain: of the whole or of its parts, joined again where that will do."""

    def measured(match: Match) -> Row | None:
        if is_own and match.start < match.query_stop:
            return None
        value = similarity(query, document, match)
        return Row(match, value) if value >= plan.threshold else None

    def parts(chain: Sequence[Match]) -> list[Row]:
        whole = hull(chain)
        refined = refined_ends(query, document, whole, plan.length)
        for match in (grown(query, document, refined), grown(query, document, whole), whole):
            row = measured(match)
            if row is not None:
                return [row]
        cut = parting(chain) if len(chain) > 1 else 0
        return [*parts(chain[:cut]), *parts(chain[cut:])] if cut else []

    joined: list[Row] = []
    for part in parts(chain):
        row: Row | None = part
        while row is not None:
            last, row = row, None
            if joined:
                row = measured(hull([joined[-1].match, last.match]))
            if row is not None:
                joined.pop()
        joined.append(last)
    return joined


def hull(matches: Sequence[Match]) -> Match:
    """The parts of both texts that hold those of all matches."""
    return Match(
        min(match.query_start for match in matches),
        max(match.query_stop for match in matches),
        min(match.start for match in matches),
        max(match.stop for match in matches),
    )


def parting(chain: Sequence[Match]) -> int:
    """Where a chain is parted: at its widest gap, of several at the one nearest to the middle."""

    def gap(k: int) -> int:
        before, after = chain[k - 1], chain[k]
        return max(after.query_start - before.query_stop, after.start - before.stop, 0)

    numbers = range(1, len(chain))
    return min(numbers, key=lambda k: (-gap(k), abs(2 * k - len(chain)), k))


def refined_ends(query: Tokens, document: Tokens, match: Match, reach: int) -> Match:
    """Both ends where most tokens agree and fewest differ, looked for from inside outwards."""
    a, b, c, d = match
    inner = min(reach, (b - a) // 2, (d - c) // 2)
    if inner < 1:
        return match
    left = _outward(
        query[max(a - reach, 0) : a + inner][::-1], document[max(c - reach, 0) : c + inner][::-1]
    )
    right = _outward(query[b - inner : b + reach], document[d - inner : d + reach])
    refined = Match(
        a + inner - left[0], b - inner + right[0], c + inner - left[1], d - inner + right[1]
    )
    is_empty = refined.query_start >= refined.query_stop or refined.start >= refined.stop
    return match if is_empty else refined


def _outward(query: Tokens, document: Tokens) -> tuple[int, int]:
    best, ends, score = 0, (0, 0), 0
    for edit in Levenshtein.opcodes(query, document):
        size = max(edit.src_end - edit.src_start, edit.dest_end - edit.dest_start)
        score += size if edit.tag == "equal" else -size
        if score > best:
            best, ends = score, (edit.src_end, edit.dest_end)
    return ends


def grown(query: Tokens, document: Tokens, match: Match) -> Match:
    """Both ends moved outwards over equal tokens."""
    a, b, c, d = match
    while a and c and query[a - 1] == document[c - 1]:
        a, c = a - 1, c - 1
    while b < len(query) and d < len(document) and query[b] == document[d]:
        b, d = b + 1, d + 1
    return Match(a, b, c, d)


def similarity(query: Tokens, document: Tokens, match: Match) -> Fraction:
    """Jaccard similarity of the multisets of tokens."""
    a = Counter(query[match.query_start : match.query_stop])
    b = Counter(document[match.start : match.stop])
    return Fraction((a & b).total(), (a | b).total())


def without_inner(rows: Sequence[Row]) -> list[Row]:
    """Those that are not within another one on both sides; one of equal ones."""
    distinct = {row.match: row for row in rows}
    return [
        row
        for match, row in distinct.items()
        if not any(other != match and hull([other, match]) == other for other in distinct)
    ]


def longer(match: Match) -> int:
    return max(match.query_stop - match.query_start, match.stop - match.start)
