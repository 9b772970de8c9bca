from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from neardup.kernels.edit import join as kernels
from neardup.kernels.join.postings import ALL_PAIRS, PPJOIN
from tests.kernels.edit_probe import Probe, random_probes
from tests.oracles import edits


def test_probe_strings__length_alone():
    """Without q-grams to look up, all strings of fitting length are candidates, by length."""
    for generator, _, probe in random_probes(6):
        probe.probing = [0] * len(probe.lengths)
        # No edits at all touch no q-gram, however long.
        probe.allowed = [99] * len(probe.lengths)
        expected = sorted(probe.fitting())
        n = len(expected)
        counts = [len(probe.lengths) ** 2, n, n, n, n, n]
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
        assert counts == [len(hits), len(fitting), n, n, n, n]


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
        assert counts[2:] == [len(probe.fitting()), *[len(expected)] * 3]
    assert n_pruned > 0


def test_probe_strings__count_alone():
    """As many common q-grams, copies counted, as no edit touches."""
    n_pruned, n_pruned_of_all, n_pruned_by_suffix = 0, 0, 0
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
        halved = [pair for pair in candidates if probe.passes_suffix(*pair)]
        n_pruned_by_suffix += len(candidates) - len(halved)
        assert expected <= {*halved}
        n = len(candidates)
        assert counts[2:] == [n, n, len(halved), len(expected)]
        # Without it, as all that are not PPJoin+.
        for algorithm in (ALL_PAIRS, PPJOIN):
            assert probe.run(algorithm=algorithm)[1][2:] == [n, 0, 0, len(expected)]
    assert n_pruned > n_pruned_of_all > 0
    assert n_pruned_by_suffix > 0


def test_probe_strings__places_not_asked_for():
    """All-Pairs takes a common q-gram wherever it stands."""
    n_apart = 0
    for _, _, probe in random_probes(8, 20):
        probe.allowed = [max(most, 1) for most in probe.allowed]
        found, _ = probe.run(algorithm=ALL_PAIRS)
        assert set(found) == probe.with_common_gram()
        n_apart += len(found) - len(probe.run(algorithm=PPJOIN)[0])
    assert n_apart > 0


@pytest.mark.parametrize("is_short", [False, True])
def test_probe_strings__sides_alone(is_short):
    for generator, _, probe in random_probes(11):
        n = len(probe.lengths)
        probe.sides = [generator.randint(1, 3) for _ in range(n)]
        probe.grams, probe.n_tokens = [[(0, 0)] for _ in range(n)], 1
        probe.indexing, probe.probing = [1] * n, [0 if is_short else 1] * n
        found, counts = probe.run(generator.choice([0, 2, 50]))
        assert sorted(found) == probe.fitting()
        assert counts == [probe.n_hits(), *[len(probe.fitting())] * 5]


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
        assert counts == [probe.n_hits(), n_fitting, *[len(found)] * 4]


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
        grams, (index, _) = probe.ranked_grams(), probe.index()
        first_partner = np.array(probe.first_partner, np.int64)
        kernels.drop_long_lookups(first_partner, grams, probe.groups(), index)
        assert grams.probing.tolist() == expected
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
        assert probe.run(room) == (expected, [16, 6, 6, 6, 6, 6])
    short = replace(probe, probing=[0] * 4)
    for room in range(8):
        assert short.run(room) == (expected, [16, 6, 6, 6, 6, 6])
