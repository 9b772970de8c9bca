"""Weigh and align two texts, and find shared passages' ends."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import helper, inlined
from neardup.kernels.arrays import (
    Bytes,
    ConstFloats,
    ConstInt64s,
    ConstUint64s,
    Floats,
    Int,
    Int64s,
    Uint64s,
)
from neardup.kernels.common.ordering import first_at_least
from neardup.kernels.passage.chains import WIDER, Hit
from neardup.kernels.sketch.weighted_minhash import scaled_weight


class WordWeights(NamedTuple):
    """Weights of words: ``term_weights[f]`` times inverse document frequency.

    Word ``hashes[i]``, ascending, has ``inverses[i]``, any other word ``rarest``.
    """

    term_weights: ConstFloats
    hashes: ConstUint64s
    inverses: ConstFloats
    rarest: np.float64


class PassageRules(NamedTuple):
    """Requirements on similarity, length and ends of passages.

    Ends lie up to ``reach`` tokens away. If ``times`` is 0, p / q is Jaccard similarity. Else it is
    the share of the query's part that the document's part contains; this weighs at most ``times``
    as much, and parts of the query up to ``near`` tokens apart are joined. Passages with fewer than
    ``min_tokens`` are a last resort. ``least_of_end`` is the least similarity of an end, per mille.
    """

    p: int
    q: int
    reach: int
    times: int
    near: int
    min_tokens: int
    least_of_end: int


class Words(NamedTuple):
    """Numbers of words in order of first use.

    ``size`` has their count. ``slots`` is a hash table of numbers, or -1. The counts of words are
    0 between uses, and their ``patterns`` are -1.
    """

    size: Int64s
    slots: Int64s
    hashes: Uint64s
    inverses: Floats
    counts: Int64s
    other_counts: Int64s
    patterns: Int64s


class Pair(NamedTuple):
    """A query and a document as word numbers or -1.

    In one text with itself, passages are ``apart`` tokens apart; for two texts it is -1.
    """

    query: ConstUint64s
    document: ConstUint64s
    query_numbers: Int64s
    numbers: Int64s
    words: Words
    weights: WordWeights
    rules: PassageRules
    apart: Int


@helper
def make_words(n_words: Int) -> Words:
    """Allocate tables for the numbers of words."""
    n_slots = np.int64(2)
    while n_slots < 2 * n_words:
        n_slots *= 2
    return Words(
        np.zeros(1, np.int64),
        np.full(n_slots, -1, np.int64),
        np.empty(n_words, np.uint64),
        np.empty(n_words),
        np.zeros(n_words, np.int64),
        np.zeros(n_words, np.int64),
        np.full(n_words, -1, np.int64),
    )


@helper
def _look_up(token: np.uint64, words: Words, weights: WordWeights) -> Int:
    """Return the number of a word, assigning new ones."""
    mask = np.uint64(words.slots.shape[0] - 1)
    slot = token & mask
    while words.slots[slot] >= 0:
        number = words.slots[slot]
        if words.hashes[number] == token:
            return np.int64(number)
        slot = (slot + np.uint64(1)) & mask
    number = words.size[0]
    words.size[0] = number + 1
    words.slots[slot] = number
    words.hashes[number] = token
    row = first_at_least(weights.hashes, 0, weights.hashes.shape[0], token)
    words.inverses[number] = weights.rarest
    if row < weights.hashes.shape[0] and weights.hashes[row] == token:
        words.inverses[number] = weights.inverses[row]
    return np.int64(number)


@helper
def _number_words(
    tokens: ConstUint64s,
    numbers: Int64s,
    start: Int,
    stop: Int,
    words: Words,
    weights: WordWeights,
) -> None:
    for i in range(start, stop):
        if numbers[i] < 0:
            numbers[i] = _look_up(tokens[i], words, weights)


@inlined
def query_words(pair: Pair, start: Int, stop: Int) -> ConstInt64s:
    """Return the numbers of words of the query."""
    _number_words(pair.query, pair.query_numbers, start, stop, pair.words, pair.weights)
    return pair.query_numbers[start:stop]


@inlined
def document_words(pair: Pair, start: Int, stop: Int) -> ConstInt64s:
    """Return the numbers of words of the document."""
    _number_words(pair.document, pair.numbers, start, stop, pair.words, pair.weights)
    return pair.numbers[start:stop]


@inlined
def _weight(word: Int, n_copies: Int, words: Words, weights: WordWeights) -> np.int64:
    return scaled_weight(weights.term_weights[n_copies], words.inverses[word])


@helper
def weigh(
    one: ConstInt64s, other: ConstInt64s, words: Words, weights: WordWeights
) -> tuple[Int, Int, Int]:
    """Return two texts' common weight and the weight of each."""
    counts, other_counts = words.counts, words.other_counts
    for word in one:
        counts[word] += 1
    for word in other:
        other_counts[word] += 1
    shared, of_one, of_other = np.int64(0), np.int64(0), np.int64(0)
    for word in one:
        if counts[word] > 0:
            own = _weight(word, counts[word], words, weights)
            of_one += own
            if other_counts[word] > 0:
                others = _weight(word, other_counts[word], words, weights)
                of_other += others
                shared += min(own, others)
            counts[word] = other_counts[word] = 0
    for word in other:
        if other_counts[word] > 0:
            of_other += _weight(word, other_counts[word], words, weights)
            other_counts[word] = 0
    return shared, of_one, of_other


