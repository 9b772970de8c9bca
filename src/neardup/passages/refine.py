"""Chain hits of query windows, and refine the chains to verified passages without duplicates.

First, nearby hits on one diagonal become *runs*. Then runs are linked: a gap costs its width, and
is bridged if the evidence on both sides exceeds it. So two long stretches stay one passage over a
chapter that one text lacks, but two one-line quotations are not joined over a paragraph. Last, the
ends of chains move to the best alignment near them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
from rapidfuzz.distance import Levenshtein

from neardup.kernels.passage import chains
from neardup.kernels.passage.chains import LinkRules
from neardup.kernels.sketch import weighted
from neardup.passages.windows import PassageScheme, inverse_frequencies
from neardup.tables import Bools, Floats, Int64s, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

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
class HitRun:
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


def chain_hits(places: Int64s, similarities: Floats, rules: ChainRules) -> list[list[HitRun]]:
    """Join hits of one query and one document to chains that ascend in both, most evidence first.

    Rows of ``places`` are start and stop in the query, start and stop in the document; sorted. The
    best chain is removed, then the best of the remaining runs, and so on; moved passages end up in
    separate chains. The value of a chain is the evidence of its runs minus the cost of its gaps.
    """
    lengths = np.stack([places[:, 1] - places[:, 0], places[:, 3] - places[:, 2]])
    evidence = similarities * lengths.min(axis=0)
    return _link_runs(_make_runs(places, evidence, rules), rules)


def _make_runs(places: Int64s, evidence: Floats, rules: ChainRules) -> list[HitRun]:
    """Make runs of hits: each hit follows its best predecessor."""
    near = rules.near
    links = _Links(places, evidence, LinkRules(near, near, near // 2, np.float64(rules.gap_cost)))
    run_of: Int64s = np.full(len(places), -1, np.int64)
    runs: list[HitRun] = []
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
        runs.append(HitRun(tuple(Hit(*row) for row in of_run.tolist()), whole, worth))
    return sorted(runs, key=lambda run: (run.whole.query_start, run.whole.start))


def _link_runs(runs: Sequence[HitRun], rules: ChainRules) -> list[list[HitRun]]:
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


def split_chain(chain: Sequence[HitRun]) -> tuple[Sequence[HitRun], Sequence[HitRun]]:
    """Split a chain at its widest gap, or a single run at the widest gap of its hits."""
    if len(chain) > 1:
        cut = widest_gap([run.whole for run in chain])
        return chain[:cut], chain[cut:]
    hits = chain[0].hits
    cut = widest_gap(hits)
    return [_part_of(chain[0], hits[:cut])], [_part_of(chain[0], hits[cut:])]


def _part_of(run: HitRun, hits: tuple[Hit, ...]) -> HitRun:
    return HitRun(hits, hull(hits), run.evidence * len(hits) / len(run.hits))


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


# Minimum similarity of the ends of a passage, per mille of the threshold and of the whole; chosen
# on passages reworded by 20 to 50 %. With a fifth less than the threshold, as much uncopied as
# copied text is added; no unrelated text reaches half the similarity of a good copy by chance.
_OF_THRESHOLD, _OF_WHOLE = 700, 500

# Tokens compared at a time; ends are rarely far from a difference.
_AT_A_TIME = 256


def refine_ends(
    query: Uint64s,
    document: Uint64s,
    hit: Hit,
    reach: int,
    threshold: Fraction,
    balance: TokenBalance,
) -> Hit:
    """Move the four ends of a passage to the best alignment within ``reach`` tokens of them.

    Around each pair of ends, both texts are aligned by edit distance. A common token counts 1, an
    edit counts minus 1; the end moves outwards from inside the passage to the greatest sum, the
    nearest of several. If the word order was changed, that end is too near, and the end is chosen
    by common word weights in any order instead. An end requires seven tenths of the threshold, and
    half of the whole's similarity: the whole is more similar than its ends, and unrelated text is
    far below. Cost about reach^2 steps.
    """
    inner = min(reach, (hit.query_stop - hit.query_start) // 2, (hit.stop - hit.start) // 2)
    if inner < 1:
        return hit
    shared, *of_either = balance.weigh(
        query[hit.query_start : hit.query_stop], document[hit.start : hit.stop]
    )
    of_whole = _OF_WHOLE * shared // max(sum(of_either) - shared, 1)
    least = max(int(_OF_THRESHOLD * threshold), of_whole)
    left = _outward(
        query[max(hit.query_start - reach, 0) : hit.query_start + inner][::-1],
        document[max(hit.start - reach, 0) : hit.start + inner][::-1],
        inner,
        least,
        balance,
    )
    right = _outward(
        query[hit.query_stop - inner : hit.query_stop + reach],
        document[hit.stop - inner : hit.stop + reach],
        inner,
        least,
        balance,
    )
    refined = Hit(
        hit.query_start + inner - left[0],
        hit.query_stop - inner + right[0],
        hit.start + inner - left[1],
        hit.stop - inner + right[1],
    )
    is_empty = refined.query_start >= refined.query_stop or refined.start >= refined.stop
    return hit if is_empty else refined


def grow_equal(query: Uint64s, document: Uint64s, hit: Hit) -> Hit:
    """Extend the ends of a passage while the tokens of both texts are equal."""
    left = _equal_tokens(query[: hit.query_start][::-1], document[: hit.start][::-1])
    right = _equal_tokens(query[hit.query_stop :], document[hit.stop :])
    return Hit(hit.query_start - left, hit.query_stop + right, hit.start - left, hit.stop + right)


def _equal_tokens(query: Uint64s, document: Uint64s) -> int:
    n_tokens = min(len(query), len(document))
    for first in range(0, n_tokens, _AT_A_TIME):
        stop = min(first + _AT_A_TIME, n_tokens)
        differing = np.flatnonzero(query[first:stop] != document[first:stop])
        if len(differing):
            return first + int(differing[0])
    return n_tokens


def _outward(
    query: Uint64s, document: Uint64s, inner: int, per_mille: int, balance: TokenBalance
) -> tuple[int, int]:
    """Return the numbers of tokens to take of two texts for the best agreement.

    They are ``inner`` if nothing is gained. Words in the same order mark an end best; if they are
    less than half of the common words in any order, the order was changed.
    """
    words, numbers = np.unique(np.concatenate([query, document]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    counts: Int64s = np.empty((2, len(words)), np.int64)
    best: Int64s = np.zeros(3, np.int64)
    chains.common_extent(
        numbers[: len(query)],
        numbers[len(query) :],
        balance.weights_of(words),
        per_mille,
        1000,
        counts[0],
        counts[1],
        best,
    )
    in_order, in_any_order = _in_order(query, document), (int(best[1]), int(best[2]))
    if not sum(in_order) + sum(in_any_order):
        return inner, inner
    return in_order if 2 * sum(in_order) >= sum(in_any_order) else in_any_order


def _in_order(query: Uint64s, document: Uint64s) -> tuple[int, int]:
    best, best_ends, score = 0, (0, 0), 0
    for edit in Levenshtein.opcodes(query.tolist(), document.tolist()):
        if edit.tag == "equal":
            score += edit.src_end - edit.src_start
            if score > best:
                best, best_ends = score, (edit.src_end, edit.dest_end)
        else:
            score -= max(edit.src_end - edit.src_start, edit.dest_end - edit.dest_start)
    return best_ends


def stretch_ends(
    query: Uint64s, document: Uint64s, hit: Hit, reach: int, threshold: Fraction, min_tokens: int
) -> Hit | None:
    """Move the ends of a passage so that it has ``min_tokens`` and maximal similarity.

    Arguments and alignment are as in ``refine_ends``; of all long enough passages, the one with
    the greatest surplus of common tokens over the threshold is chosen. None if there is none.
    """
    inner = min(reach, (hit.query_stop - hit.query_start) // 2, (hit.stop - hit.start) // 2)
    left = _extents(
        query[max(hit.query_start - reach, 0) : hit.query_start + inner][::-1],
        document[max(hit.start - reach, 0) : hit.start + inner][::-1],
        threshold,
    )
    right = _extents(
        query[hit.query_stop - inner : hit.query_stop + reach],
        document[hit.stop - inner : hit.stop + reach],
        threshold,
    )
    middle = np.array([hit.query_stop - hit.query_start, hit.stop - hit.start]) - 2 * inner
    best, most = None, 0
    # One at a time, because all pairs of long windows would not fit into memory.
    for before in left:
        lengths = (right[:, :2] + (before[:2] + middle)).max(axis=1)
        rows = np.flatnonzero(lengths >= min_tokens)
        if not len(rows):
            continue
        behind = right[rows[right[rows, 2].argmax()]]
        worth = int(before[2] + behind[2])
        if best is None or worth > most:
            best, most = (before, behind), worth
    if best is None:
        return None
    (before_query, before_document, _), (behind_query, behind_document, _) = (
        extent.tolist() for extent in best
    )
    return Hit(
        hit.query_start + inner - before_query,
        hit.query_stop - inner + behind_query,
        hit.start + inner - before_document,
        hit.stop - inner + behind_document,
    )


def _extents(query: Uint64s, document: Uint64s, threshold: Fraction) -> Int64s:
    """Return ends of equal tokens in both texts, and their surplus over a threshold.

    With threshold p/q, a common token adds q, and each token of the union costs p.
    """
    p, q = threshold.numerator, threshold.denominator
    found, worth = [(0, 0, 0)], 0
    for edit in Levenshtein.opcodes(query.tolist(), document.tolist()):
        n_query, n_document = edit.src_end - edit.src_start, edit.dest_end - edit.dest_start
        if edit.tag == "equal":
            worth += (q - p) * n_query
            found.append((edit.src_end, edit.dest_end, worth))
        else:
            worth -= p * (n_query + n_document)
    return np.array(found, np.int64)


Passage = tuple[Hit, float]


class TokenBalance:
    """Weigh two texts against each other with an index's token weights.

    Copies count even with binary frequencies: as a set, a long passage is its vocabulary, of which
    two spellings of one text share little although they share most of their words.
    """

    def __init__(self, scheme: PassageScheme, frequencies: DocumentFrequencies | None) -> None:
        self._scheme, self._frequencies = scheme, frequencies

    def weigh(self, one: Uint64s, other: Uint64s) -> tuple[int, int, int]:
        """Return the common weight of two texts, and the weight of each."""
        hashes, numbers = np.unique(np.concatenate([one, other]), return_inverse=True)
        inverses = inverse_frequencies(hashes, self._scheme, self._frequencies)
        of_both = []
        for part in (numbers[: len(one)], numbers[len(one) :]):
            counts = np.bincount(part, minlength=len(hashes)).astype(np.int64)
            of_both.append(self._weights(counts, inverses))
        return int(np.minimum(*of_both).sum()), int(of_both[0].sum()), int(of_both[1].sum())

    def weigh_parts(self, text: Uint64s, other: Uint64s) -> tuple[Int64s, Int64s]:
        """Return the common and total weights of each prefix of a text.

        Element k belongs to the first k tokens, from 0 to all.
        """
        hashes, numbers = np.unique(np.concatenate([text, other]), return_inverse=True)
        inverses = inverse_frequencies(hashes, self._scheme, self._frequencies)
        own, others = numbers[: len(text)], numbers[len(text) :]
        wanted = self._weights(
            np.bincount(others, minlength=len(hashes)).astype(np.int64), inverses
        )[own]
        # Number of each token's copy.
        order = np.argsort(own, kind="stable")
        firsts = np.flatnonzero(np.diff(own[order], prepend=-1))
        sizes = np.diff(np.append(firsts, len(own)))
        copies: Int64s = np.empty(len(own), np.int64)
        copies[order] = np.arange(1, len(own) + 1) - np.repeat(firsts, sizes)
        before = self._weights(copies - 1, inverses[own])
        behind = self._weights(copies, inverses[own])
        shared = np.minimum(behind, wanted) - np.minimum(before, wanted)
        return (
            np.concatenate([[0], np.cumsum(shared)]),
            np.concatenate([[0], np.cumsum(behind - before)]),
        )

    def weights_of(self, hashes: Uint64s) -> Int64s:
        """Return the weights of tokens that occur once."""
        inverses = inverse_frequencies(hashes, self._scheme, self._frequencies)
        return self._weights(np.ones(len(hashes), np.int64), inverses)

    def _weights(self, counts: Int64s, inverses: Floats) -> Int64s:
        tf = self._scheme.weighting.tf
        table = term_frequencies("raw" if tf == "binary" else tf, int(counts.max(initial=0)))
        weighed: Int64s = np.empty(len(counts), np.int64)
        weighted.fill_weights(counts, table, inverses, weighed)
        return weighed


class PassageRefiner:
    """Make passages of the hits for one query in one document.

    Passages reach ``threshold``. Their ends are searched up to ``reach`` tokens away. With
    ``apart``, both texts are the same; two passages then do not overlap and are at least this many
    tokens apart. With ``min_tokens``, shorter passages are a last resort, so that formulas are
    found, too.
    """

    def __init__(
        self,
        texts: tuple[Uint64s, Uint64s],
        balance: TokenBalance,
        threshold: Fraction,
        reach: int,
        apart: int | None = None,
        min_tokens: int = 0,
    ) -> None:
        self._tokens, self._others = texts
        self._min_tokens = min_tokens
        self._balance = balance
        self._threshold, self._reach, self._apart = threshold, reach, apart

    def refine(self, chains: Sequence[Sequence[HitRun]]) -> list[Passage]:
        """Make passages of chains, in order of evidence.

        Passages that overlap in both texts are joined if the addition is similar enough; otherwise,
        a passage that lies half within a better one in both texts is discarded.
        """
        kept: list[Passage] = []
        for chain in chains:
            whole = hull([run.whole for run in chain])
            if any(passage.holds(whole) for passage, _ in kept):
                continue
            for passage in self._divide_chain(chain):
                self._keep(kept, passage)
        return without_inner(kept)

    def size(self, hit: Hit) -> int:
        """Return the length of the longer part, which must reach ``min_tokens``."""
        return hit.longer

    def _keep(self, kept: list[Passage], passage: Passage) -> None:
        """Add a passage to those with more evidence, joined if possible."""
        for number, (other, _) in enumerate(kept):
            share = self._common_share(other, passage[0])
            if not share:
                continue
            both = other.joined(passage[0])
            similarity = self.similarity(both)
            if similarity is not None and self._worth(both) > self._worth(other):
                kept[number] = both, similarity
                return
            if share >= 0.5:
                return
        kept.append(passage)

    def _common_share(self, one: Hit, other: Hit) -> float:
        """Return the share of another passage within this one; half is enough for both."""
        return one.common_share(other)

    def _divide_chain(self, chain: Sequence[HitRun]) -> list[Passage]:
        """Divide a chain into the fewest passages that are similar enough."""
        passages: list[Passage] = []
        # Iterative, because a chain may have thousands of hits and lose one at a time.
        parts = [chain]
        while parts:
            part = parts.pop()
            refined = self._make_passage(part)
            if refined is not None:
                self._append_joined(passages, refined)
            elif len(part) > 1 or len(part[0].hits) > 1:
                parts += reversed(split_chain(part))
        return passages

    def _make_passage(self, chain: Sequence[HitRun]) -> Passage | None:
        """Make one passage of a chain, if it is similar enough.

        A short one is a last resort: joined with its neighbours, it may be long enough.
        """
        short = None
        for hit in self._ends(hull([run.whole for run in chain])):
            similarity = self.similarity(hit)
            if similarity is None:
                continue
            if self.size(hit) >= self._min_tokens:
                return hit, similarity
            short = short or (hit, similarity)
        return short

    def _ends(self, whole: Hit) -> Iterator[Hit]:
        """Yield passages with possible ends, the best first.

        Refined ends may include a difference that lowers the similarity too far, or make the
        passage too short. Then the ends move to the most similar part of sufficient length, and if
        that fails, only over equal tokens, or over everything that raises the similarity.
        """
        tokens, others = self._tokens, self._others
        refined = refine_ends(tokens, others, whole, self._reach, self._threshold, self._balance)
        yield grow_equal(tokens, others, refined)
        if self._min_tokens:
            stretched = stretch_ends(
                tokens, others, whole, self._reach, self._threshold, self._min_tokens
            )
            if stretched is not None:
                yield stretched
            yield from self._in_any_order(whole, self._threshold.denominator)
        yield grow_equal(tokens, others, whole)
        yield whole
        if self._min_tokens:
            p, q = self._threshold.as_integer_ratio()
            yield from self._in_any_order(whole, p + q)

    def _in_any_order(self, whole: Hit, gain: int) -> Iterator[Hit]:
        """Move the ends to the greatest common weight in any order, with sufficient length.

        With threshold p/q, each token costs p, and a shared token gains q: a positive part reaches
        the threshold. A gain of p + q keeps every part that raises the similarity, some of it by
        chance.
        """
        reach = self._reach
        low, high = max(whole.query_start - reach, 0), whole.query_stop + reach
        first, last = max(whole.start - reach, 0), whole.stop + reach
        query, document = self._tokens[low:high], self._others[first:last]
        start, stop = self._best_range(query, document, self._min_tokens, gain)
        begin, end = self._best_range(document, query[start:stop], 1, gain)
        hit = Hit(low + start, low + stop, first + begin, first + end)
        # A larger cut would be a part of the chain, which is split elsewhere.
        if max(hit.query_start - whole.query_start, whole.query_stop - hit.query_stop) <= reach:
            yield hit

    def _best_range(self, text: Uint64s, other: Uint64s, least: int, gain: int) -> tuple[int, int]:
        """Return the part of a text with the greatest gain from sharing with another.

        It has ``least`` tokens, or all if there are fewer.
        """
        shared, own = self._balance.weigh_parts(text, other)
        worth = shared * gain - own * self._threshold.numerator
        least = min(least, len(text))
        # For each end, the best start with sufficient length.
        starts = np.minimum.accumulate(worth[: len(worth) - least])
        stop = int((worth[least:] - starts).argmax()) + least
        return int(worth[: stop - least + 1].argmin()), stop

    def _append_joined(self, passages: list[Passage], last: Passage) -> None:
        """Append a passage, joined with earlier ones while they are similar enough.

        A chain is split at its gaps, which are not always its least similar places.
        """
        while passages:
            both = passages[-1][0].joined(last[0])
            similarity = self.similarity(both)
            if similarity is None:
                break
            last = both, similarity
            passages.pop()
        passages.append(last)

    def similarity(self, hit: Hit) -> float | None:
        """Return the similarity of two passages; None below the threshold.

        It is None also for overlapping passages of one text.
        """
        if self._apart is not None and hit.start < hit.query_stop + self._apart:
            return None
        shared, either = self._compare(hit)
        threshold = self._threshold
        if shared * threshold.denominator < either * threshold.numerator:
            return None
        return shared / either

    def _worth(self, hit: Hit) -> float:
        shared, either = self._compare(hit)
        return shared * self._threshold.denominator - either * self._threshold.numerator

    def _compare(self, hit: Hit) -> tuple[int, int]:
        shared, of_query, of_document = self._balance.weigh(
            self._tokens[hit.query_start : hit.query_stop], self._others[hit.start : hit.stop]
        )
        return shared, max(of_query + of_document - shared, 1)
