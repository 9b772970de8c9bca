from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.kernels._compile import uncompiled
from neardup.kernels.passage import window_kernels as windows
from neardup.passages.windows import group_occurrences
from neardup.tables import TokenLists
from tests.arrays import JUNK, ragged, random_words
from tests.examples import examples
from tests.oracles import windows as oracle
from tests.oracles.hashing import mix

ANY_NUMBER = 2**31 - 1
WORDS = [0, 2**64 - 1, 2**63, *random_words(random.Random(4), 40)]


def junk_scratch(longest):
    """Give the scratch of the kernel, full of junk."""
    scratch = windows.make_scratch(longest)
    for array in itertools.chain(*scratch):
        array[:] = JUNK if array.dtype == np.uint64 else 99
    return scratch


class Lister:
    """A kernel with all its scratch, of exactly the lengths asked for and full of junk."""

    def __init__(self, texts):
        self.texts = [[WORDS[token] for token in text] for text in texts]
        self.token_lists = TokenLists(*ragged(self.texts))
        self.grouped = group_occurrences(self.token_lists)
        self.scratch = junk_scratch(max(map(len, texts), default=0))

    def listed(self, kernel, arguments, room):
        """Give the first text not done and columns of what is listed."""
        keys, starts = np.full(room + 1, JUNK, np.uint64), np.full(room + 1, 7, np.uint32)
        spans = np.full((room + 1, 3), 7, np.uint32)
        rows = windows.WindowRoom(keys[:room], starts[:room], spans[:room])
        done, n = kernel(self.grouped, *arguments, *self.scratch, rows)
        assert n <= room
        assert (keys[room], starts[room], spans[room, 0]) == (JUNK, 7, 7)
        return int(done), (keys[:n].tolist(), starts[:n].tolist(), spans[:n].tolist())

    def rows(self, seed, min_tokens, most_copies, room, first_text=0, function=None):
        arguments = first_text, most_copies, np.uint64(seed), min_tokens
        return self.listed(function or windows.multiset_windows, arguments, room)

    def windows(self, *arguments, function=None):
        """Give the windows (key, a, b, c, d) of each text."""
        room = 64 + 16 * len(self.grouped.positions)
        done, columns = self.rows(*arguments, room, function=function)
        assert done == len(self.texts)
        return oracle.read_rows(*columns, self.grouped.offsets.tolist())


def assert_right(texts, seed, min_tokens, most_copies=ANY_NUMBER):
    lister = Lister(texts)
    value_of = oracle.multiset_values(seed, most_copies)
    for text, found in zip(
        lister.texts, lister.windows(seed, min_tokens, most_copies), strict=True
    ):
        oracle.assert_windows(found, text, value_of, mix, min_tokens)
        oracle.assert_lists_ascend(found)


def random_text(generator, n, n_types):
    return [generator.randrange(n_types) for _ in range(n)]


def random_texts(n_types, sizes, seed):
    generator = random.Random(seed)
    return [random_text(generator, n, n_types) for n in sizes]


some_texts = st.builds(
    random_texts,
    st.sampled_from([1, 2, 3, 8, 40]),
    st.lists(st.integers(0, 40), min_size=1, max_size=3),
    st.integers(0, 2**32),
)
seeds = st.integers(0, 2**64 - 1)
least_tokens = st.sampled_from([1, 1, 2, 3, 5, 9, 20, 40])
most = st.sampled_from([1, 2, ANY_NUMBER])


@examples(150)
@given(some_texts, seeds, least_tokens, most)
def test_multiset_windows__as_oracle(texts, seed, min_tokens, most_copies):
    assert_right(texts, seed, min_tokens, most_copies)


@examples(150)
@given(some_texts, seeds, most)
def test_multiset_windows__as_many_as_those_of_others(texts, seed, most_copies):
    """As many as MonoAll's and MonoActive's, no more than AllAlign's."""
    lister = Lister(texts)
    value_of = oracle.multiset_values(seed, most_copies)
    for text, found in zip(lister.texts, lister.windows(seed, 1, most_copies), strict=True):
        assert len(found) == len(oracle.monotonic_windows(text, value_of))
        assert len(found) == len(oracle.monotonic_windows(text, value_of, oracle.active_copies))
        assert len(found) <= len(oracle.greedy_windows(text, value_of))
        if most_copies == 1:
            assert len(found) == len(text)


def test_multiset_windows__example_of_the_paper(monkeypatch):
    """ABABAABBCC has 13 windows with the hashes of its Table."""
    hashes = {
        (0, 1): 2, (0, 2): 5, (0, 3): 8, (0, 4): 12,
        (1, 1): 9, (1, 2): 4, (1, 3): 16, (1, 4): 1,
        (2, 1): 3, (2, 2): 6,
    }  # fmt: skip
    text = [0, 1, 0, 1, 0, 0, 1, 1, 2, 2]

    def value_of(token, x):
        return hashes[WORDS.index(token), x] << 58

    def list_active(texts, number, most, seed, high, active):
        assert (number, high) == (0, 2**64 - 1)
        n = 0
        for k, token in enumerate(texts.type_hashes.tolist()):
            active.starts[k] = n
            copies = int(texts.type_starts[k + 1] - texts.type_starts[k])
            for x in oracle.active_copies(token, copies, value_of):
                value = value_of(token, x)
                active.copies[n], active.orders[n], active.identities[n] = x, value, mix(value)
                n += 1
        active.starts[len(texts.type_hashes)] = n

    monkeypatch.setattr(windows, "list_active", list_active)
    lister = Lister([text])
    kernel = windows.multiset_windows
    (found,) = lister.windows(0, 1, ANY_NUMBER, function=uncompiled(kernel))
    oracle.assert_windows(found, lister.texts[0], value_of, mix)
    assert len(found) == 13
    assert len(found) == len(oracle.monotonic_windows(lister.texts[0], value_of))
    assert len(found) == len(oracle.greedy_windows(lister.texts[0], value_of))


def ceiling(n_tokens, min_tokens):
    share = 1.25 * np.log(100.0 * n_tokens) / min_tokens
    return (share if share < 0.4 else 1.0) * 2.0**64


@pytest.mark.slow
def test_multiset_windows__all_bands():
    """Also where the least value of a text is in the last one."""
    bands = set()
    for token in range(len(WORDS)):
        for seed in range(8):
            least = oracle.multiset_values(seed)(WORDS[token], 1)
            high, band = ceiling(100, 100), 0
            while least >= high and high < 2.0**62:
                high, band = high * 2, band + 1
            band += least >= high
            if band not in bands or band == 3:
                assert_right([[token] * 100], seed, 100, 1)
            bands.add(band)
    assert bands == {0, 1, 2, 3}


def test_multiset_windows__room():
    """Texts whose windows do not fit are left for later; those before are complete."""
    generator = random.Random(6)
    texts = [random_text(generator, n, 3) for n in (9, 14, 0, 12, 3, 15, 1)]
    lister = Lister(texts)
    done, whole = lister.rows(1, 1, ANY_NUMBER, 1000)
    assert done == len(texts)
    for room in range(len(whole[0]) + 2):
        reached, columns = lister.rows(1, 1, ANY_NUMBER, room)
        assert columns == tuple(column[: len(columns[0])] for column in whole)
        assert (reached == len(texts)) == (room >= len(whole[0]))
        assert all(start < lister.grouped.offsets[reached] for start in columns[1])
        again, rest = lister.rows(1, 1, ANY_NUMBER, 1000, first_text=reached)
        assert again == len(texts)
        assert [first + other for first, other in zip(columns, rest, strict=True)] == list(whole)