@helper
def weigh_parts(
    text: ConstInt64s, other: ConstInt64s, words: Words, weights: WordWeights
) -> tuple[Int64s, Int64s]:
    """Return the common and total weights of a text's prefixes.

    Element k belongs to the first k tokens, from 0 to all.
    """
    counts, other_counts = words.counts, words.other_counts
    shared, own = np.empty(len(text) + 1, np.int64), np.empty(len(text) + 1, np.int64)
    for word in other:
        other_counts[word] += 1
    shared[0] = own[0] = 0
    for i in range(len(text)):
        word = text[i]
        wanted = _weight(word, other_counts[word], words, weights)
        before = _weight(word, counts[word], words, weights)
        counts[word] += 1
        behind = _weight(word, counts[word], words, weights)
        shared[i + 1] = shared[i] + min(behind, wanted) - min(before, wanted)
        own[i + 1] = own[i] + behind - before
    for word in text:
        counts[word] = 0
    for word in other:
        other_counts[word] = 0
    return shared, own


# Alignment of words by edit distance: the operations of an optimal path.
_EQUAL, _REPLACE, _DELETE, _INSERT = np.uint8(0), np.uint8(1), np.uint8(2), np.uint8(3)

_0, _1, _6, _63 = np.uint64(0), np.uint64(1), np.uint64(6), np.uint64(63)
_ALL = np.uint64(2**64 - 1)


