from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import combinations, product
from operator import xor

import numpy as np
import pytest

from neardup.errors import InvalidParameterError, ResultLimitError
from neardup.kernels import edit_join as kernels
from neardup.kernels.postings import count_common
from neardup.matching import edit_join, pieces
from neardup.matching.edit_join import EditThreshold
from neardup.matching.postings import group_records
from neardup.tables import TokenLists
from tests.arrays import ragged, random_words
from tests.oracles import edits, joins
from tests.oracles.shingles import shingle_tuples

QGRAMS = range(1, 6)
SIMILARITIES = [Fraction(t) for t in ("0.3", "0.5", "0.54", "0.6", "0.75", "0.8", "0.9", "1")]


def random_edit(generator, string, letters):
    """Edit a string once, anywhere; an empty one grows."""
    kinds = ["insert", "delete", "substitute"] if string else ["insert"]
    kind = generator.choice(kinds)
    place = generator.randrange(len(string) + (kind == "insert"))
    new = "" if kind == "delete" else generator.choice(letters)
    return string[:place] + new + string[place + (kind != "insert") :]


def random_strings(generator, n, longest=12):
    """Strings of which many are edited copies of others, some are equal, some empty."""
    letters = generator.choice(["a", "ab", "abcd", "abcdefghijklmnop"])
    strings = []
    for _ in range(n):
        if strings and generator.random() < 0.6:
            new = generator.choice(strings)
            for _ in range(generator.randrange(5)):
                new = random_edit(generator, new, letters)
        else:
            new = "".join(generator.choices(letters, k=generator.randrange(longest)))
        strings.append(new)
    return strings


def token_lists(strings):
    return TokenLists(*ragged([[ord(c) for c in string] for string in strings], lead=2))


def threshold_of(threshold):
    if isinstance(threshold, Fraction):
        return EditThreshold(None, threshold)
    return EditThreshold(threshold)


def joined(strings, threshold, *, sides=None, **options):
    pairs, counts = edit_join.join_strings(
        token_lists(strings),
        threshold_of(threshold),
        sides=None if sides is None else np.array(sides, np.uint8),
        **options,
    )
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


def assert_as_oracle(strings, threshold, *, sides=None, **options):
    found, counts = joined(strings, threshold, sides=sides, **options)
    assert found == edits.join(strings, threshold, sides)
    assert counts.results == len(found) <= counts.verified <= counts.after_parity
    assert counts.after_parity <= counts.after_position <= counts.after_length <= counts.hits


def parities_of(strings):
    tokens = token_lists(strings)
    parities = np.zeros((len(strings), 2), np.uint64)
    kernels.string_parities(tokens.values, tokens.offsets, parities)
    return [tuple(row) for row in parities.tolist()]


def ranked(strings, qgram):
    """The q-grams of each string as (rank, place), the rarest first; a rank for each q-gram."""
    grams = [shingle_tuples(string, qgram) for string in strings]
    frequencies = Counter(gram for of_string in grams for gram in of_string)
    order = sorted(frequencies, key=lambda gram: (frequencies[gram], gram))
    ranks = {gram: rank for rank, gram in enumerate(order)}
    return [sorted((ranks[gram], i) for i, gram in enumerate(row)) for row in grams], len(order)


