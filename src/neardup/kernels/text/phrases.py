"""Find phrases, runs of words, in texts, and cut texts where they stand."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.types import Bytes, ConstBytes, ConstInt64s, ConstUint64s, Int, Int64s

_SPACE, _TAB = 32, 9
_LOW16 = np.uint64(0xFFFF)


@inlined
def _find(values: ConstUint64s, value: np.uint64) -> np.int64:
    """Return the place of a value among sorted ones, -1 if it is not there."""
    low, high = np.int64(0), np.int64(values.shape[0])
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low if low < values.shape[0] and values[low] == value else np.int64(-1)


@inlined
def _has(data: ConstBytes, at: Int, marks: ConstBytes, start: Int, stop: Int) -> bool:
    """Whether ``marks[start:stop]`` stand at a place; there is room for them."""
    k = start
    while k < stop and data[at + k - start] == marks[k]:
        k += 1
    return k == stop


@kernel
def find_phrases(
    data: ConstBytes,
    offsets: ConstInt64s,
    words: ConstUint64s,
    word_offsets: ConstInt64s,
    starts: ConstInt64s,
    stops: ConstInt64s,
    maybe: ConstBytes,
    firsts: ConstUint64s,
    first_phrases: ConstInt64s,
    phrase_words: ConstUint64s,
    phrase_offsets: ConstInt64s,
    before: ConstBytes,
    before_offsets: ConstInt64s,
    behind: ConstBytes,
    behind_offsets: ConstInt64s,
    removed: ConstBytes,
    bounds: Int64s,
    plain: Bytes,
    document_pieces: Int64s,
    found: Int64s,
) -> np.int64:
    """Cut n texts at the phrases in them, from left to right, of several the longest.

    The marks in front of a phrase, white space between them and it allowed, and those right behind
    it are part of it where they stand there. One that is removed takes the blanks in front of it
    along; where nothing is left in front of it, those behind it.

    Parameters: ``data`` and ``offsets`` (n + 1) hold the texts, ``words`` and ``word_offsets`` the
    hashes of their words, ``starts`` and ``stops`` their places; ``maybe`` (65536) is 0 for the
    lowest bits of hashes with which no phrase begins, ``firsts`` (k) are those with which one does,
    sorted, and ``first_phrases`` (k + 1) the phrases of each, the longest first. Of phrase p
    ``phrase_words`` has the words, ``before`` and ``behind`` the marks, at ``p : p + 1`` of their
    offsets, and ``removed`` is not 0 if nothing stands for it. ``bounds``, ``plain`` and
    ``document_pieces`` are as in ``folding.cut_pieces``, with room for n + 1 values and two for
    each word that ``maybe`` begins one; ``found`` takes the phrases, one for each piece that is not
    plain. Returns the number of pieces.
    """
    n_pieces, n_found = np.int64(0), np.int64(0)
    for doc in range(offsets.shape[0] - 1):
        document_pieces[doc] = n_pieces
        origin, end = offsets[doc], offsets[doc + 1]
        position = origin
        is_empty = True
        word, beyond = word_offsets[doc], word_offsets[doc + 1]
        while word < beyond:
            phrase = np.int64(-1)
            if maybe[words[word] & _LOW16]:
                place = _find(firsts, words[word])
                if place >= 0:
                    for p in range(first_phrases[place], first_phrases[place + 1]):
                        n_words = phrase_offsets[p + 1] - phrase_offsets[p]
                        is_there = word + n_words <= beyond
                        for k in range(1, n_words):
                            if not is_there:
                                break
                            is_there = words[word + k] == phrase_words[phrase_offsets[p] + k]
                        if is_there:
                            phrase = np.int64(p)
                            break
            if phrase < 0:
                word += 1
                continue
            n_words = phrase_offsets[phrase + 1] - phrase_offsets[phrase]
            start, stop = origin + starts[word], origin + stops[word + n_words - 1]
            word += n_words
            first, last = before_offsets[phrase], before_offsets[phrase + 1]
            if first < last:
                at = start
                while at > position and (data[at - 1] == _SPACE or data[at - 1] == _TAB):
                    at -= 1
                at -= last - first
                if at >= position and _has(data, at, before, first, last):
                    start = at
            first, last = behind_offsets[phrase], behind_offsets[phrase + 1]
            if stop + last - first <= end and _has(data, stop, behind, first, last):
                stop += last - first
            if removed[phrase]:
                while start > position and (data[start - 1] == _SPACE or data[start - 1] == _TAB):
                    start -= 1
                if is_empty and start == position:
                    while stop < end and (data[stop] == _SPACE or data[stop] == _TAB):
                        stop += 1
            if start > position:
                bounds[n_pieces] = position
                plain[n_pieces] = 1
                n_pieces += 1
            is_empty = is_empty and start == position and removed[phrase] != 0
            bounds[n_pieces] = start
            plain[n_pieces] = 0
            n_pieces += 1
            found[n_found] = phrase
            n_found += 1
            position = stop
        if position < end:
            bounds[n_pieces] = position
            plain[n_pieces] = 1
            n_pieces += 1
    document_pieces[offsets.shape[0] - 1] = n_pieces
    bounds[n_pieces] = offsets[offsets.shape[0] - 1]
    return n_pieces
