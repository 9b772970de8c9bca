"""Ends of shared passages moved to where the texts begin and cease to agree."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from rapidfuzz.distance import Levenshtein

from neardup.kernels.passage import chains
from neardup.passages.chains import Hit
from neardup.tables import Int64s, Uint64s

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
