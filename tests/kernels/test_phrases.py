from __future__ import annotations

from itertools import pairwise

import numpy as np

from neardup.kernels.text import phrases
from tests.arrays import make_texts
from tests.each import each_of

# Words by numbers; what is looked for is "1 2" and "1", and "3" is removed.
PHRASES = {(1, 2): 0, (1,): 1, (3,): 2}


def cut(words, text):
    """Cut a text of which word i is the character i, with exactly the room that is asked for."""
    texts = make_texts([text], lead="é")
    values = np.array(words, np.uint64)
    maybe = np.zeros(1 << 16, np.uint8)
    maybe[[1, 3]] = 1
    room = int(maybe[values.astype(np.int64) & 0xFFFF].sum())
    bounds, plain = np.full(2 * room + 2, -7, np.int64), np.full(2 * room + 2, 7, np.uint8)
    pieces, found = np.full(2, -7, np.int64), np.full(room, -7, np.int64)
    places = np.arange(len(words))
    n = phrases.find_phrases(
        texts.data,
        texts.offsets,
        values,
        np.array([0, len(words)]),
        places * 2,
        places * 2 + 1,
        maybe,
        np.array([1, 3], np.uint64),
        np.array([0, 2, 3]),
        np.array([1, 2, 1, 3], np.uint64),
        np.array([0, 2, 3, 4]),
        np.zeros(1, np.uint8),
        np.zeros(4, np.int64),
        np.frombuffer(b".", np.uint8),
        np.array([0, 0, 1, 1]),
        np.array([0, 0, 1], np.uint8),
        bounds,
        plain,
        pieces,
        found,
    )
    assert pieces.tolist() == [0, n]
    data, ends = texts.data.tobytes(), bounds[: n + 1].tolist()
    cuts = [data[a:b].decode() for a, b in pairwise(ends)]
    there = iter(found.tolist())
    numbers = [-1 if is_plain else next(there) for is_plain in plain[:n]]
    return list(zip(cuts, numbers, strict=True))


@each_of(
    ("words", "text", "expected"),
    [
        ([], "", []),
        ([5], "x", [("x", -1)]),
        ([1], "a", [("a", 1)]),
        ([1, 2, 1], "a b a", [("a b", 0), (" ", -1), ("a", 1)]),
        ([1, 1, 2], "a.a b", [("a.", 1), ("a b", 0)]),
        ([2, 1], "b a.", [("b ", -1), ("a.", 1)]),
        ([3, 3, 5], "c c x", [("c ", 2), ("c ", 2), ("x", -1)]),
        ([5, 3, 5], "x c x", [("x", -1), (" c", 2), (" x", -1)]),
        # The lowest bits alone are those of a phrase.
        ([1 + (1 << 16)], "x", [("x", -1)]),
    ],
)
def test_find_phrases__by_hand(words, text, expected):
    assert cut(words, text) == expected