@helper
def align_words(one: ConstInt64s, other: ConstInt64s, patterns: Int64s) -> Bytes:
    """Return a least edit path, chosen as RapidFuzz does.

    The bit-parallel matrix of Hyyrö (2003). ``patterns`` has -1 for each word, and is left so.
    """
    edits = np.empty(len(one) + len(other), np.uint8)
    at = np.int64(len(edits))
    shorter = min(len(one), len(other))
    prefix, suffix = np.int64(0), np.int64(0)
    while prefix < shorter and one[prefix] == other[prefix]:
        prefix += 1
    while suffix < shorter - prefix and one[-1 - suffix] == other[-1 - suffix]:
        suffix += 1
    for _ in range(suffix):
        at -= 1
        edits[at] = _EQUAL
    one, other = one[prefix : len(one) - suffix], other[prefix : len(other) - suffix]
    column, row = np.int64(len(one)), np.int64(len(other))
    if column > 0 and row > 0:
        n_words = (column + 63) // 64
        masks, n_patterns = np.zeros((column, n_words), np.uint64), 0
        for i in range(column):
            if patterns[one[i]] < 0:
                patterns[one[i]] = n_patterns
                n_patterns += 1
            place = np.uint64(i)
            masks[patterns[one[i]], np.int64(place >> _6)] |= _1 << (place & _63)
        ups = np.empty((row + 1, n_words), np.uint64)
        downs = np.empty((row + 1, n_words), np.uint64)
        for k in range(n_words):
            ups[0, k], downs[0, k] = _ALL, _0
        # Rows of rising and falling distances; each word has a bit.
        for i in range(row):
            pattern = patterns[other[i]]
            up_carry, down_carry = _1, _0
            for k in range(n_words):
                up, down = ups[i, k], downs[i, k]
                equal = (masks[pattern, k] if pattern >= 0 else _0) | down_carry
                zero = (((equal & up) + up) ^ up) | equal | down
                wide_up, wide_down = down | ~(zero | up), zero & up
                shifted = (wide_up << _1) | up_carry
                up_carry = wide_up >> _63
                lower = (wide_down << _1) | down_carry
                down_carry = wide_down >> _63
                ups[i + 1, k] = lower | ~(zero | shifted)
                downs[i + 1, k] = shifted & zero
        while row > 0 and column > 0:
            place = np.uint64(column - 1)
            word, bit = np.int64(place >> _6), place & _63
            at -= 1
            if (ups[row, word] >> bit) & _1:
                column -= 1
                edits[at] = _DELETE
                continue
            row -= 1
            if (downs[row, word] >> bit) & _1:
                edits[at] = _INSERT
            else:
                column -= 1
                edits[at] = _EQUAL if one[column] == other[row] else _REPLACE
        for word in one:
            patterns[word] = -1
    for _ in range(column):
        at -= 1
        edits[at] = _DELETE
    for _ in range(row):
        at -= 1
        edits[at] = _INSERT
    for _ in range(prefix):
        at -= 1
        edits[at] = _EQUAL
    return edits[at:]


@helper
def in_order(edits: Bytes) -> tuple[Int, Int]:
    """Return prefix lengths with most equal words minus edits."""
    best, worth = np.int64(0), np.int64(0)
    x, y, best_x, best_y = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for edit in edits:
        x += edit != _INSERT
        y += edit != _DELETE
        worth += 1 if edit == _EQUAL else -1
        if worth > best:
            best, best_x, best_y = worth, x, y
    return best_x, best_y


@helper
def extents(edits: Bytes, p: Int, q: Int) -> Int64s:
    """Return ends of equal tokens with surplus over the threshold.

    A common token adds q, and each token of the union costs p.
    """
    found, n_found = np.zeros((len(edits) + 1, 3), np.int64), 1
    x, y, worth = np.int64(0), np.int64(0), np.int64(0)
    for i in range(len(edits)):
        edit = edits[i]
        x += edit != _INSERT
        y += edit != _DELETE
        if edit != _EQUAL:
            worth -= 2 * p if edit == _REPLACE else p
            continue
        worth += q - p
        if i + 1 == len(edits) or edits[i + 1] != _EQUAL:
            found[n_found, 0], found[n_found, 1], found[n_found, 2] = x, y, worth
            n_found += 1
    return found[:n_found]


