from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.file import rawrows
from tests.arrays import make_texts
from tests.examples import examples

TEXT = st.lists(
    st.sampled_from(["a", "é", "語", "😀", "0123456789" * 4, "éé" * 9]), max_size=8
).map("".join)


@examples(60)
@given(texts=st.lists(TEXT, min_size=1, max_size=4), data=st.data())
def test_find_characters__where_the_text_before_ends(texts, data):
    wanted = [
        sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5), label=text))
        for text in texts
    ]
    arrays = make_texts(texts)
    characters = np.array([c for numbers in wanted for c in numbers], np.int64)
    offsets = np.cumsum([0, *map(len, wanted)], dtype=np.int64)
    places = np.full(len(characters), -7, np.int64)
    rawrows.find_characters(
        arrays.data, arrays.offsets[:-1], arrays.offsets[1:], characters, offsets, places
    )
    expected = [
        origin + len(text[:c].encode())
        for origin, text, numbers in zip(arrays.offsets.tolist(), texts, wanted, strict=False)
        for c in numbers
    ]
    assert places.tolist() == expected


def test_find_characters__beyond_the_end():
    texts = make_texts(["aé", "x" * 50])
    places = np.empty(4, np.int64)
    rawrows.find_characters(
        texts.data,
        texts.offsets[:-1],
        texts.offsets[1:],
        np.array([1, 9, 49, 10**12]),
        np.array([0, 2, 4]),
        places,
    )
    assert (places - texts.offsets[0]).tolist() == [1, 3, 3 + 49, 3 + 50]


@examples(60)
@given(data=st.data())
def test_splice__pieces_in_the_place_of_ranges(data):
    old = data.draw(st.binary(min_size=1, max_size=12))
    edges = sorted(data.draw(st.lists(st.integers(0, len(old)), max_size=6)))
    ranges = list(zip(edges[0::2], edges[1::2], strict=False))
    pieces = data.draw(st.lists(st.binary(max_size=4), min_size=1, max_size=3))
    number = st.integers(0, len(pieces) - 1)
    which = data.draw(st.lists(number, min_size=len(ranges), max_size=len(ranges)))
    expected, done = b"", 0
    for (start, stop), piece in zip(ranges, which, strict=True):
        expected += old[done:start] + pieces[piece]
        done = stop
    expected += old[done:]
    spliced = np.empty(len(expected), np.uint8)
    rawrows.splice(
        np.frombuffer(old, np.uint8),
        np.array([start for start, _ in ranges], np.int64),
        np.array([stop for _, stop in ranges], np.int64),
        np.frombuffer(b"".join(pieces) or b"\0", np.uint8),
        np.cumsum([0, *map(len, pieces)], dtype=np.int64),
        np.array(which, np.int64),
        spliced,
    )
    assert spliced.tobytes() == expected