@dataclass
class Probe:
    """What ``probe_strings`` takes, made by the definitions: strings, the shorter ones first.

    With parities that are all alike, q-grams so long that an edit touches them all, and places that
    are all alike, the filters let everything through; so each can be looked at alone.
    """

    lengths: list[int]
    allowed: list[int]
    first_partner: list[int]
    parities: list[tuple[int, int]]
    sides: list[int]
    grams: list[list[tuple[int, int]]]
    n_tokens: int
    qgram: int
    probing: list[int]
    indexing: list[int]

    @classmethod
    def of(cls, strings, threshold, qgram):
        strings = sorted(filter(None, strings), key=len)
        lengths = [len(string) for string in strings]
        allowed = [edits.most_edits(length, threshold) for length in lengths]
        first_partner = [
            next(y for y in range(len(lengths)) if lengths[y] >= length - most)
            for length, most in zip(lengths, allowed, strict=True)
        ]
        grams, n_tokens = ranked(strings, qgram)
        return cls(
            lengths,
            allowed,
            first_partner,
            [(0, 0)] * len(strings),
            [],
            grams,
            n_tokens,
            99,
            [len(row) for row in grams],
            [len(row) for row in grams],
        )

    def groups(self):
        sides = np.array(self.sides, np.uint8) if self.sides else None
        return group_records(len(self.lengths), sides)

    def postings(self):
        """Rows of key, string, place in it and rest behind that; the last token is in them all."""
        groups = self.groups()
        return sorted(
            (token * groups.n_groups + int(groups.of_records[k]), k, place, self.lengths[k] - place)
            for k, row in enumerate(self.grams)
            for token, place in [*row[: self.indexing[k]], (self.n_tokens, 0)]
        )

    def may_pair(self, x, y):
        return not self.sides or joins.may_pair(self.sides[x], self.sides[y], is_directed=False)

    def fitting(self):
        """Pairs (x, y) of which y comes first, is long enough, and of another collection."""
        return [
            (x, y)
            for x in range(len(self.lengths))
            for y in range(self.first_partner[x], x)
            if self.may_pair(x, y)
        ]

    def met(self, x):
        """Strings that x's lookups meet, of its own collection only itself, as often as they do."""
        return [
            y
            for token, _ in self.grams[x][: self.probing[x]] or [(self.n_tokens, 0)]
            for y, row in enumerate(self.grams)
            for other, _ in [*row[: self.indexing[y]], (self.n_tokens, 0)]
            if token == other and self.may_pair(x, y)
        ]

    def n_hits(self):
        return sum(len(self.met(x)) for x in range(len(self.lengths)))

    def arrays(self):
        """What the kernels take of q-grams, groups and the index, by name."""
        groups, rows = self.groups(), self.postings()
        sizes = [len(row) for row in self.grams]
        n_keys = (self.n_tokens + 1) * groups.n_groups
        posting_starts = [sum(row[0] < key for row in rows) for key in range(n_keys + 1)]
        return {
            "first_partner": np.array(self.first_partner, np.int64),
            "gram_tokens": np.array([token for row in self.grams for token, _ in row], np.int32),
            "gram_places": np.array([place for row in self.grams for _, place in row], np.int32),
            "gram_starts": np.cumsum([0, *sizes])[:-1].astype(np.int64),
            "gram_sizes": np.array(sizes, np.int64),
            "n_tokens": self.n_tokens,
            "n_groups": groups.n_groups,
            "first_group": groups.first,
            "last_group": groups.last,
            "posting_starts": np.array(posting_starts, np.int64),
            **{
                name: np.array([row[i] for row in rows], np.int32)
                for i, name in enumerate(("records", "places", "rests"), 1)
                for name in [f"posting_{name}"]
            },
        }

    def with_common_gram(self, is_fitting=lambda x, y, place, other: True):
        """Fitting pairs that have a q-gram of x's prefix in y's, at places that are fitting."""
        return {
            (x, y)
            for x, y in self.fitting()
            for token, place in self.grams[x][: self.probing[x]]
            for other_token, other in self.grams[y][: self.indexing[y]]
            if token == other_token and is_fitting(x, y, place, other)
        }

    def run(self, room=1000):
        """Candidates (x, y), with the output full after ``room`` of them, and counts."""
        n = len(self.lengths)
        given = self.arrays()
        last_seen = np.full(n, -1, np.int32)
        counts = np.zeros(kernels.N_COUNTS, np.int64)
        found, start = [], 0
        while start < n:
            left, right = np.full(room, -9, np.int32), np.full(room, -9, np.int32)
            reached, n_pairs = kernels.probe_strings(
                start,
                n,
                np.array(self.lengths, np.int64),
                np.array(self.allowed, np.int64),
                given["first_partner"],
                np.array(self.parities, np.uint64).reshape(-1, 2),
                given["gram_tokens"],
                given["gram_places"],
                given["gram_starts"],
                given["gram_sizes"],
                given["n_tokens"],
                self.qgram,
                np.array(self.probing, np.int64),
                given["n_groups"],
                given["first_group"],
                given["last_group"],
                given["posting_starts"],
                given["posting_records"],
                given["posting_places"],
                given["posting_rests"],
                last_seen,
                left,
                right,
                counts,
            )
            assert start <= reached <= n
            assert n_pairs <= room
            assert n_pairs == room or (left[n_pairs], right[n_pairs]) != (-9, -9) or reached == n
            found += zip(right[:n_pairs].tolist(), left[:n_pairs].tolist(), strict=True)
            room = max(room * 2, 1) if reached == start else room
            start = reached
        assert len(set(found)) == len(found)
        assert [x for x, _ in found] == sorted(x for x, _ in found)
        return found, counts.tolist()