@helper
def common_extent(
    one: ConstInt64s, other: ConstInt64s, per_mille: Int, words: Words, weights: WordWeights
) -> tuple[Int, Int]:
    """Return prefix lengths of two texts that share most words.

    Words count in any order. The first x and y words weigh v and w with copies, and share s: their
    value (1000 + p) s - p (v + w) is positive above a similarity of p per mille. Nothing is taken
    below 1, and the shortest prefixes win a tie.
    """
    counts, other_counts = words.counts, words.other_counts
    n, m = len(one), len(other)
    single = np.empty(n + m, np.int64)
    for i in range(n):
        single[i] = _weight(one[i], 1, words, weights)
    for i in range(m):
        single[n + i] = _weight(other[i], 1, words, weights)
    best, best_x, best_y = np.int64(0), np.int64(0), np.int64(0)
    of_one = np.int64(0)
    for x in range(1, n + 1):
        counts[one[x - 1]] += 1
        of_one += single[x - 1]
        value = -per_mille * of_one
        for y in range(1, m + 1):
            word = other[y - 1]
            other_counts[word] += 1
            value -= per_mille * single[n + y - 1]
            if other_counts[word] <= counts[word]:
                value += (1000 + per_mille) * single[n + y - 1]
            if value > best or (value == best > 0 and x + y < best_x + best_y):
                best, best_x, best_y = value, np.int64(x), np.int64(y)
        for word in other:
            other_counts[word] = 0
    for word in one:
        counts[word] = 0
    return best_x, best_y


@helper
def _outward(
    one: ConstInt64s, other: ConstInt64s, inner: Int, per_mille: Int, pair: Pair
) -> tuple[Int, Int]:
    """Return prefix lengths of two texts for the best agreement.

    They are ``inner`` if nothing is gained. Words in the same order mark an end best; if they are
    less than half of the common words in any order, the order was changed.
    """
    x, y = in_order(align_words(one, other, pair.words.patterns))
    if 2 * (x + y) < len(one) + len(other):
        v, w = common_extent(one, other, per_mille, pair.words, pair.weights)
        if 2 * (x + y) < v + w:
            x, y = v, w
    return (x, y) if x + y > 0 else (inner, inner)


