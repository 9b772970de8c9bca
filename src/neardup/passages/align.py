"""Alignment: all that long documents share with those of an index, as passages of both."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from neardup.kernels.passage import chains
from neardup.kernels.text import weights
from neardup.passages.chains import (
    NO_LIMIT,
    ChainRules,
    Hit,
    Run,
    chain_hits,
    group_hits,
    hull,
    split_chain,
    without_inner,
)
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import Later, WindowCounts, WindowFinder, WindowHits, WindowPlan
from neardup.passages.matches import Matches
from neardup.passages.scheme import PassageScheme, check_length, make_passage_scheme
from neardup.passages.search import SearchPlan
from neardup.passages.windows import inverse_frequencies
from neardup.runs.runner import Runner
from neardup.tables import Int64s, TokenLists, Uint64s
from neardup.text.weighting import DocumentFrequencies, term_frequencies

# Ends of shared passages moved to where the texts begin and cease to agree.

# Chains of hits made into passages: ends moved, verified, and each stretch reported once.

# Tokens compared at a time; ends are seldom far from where texts differ.
_AT_A_TIME = 256


def refine_ends(
    query: Uint64s, document: Uint64s, hit: Hit, reach: int, threshold: Fraction
) -> Hit:
    """Move the four ends of a passage to those of the best alignment near them.

    Parameters
    ----------
    query, document
        Tokens of the whole texts.
    hit
        A passage that was found, with ends that may be some tokens off.
    reach
        Tokens on both sides of an end that are looked at.
    threshold
        How similar passages have to be.

    Notes
    -----
    Around each pair of ends both texts are aligned by edit distance. A token that both have counts
    1, an edit -1; from inside the passage outwards the end goes where the sum is greatest, the
    nearest of several. Where the order of words was changed, that is too near: there the end goes
    where most words are common in any order, as many as the threshold asks for. Cost reach^2 steps
    or so.
    """
    inner = min(reach, (hit.query_stop - hit.query_start) // 2, (hit.stop - hit.start) // 2)
    if inner < 1:
        return hit
    left = _outward(
        query[max(hit.query_start - reach, 0) : hit.query_start + inner][::-1],
        document[max(hit.start - reach, 0) : hit.start + inner][::-1],
        inner,
        threshold,
    )
    right = _outward(
        query[hit.query_stop - inner : hit.query_stop + reach],
        document[hit.stop - inner : hit.stop + reach],
        inner,
        threshold,
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
    """Move the ends of a passage outwards for as long as the tokens of both texts are equal."""
    left = _equal_tokens(query[: hit.query_start][::-1], document[: hit.start][::-1])
    right = _equal_tokens(query[hit.query_stop :], document[hit.stop :])
    return Hit(hit.query_start - left, hit.query_stop + right, hit.start - left, hit.stop + right)


def _equal_tokens(query: Uint64s, document: Uint64s) -> int:
    """Count the tokens with which two texts begin alike."""
    n_tokens = min(len(query), len(document))
    for first in range(0, n_tokens, _AT_A_TIME):
        stop = min(first + _AT_A_TIME, n_tokens)
        differing = np.flatnonzero(query[first:stop] != document[first:stop])
        if len(differing):
            return first + int(differing[0])
    return n_tokens


def _outward(query: Uint64s, document: Uint64s, inner: int, threshold: Fraction) -> tuple[int, int]:
    """Return how many tokens of two texts to take so that most agree and fewest do not.

    ``inner`` of either, if nothing is worth it. Words in the same order mark an end best; where
    these are less than half as many as words in any order, that was changed.
    """
    words, numbers = np.unique(np.concatenate([query, document]), return_inverse=True)
    numbers = numbers.astype(np.int64)
    counts: Int64s = np.empty((2, len(words)), np.int64)
    best: Int64s = np.zeros(3, np.int64)
    chains.common_extent(
        numbers[: len(query)],
        numbers[len(query) :],
        threshold.numerator,
        threshold.denominator,
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
    """Move the four ends of a passage so that it has ``min_tokens`` and is as similar as can be.

    The arguments are those of ``refine_ends``, and so is the alignment; ends go where common tokens
    are most above what the threshold asks for, of all passages that are long enough. None if there
    is no such passage.
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
    # One at a time: all pairs of long windows would not fit into memory.
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
    """Return where equal tokens of two texts end, in either, and what is so far above a threshold.

    Of p/q a common token is worth q, and each token of the union costs p.
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


class Settler:
    """Makes passages of what was found for one query in one document.

    Passages are as similar as ``threshold`` asks for. Their ends are looked for up to ``reach``
    tokens away. With ``apart`` both texts are one, of which two passages do not overlap, and have
    so many tokens between them at least. With ``min_tokens`` ends that leave less are not taken if
    there are others: formulas become passages that way, too.
    """

    def __init__(
        self,
        texts: tuple[Uint64s, Uint64s],
        scheme: PassageScheme,
        frequencies: DocumentFrequencies | None,
        threshold: Fraction,
        reach: int,
        apart: int | None = None,
        min_tokens: int | None = None,
    ) -> None:
        self._tokens, self._others = texts
        self._min_tokens = min_tokens
        self._scheme, self._frequencies = scheme, frequencies
        self._threshold, self._reach, self._apart = threshold, reach, apart

    def settle(self, chains: Sequence[Sequence[Run]]) -> list[Passage]:
        """Make passages of chains, of which those with most evidence come first.

        Passages that overlap in both texts become one where what one adds to the other is similar
        enough; else one that lies half within a better one, in both texts, is left out.
        """
        kept: list[Passage] = []
        for chain in chains:
            whole = hull([run.whole for run in chain])
            if any(passage.holds(whole) for passage, _ in kept):
                continue
            for passage in self._settle_chain(chain):
                self._keep(kept, passage)
        return without_inner(kept)

    def _keep(self, kept: list[Passage], passage: Passage) -> None:
        """Add a passage to those that have more evidence, as part of one where it can be."""
        for number, (other, _) in enumerate(kept):
            share = other.common_share(passage[0])
            if not share:
                continue
            both = other.joined(passage[0])
            similarity = self._similarity(both)
            if similarity is not None and self._worth(both) > self._worth(other):
                kept[number] = both, similarity
                return
            if share >= 0.5:
                return
        kept.append(passage)

    def _settle_chain(self, chain: Sequence[Run]) -> list[Passage]:
        """Make passages of a chain that are as similar as asked for, as few as can be."""
        passages: list[Passage] = []
        # Not by recursion: a chain may have thousands of hits, and lose one at a time.
        parts = [chain]
        while parts:
            part = parts.pop()
            settled = self._make_passage(part)
            if settled is not None:
                self._append_joined(passages, settled)
            elif len(part) > 1 or len(part[0].hits) > 1:
                parts += reversed(split_chain(part))
        return passages

    def _make_passage(self, chain: Sequence[Run]) -> Passage | None:
        """Make one passage of a chain, if that is as similar as asked for.

        Ends that were refined may lie behind a difference that makes it less similar than asked
        for, or leave it too short: then they are moved to where it is most similar of what is long
        enough, and if that is not similar either, only over equal tokens.
        """
        tokens, others = self._tokens, self._others
        whole = hull([run.whole for run in chain])
        refined = refine_ends(tokens, others, whole, self._reach, self._threshold)
        first = grow_equal(tokens, others, refined)
        ends = [first, grow_equal(tokens, others, whole), whole]
        least = self._min_tokens
        if least is not None and (first.longer < least or self._similarity(first) is None):
            stretched = stretch_ends(tokens, others, whole, self._reach, self._threshold, least)
            ends = ends if stretched is None else [stretched, *ends]
        for hit in dict.fromkeys(ends):
            similarity = self._similarity(hit)
            if similarity is not None:
                return hit, similarity
        return None

    def _append_joined(self, passages: list[Passage], last: Passage) -> None:
        """Append a passage, as one with those before it as long as that is similar enough.

        A chain is parted at its gaps, and not always where it is least similar.
        """
        while passages:
            both = passages[-1][0].joined(last[0])
            similarity = self._similarity(both)
            if similarity is None:
                break
            last = both, similarity
            passages.pop()
        passages.append(last)

    def _similarity(self, hit: Hit) -> float | None:
        """Give the similarity of two passages; None if it is below the threshold.

        None also for passages of one text that overlap.
        """
        if self._apart is not None and hit.start < hit.query_stop + self._apart:
            return None
        shared, either = self._compare(hit)
        threshold = self._threshold
        if shared * threshold.denominator < either * threshold.numerator:
            return None
        return shared / either

    def _worth(self, hit: Hit) -> int:
        """Return by how much two passages share more than the threshold asks for."""
        shared, either = self._compare(hit)
        return shared * self._threshold.denominator - either * self._threshold.numerator

    def _compare(self, hit: Hit) -> tuple[int, int]:
        """Weigh what two passages share, and what either has.

        With binary frequencies copies count here, too: as a set a long passage is its vocabulary,
        of which two spellings of one text share little though they share most of their words.
        """
        query = self._tokens[hit.query_start : hit.query_stop]
        document = self._others[hit.start : hit.stop]
        hashes, numbers = np.unique(np.concatenate([query, document]), return_inverse=True)
        inverses = inverse_frequencies(hashes, self._scheme, self._frequencies)
        tf = self._scheme.weighting.tf
        of_both = []
        for part in (numbers[: len(query)], numbers[len(query) :]):
            counts = np.bincount(part, minlength=len(hashes)).astype(np.int64)
            table = term_frequencies("raw" if tf == "binary" else tf, int(counts.max()))
            weighed: Int64s = np.empty(len(hashes), np.int64)
            weights.fill_weights(counts, table, inverses, weighed)
            of_both.append(weighed)
        shared, either = np.minimum(*of_both).sum(), np.maximum(*of_both).sum()
        return int(shared), max(int(either), 1)


# Shared tokens, on either side of a gap, that make up for a token in it. More leave revised
# editions in pieces, fewer join quotations that stand near each other with all that is between.
_GAP_COST = 0.2

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


class Aligner:
    """Finds what the documents of a block share with those of an index."""

    def __init__(self, index: OpenPassages, plan: AlignmentPlan, runner: Runner) -> None:
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
        for query, hits in enumerate(self.find(queries, report, later)):
            start, stop = (int(offset) for offset in queries.offsets[query : query + 2])
            own = int(later.firsts[query]) if later and later.are_own[query] else None
            found = [(query, *row) for row in self.settle(queries.values[start:stop], hits, own)]
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

    def find(
        self, queries: TokenLists, report: Callable[[float], None], later: Later | None = None
    ) -> Iterator[WindowHits]:
        """Yield what windows of each query are like, of which ``settle`` makes passages."""
        return self._finder.find(queries, later, report)

    def settle(
        self, tokens: Uint64s, found: WindowHits, own: int | None = None
    ) -> Iterator[tuple[int, Hit, float]]:
        """Yield the documents that share a passage with a query, the passage, its similarity.

        ``own`` is the document that is the query itself, if one is.
        """
        places = np.stack(
            [found.query_starts, found.query_stops, found.starts, found.stops], axis=1
        )
        for document, numbers in group_hits(found.documents, places):
            settler = Settler(
                (tokens, self._document_tokens(document)),
                self._index.scheme,
                self._index.frequencies,
                self._plan.threshold,
                self._plan.length,
                self._overlap if document == own else None,
                self._plan.min_tokens if self._plan.misses_few else None,
            )
            chains = chain_hits(places[numbers], found.similarities[numbers], self._plan.chains)
            for hit, similarity in settler.settle(chains):
                if hit.longer >= self._plan.min_tokens:
                    yield document, hit, similarity

    def _document_tokens(self, document: int) -> Uint64s:
        number = int(self._index.segments_of(np.array([document]))[0])
        segment = self._index.segments[number]
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