def random_probes(seed, n=12):
    """Probes at random thresholds, with all q-grams in the prefixes and no filter but length."""
    generator = random.Random(seed)
    for _ in range(n):
        strings = random_strings(generator, generator.randint(2, 9))
        threshold = generator.choice([generator.randrange(5), *SIMILARITIES[2:5]])
        qgram = generator.choice(QGRAMS)
        yield generator, qgram, Probe.of(strings, threshold, qgram)


def test_string_parities__odd_counts():
    """A bit for each token, and one for each adjacent two; those that come twice cancel."""
    generator = random.Random(1)
    assert parities_of([""]) == [(0, 0)]
    for string in random_strings(generator, 40):
        ones = parities_of(string)
        pairs = parities_of(shingle_tuples(string, 2) if len(string) > 1 else [])
        assert all(a.bit_count() == 1 and b == 0 for a, b in ones)
        assert all(b.bit_count() == 1 for _, b in pairs)
        found = parities_of([string])[0]
        assert found[0] == reduce(xor, [a for a, _ in ones], 0)
        assert found[1] == reduce(xor, [b for _, b in pairs], 0)


def test_string_parities__tell_tokens_and_their_order_apart():
    tokens = random_words(random.Random(2), 40)
    values, offsets = ragged([[token] for token in tokens])
    parities = np.zeros((len(tokens), 2), np.uint64)
    kernels.string_parities(values, offsets, parities)
    assert len(set(parities[:, 0].tolist())) > len(set(tokens)) // 4
    forth, back = (np.zeros((30, 2), np.uint64) for _ in range(2))
    twos = [tokens[i : i + 2] for i in range(30)]
    kernels.string_parities(*ragged(twos), forth)
    kernels.string_parities(*ragged([two[::-1] for two in twos]), back)
    assert np.array_equal(forth[:, 0], back[:, 0])
    assert not np.array_equal(forth[:, 1], back[:, 1])


def test_string_parities__each_edit_turns_no_more_bits_than_promised():
    """Two of tokens and four of twos; an insertion or a deletion one less of both."""
    turned = {"insertion": set(), "substitution": set()}
    generator = random.Random(3)
    strings = ["", "a", "ab", "aaaa", *random_strings(generator, 8, longest=7)]
    for string in strings:
        new = [string[:i] + c + string[i:] for i in range(len(string) + 1) for c in "abz"]
        changed = [string[:i] + c + string[i + 1 :] for i in range(len(string)) for c in "abz"]
        for kind, others in (("insertion", new), ("substitution", changed)):
            before, *after = parities_of([string, *others])
            for row in after:
                turned[kind].add(tuple((row[i] ^ before[i]).bit_count() for i in (0, 1)))
    assert max(one for one, _ in turned["insertion"]) == 1
    assert max(two for _, two in turned["insertion"]) == 3
    assert max(one for one, _ in turned["substitution"]) == 2
    assert max(two for _, two in turned["substitution"]) == 4


def test_string_parities__of_strings_within_a_distance():
    """The parity filter alone loses no pair."""
    generator = random.Random(4)
    for _ in range(25):
        strings = sorted(filter(None, random_strings(generator, 8)), key=len)
        parities = np.array(parities_of(strings), np.uint64).reshape(-1, 2)
        for y, x in combinations(range(len(strings)), 2):
            distance = edits.distance(strings[x], strings[y])
            longer = len(strings[x]) - len(strings[y])
            differ = [int(parities[x, i] ^ parities[y, i]).bit_count() for i in (0, 1)]
            assert differ[0] <= 2 * distance - longer
            assert differ[1] <= 4 * distance - longer


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


@pytest.mark.parametrize("qgram", QGRAMS)
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


@pytest.mark.parametrize("qgram", QGRAMS)
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


