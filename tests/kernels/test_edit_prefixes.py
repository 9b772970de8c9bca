from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np

from neardup.kernels.join import edit_join as kernels
from neardup.matching import edit_join
from tests.each import each_of
from tests.kernels.edit_strings import (
    QGRAMS,
    SIMILARITIES,
    threshold_of,
)
from tests.oracles import edits


def prefix_length(places, n_edits, qgram):
    prefixes = np.full(1, -9, np.int64)
    # Behind the prefixes that may be needed there is no scratch, and nothing is read.
    scratch = np.empty(min(qgram * n_edits + 1, len(places)), np.int32)
    kernels.prefix_lengths(
        np.array([0, 0, *places], np.int32),
        np.array([2], np.int64),
        np.array([len(places)], np.int64),
        np.array([n_edits], np.int64),
        qgram,
        scratch,
        prefixes,
    )
    return int(prefixes[0])


@each_of("qgram", QGRAMS)
def test_prefix_lengths__fewest_that_the_edits_cannot_all_touch(qgram):
    generator = random.Random(qgram)
    for _ in range(25):
        places = generator.sample(range(14), generator.randrange(1, 15))
        for n_edits in range(4):
            # All q-grams of a string are there, so that this many cannot all be touched.
            expected = edits.least_prefix(places, qgram, n_edits)
            if len(places) <= qgram * n_edits:
                expected = 0
            assert prefix_length(places, n_edits, qgram) == expected


def test_prefix_lengths__long_prefixes():
    """However the places lie; the fewest and the most that can be needed."""
    generator = random.Random(5)
    for qgram, n_edits in product((2, 3), range(8, 28)):
        # An edit touches one of these; of adjacent ones it touches as many as it can.
        apart = range(0, 2 * qgram * qgram * n_edits, qgram)
        adjacent = range(qgram * n_edits)
        for order in (list, lambda run: run[::-1], lambda run: generator.sample(run, len(run))):
            assert prefix_length(order(apart), n_edits, qgram) == n_edits + 1
            places = [*order(adjacent), 4 * qgram * n_edits]
            assert prefix_length(places, n_edits, qgram) == len(places)


def test_allowed__exact():
    """No more edits than the longer string has tokens, which is as far as two can be apart."""
    lengths = np.arange(1, 71, dtype=np.int64)
    for threshold in (
        0,
        1,
        7,
        2**80,
        *SIMILARITIES,
        Fraction(1, 10**9),
        Fraction(999_999_999, 10**9),
    ):
        expected = [min(n, edits.most_edits(n, threshold)) for n in lengths.tolist()]
        assert threshold_of(threshold).allowed(lengths).tolist() == expected


def test_choose_qgram__longest_that_one_in_twenty_is_too_short_for():
    """A string of q * (D + 1) tokens can be looked up, a shorter one cannot."""
    for n_edits, share in product(range(5), range(1, 9)):
        lengths = np.array([1] * 2 + [share * (n_edits + 1)] * 38, np.int64)
        allowed = np.full(40, n_edits, np.int64)
        chosen = edit_join.choose_qgram(lengths, allowed)
        assert chosen == min(share, edit_join._LONGEST_QGRAM)
        places = range(lengths[-1] - chosen + 1)
        assert prefix_length(places, n_edits, chosen) > 0
    assert edit_join.choose_qgram(np.empty(0, np.int64), np.empty(0, np.int64)) == 1
    assert edit_join.choose_qgram(np.ones(3, np.int64), np.full(3, 4)) == 1
