from __future__ import annotations

import random
from bisect import bisect_left

import numba
import numpy as np

from neardup.kernels.passage import windows
from tests.each import each_of

# Numbers on both sides of where a word, a word of words and a word of blocks ends.
EDGES = (63, 64, 127, 128, 4095, 4096, 8191, 8192, 262143, 262144, 524287, 524288)


class OrderedSet:
    """The kernel's arrays, of exactly the lengths asked for and full of junk."""

    def __init__(self, size):
        lengths = windows.words_needed(size)
        self.arrays = tuple(np.full(length, 2**64 - 1, np.uint64) for length in lengths)
        windows.clear(*self.arrays, size)

    def __getattr__(self, name):
        return lambda x: int(getattr(windows, name)(*self.arrays, np.int64(x)))

    def insert(self, x):
        windows.insert(*self.arrays, np.int64(x))

    def remove(self, x):
        windows.remove(*self.arrays, np.int64(x))


def assert_same(found, expected, numbers):
    """Compare next numbers with those in a list that ascends and ends with the greatest number."""
    for x in numbers:
        if x <= expected[-1]:
            assert found.first_from(x) == expected[bisect_left(expected, x)], x


@each_of("size", [2, 3, 63, 64, 65, 4096, 4097, 262_145, 600_000, 20_000_000])
def test_words_needed__holds_every_number(size):
    n_bits, n_words, n_blocks = windows.words_needed(size)
    assert n_bits > (size - 1) >> 6
    # A neighbour is looked for one word further on.
    assert n_words > ((size >> 6) + 1) >> 6
    assert n_blocks > ((size >> 12) + 1) >> 6


@each_of("size", [2, 3, 64, 65, 130, 4096, 4098, 9000, 262_144, 262_150, 800_000])
@each_of("n_inside", [0, 1, 3, 60])
def test_first_from__as_in_a_list(size, n_inside):
    generator = random.Random(size + n_inside)
    found, greatest = OrderedSet(size), size - 1
    inside = {generator.randrange(size) for _ in range(n_inside)}
    inside |= {edge for edge in EDGES if edge < size and n_inside and generator.random() < 0.3}
    for x in (0, greatest, *inside):
        found.insert(x)
    around = [x + by for x in (*inside, *EDGES) for by in (-1, 0, 1) if 0 <= x + by < size]
    probes = [0, greatest, *around, *(generator.randrange(size) for _ in range(50))]
    assert_same(found, sorted({0, greatest} | inside), probes)


@each_of("size", [100, 5000, 300_000, 1_100_000])
def test_remove__leaves_the_others(size):
    """Also where a word, and a word of words, becomes empty or is not yet."""
    generator = random.Random(size)
    found, expected = OrderedSet(size), {0, size - 1}
    for x in expected:
        found.insert(x)
    places = [x for x in EDGES if 0 < x < size - 1]
    for step in range(150 if numba.config.DISABLE_JIT else 600):
        x = generator.randrange(1, size - 1)
        if generator.random() < 0.5:
            x = min(max(generator.choice(places) + generator.randrange(-2, 3), 1), size - 2)
        if x in expected:
            found.remove(x)
            expected.discard(x)
        else:
            found.insert(x)
            expected.add(x)
        if step % 40 == 39:
            for y in generator.sample(sorted(expected - {0, size - 1}), len(expected) * 2 // 3):
                found.remove(y)
                expected.discard(y)
        probes = [x, max(x - 1, 0), x + 1, generator.randrange(size)]
        assert_same(found, sorted(expected), probes)
    for x in expected - {0, size - 1}:
        found.remove(x)
    assert_same(found, [0, size - 1], range(0, size, size // 50))
    for words, shift in zip(found.arrays, (6, 12, 18), strict=True):
        used = words[: ((size - 1) >> shift) + 1]
        assert set(np.flatnonzero(used).tolist()) == {0, len(used) - 1}


@each_of(("old", "new"), [(300_000, 300_000), (300_000, 70), (5000, 4097), (64, 2)])
def test_clear__of_a_larger_set(old, new):
    """What a set of another size has left behind, beyond the new one, is never seen."""
    found = OrderedSet(old)
    for x in {0, 1, 62, 63, old // 2, old - 2, old - 1} - {-1}:
        found.insert(x)
    windows.clear(*found.arrays, new)
    for x in (0, new - 1):
        found.insert(x)
    assert_same(found, [0, new - 1] if new > 1 else [0], range(0, new, max(new // 100, 1)))