@inlined
def _around(pair: Pair, hit: Hit) -> tuple[ConstInt64s, ConstInt64s, ConstInt64s, ConstInt64s, Int]:
    """Return words outwards at both ends, and the inner count."""
    reach = pair.rules.reach
    inner = min(reach, (hit.query_stop - hit.query_start) // 2, (hit.stop - hit.start) // 2)
    left = query_words(pair, max(hit.query_start - reach, 0), hit.query_start + inner)
    other_left = document_words(pair, max(hit.start - reach, 0), hit.start + inner)
    stop = min(hit.query_stop + reach, len(pair.query))
    right = query_words(pair, hit.query_stop - inner, stop)
    stop = min(hit.stop + reach, len(pair.document))
    other_right = document_words(pair, hit.stop - inner, stop)
    return left[::-1].copy(), other_left[::-1].copy(), right, other_right, inner


# Least similarity of an end, per mille of that of the whole; see ``refine_ends``.
_OF_WHOLE = 500


@helper
def refine_ends(pair: Pair, hit: Hit) -> Hit:
    """Move a passage's ends to the best alignment within ``reach``.

    Around each pair of ends, both texts are aligned by edit distance. A common token counts 1, an
    edit counts minus 1; the end moves outwards from inside the passage to the greatest sum, the
    nearest of several. If the word order was changed, that end is too near, and the end is chosen
    by common word weights in any order instead. An end requires seven tenths of the threshold, and
    half of the whole's similarity: the whole is more similar than its ends, and unrelated text is
    far below. Cost about reach^2 steps.
    """
    left, other_left, right, other_right, inner = _around(pair, hit)
    if inner < 1:
        return hit
    shared, of_query, of_document = weigh(
        query_words(pair, hit.query_start, hit.query_stop),
        document_words(pair, hit.start, hit.stop),
        pair.words,
        pair.weights,
    )
    of_whole = _OF_WHOLE * shared // max(of_query + of_document - shared, np.int64(1))
    least = max(np.int64(pair.rules.least_of_end), of_whole)
    a, c = _outward(left, other_left, inner, least, pair)
    b, d = _outward(right, other_right, inner, least, pair)
    refined = Hit(
        hit.query_start + inner - a,
        hit.query_stop - inner + b,
        hit.start + inner - c,
        hit.stop - inner + d,
    )
    is_empty = refined.query_start >= refined.query_stop or refined.start >= refined.stop
    return hit if is_empty else refined


@helper
def grow_equal(pair: Pair, hit: Hit) -> Hit:
    """Extend the ends of a passage over equal tokens."""
    query, document = pair.query, pair.document
    a, b, c, d = hit
    while a > 0 and c > 0 and query[a - 1] == document[c - 1]:
        a, c = a - 1, c - 1
    while b < len(query) and d < len(document) and query[b] == document[d]:
        b, d = b + 1, d + 1
    return Hit(a, b, c, d)


@helper
def stretch_ends(pair: Pair, hit: Hit) -> tuple[bool, Hit]:
    """Move ends for maximal similarity with at least ``min_tokens``.

    The alignment is as in ``refine_ends``; of all long enough passages, the one with the greatest
    surplus of common tokens over the threshold is chosen. The first result is false without one.
    """
    p, q, patterns = pair.rules.p, pair.rules.q, pair.words.patterns
    one, other, right_one, right_other, inner = _around(pair, hit)
    left = extents(align_words(one, other, patterns), p, q)
    right = extents(align_words(right_one, right_other, patterns), p, q)
    middle = hit.query_stop - hit.query_start - 2 * inner
    other_middle = hit.stop - hit.start - 2 * inner
    best_left, best_right, most = np.int64(-1), np.int64(-1), np.int64(0)
    for i in range(left.shape[0]):
        chosen = np.int64(-1)
        for j in range(right.shape[0]):
            length = max(left[i, 0] + middle + right[j, 0], left[i, 1] + other_middle + right[j, 1])
            if length >= pair.rules.min_tokens and (chosen < 0 or right[j, 2] > right[chosen, 2]):
                chosen = np.int64(j)
        if chosen < 0:
            continue
        worth = left[i, 2] + right[chosen, 2]
        if best_left < 0 or worth > most:
            best_left, best_right, most = np.int64(i), chosen, worth
    if best_left < 0:
        return False, hit
    return True, Hit(
        hit.query_start + inner - left[best_left, 0],
        hit.query_stop - inner + right[best_right, 0],
        hit.start + inner - left[best_left, 1],
        hit.stop - inner + right[best_right, 1],
    )


@helper
def best_range(
    text: ConstInt64s, other: ConstInt64s, least: Int, gain: Int, pair: Pair
) -> tuple[Int, Int]:
    """Return the part of a text that gains most.

    It has ``least`` tokens, or all if there are fewer.
    """
    worth, own = weigh_parts(text, other, pair.words, pair.weights)
    for i in range(len(worth)):
        worth[i] = worth[i] * gain - own[i] * pair.rules.p
    least = min(least, np.int64(len(text)))
    # For each end, the best start with sufficient length.
    start, best_start, best_stop = np.int64(0), np.int64(0), least
    for stop in range(least, len(worth)):
        if worth[stop - least] < worth[start]:
            start = np.int64(stop - least)
        if worth[stop] - worth[start] > worth[best_stop] - worth[best_start]:
            best_start, best_stop = start, np.int64(stop)
    return best_start, best_stop


@helper
def any_order(pair: Pair, whole: Hit, gain: Int) -> tuple[bool, Hit]:
    """Move ends to the greatest common weight in any order.

    With threshold p/q, each token costs p, and a shared token gains q: a positive part reaches the
    threshold. A gain of p + q keeps every part that raises the similarity, some of it by chance.
    The first result is false if this is a part of the chain, which is split elsewhere.
    """
    reach = pair.rules.reach
    low, first = max(whole.query_start - reach, 0), max(whole.start - reach, 0)
    query = query_words(pair, low, min(whole.query_stop + reach, len(pair.query)))
    document = document_words(pair, first, min(whole.stop + reach, len(pair.document)))
    start, stop = best_range(query, document, pair.rules.min_tokens, gain, pair)
    begin, end = best_range(document, query[start:stop], 1, gain, pair)
    hit = Hit(low + start, low + stop, first + begin, first + end)
    n_lost = max(hit.query_start - whole.query_start, whole.query_stop - hit.query_stop)
    return bool(n_lost <= reach), hit


# Ends of parts that a document contains.


@inlined
def tversky_index(shared: Int, of_query: Int, of_document: Int, times: Int) -> float:
    """Return Tversky's index, with document-only tokens weighing less."""
    either = WIDER * times * of_query + of_document - shared
    return WIDER * times * shared / max(either, np.int64(1))


@inlined
def _reach_around(pair: Pair, hit: Hit) -> Int:
    """Return the document's search range, scaled from the query's."""
    length = hit.query_stop - hit.query_start
    return pair.rules.reach * max((hit.stop - hit.start) // length, np.int64(1))


@helper
def _best_part(text: ConstInt64s, query: ConstInt64s, total: Int, pair: Pair) -> Int:
    """Return the best number of document tokens, at least one."""
    shared, own = weigh_parts(text, query, pair.words, pair.weights)
    times = pair.rules.times
    best, most = np.int64(1), -2.0
    for i in range(1, len(own)):
        index = tversky_index(shared[i], total, own[i], times) if own[i] <= times * total else -1.0
        if index > most:
            best, most = np.int64(i), index
    return best


@helper
def fit_document(pair: Pair, hit: Hit) -> Hit:
    """Move the document's ends to the greatest index."""
    query = query_words(pair, hit.query_start, hit.query_stop)
    _, total, _ = weigh(query, query[:0], pair.words, pair.weights)
    around = _reach_around(pair, hit)
    low, high = max(hit.start - around, 0), min(hit.stop + around, len(pair.document))
    backwards = document_words(pair, low, hit.stop)[::-1].copy()
    start = hit.stop - _best_part(backwards, query, total, pair)
    stop = start + _best_part(document_words(pair, start, high), query, total, pair)
    return Hit(hit.query_start, hit.query_stop, start, stop)


@helper
def _best_of_query(query: ConstInt64s, document: ConstInt64s, least: Int, pair: Pair) -> Int:
    shared, own = weigh_parts(query, document, pair.words, pair.weights)
    best = least
    for i in range(least, len(own)):
        if 2 * shared[i] - own[i] > 2 * shared[best] - own[best]:
            best = np.int64(i)
    return best


@helper
def fit_query(pair: Pair, hit: Hit) -> Hit:
    """Move the query's ends to maximize shared minus unshared weight.

    At least half of the passage is kept.
    """
    reach, document = pair.rules.reach, document_words(pair, hit.start, hit.stop)
    low = max(hit.query_start - reach, 0)
    high = min(hit.query_stop + reach, len(pair.query))
    least = (hit.query_stop - hit.query_start + 1) // 2
    backwards = query_words(pair, low, hit.query_stop)[::-1].copy()
    start = hit.query_stop - _best_of_query(backwards, document, least, pair)
    least = (hit.query_stop - start + 1) // 2
    stop = start + _best_of_query(query_words(pair, start, high), document, least, pair)
    return Hit(start, stop, hit.start, hit.stop)


@helper
def stretch_query(pair: Pair, hit: Hit) -> Hit:
    """Move query ends to the most similar sufficiently long part."""
    rules, around = pair.rules, _reach_around(pair, hit)
    low, first = max(hit.query_start - rules.reach, 0), max(hit.start - around, 0)
    last = min(hit.stop + around, len(pair.document))
    query = query_words(pair, low, min(hit.query_stop + rules.reach, len(pair.query)))
    document = document_words(pair, first, last)
    start, stop = best_range(query, document, rules.min_tokens, rules.q, pair)
    return Hit(low + start, low + stop, first, last)