def test_probe_strings__length_alone():
    """Without q-grams to look up, all strings of fitting length are candidates, by length."""
    for generator, _, probe in random_probes(6):
        probe.probing = [0] * len(probe.lengths)
        # No edits at all touch no q-gram, however long.
        probe.allowed = [99] * len(probe.lengths)
        expected = sorted(probe.fitting())
        n = len(expected)
        counts = [len(probe.lengths) ** 2, n, n, n, n]
        assert probe.run() == (expected, counts)
        assert probe.run(generator.randrange(4)) == (expected, counts)


def test_probe_strings__common_gram_alone():
    """A q-gram in both prefixes, counted as often as it is found; candidates come once."""
    for generator, _, probe in random_probes(7):
        probe.probing = [generator.randint(0, len(row)) for row in probe.grams]
        probe.indexing = [generator.randint(0, len(row)) for row in probe.grams]
        is_short = [k for k, prefix in enumerate(probe.probing) if prefix == 0]
        short = {(x, y) for x, y in probe.fitting() if x in is_short}
        # Places that fit always: the sum of differences is what the filter looks at.
        probe.allowed = [99] * len(probe.lengths)
        n = len(probe.with_common_gram()) + len(short)
        found, counts = probe.run(generator.choice([0, 1, 5, 50]))
        assert set(found) == probe.with_common_gram() | short
        hits = [(x, y) for x in range(len(probe.lengths)) for y in probe.met(x)]
        fitting = [(x, y) for x, y in hits if probe.first_partner[x] <= y < x]
        assert counts == [len(hits), len(fitting), n, n, n]


def test_probe_strings__position_alone():
    """Edits in front of the common q-gram and behind it, together no more than allowed."""
    n_pruned = 0
    for _, _, probe in random_probes(8, 20):
        # No edits at all touch no q-gram, however long.
        probe.allowed = [max(most, 1) for most in probe.allowed]

        def is_near(x, y, place, other, probe=probe):
            behind = (probe.lengths[x] - place) - (probe.lengths[y] - other)
            return abs(place - other) + abs(behind) <= probe.allowed[x]

        expected = probe.with_common_gram(is_near)
        n_pruned += len(probe.with_common_gram()) - len(expected)
        found, counts = probe.run()
        assert set(found) == expected
        assert counts[kernels.AFTER_POSITION] == len(expected)
    assert n_pruned > 0


@pytest.mark.parametrize("is_short", [False, True])
def test_probe_strings__parity_alone(is_short):
    """Bits that differ, up to two and four an edit, less one for each token of length."""
    n_pruned = 0
    for generator, _, probe in random_probes(9, 20):
        n = len(probe.lengths)
        # Few bits that differ or many, around the bounds.
        probe.parities = [
            tuple(generator.getrandbits(64) & generator.getrandbits(64 >> i) for i in (3, 2))
            for _ in range(n)
        ]
        # Every string has the q-gram 0 at its front and at its end alike: places always fit.
        probe.grams, probe.n_tokens = [[(0, 0)] for _ in range(n)], 1
        probe.indexing = [1] * n
        probe.probing = [0 if is_short else 1] * n
        expected = [
            (x, y)
            for x, y in probe.fitting()
            if all(
                (probe.parities[x][i] ^ probe.parities[y][i]).bit_count()
                <= bits * probe.allowed[x] - (probe.lengths[x] - probe.lengths[y])
                for i, bits in ((0, 2), (1, 4))
            )
        ]
        n_pruned += len(probe.fitting()) - len(expected)
        found, counts = probe.run()
        assert sorted(found) == expected
        assert counts[2:] == [len(probe.fitting()), len(expected), len(expected)]
    assert n_pruned > 0


def test_probe_strings__count_alone():
    """As many common q-grams, copies counted, as no edit touches."""
    n_pruned, n_pruned_of_all = 0, 0
    for generator, qgram, probe in random_probes(10, 25):
        # Strings that are looked up have more q-grams than all edits together touch.
        probe.probing = [
            len(row) if len(row) > qgram * most else 0
            for row, most in zip(probe.grams, probe.allowed, strict=True)
        ]
        probe.qgram = qgram
        # Places that fit always.
        places = [[(token, 0) for token, _ in row] for row in probe.grams]
        tokens = [Counter(token for token, _ in row) for row in probe.grams]
        probe.grams = places
        # Some are compared with all although they could be looked up.
        probe.probing = [generator.choice([0, length, length]) for length in probe.probing]
        candidates = {
            (x, y)
            for x, y in probe.fitting()
            if not probe.probing[x] or (x, y) in probe.with_common_gram()
        }
        expected = {
            (x, y)
            for x, y in candidates
            if (tokens[x] & tokens[y]).total() >= tokens[x].total() - qgram * probe.allowed[x]
        }
        pruned = candidates - expected
        n_pruned += len(pruned)
        n_pruned_of_all += sum(probe.probing[x] == 0 for x, _ in pruned)
        found, counts = probe.run()
        assert set(found) == expected
        assert counts[2:] == [len(candidates), len(candidates), len(expected)]
    assert n_pruned > n_pruned_of_all > 0


