"""Alignment of two texts by its definition: hits of all windows, passages of their chains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf
from typing import NamedTuple

from rapidfuzz.distance import Levenshtein

from tests.oracles import passages, search
from tests.oracles.chains import common_extent
from tests.oracles.runs import Match, Part, Rules, chains_of, holds, hull, runs_of

Tokens = tuple[int, ...]


class Row(NamedTuple):
    """A match and how similar it is."""

    match: Match
    similarity: Fraction


@dataclass(frozen=True)
class Plan:
    """Passages of ``min_tokens`` or more, found by windows of ``length`` tokens.

    They go on over gaps of ``gap`` tokens, with None over any that have the evidence. Windows have
    ``hits`` of ``num_perm`` min-hashes in common with what they find, and are as similar to it as
    ``of_windows`` says, which finds ends that leave passages long enough, or as passages are.
    """

    min_tokens: int
    length: int
    threshold: Fraction
    num_perm: int = 0
    hits: int = 0
    seed: int = 42
    gap: int | None = 0
    of_windows: Fraction | None = None

    @property
    def within_runs(self) -> Rules:
        near = self.length if self.gap is None else min(self.length, self.gap)
        return Rules(near, near, near // 2, self._cost)

    @property
    def between_runs(self) -> Rules:
        gap = inf if self.gap is None else self.gap
        return Rules(gap, gap, 0, self._cost)

    @property
    def _cost(self) -> float:
        return 1 / 5 if self.gap is None else 1 / 1024


class Hit(NamedTuple):
    """A window of a text and what is like it in another one."""

    match: Match
    similarity: float


def align(query: Tokens, document: Tokens, plan: Plan, *, is_own: bool = False) -> list[Row]:
    """Find what two texts share; of one text with itself what it has again, behind itself."""
    found = hits(query, document, plan, is_own=is_own)
    return settle(query, document, found, plan, is_own=is_own)


def hits(query: Tokens, document: Tokens, plan: Plan, *, is_own: bool = False) -> list[Hit]:
    """Find what windows of a text are like in another one, or further on in itself."""
    return [
        Hit(Match(start, stop, i, j + 1), shared / either)
        for start, stop in windows(len(query), plan)
        for i, j, shared, either in similar_parts(
            query[start:stop], document, plan, stop if is_own else 0
        )
    ]


def settle(
    query: Tokens, document: Tokens, found: Sequence[Hit], plan: Plan, *, is_own: bool = False
) -> list[Row]:
    """Make passages of what windows are like."""
    parts = sorted(
        Part(
            (match,),
            similarity * min(match.query_stop - match.query_start, match.stop - match.start),
        )
        for match, similarity in found
    )
    chains = chains_of(runs_of(parts, plan.within_runs), plan.between_runs)
    rows = Settling(query, document, plan, is_own).settle(chains)
    return sorted(row for row in rows if longer(row.match) >= plan.min_tokens)


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
    least = plan.threshold if plan.of_windows is None else plan.of_windows
    return passages.picked(search.similar(scheme, window, document, least, rows))


@lru_cache(maxsize=1 << 16)
def _keys(tokens: Tokens, plan: Plan) -> list[object]:
    return search.Scheme(plan.length, plan.num_perm, seed=plan.seed).keys(tokens)


@dataclass(frozen=True)
class Settling:
    """Makes passages of chains of runs."""

    query: Tokens
    document: Tokens
    plan: Plan
    is_own: bool

    def settle(self, chains: Sequence[Sequence[Part]]) -> list[Row]:
        """Passages of all chains, of which each adds to those before it what these lack."""
        kept: list[Row] = []
        for chain in chains:
            whole = hull([run.whole for run in chain])
            if not any(holds(row.match, whole) for row in kept):
                for row in self._joined(self._parts(chain)):
                    kept = self._with(kept, row)
        return without_inner(kept)

    def _with(self, kept: list[Row], row: Row) -> list[Row]:
        """Passages with one more: as part of the first that gains by it, or by itself.

        It is left out if one that comes before such has half of it.
        """
        for k, other in enumerate(kept):
            share = common_share(other.match, row.match)
            if share:
                both = self._measured(hull([other.match, row.match]))
                if both is not None and self._surplus(both) > self._surplus(other):
                    return [*kept[:k], both, *kept[k + 1 :]]
                if share >= Fraction(1, 2):
                    return kept
        return [*kept, row]

    def _parts(self, chain: Sequence[Part]) -> list[Row]:
        """A passage of the whole chain, one that is long enough first, or those of its parts."""
        whole = hull([run.whole for run in chain])
        texts = self.query, self.document
        first = grown(*texts, refined_ends(*texts, whole, self.plan))
        last = [grown(*texts, whole), whole]
        least = 0
        if self.plan.of_windows is not None:
            least, cost = self.plan.min_tokens, self.plan.threshold
            stretched = stretched_ends(*texts, whole, self.plan)
            last = [*stretched, *mixed_ends(*texts, whole, self.plan, cost), *last]
            # All that makes it more similar.
            last += mixed_ends(*texts, whole, self.plan, cost / (1 + cost))
        rows = [row for row in map(self._measured, [first, *last]) if row is not None]
        rows.sort(key=lambda row: longer(row.match) < least)
        if rows:
            return rows[:1]
        if len(chain) > 1:
            cut = parting([run.whole for run in chain])
            return [*self._parts(chain[:cut]), *self._parts(chain[cut:])]
        matches = chain[0].matches
        if len(matches) == 1:
            return []
        cut = parting(matches)
        # Evidence does not count any more.
        halves = Part(matches[:cut], 0), Part(matches[cut:], 0)
        return [row for half in halves for row in self._parts([half])]

    def _joined(self, rows: Sequence[Row]) -> list[Row]:
        """Passages one behind the other, as one with those before where that is similar enough."""
        joined: list[Row] = []
        for each in rows:
            row = each
            while joined and (both := self._measured(hull([joined[-1].match, row.match]))):
                joined.pop()
                row = both
            joined.append(row)
        return joined

    def _measured(self, match: Match) -> Row | None:
        """A passage that is similar enough, and does not overlap with itself."""
        if self.is_own and match.start < match.query_stop:
            return None
        value = Fraction(*common_and_all(self.query, self.document, match))
        return Row(match, value) if value >= self.plan.threshold else None

    def _surplus(self, row: Row) -> Fraction:
        """Tokens that both have beyond those that the threshold asks for."""
        common, every = common_and_all(self.query, self.document, row.match)
        return common - self.plan.threshold * every


def common_share(one: Match, other: Match) -> Fraction:
    """The share of the other that one has, in the text where that is less."""
    return min(
        Fraction(len(set(places) & set(own)), len(places))
        for places, own in (
            (range(*other[:2]), range(*one[:2])),
            (range(*other[2:]), range(*one[2:])),
        )
    )


def parting(chain: Sequence[Match]) -> int:
    """Where a chain is parted: at its widest gap, of several at the one nearest to the middle."""

    def gap(k: int) -> int:
        before, after = chain[k - 1], chain[k]
        return max(after.query_start - before.query_stop, after.start - before.stop, 0)

    numbers = range(1, len(chain))
    return min(numbers, key=lambda k: (-gap(k), abs(2 * k - len(chain)), k))


def refined_ends(
    query: Tokens,
    document: Tokens,
    match: Match,
    plan: Plan,
    weights: Mapping[int, int] | None = None,
) -> Match:
    """Both ends where most tokens agree and fewest differ, looked for from inside outwards."""
    a, b, c, d = match
    reach = plan.length
    inner = min(reach, (b - a) // 2, (d - c) // 2)
    if inner < 1:
        return match
    one, other = Counter(query[a:b]), Counter(document[c:d])
    common, every = (
        sum(n if weights is None else n * weights[token] for token, n in both.items())
        for both in (one & other, one | other)
    )
    # At an end seven tenths of the threshold will do, and half of what the whole has.
    least = max(int(plan.threshold * 700), 500 * common // every)
    left = _outward(
        query[max(a - reach, 0) : a + inner][::-1],
        document[max(c - reach, 0) : c + inner][::-1],
        least,
        weights,
    ) or (inner, inner)
    right = _outward(
        query[b - inner : b + reach], document[d - inner : d + reach], least, weights
    ) or (inner, inner)
    refined = Match(
        a + inner - left[0], b - inner + right[0], c + inner - left[1], d - inner + right[1]
    )
    is_empty = refined.query_start >= refined.query_stop or refined.start >= refined.stop
    return match if is_empty else refined


def _outward(
    query: Tokens, document: Tokens, least: int, weights: Mapping[int, int] | None
) -> tuple[int, int] | None:
    """How much to take of both: in the same order, or in any where that is over twice as much."""
    _, *extent = _extent(query, document, least, weights)
    x, y = _in_order(query, document)
    if sum(extent) > 2 * (x + y):
        x, y = extent
    return (x, y) if x + y else None


def _extent(
    query: Tokens, document: Tokens, least: int, weights: Mapping[int, int] | None
) -> tuple[int, int, int]:
    """How much to take of both in any order, so many thousandths of it common."""
    if weights is not None:
        return common_extent(query, document, least, 1000, weights)
    return _plain_extent(query, document, least)


@lru_cache(maxsize=1 << 16)
def _plain_extent(query: Tokens, document: Tokens, least: int) -> tuple[int, int, int]:
    return common_extent(query, document, least, 1000)


def _in_order(query: Tokens, document: Tokens) -> tuple[int, int]:
    best, ends, score = 0, (0, 0), 0
    for edit in Levenshtein.opcodes(query, document):
        size = max(edit.src_end - edit.src_start, edit.dest_end - edit.dest_start)
        score += size if edit.tag == "equal" else -size
        if score > best:
            best, ends = score, (edit.src_end, edit.dest_end)
    return ends


def stretched_ends(query: Tokens, document: Tokens, match: Match, plan: Plan) -> list[Match]:
    """Both ends so that most common tokens are beyond those asked for, of what is long enough."""
    a, b, c, d = match
    reach = plan.length
    inner = min(reach, (b - a) // 2, (d - c) // 2)
    lefts = _extents(
        query[max(a - reach, 0) : a + inner][::-1],
        document[max(c - reach, 0) : c + inner][::-1],
        plan.threshold,
    )
    rights = _extents(query[b - inner : b + reach], document[d - inner : d + reach], plan.threshold)
    best: tuple[Fraction, Match] | None = None
    for x, y, before in lefts:
        for v, w, behind in rights:
            found = Match(a + inner - x, b - inner + v, c + inner - y, d - inner + w)
            if longer(found) >= plan.min_tokens and (best is None or before + behind > best[0]):
                best = before + behind, found
    return [] if best is None else [best[1]]


def mixed_ends(
    query: Tokens, document: Tokens, match: Match, plan: Plan, cost: Fraction
) -> list[Match]:
    """The ends between which most tokens are common, in any order, of what is long enough.

    Each token has such a cost, of one that is common. None where they leave out more of the query
    than what is looked at beyond it.
    """
    a, b, c, d = match
    reach = plan.length
    low, first = max(a - reach, 0), max(c - reach, 0)
    around, other = query[low : b + reach], document[first : d + reach]
    i, j = _best_range(around, other, plan.min_tokens, cost)
    k, m = _best_range(other, around[i:j], 1, cost)
    found = Match(low + i, low + j, first + k, first + m)
    return [found] if max(found.query_start - a, b - found.query_stop) <= reach else []


def _best_range(text: Tokens, other: Tokens, least: int, cost: Fraction) -> tuple[int, int]:
    """The part of a text with most common tokens, less what all cost; first end, first start.

    Of copies the first ones are common, as many as the other text has.
    """
    copies: Counter[int] = Counter()
    gains = []
    for token in text:
        copies[token] += 1
        gains.append((copies[token] <= Counter(other)[token]) - cost)
    least = min(least, len(text))
    ranges = [(i, j) for j in range(least, len(text) + 1) for i in range(j - least + 1)]
    return max(ranges, key=lambda each: (sum(gains[each[0] : each[1]]), -each[1], -each[0]))


def _extents(
    query: Tokens, document: Tokens, threshold: Fraction
) -> list[tuple[int, int, Fraction]]:
    """Ends of what both have in the same order, and common tokens beyond those asked for."""
    found, surplus = [(0, 0, Fraction(0))], Fraction(0)
    for edit in Levenshtein.opcodes(query, document):
        x, y = edit.src_end - edit.src_start, edit.dest_end - edit.dest_start
        surplus += x * (1 - threshold) if edit.tag == "equal" else -threshold * (x + y)
        if edit.tag == "equal":
            found.append((edit.src_end, edit.dest_end, surplus))
    return found


def grown(query: Tokens, document: Tokens, match: Match) -> Match:
    """Both ends moved outwards over equal tokens."""
    a, b, c, d = match
    while a and c and query[a - 1] == document[c - 1]:
        a, c = a - 1, c - 1
    while b < len(query) and d < len(document) and query[b] == document[d]:
        b, d = b + 1, d + 1
    return Match(a, b, c, d)


def common_and_all(query: Tokens, document: Tokens, match: Match) -> tuple[int, int]:
    """Tokens that both parts have, and those that either has, copies counted."""
    a = Counter(query[match.query_start : match.query_stop])
    b = Counter(document[match.start : match.stop])
    return (a & b).total(), (a | b).total()


def without_inner(rows: Sequence[Row]) -> list[Row]:
    """Those that are not within another one on both sides; one of equal ones."""
    distinct = {row.match: row for row in rows}
    return [
        row
        for match, row in distinct.items()
        if not any(other != match and holds(other, match) for other in distinct)
    ]


def longer(match: Match) -> int:
    return max(match.query_stop - match.query_start, match.stop - match.start)


def one_per_stretch(rows: Sequence[tuple[int, ...]], threshold: Fraction) -> list[tuple[int, ...]]:
    """Rows of document, places and two weights, whose query parts mostly lie in no better row."""
    left: list[tuple[int, ...]] = []
    for row in sorted(rows, key=lambda row: threshold * row[6] - row[5]):
        own = set(range(*row[1:3]))
        others = [set(range(*other[1:3])) for other in left if other[0] == row[0]]
        if all(2 * len(own & other) < len(own) for other in others):
            left.append(row)
    return left
