from __future__ import annotations

import random
from bisect import bisect_right
from itertools import accumulate

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage import segment_kernels
from tests.each import each_of
from tests.examples import examples

# On both sides of what fits into a byte.
GAPS = (-300, -255, -1, 0, 0, 1, 1, 1, 2, 254, 255, 256, 257, 70_000, 2**40)
LENGTHS = (0, 1, 3, 4, 5, 6, 7, 8, 254, 255, 256, 100_000, 2**40)


def packed(texts, room=None, overlap=False):
    """Pack texts of (gap, length); give places, packed columns and the number of far values."""
    offsets = np.array(list(accumulate(map(len, texts), initial=0)), np.int64)
    starts, stops = [], []
    for text in texts:
        before = 0
        for gap, length in text:
            starts.append(before + gap)
            stops.append(starts[-1] + length)
            before = starts[-1] if overlap else stops[-1]
    n = len(starts)
    room = 2 * n if room is None else room
    gaps, lengths = np.full(n, 9, np.uint8), np.full(n, 9, np.uint8)
    samples = np.full(-(-n // 64), -7, np.int64)
    far_places, far_values = np.full(room + 1, -7, np.int64), np.full(room + 1, -7, np.int64)
    n_far = segment_kernels.pack_places(
        *(offsets, np.array(starts, np.int64), np.array(stops, np.int64), overlap),
        *(gaps, lengths, samples),
        *(far_places[:room], far_values[:room]),
    )
    assert (far_places[min(room, n_far) :] == -7).all()
    assert (far_values[min(room, n_far) :] == -7).all()
    columns = (gaps, lengths, samples, far_places[:n_far], far_values[:n_far])
    return offsets, (starts, stops), columns


def found_places(tokens, offsets, columns, overlap):
    bounds = offsets.tolist()
    firsts = [bounds[bisect_right(bounds, token) - 1] for token in tokens]
    starts, stops = np.full(len(tokens), -7, np.int64), np.full(len(tokens), -7, np.int64)
    segment_kernels.find_places(
        np.array(tokens, np.int64), np.array(firsts, np.int64), overlap, *columns, starts, stops
    )
    return starts.tolist(), stops.tolist()


def assert_found_again(texts, overlap=False):
    offsets, places, columns = packed(texts, overlap=overlap)
    gaps, lengths, samples, far_places, far_values = columns
    every = range(int(offsets[-1]))
    assert found_places(every, offsets, columns, overlap) == places
    backwards = found_places(every[::-1], offsets, columns, overlap)
    assert backwards == (places[0][::-1], places[1][::-1])
    flat = [pair for text in texts for pair in text]
    fits = [[0 <= value < 255 for value in pair] for pair in flat]
    assert gaps.tolist() == [g if ok else 255 for (g, _), (ok, _) in zip(flat, fits, strict=True)]
    assert lengths.tolist() == [
        n if ok else 255 for (_, n), (_, ok) in zip(flat, fits, strict=True)
    ]
    assert samples.tolist() == places[0][::64]
    far = [(2 * i + k, flat[i][k]) for i in every for k in range(2) if not fits[i][k]]
    assert list(zip(far_places.tolist(), far_values.tolist(), strict=True)) == far


tokens = st.tuples(st.sampled_from(GAPS), st.sampled_from(LENGTHS))


@given(st.lists(st.lists(tokens, max_size=20), max_size=12), st.booleans())
def test_find_places__short_texts(texts, overlap):
    """Texts begin anywhere in a group of 64 tokens, and many have no group's first token."""
    assert_found_again(texts, overlap)


@examples(30)
@given(st.lists(st.integers(0, 200), max_size=5), st.randoms(use_true_random=False))
def test_find_places__long_texts(sizes, generator):
    assert_found_again(
        [
            [
                (generator.choice(GAPS), generator.choice(LENGTHS))
                if generator.random() < 0.1
                else (generator.randrange(3), generator.randrange(1, 12))
                for _ in range(size)
            ]
            for size in sizes
        ]
    )


@each_of("first", [0, 1, 62, 63, 64, 65, 127, 128])
@each_of("size", [1, 2, 63, 64, 65, 130])
def test_find_places__at_every_edge(first, size):
    generator = random.Random(first + size)
    texts = [
        [(generator.choice(GAPS), generator.choice(LENGTHS)) for _ in range(n)]
        for n in (first, size, 0, 3)
    ]
    assert_found_again(texts)


def test_pack_places__room():
    """Far values that do not fit are counted, and no other is left out for them."""
    texts = [[(300, 1), (0, 400), (1, 1)], [(-2, 255), (254, 254)]]
    _, _, whole = packed(texts)
    assert whole[3].tolist() == [0, 3, 6, 7]
    assert whole[4].tolist() == [300, 400, -2, 255]
    for room in range(6):
        offsets = np.array([0, 3, 5], np.int64)
        starts, stops = packed(texts)[1]
        places, values = np.full(room, -7, np.int64), np.full(room, -7, np.int64)
        others = (np.empty(5, np.uint8), np.empty(5, np.uint8), np.empty(1, np.int64))
        n = segment_kernels.pack_places(
            offsets, np.array(starts), np.array(stops), False, *others, places, values
        )
        assert n == 4
        assert places[:4].tolist() == [0, 3, 6, 7][:room]
        assert values[:4].tolist() == [300, 400, -2, 255][:room]
        assert others[0].tolist() == whole[0].tolist()
        assert others[1].tolist() == whole[1].tolist()


def test_pack_places__of_nothing():
    assert_found_again([])
    assert_found_again([[], []])