@pytest.mark.parametrize("is_short", [False, True])
def test_probe_strings__sides_alone(is_short):
    for generator, _, probe in random_probes(11):
        n = len(probe.lengths)
        probe.sides = [generator.randint(1, 3) for _ in range(n)]
        probe.grams, probe.n_tokens = [[(0, 0)] for _ in range(n)], 1
        probe.indexing, probe.probing = [1] * n, [0 if is_short else 1] * n
        found, counts = probe.run(generator.choice([0, 2, 50]))
        assert sorted(found) == probe.fitting()
        assert counts == [probe.n_hits(), *[len(probe.fitting())] * 4]


def test_probe_strings__sides_and_other_tokens():
    """A token's postings are read, of the groups looked up, and none of the tokens beside it."""
    for generator, _, probe in random_probes(16, 25):
        probe.sides = [generator.randint(1, 3) for _ in probe.lengths]
        probe.probing = [generator.randint(0, len(row)) for row in probe.grams]
        probe.indexing = [generator.randint(0, len(row)) for row in probe.grams]
        probe.allowed = [99] * len(probe.lengths)
        compared = {(x, y) for x, y in probe.fitting() if probe.probing[x] == 0}
        found, counts = probe.run()
        assert set(found) == probe.with_common_gram() | compared
        n_fitting = sum(
            probe.first_partner[x] <= y < x for x in range(len(probe.lengths)) for y in probe.met(x)
        )
        assert counts == [probe.n_hits(), n_fitting, *[len(found)] * 3]


@pytest.mark.parametrize("two_sided", [False, True])
def test_drop_long_lookups__by_definition(two_sided):
    """More postings of fitting strings, in the groups looked up, than there are such strings."""
    outcomes = Counter()
    for generator, _, probe in random_probes(17, 60):
        n = len(probe.lengths)
        if two_sided:
            probe.sides = [generator.randint(1, 3) for _ in range(n)]
        probe.first_partner = sorted(generator.randint(0, x) for x in range(n))
        probe.probing = [generator.randint(0, len(row)) for row in probe.grams]
        probe.indexing = [generator.randint(0, len(row)) for row in probe.grams]
        expected = []
        for x, prefix in enumerate(probe.probing):
            fitting = [y for pair, y in probe.fitting() if pair == x]
            n_read = sum(probe.first_partner[x] <= y < x for y in probe.met(x))
            is_long = prefix > 0 and n_read > len(fitting)
            expected.append(0 if is_long else prefix)
            # Which of the two counts decides: all postings, or those of fitting strings alone.
            if prefix:
                outcomes[is_long, len(probe.met(x)) > len(fitting)] += 1
            outcomes["as many"] += prefix > 0 and n_read == len(fitting) > 0
        probing = np.array(probe.probing, np.int64)
        given = probe.arrays()
        for name in ("gram_places", "gram_sizes", "posting_places", "posting_rests"):
            del given[name]
        kernels.drop_long_lookups(*given.values(), probing)
        assert probing.tolist() == expected
    assert outcomes.keys() == {(True, True), (False, True), (False, False), "as many"}
    assert min(outcomes.values()) > 0


def test_probe_strings__full_output():
    """However little fits, the same candidates and counts, each string's together."""
    for _, qgram, probe in random_probes(12, 6):
        probe.qgram = qgram
        probe.probing = [
            edits.least_prefix([place for _, place in row], qgram, most)
            for row, most in zip(probe.grams, probe.allowed, strict=True)
        ]
        found, counts = probe.run()
        for room in (0, 1, 2, 3, len(found), len(found) + 1):
            assert probe.run(room) == (found, counts)


