from __future__ import annotations

import random
from itertools import product

import numpy as np

from neardup.kernels.join import edit_join_kernels as kernels
from neardup.matching import edit_join
from tests.each import each_of
from tests.kernels.edit_strings import QGRAMS
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
