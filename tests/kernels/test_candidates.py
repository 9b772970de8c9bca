from __future__ import annotations

import random
from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels import candidates, window_lists

WIDE = 65535


@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(1, 4), max_size=12), max_size=6))
def test_find_lists__as_dictionaries(functions):
    """Every key of every function, and those that are missing or another function's."""
    # Both ends of 64 bits, too.
    word = {key: 2**64 - 1 if key == 30 else key * 2**59 // 3 for key in range(31)}
    ordered = [sorted(lists.items()) for lists in functions]
    keys = np.array([word[key] for lists in ordered for key, _ in lists], np.uint64)
    key_starts = np.array(list(accumulate(map(len, ordered), initial=0)), np.int64)
    sizes = [size for lists in ordered for _, size in lists]
    starts = list(accumulate(sizes, initial=0))
    for wanted in range(31):
        lists = np.full((len(functions), 2), -7, np.int64)
        candidates.find_lists(
            *(np.full(len(functions), word[wanted], np.uint64), keys, key_starts),
            *(np.array(starts, np.int64), lists),
        )
        for f, (first, last) in enumerate(lists.tolist()):
            rows = [k for k in range(key_starts[f], key_starts[f + 1]) if keys[k] == word[wanted]]
            assert (first, last) == ((starts[rows[0]], starts[rows[0] + 1]) if rows else (0, 0))


def make_lists(generator, n_lists, *, wide=False):
    """Give lists of windows (a, b, c, d) whose starts ascend and are disjoint."""
    widest = 200_000 if wide else 6
    lists = []
    for _ in range(n_lists):
        place, windows = generator.randrange(4), []
        for _ in range(generator.randrange(5)):
            a = place + generator.choice((0, 0, 1, 5))
            b = a + generator.choice((0, 1, generator.randrange(widest)))
            c = b + generator.choice((0, 1, generator.randrange(widest)))
            d = c + generator.choice((0, 1, generator.randrange(widest)))
            windows.append((a, b, c, d))
            place = b + 1
        lists.append(windows)
    return lists


def columns_of(lists):
    """Lay lists out as an index does, with a row of junk before each; gives their slices, too."""
    rows, slices = [], []
    for windows in lists:
        rows.append((3, WIDE + 2, 1, 1))
        slices.append((len(rows), len(rows) + len(windows)))
        rows += [(a, b - a, c - b, d - c) for a, b, c, d in windows]
    spans = np.array([row[1:] for row in rows], np.uint32).reshape(-1, 3)
    n_wide = int((spans >= WIDE).any(axis=1).sum())
    packed = np.empty(spans.shape, np.uint16)
    wide_rows, wide_spans = np.empty(n_wide, np.int64), np.empty((n_wide, 3), np.uint32)
    window_lists.pack_spans(spans, packed, wide_rows, wide_spans)
    starts = np.array([row[0] for row in rows], np.uint32)
    return np.array(slices, np.int64).reshape(-1, 2), (starts, packed, wide_rows, wide_spans)


any_lists = st.builds(
    lambda seed, n, wide: make_lists(random.Random(seed), n, wide=wide),
    st.integers(0, 2**32),
    st.integers(0, 7),
    st.booleans(),
)


@given(any_lists)
def test_list_starts__of_all_windows(lists):
    slices, columns = columns_of(lists)
    n = sum(map(len, lists))
    firsts, lasts = (np.full(n + 1, 9, np.uint32) for _ in range(2))
    candidates.list_starts(slices, *columns, firsts[:n], lasts[:n])
    assert firsts.tolist() == [*(a for windows in lists for a, *_ in windows), 9]
    assert lasts.tolist() == [*(b for windows in lists for _, b, *_ in windows), 9]


def covered(pairs, least):
    """Ranges of starts, as the kernel gives them."""
    firsts = np.array(sorted(a for a, _ in pairs), np.uint32)
    lasts = np.array(sorted(b for _, b in pairs), np.uint32)
    ranges = np.full((len(pairs) + 1, 2), -7, np.int64)
    n = candidates.covered_ranges(firsts, lasts, least, ranges[: len(pairs)])
    assert (ranges[n:] == -7).all()
    return ranges[:n].tolist()


def assert_covered(pairs, least):
    ranges = covered(pairs, least)
    ends = [end for pair in ranges for end in pair]
    assert ends == sorted(ends)
    starts = [i for first, last in ranges for i in range(first, last + 1)]
    assert len(starts) == len(set(starts))
    positions = range(max((b for _, b in pairs), default=0) + 1)
    assert starts == [i for i in positions if sum(a <= i <= b for a, b in pairs) >= least]


start_ranges = st.tuples(st.integers(0, 25), st.integers(0, 8)).map(lambda t: (t[0], t[0] + t[1]))


@given(st.lists(start_ranges, max_size=14), st.integers(1, 6))
def test_covered_ranges__as_counted(pairs, least):
    assert_covered(pairs, least)


@pytest.mark.parametrize("least", [1, 2, 3])
def test_covered_ranges__examples(least):
    assert_covered([], least)
    assert_covered([(5, 5)] * least, least)
    assert_covered([(0, 9)] * (least - 1) + [(0, 3), (4, 4), (5, 9)], least)
    assert_covered([(0, 9)] * (least - 1) + [(0, 3), (5, 9)], least)
    top = 2**32 - 1
    assert covered([(top - 1, top)] * least, least) == [[top - 1, top]]


def in_range(lists, first, last, least, room):
    slices, columns = columns_of(lists)
    corners = np.full((4, room + 1), -7, np.int64)[:, :room].copy()
    n = candidates.windows_in_range(slices, first, last, least, *columns, corners)
    return int(n), [tuple(corner) for corner in corners.T.tolist()]


def expected_in_range(lists, first, last, least):
    chosen = [[w for w in windows if w[0] <= last and w[1] >= first] for windows in lists]
    if sum(map(bool, chosen)) < least:
        return None
    return [(max(a, first), min(b, last), c, d) for windows in chosen for a, b, c, d in windows]


@given(any_lists, st.integers(0, 40), st.integers(0, 20), st.integers(1, 5), st.integers(0, 30))
def test_windows_in_range__as_chosen(lists, first, size, least, room):
    # Ranges at the edges of windows, and between.
    edges = sorted({edge for windows in lists for a, b, *_ in windows for edge in (a, b)})
    around = [x for edge in edges for x in (edge - 1, edge, edge + 1) if x >= 0] or [first]
    for low in (first, around[first % len(around)]):
        for high in (low, low + size, *[x for x in around if x >= low][:3]):
            expected = expected_in_range(lists, low, high, least)
            n, rows = in_range(lists, low, high, least, room)
            if expected is None:
                assert n == -1
                continue
            assert n == len(expected)
            assert rows == (expected + [(-7,) * 4] * room)[:room]


def test_windows_in_range__enough_lists_only():
    windows = [(2, 4, 5, 6), (5, 5, 6, 9)]
    lists = [windows, [], [(4, 8, 8, 8)], [(9, 9, 9, 9)]]
    assert in_range(lists, 4, 5, 2, 3) == (3, [(4, 4, 5, 6), (5, 5, 6, 9), (4, 5, 8, 8)])
    assert in_range(lists, 4, 5, 3, 3)[0] == -1
    # Two windows of one list are one min-hash.
    assert in_range([windows, []], 2, 5, 2, 3)[0] == -1
    assert in_range([], 0, 9, 1, 3)[0] == -1
