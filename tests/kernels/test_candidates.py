from __future__ import annotations

import random
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels.passage import candidates
from neardup.kernels.passage import candidates as depth
from neardup.kernels.passage import candidates as window_lists

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


def in_range(slices, columns, rows, first, last, room):
    corners = np.full((4, room + 1), -7, np.int64)[:, :room].copy()
    n = candidates.windows_in_range(slices, rows, first, last, *columns, corners)
    return int(n), [tuple(corner) for corner in corners.T.tolist()]


def expected_in_range(lists, first, last):
    chosen = [w for windows in lists for w in windows if w[0] <= last and w[1] >= first]
    return [(max(a, first), min(b, last), c, d) for a, b, c, d in chosen]


@given(any_lists, st.lists(st.integers(0, 40), max_size=6), st.integers(0, 30), st.booleans())
def test_windows_in_range__as_chosen(lists, cuts, room, is_near):
    slices, columns = columns_of(lists)
    # Ranges at the edges of windows, and between.
    edges = {edge for windows in lists for a, b, *_ in windows for edge in (a, b)}
    around = {x for edge in edges for x in (edge - 1, edge, edge + 1) if x >= 0} | set(cuts)
    bounds = sorted(
        around if is_near else random.Random(room).sample(sorted(around), min(len(around), 4))
    )
    rows = slices[:, 0].copy()
    for low, high in pairwise(bounds):
        for first, last in ((low, low), (low, high)):
            expected = expected_in_range(lists, first, last)
            n, found = in_range(slices, columns, rows, first, last, room)
            assert n == len(expected)
            assert found == (expected + [(-7,) * 4] * room)[:room]
            assert rows.tolist() == [
                start + sum(b < first for _, b, *_ in windows)
                for start, windows in zip(slices[:, 0].tolist(), lists, strict=True)
            ]


def sifted(lists, ranges, least, min_tokens):
    slices, columns = columns_of(lists)
    kept = np.array(ranges, np.int64).reshape(-1, 2)
    n = candidates.sift_ranges(slices, least, min_tokens, *columns, kept)
    return [tuple(pair) for pair in kept[:n].tolist()]


def deepest(lists, first, last, min_tokens):
    """Most windows that a long passage with a start in the range is in."""
    # Some passage that is in most of them begins with a window's first start, or the range, and
    # ends with a window's first end, or is as short as may be.
    windows = [w for ws in lists for w in ws]
    starts = {min(max(a, first), last) for a, *_ in windows}
    return max(
        (
            sum(a <= i <= b and c <= j <= d for a, b, c, d in windows)
            for i in starts
            for j in {max(c, i + min_tokens - 1) for _, _, c, _ in windows}
        ),
        default=0,
    )


def cut_at(cuts):
    """Make ranges of starts that do not overlap; some adjoin."""
    bounds = sorted(set(cuts))
    return [(a, b - 1) for a, b in pairwise(bounds)]


@given(any_lists, st.lists(st.integers(0, 45), max_size=8), st.integers(1, 5), st.integers(1, 9))
def test_sift_ranges__those_with_a_passage(lists, cuts, least, min_tokens):
    ranges = cut_at(cuts)
    expected = [pair for pair in ranges if deepest(lists, *pair, min_tokens) >= least]
    assert sifted(lists, ranges, least, min_tokens) == expected


@pytest.mark.parametrize("n", [depth.MANY, depth.MANY + 1])
def test_sift_ranges__of_many_windows_or_starts(n):
    """Where the test would take long ranges stay, and the sweep decides."""
    windows = [(k, k, k + 5, k + 9) for k in range(n)]
    others = [(k, k, k + 1, k + 3) for k in range(n)]
    is_small = n == depth.MANY
    assert sifted([windows[: n // 2], others[: n - n // 2]], [(0, n // 2)], 2, 1) == (
        [] if is_small else [(0, n // 2)]
    )
    wide = [[(0, n - 1, n + 5, n + 9)], [(0, n - 1, n, n + 3)]]
    assert sifted(wide, [(0, n - 1)], 2, 1) == ([] if is_small else [(0, n - 1)])