def test_probe_strings__full_in_the_middle_of_a_string():
    """What the string before it had found is kept, and it is itself begun anew."""
    grams = [[(0, 0)] for _ in range(4)]
    probe = Probe([1] * 4, [0] * 4, [0] * 4, [(0, 0)] * 4, [], grams, 1, 0, [1] * 4, [1] * 4)
    expected = [(1, 0), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2)]
    for room in range(8):
        assert probe.run(room) == (expected, [16, 6, 6, 6, 6])
    short = replace(probe, probing=[0] * 4)
    for room in range(8):
        assert short.run(room) == (expected, [16, 6, 6, 6, 6])


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


@pytest.mark.parametrize("qgram", QGRAMS)
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
        first = np.searchsorted(lengths, lengths - allowed).astype(np.int64)
        tokens = TokenLists(*ragged([[ord(c) for c in string] for string in strings]))
        groups = group_records(len(strings), None)
        grams, probing, index = edit_join._index_grams(
            tokens, lengths, allowed, first, qgram, groups
        )
        assert first[x] <= y
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


@pytest.mark.parametrize("qgram", [None, *QGRAMS])
@pytest.mark.parametrize("threshold", [0, 1, 2, 3, 4, *SIMILARITIES])
def test_join_strings__as_oracle(qgram, threshold):
    generator = random.Random(f"{qgram} {threshold}")
    for n_sides in (0, 0, 0, 0, 3, 3):
        strings = random_strings(generator, generator.randint(6, 14))
        sides = [generator.randint(0, n_sides) for _ in strings] if n_sides else None
        assert_as_oracle(strings, threshold, sides=sides, qgram=qgram)


@pytest.mark.parametrize("qgram", [None, *QGRAMS])
def test_join_strings__special_strings(qgram):
    """Empty ones, those shorter than a q-gram, repeated tokens, equal ones."""
    strings = ["aaaa", "", "a", "aa", "aaaaaaaa", "b", "", "aaa", "aaaaaaa", "ab", "aaaabaaa", "a"]
    sides = [1, 2, 1, 2, 3, 1, 1, 2, 1, 2, 2, 2]
    for threshold in (0, 1, 2, 5, Fraction("0.5"), Fraction("0.75"), Fraction(1)):
        assert_as_oracle(strings, threshold, qgram=qgram)
        assert_as_oracle(strings, threshold, sides=sides, qgram=qgram)


