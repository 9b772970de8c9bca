from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np

from neardup.kernels.join import edit_join as kernels
from neardup.kernels.join.postings import count_common
from neardup.matching import edit_join
from neardup.matching.join import group_records
from neardup.tables import TokenLists
from tests.arrays import ragged
from tests.each import each_of
from tests.kernels.edit_strings import (
    QGRAMS,
    SIMILARITIES,
    random_edit,
    random_strings,
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


@each_of("qgram", QGRAMS)
def test_prefix_lengths__zero_only_where_edits_may_touch_all(qgram):
    """Of a whole string, whose q-grams begin at each place up to the last."""
    for n_grams, n_edits in product(range(1, 12), range(3)):
        is_short = edits.can_touch_all(range(n_grams), qgram, n_edits)
        places = random.Random(n_grams).sample(range(n_grams), n_grams)
        assert (prefix_length(places, n_edits, qgram) == 0) == is_short


def test_prefix_lengths__longer_than_what_is_sorted_by_insertion():
    """Up to that and beyond, however the places lie; the fewest and the most that can be needed."""
    generator = random.Random(5)
    for qgram, n_edits in product((2, 3), range(kernels._SHORT // 3, kernels._SHORT + 4)):
        # An edit touches one of these; of adjacent ones it touches as many as it can.
        apart = range(0, 2 * qgram * qgram * n_edits, qgram)
        adjacent = range(qgram * n_edits)
        for order in (list, lambda run: run[::-1], lambda run: generator.sample(run, len(run))):
            assert prefix_length(order(apart), n_edits, qgram) == n_edits + 1
            places = [*order(adjacent), 4 * qgram * n_edits]
            assert prefix_length(places, n_edits, qgram) == len(places)


def test_prefix_lengths__each_string_by_its_own_edits():
    places = [0, 1, 2, 3, 4, 5, 2, 0, 1, 3]
    prefixes = np.full(4, -9, np.int64)
    kernels.prefix_lengths(
        np.array(places, np.int32),
        np.array([0, 6, 6, 6], np.int64),
        np.array([6, 4, 4, 0], np.int64),
        np.array([2, 1, 0, 0], np.int64),
        2,
        np.empty(5, np.int32),
        prefixes,
    )
    assert prefixes.tolist() == [5, 2, 1, 0]


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


def true_pairs(generator, n):
    """Strings within a random distance, the longer one or an equally long one second."""
    for _ in range(n):
        letters = generator.choice(["ab", "abcd", "abcdefghij"])
        x = "".join(generator.choices(letters, k=generator.randint(1, 16)))
        y = x
        for _ in range(generator.randrange(4)):
            y = random_edit(generator, y, letters) or y
        short, long = sorted((x, y), key=len)
        yield short, long, edits.distance(x, y)


@each_of("qgram", QGRAMS)
def test_index_grams__prefixes_of_true_pairs_meet(qgram):
    """Prefixes and positions alone lose no pair, nor does the count of common q-grams alone.

    Some q-gram of both prefixes stands at places that fit. Other strings make q-grams rare or
    frequent, and a longer one makes the shorter one's prefix longer than its own edits need.
    """
    generator = random.Random(f"grams {qgram}")
    n_looked_up = 0
    for short, long, distance in true_pairs(generator, 60):
        others = [*random_strings(generator, 3), "ab" * 9]
        strings = sorted([short, *filter(None, others)], key=len)
        y = strings.index(short)
        x = max(y + 1, sum(len(string) <= len(long) for string in strings))
        strings.insert(x, long)
        lengths = np.array([len(string) for string in strings], np.int64)
        # Larger distances for longer strings, as where similarity is the threshold.
        allowed = np.array([distance + (k > x) for k in range(len(strings))], np.int64)
        reach = edit_join.PartnerRanges.of(lengths, allowed)
        tokens = TokenLists(*ragged([[ord(c) for c in string] for string in strings]))
        groups = group_records(len(strings), None)
        grams, index = edit_join.index_grams(tokens, reach, qgram, groups)
        probing = grams.probing
        assert reach.first_partner[x] <= y
        # Too short to be looked up is only what edits may touch all over.
        assert (probing[x] == 0) == (max(len(long) - qgram + 1, 1) <= qgram * distance)
        if probing[x] == 0:
            continue
        n_looked_up += 1
        prefix = range(grams.starts[x], grams.starts[x] + probing[x])
        meeting = [
            (int(grams.places[i]), int(index.places[k]))
            for i in prefix
            for k in range(index.starts[grams.tokens[i]], index.starts[grams.tokens[i] + 1])
            if index.records[k] == y
        ]
        assert any(
            long[a : a + qgram] == short[b : b + qgram]
            and abs(a - b) + abs((len(long) - a) - (len(short) - b)) <= distance
            for a, b in meeting
        )
        runs = [(grams.starts[k], grams.starts[k] + grams.sizes[k]) for k in (x, y)]
        assert (
            count_common(grams.tokens, *runs[0], *runs[1], 0) >= grams.sizes[x] - qgram * distance
        )
    assert n_looked_up > 0


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
