"""Windows of segments, and positions of tokens in texts.

Places take two bytes. Each token has its gap to the token before it and its own length, in bytes of
text, and every 64th token its start. A gap or length that does not fit is 255 and listed
separately. A gap counts from the end of the token before, or from its start if tokens overlap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.arrays import (
    Bytes,
    ConstBytes,
    ConstFloats,
    ConstInt32s,
    ConstInt64s,
    ConstUint32Rows,
    ConstUint32s,
    ConstUint64s,
    Floats,
    Int,
    Int32s,
    Int64s,
)
from neardup.kernels.common.ordering import first_at_least


class SegmentWindows(NamedTuple):
    """The windows of all hash functions, by key, as in ``passages.windows.WindowLists``.

    Function f has the windows ``key_starts[f]`` to ``key_starts[f + 1]``.
    """

    key_starts: ConstInt64s
    keys: ConstUint64s
    starts: ConstUint32s
    spans: ConstUint32Rows


class SegmentTexts(NamedTuple):
    """The texts of a segment as entries of its vocabulary.

    Document d is ``tokens[offsets[d] : offsets[d + 1]]``. ``inverses`` are inverse document
    frequencies of the vocabulary, or empty if all are 1. A token that a passage has f times weighs
    ``term_weights[f]`` times that. The first copy of entry e adds at least ``once[e]`` to a
    passage's weight, each further one at least ``again[e]``: whole numbers, so that subtraction
    reverses addition exactly.
    """

    tokens: ConstInt32s
    offsets: ConstInt64s
    inverses: ConstFloats
    term_weights: ConstFloats
    once: ConstInt64s
    again: ConstInt64s


class SearchScratch(NamedTuple):
    """Memory for one thread.

    For each entry of the vocabulary ``known`` has -1, and is left so, and ``seen`` a place of it,
    or -1. The other arrays fit the tokens of any document and one more.
    """

    known: Int32s
    seen: Int64s
    before: Int64s
    firsts: Floats
    laters: Floats
    sums: Floats


class Limits(NamedTuple):
    """Requirements on passages: tokens, and similarity.

    If ``times`` is 0, it is Jaccard similarity. Else it is the share of a query that they contain,
    and they weigh at most ``times`` times as much as the query.
    """

    min_tokens: int
    threshold: np.float64
    times: int


ELSEWHERE = 255
STEP = 64


@kernel
def pack_places(
    offsets: ConstInt64s,
    starts: ConstInt64s,
    stops: ConstInt64s,
    overlap: bool,
    gaps: Bytes,
    lengths: Bytes,
    samples: Int64s,
    far_places: Int64s,
    far_values: Int64s,
) -> Int:
    """Pack starts and stops of tokens in their texts.

    ``samples`` gets the start of tokens 0, 64, 128 and so on of all texts. ``far_places`` gets 2 *
    token for a gap listed separately and 2 * token + 1 for a length, ascending, ``far_values`` its
    value. Returns their number, including values that do not fit.
    """
    n_far = np.int64(0)
    room = far_places.shape[0]
    for text in range(offsets.shape[0] - 1):
        before = np.int64(0)
        for token in range(offsets[text], offsets[text + 1]):
            if token % STEP == 0:
                samples[token // STEP] = starts[token]
            for which in range(2):
                value = stops[token] - starts[token] if which else starts[token] - before
                fits = value >= 0 and value < ELSEWHERE
                if which:
                    lengths[token] = np.uint8(value if fits else ELSEWHERE)
                else:
                    gaps[token] = np.uint8(value if fits else ELSEWHERE)
                if not fits:
                    if n_far < room:
                        far_places[n_far] = 2 * token + which
                        far_values[n_far] = value
                    n_far += 1
            before = starts[token] if overlap else stops[token]
    return n_far


@inlined
def _read(value: Int, far_places: ConstInt64s, far_values: ConstInt64s, place: Int) -> Int:
    if value < ELSEWHERE:
        return value
    return np.int64(far_values[first_at_least(far_places, 0, far_places.shape[0], place)])


@kernel
def find_places(
    tokens: ConstInt64s,
    firsts: ConstInt64s,
    overlap: bool,
    gaps: ConstBytes,
    lengths: ConstBytes,
    samples: ConstInt64s,
    far_places: ConstInt64s,
    far_values: ConstInt64s,
    starts: Int64s,
    stops: Int64s,
) -> None:
    """Find starts and stops of tokens in their texts.

    ``firsts`` are the first tokens of the texts. At most 64 steps each.
    """
    for i in range(tokens.shape[0]):
        token = tokens[i]
        at = (token // STEP) * STEP
        if at >= firsts[i]:
            start = samples[at // STEP]
        else:
            at = firsts[i]
            start = _read(np.int64(gaps[at]), far_places, far_values, 2 * at)
        stop = start + _read(np.int64(lengths[at]), far_places, far_values, 2 * at + 1)
        while at < token:
            at += 1
            before = start if overlap else stop
            start = before + _read(np.int64(gaps[at]), far_places, far_values, 2 * at)
            stop = start + _read(np.int64(lengths[at]), far_places, far_values, 2 * at + 1)
        starts[i] = start
        stops[i] = stop