@pytest.mark.parametrize("strings", [[], [""], ["", ""], ["a"], ["", "a", ""]])
def test_join_strings__nothing(strings):
    # A string that is compared with all meets itself, too.
    n_hits = len([string for string in strings if string])
    assert joined(strings, 3) == ([], edit_join.EditJoinCounts(n_hits, 0, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("similarity", "length", "n_edits"),
    [("0.8", 5, 1), ("0.54", 50, 23), ("0.9", 10, 1), ("0.7", 10, 3), ("0.35", 20, 13)],
)
def test_join_strings__exact_ties(similarity, length, n_edits):
    """Similarities that are the threshold, and that floating point loses or finds in excess."""
    x = "".join(map(chr, range(100, 100 + length)))
    substituted = "!" * n_edits + x[n_edits:]
    shortened = x[n_edits:]
    strings = [x, substituted, shortened]
    t, step = Fraction(similarity), Fraction(1, 10**9)
    expected = [(0, 1, n_edits), (0, 2, n_edits)]
    assert [row for row in joined(strings, t)[0] if row[0] == 0] == expected
    assert [row for row in joined(strings, t + step)[0] if row[0] == 0] == []


def test_join_strings__similarity_of_longer_strings_needs_longer_prefixes():
    """A short string is indexed for partners that may differ from it in more edits than it has."""
    generator = random.Random(13)
    for _ in range(40):
        core = "".join(generator.choices("abcdef", k=generator.randint(6, 14)))
        longer = core
        for _ in range(generator.randint(1, 5)):
            place = generator.randrange(len(longer) + 1)
            longer = longer[:place] + generator.choice("abcdefxyz") + longer[place:]
        # Other strings with these q-grams, so that the prefixes lie differently.
        parts = [string[i : i + 6] for string in (core, longer) for i in range(0, 12, 4)]
        strings = [core, longer, *generator.sample(parts, 4)]
        for qgram, threshold in ((1, Fraction("0.6")), (2, Fraction("0.7"))):
            assert_as_oracle(strings, threshold, qgram=qgram)


@pytest.mark.parametrize("qgram", [1, 2, 5])
@pytest.mark.parametrize("threshold", [1, 3, Fraction("0.6")])
@pytest.mark.parametrize(("piece", "room"), [(1, 1), (3, 1), (5, 2), (4, 64)])
def test_join_strings__small_pieces_and_rooms(monkeypatch, qgram, threshold, piece, room):
    """Where more is found than fits, also of strings too short for q-grams."""
    generator = random.Random(f"{qgram} {threshold}")
    strings = random_strings(generator, 10)
    strings += [generator.choice(strings) for _ in range(4)] + ["ab", "b", "a", "ba", "aab"]
    expected = joined(strings, threshold, qgram=qgram)
    assert expected[0] == edits.join(strings, threshold)
    monkeypatch.setattr(pieces, "_PIECE", piece)
    monkeypatch.setattr(pieces, "_FIRST_ROOM", room)
    assert joined(strings, threshold, qgram=qgram) == expected


def test_join_strings__tokens_of_all_sizes():
    """Tokens are hashes of 64 bits, whatever script they come from."""
    generator = random.Random(14)
    letters = [*dict.fromkeys(random_words(generator, 12)), ord("é"), ord("語"), 0x1F600]
    for threshold in (1, 2, Fraction("0.6")):
        strings = []
        for _ in range(10):
            new = generator.choices(letters, k=generator.randrange(9))
            if strings and generator.random() < 0.7:
                new = [*generator.choice(strings)]
                new[generator.randrange(len(new) + 1) :][:1] = [generator.choice(letters)]
            strings.append(new)
        tokens = TokenLists(*ragged(strings))
        pairs, _ = edit_join.join_strings(tokens, threshold_of(threshold))
        found = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
        assert list(found) == edits.join(strings, threshold)


def test_as_python_strings__beyond_the_surrogates():
    """Different tokens stay different characters, none of them half of another one."""
    n = edit_join._FIRST_SURROGATE + 3
    offsets = np.array([0, 2, n, n], np.int64)
    one, other, empty = edit_join._as_python_strings(
        TokenLists(np.arange(n, dtype=np.uint64), offsets)
    )
    assert (len(one), len(other), empty) == (2, n - 2, "")
    assert len({*one, *other}) == n
    assert (one + other).encode().decode() == one + other


def test_as_python_strings__up_to_the_last_character():
    most = edit_join._MOST_TOKENS
    assert chr(most - 1 + edit_join._N_SURROGATES) == "\U0010ffff"


def test_join_strings__too_many_tokens(monkeypatch):
    monkeypatch.setattr(edit_join, "_MOST_TOKENS", 3)
    assert joined(["abc", "abcc"], 1)[0] == [(0, 1, 1)]
    with pytest.raises(InvalidParameterError, match="3 different tokens at most, got 4"):
        joined(["abc", "abcd"], 1)


def test_join_strings__limit():
    strings = ["abcdef"] * 4
    assert len(joined(strings, 0, limit=6)[0]) == 6
    with pytest.raises(ResultLimitError, match=r"^more than 5 pairs: at least 6 after"):
        joined(strings, 0, limit=5)


def test_join_strings__limit_is_for_results():
    """Candidates that turn out to be too far apart do not count."""
    found, counts = joined(["abcd", "abdc", "badc", "abcd"], 1, qgram=1, limit=1)
    assert (found, counts.results) == ([(0, 3, 0)], 1)
    assert counts.verified > 1


@pytest.mark.parametrize("qgram", [1, 3])
def test_join_strings__only_strings_of_fitting_length(qgram):
    """Each length beside the next one, and beside itself; whether strings are looked up or not."""
    strings = ["a" * length for length in range(1, 9)] * 2
    found, counts = joined(strings, 1, qgram=qgram)
    assert len(found) == counts.verified == counts.after_position == 8 + 7 * 4
    assert joined(strings, 1, sides=[1] * 8 + [2] * 8, qgram=qgram)[1].verified == 8 + 7 * 2


def test_join_strings__progress(monkeypatch):
    monkeypatch.setattr(pieces, "_PIECE", 2)
    seen = []
    joined(["abc", "", "abd", "x", "xyz", "q"], 1, progress=seen.append)
    assert seen == [2, 4, 5]


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
