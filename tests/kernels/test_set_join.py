from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import accumulate, count, product

import numpy as np
import pytest

from neardup.kernels import set_join
from neardup.matching.measures import Measure, make_join_measure
from neardup.matching.postings import group_records
from neardup.matching.set_join import ALGORITHMS, JoinCounts, _partner_ranges, join_sets
from tests.arrays import make_sets
from tests.oracles import joins
from tests.oracles.measures import JOIN_MEASURES, reaches

THRESHOLDS = ("0.2", "0.5", "0.54", "0.6", "0.75", "0.8", "0.9", "1")


def random_sets(generator: random.Random, n: int) -> list[set[int]]:
    """Sets of which many are edited copies of others, some are equal and some empty."""
    universe = generator.choice([6, 15, 40])
    sets: list[set[int]] = []
    for _ in range(n):
        if sets and generator.random() < 0.6:
            new = set(generator.choice(sets))
            for _ in range(generator.randrange(4)):
                new ^= {generator.randrange(universe)}
        else:
            new = {generator.randrange(universe) for _ in range(generator.randrange(15))}
        sets.append(new)
    return sets


def threshold_of(generator: random.Random, measure: str) -> str:
    return str(generator.randint(1, 5)) if measure == "overlap" else generator.choice(THRESHOLDS)


def joined(sets, measure, threshold, **options):
    pairs, counts = join_sets(make_sets(sets), make_join_measure(measure, threshold), **options)
    rows = zip(pairs.left.tolist(), pairs.right.tolist(), pairs.scores.tolist(), strict=True)
    return list(rows), counts


def least_overlap(measure, x, y, threshold):
    """Fewest common elements of sets of these sizes at the threshold; they may not have so many."""
    return next(o for o in count(1) if reaches(measure, o, x, y, threshold))


@dataclass
class Probe:
    """What ``probe_records`` takes, made by the definitions: records, the smaller ones first.

    ``records`` are what each has in common with any other, ``sizes`` those of whole ones. With
    ranges of all records and prefixes of whole ones the filters let everything through; so each
    can be looked at alone.
    """

    records: list[list[int]]
    sizes: list[int]
    measure: str
    threshold: Fraction
    first_partner: list[int]
    last_partner: list[int]
    probing: list[int]
    indexing: list[int]
    sides: list[int]

    @classmethod
    def of(cls, sets, measure, threshold):
        whole = sorted(filter(None, sets), key=len)
        numbers, n = range(len(whole)), len(whole)
        frequencies = Counter(token for elements in whole for token in elements)
        records = [sorted(t for t in elements if frequencies[t] > 1) for elements in whole]
        return cls(
            records,
            [len(elements) for elements in whole],
            measure,
            threshold,
            [x + 1 if measure == "max-containment" else 0 for x in numbers],
            [n if "containment" in measure else x for x in numbers],
            [len(record) for record in records],
            [len(record) for record in records],
            [],
        )

    def with_prefixes(self):
        """Give the same with the ranges and the prefixes of a join."""
        sizes = np.array(self.sizes, np.int64)
        least, *prefixes = prefixes_of(sizes, self.measure, self.threshold)
        ranges = _partner_ranges(sizes, least, Measure(self.measure, self.threshold))
        # Tokens that no other record has come first in them.
        n_alone = sizes - [len(record) for record in self.records]
        prefixes = (np.maximum(prefix - n_alone, 0) for prefix in prefixes)
        columns = (column.tolist() for column in (*ranges, *prefixes))
        names = ("first_partner", "last_partner", "probing", "indexing")
        return replace(self, **dict(zip(names, columns, strict=True)))

    def partners(self, x):
        return [
            y
            for y in range(self.first_partner[x], self.last_partner[x])
            if y != x and self.may_pair(x, y)
        ]

    def may_pair(self, x, y):
        is_directed = self.measure == "containment"
        return not self.sides or joins.may_pair(
            self.sides[x], self.sides[y], is_directed=is_directed
        )

    def n_hits(self):
        """Count what probing prefixes meet in the other collection, of any size, or themselves."""
        pairs = product(range(len(self.records)), repeat=2)
        return sum(len(self.meetings(x, y)) for x, y in pairs if self.may_pair(x, y))

    def pairs(self):
        return [(x, y) for x in range(len(self.records)) for y in self.partners(x)]

    def meetings(self, x, y):
        """Places of the common tokens of x's probing prefix and y's indexing prefix."""
        return [
            (i, j)
            for i, token in enumerate(self.records[x][: self.probing[x]])
            for j, other in enumerate(self.records[y][: self.indexing[y]])
            if token == other
        ]

    def required(self, x, y):
        return least_overlap(self.measure, self.sizes[x], self.sizes[y], self.threshold)

    def bound_by_position(self, x, y, n_before, i, j):
        """Bound the overlap from above at common tokens in these places, with some before them."""
        return n_before + 1 + min(len(self.records[x]) - i - 1, len(self.records[y]) - j - 1)

    def passes_position(self, x, y):
        """Of the common tokens of a pair those in front of the first that shows it hopeless."""
        found = self.meetings(x, y)
        for n_before, (i, j) in enumerate(found):
            if self.bound_by_position(x, y, n_before, i, j) < self.required(x, y):
                return found[:n_before]
        return found

    def passes_suffix(self, x, y):
        """Whether what follows the first common token leaves enough of the records alike."""
        i, j = self.meetings(x, y)[0]
        one, other = self.records[x], self.records[y]
        most = len(one) + len(other) - 2 * self.required(x, y)
        return i + j + suffix_bound(one[i + 1 :], other[j + 1 :], 2) <= most

    def results(self, pairs=None):
        """Those of the pairs, or of all, that are at the threshold: (x, y, overlap)."""
        rows = (
            (x, y, len({*self.records[x]} & {*self.records[y]}))
            for x, y in (self.pairs() if pairs is None else pairs)
        )
        return sorted(row for row in rows if row[2] >= self.required(*row[:2]))

    def run(self, algorithm, room=1000):
        """Results, with the output full after ``room`` of them, and counts."""
        n = len(self.records)
        lengths = [len(record) for record in self.records]
        groups = group_records(
            n,
            np.array(self.sides, np.uint8) if self.sides else None,
            is_directed=self.measure == "containment",
        )
        own = groups.of_records.tolist()
        rows = sorted(
            (token * groups.n_groups + own[k], k, j)
            for k, record in enumerate(self.records)
            for j, token in enumerate(record[: self.indexing[k]])
        )
        tokens = [token for record in self.records for token in record]
        n_keys = (max(tokens, default=-1) + 1) * groups.n_groups
        # A token in front that no record has.
        starts = [*accumulate(lengths, initial=1)][:-1]
        threshold = self.threshold
        shared, touched = np.zeros(n, np.int32), np.full(n, -9, np.int32)
        counts = np.zeros(set_join.N_COUNTS, np.int64)
        found, start = [], 0
        while start < n:
            columns = [np.full(room, -9, np.int32) for _ in range(3)]
            reached, n_pairs = set_join.probe_records(
                start,
                n,
                ALGORITHMS[algorithm],
                Measure(self.measure, threshold).code,
                threshold.numerator,
                threshold.denominator,
                np.array([-9, *tokens], np.int32),
                np.array(starts, np.int64),
                np.array(self.sizes, np.int64),
                np.array(lengths, np.int64),
                np.array(self.probing, np.int64),
                np.array(self.indexing, np.int64),
                np.array(self.first_partner, np.int64),
                np.array(self.last_partner, np.int64),
                groups.n_groups,
                groups.first,
                groups.last,
                np.array([sum(row[0] < k for row in rows) for k in range(n_keys + 1)], np.int64),
                np.array([row[1] for row in rows], np.int32),
                np.array([row[2] for row in rows], np.int32),
                shared,
                touched,
                *columns,
                counts,
            )
            assert start <= reached <= n
            assert not shared.any()
            y, x, overlaps = (column[:n_pairs].tolist() for column in columns)
            assert all((column[n_pairs:] == -9).all() for column in columns)
            found += zip(x, y, overlaps, strict=True)
            room = room * 2 + 1 if reached == start else room
            start = reached
        return sorted(found), counts.tolist()[: set_join.RESULTS]


def suffix_bound(x, y, n_levels):
    """Least difference of two sorted runs: as often halved by the median of y, by sizes alone."""
    if not (x and y and n_levels):
        return abs(len(x) - len(y))
    half = len(y) // 2
    return (
        suffix_bound([t for t in x if t < y[half]], y[:half], n_levels - 1)
        + suffix_bound([t for t in x if t > y[half]], y[half + 1 :], n_levels - 1)
        + (y[half] not in x)
    )


def prefixes_of(sizes, measure, threshold):
    code, p, q = Measure(measure, threshold).code, threshold.numerator, threshold.denominator
    least, probing, indexing = (np.full(len(sizes), -9, np.int64) for _ in range(3))
    set_join.prefix_lengths(np.array(sizes, np.int64), code, p, q, least, probing, indexing)
    return least, probing, indexing


def random_probes(measure, n=12):
    """Probes at random thresholds without any filter, and a generator for what to change."""
    generator = random.Random(f"probes {measure}")
    for _ in range(n):
        threshold = Fraction(threshold_of(generator, measure))
        yield (
            generator,
            Probe.of(random_sets(generator, generator.randint(2, 9)), measure, threshold),
        )


def is_partner(measure, x, y):
    """Whether a record of size x looks for one of size y, as far as it is not too small."""
    if measure == "containment":
        return True
    return y >= x if measure == "max-containment" else y <= x


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("measure", JOIN_MEASURES)
@pytest.mark.parametrize("two_sided", [False, True])
def test_join_sets__as_oracle(measure, algorithm, two_sided):
    generator = random.Random(f"{measure} {two_sided}")
    for _ in range(12):
        sets = random_sets(generator, generator.randint(1, 12))
        sides = [generator.randrange(4) for _ in sets] if two_sided else None
        threshold = threshold_of(generator, measure)
        found, counts = joined(
            sets,
            measure,
            threshold,
            algorithm=algorithm,
            sides=None if sides is None else np.array(sides, np.uint8),
        )
        assert found == joins.join(sets, measure, Fraction(threshold), sides)
        assert counts.results == len(found) <= counts.verified


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_join_sets__exact_tie_that_floating_point_loses(algorithm):
    """0.54 * 450 is 243.00000000000003 in floating point."""
    sets = [set(range(450)), set(range(243))]
    assert joined(sets, "jaccard", "0.54", algorithm=algorithm)[0] == [(0, 1, 243)]
    assert joined(sets, "jaccard", "0.540000001", algorithm=algorithm)[0] == []


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_prefix_lengths__by_definition(measure):
    """Every pair that can reach the threshold shares a token of both prefixes."""
    for threshold in ("2", "5") if measure == "overlap" else THRESHOLDS:
        t = make_join_measure(measure, threshold).threshold
        code = make_join_measure(measure, threshold).code
        sizes = np.arange(1, 25, dtype=np.int64)
        least, probing, indexing = (np.empty(24, np.int64) for _ in range(3))
        set_join.prefix_lengths(sizes, code, t.numerator, t.denominator, least, probing, indexing)
        for x in range(1, 25):
            partners = range(1, 25) if "containment" in measure else range(1, x + 1)
            for y in partners:
                if measure == "max-containment" and y < x:
                    continue
                overlaps = [o for o in range(1, min(x, y) + 1) if reaches(measure, o, x, y, t)]
                if not overlaps:
                    continue
                # o common tokens leave at most x - o others, so one is among the first x - o + 1.
                assert y >= least[x - 1] or measure == "max-containment"
                assert probing[x - 1] >= x - min(overlaps) + 1
                assert indexing[y - 1] >= y - min(overlaps) + 1


def test_suffix_distance__never_too_high():
    """Where two runs differ in no more than the limit, the bound is no more than they do."""
    generator = random.Random(5)
    for _ in range(1500):
        x = sorted(generator.sample(range(25), generator.randrange(13)))
        y = sorted(generator.sample(range(25), generator.randrange(13)))
        limit = generator.randrange(15)
        limit += (limit - abs(len(x) - len(y))) % 2
        tokens = np.array([9, *x, 9, *y, 9], np.int32)
        start = len(x) + 2
        bound = set_join.suffix_distance(
            tokens, 1, len(x) + 1, start, start + len(y), np.int64(limit)
        )
        true = joins.difference(x, y)
        assert true > limit or bound <= true


def test_suffix_distance__prunes():
    tokens = np.array([1, 2, 3, 4, 11, 12, 13, 14], np.int32)
    assert set_join.suffix_distance(tokens, 0, 4, 4, 8, np.int64(4)) > 4


def test_suffix_distance__by_definition():
    """The bound of two levels where it is within the limit, whatever is left out beyond."""
    generator = random.Random(6)
    n_beyond = 0
    for _ in range(1500):
        universe = generator.choice([8, 25])
        x, y = (
            sorted(generator.sample(range(universe), generator.randrange(min(universe, 14))))
            for _ in range(2)
        )
        limit = generator.randrange(15)
        tokens = np.array([9, *x, 9, *y, 9], np.int32)
        start = len(x) + 2
        found = set_join.suffix_distance(
            tokens, 1, len(x) + 1, start, start + len(y), np.int64(limit)
        )
        bound = suffix_bound(x, y, 2)
        assert bound <= joins.difference(x, y)
        assert found == bound if bound <= limit else found > limit
        n_beyond += bound > limit >= abs(len(x) - len(y))
    assert n_beyond > 0


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_prefix_lengths__no_longer_than_needed(measure):
    """Some pair at the threshold meets in the last tokens of its prefixes only."""
    sizes = range(1, 25)
    for threshold in ("1", "2", "5") if measure == "overlap" else THRESHOLDS:
        t = Fraction(threshold)
        least, probing, indexing = prefixes_of(sizes, measure, t)
        for n in sizes:
            of_partners, of_lookers = (
                [
                    (other, n - least_overlap(measure, *pair, t) + 1)
                    for other, pair in pairs
                    if is_partner(measure, *pair) and least_overlap(measure, *pair, t) <= min(pair)
                ]
                for pairs in ([(m, (n, m)) for m in sizes], [(m, (m, n)) for m in sizes])
            )
            assert probing[n - 1] == max((tokens for _, tokens in of_partners), default=0)
            assert indexing[n - 1] == max((tokens for _, tokens in of_lookers), default=0)
            if measure != "max-containment":
                assert least[n - 1] == min((m for m, _ in of_partners), default=n + 1)


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_prefix_lengths__prefixes_of_true_pairs_meet(measure):
    """However tokens are ordered: common ones first, last, or anywhere between the others."""
    generator = random.Random(f"meet {measure}")
    for threshold in ("1", "2", "5") if measure == "overlap" else THRESHOLDS:
        t = Fraction(threshold)
        for _ in range(60):
            x, y = generator.randint(1, 12), generator.randint(1, 12)
            overlap = least_overlap(measure, x, y, t)
            if overlap > min(x, y) or not is_partner(measure, x, y):
                continue
            last = generator.random() < 0.5
            common = generator.sample(range(30, 60), overlap) if last else range(overlap)
            others = generator.sample(
                [t for t in range(60) if t not in common], x + y - 2 * overlap
            )
            if last:
                others = range(len(others))
            one = sorted([*common, *others[: x - overlap]])
            other = sorted([*common, *others[x - overlap :]])
            sizes = sorted({x, y})
            _, probing, indexing = prefixes_of(sizes, measure, t)
            probed = one[: probing[sizes.index(x)]]
            assert {*probed} & {*other[: indexing[sizes.index(y)]]}


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_partner_ranges__by_definition(measure):
    """All that come first and are large enough to reach the threshold, and no other."""
    generator = random.Random(f"ranges {measure}")
    for _ in range(30):
        t = Fraction(threshold_of(generator, measure))
        sizes = sorted(generator.randint(1, 14) for _ in range(generator.randrange(1, 12)))
        least, _, _ = prefixes_of(sizes, measure, t)
        first, last = _partner_ranges(np.array(sizes, np.int64), least, Measure(measure, t))
        for x, size in enumerate(sizes):
            expected = [
                y
                for y, other in enumerate(sizes)
                if y > x or measure != "max-containment"
                if y < x or "containment" in measure
                if least_overlap(measure, size, other, t) <= min(size, other)
            ]
            found = range(first[x], last[x])
            # A contained record is among those large enough, and passed over when probed.
            assert list(found) == expected


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_probe_records__range_alone(measure, algorithm):
    n_pruned = 0
    for generator, probe in random_probes(measure):
        without = len(probe.results())
        for x in range(len(probe.records)):
            bounds = sorted(generator.choices(range(len(probe.records) + 1), k=2))
            probe.first_partner[x], probe.last_partner[x] = bounds
        found, counts = probe.run(algorithm)
        assert found == probe.results()
        n_pruned += without > len(found)
        everywhere = replace(
            probe,
            first_partner=[0] * len(probe.records),
            last_partner=[len(probe.records)] * len(probe.records),
        )
        n_hits = sum(len(everywhere.meetings(x, y)) for x, y in everywhere.pairs())
        own = sum(map(len, probe.records))
        assert counts[set_join.HITS] == n_hits + own
        n_fitting = sum(len(probe.meetings(x, y)) for x, y in probe.pairs())
        assert counts[set_join.AFTER_SIZE] == n_fitting
    assert n_pruned > 0


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_probe_records__prefixes_alone(measure):
    """What meets in any prefixes is found, and counted once to the end, wherever they end."""
    n_pruned, ends = 0, set()
    for generator, probe in random_probes(measure, 20):
        probe.probing = [generator.randint(0, len(record)) for record in probe.records]
        probe.indexing = [generator.randint(0, len(record)) for record in probe.records]
        met = [(x, y) for x, y in probe.pairs() if probe.meetings(x, y)]
        n_pruned += len(probe.results()) - len(probe.results(met))
        found, counts = probe.run("allpairs")
        assert found == probe.results(met)
        assert counts[set_join.AFTER_SIZE :] == [
            sum(len(probe.meetings(x, y)) for x, y in met),
            0,
            0,
            len(met),
        ]
        for x, y, overlap in found:
            one, other = probe.records[x][: probe.probing[x]], probe.records[y][: probe.indexing[y]]
            # Which prefix ends first, and whether there is anything to count behind it.
            ends.add((one[-1] < other[-1], overlap > len(probe.meetings(x, y))))
    assert n_pruned > 0
    assert {(True, True), (False, True)} <= ends


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_probe_records__prefixes_of_a_join(measure):
    """Pairs meet in the prefixes and ranges that are worked out for them."""
    for _, probe in random_probes(measure, 20):
        reduced = probe.with_prefixes()
        assert reduced.run("allpairs")[0] == probe.results()


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_probe_records__position_alone(measure):
    """Out go those of which too little is left at some common token, and those alone."""
    n_pruned = 0
    for generator, probe in random_probes(measure, 20):
        if generator.random() < 0.5:
            probe = replace(
                probe, indexing=[generator.randint(0, len(record)) for record in probe.records]
            )
        met = [(x, y) for x, y in probe.pairs() if probe.meetings(x, y)]
        kept = [pair for pair in met if probe.passes_position(*pair) == probe.meetings(*pair)]
        n_pruned += len(met) - len(kept)
        assert probe.results(met) == probe.results(kept)
        found, counts = probe.run("ppjoin")
        assert found == probe.results(kept)
        n_passed = sum(len(probe.passes_position(*pair)) for pair in met)
        assert counts[set_join.AFTER_POSITION :] == [n_passed, n_passed, len(kept)]
    assert n_pruned > 0


@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_probe_records__suffix_alone(measure):
    """Looked at once, at the first common token, unless position has told already."""
    n_pruned = 0
    for _, probe in random_probes(measure, 25):
        met = [pair for pair in probe.pairs() if probe.meetings(*pair)]
        positioned = [pair for pair in met if probe.passes_position(*pair)]
        passing = [pair for pair in positioned if probe.passes_suffix(*pair)]
        n_pruned += len(positioned) - len(passing)
        assert probe.results(met) == probe.results(passing)
        found, counts = probe.run("ppjoin+")
        assert found == probe.results(passing)
        kept = [p for p in passing if probe.passes_position(*p) == probe.meetings(*p)]
        n_passed = sum(len(probe.passes_position(*pair)) for pair in passing)
        assert counts[set_join.AFTER_POSITION :] == [
            # Those that the suffix tells are not looked at again.
            n_passed + len(positioned) - len(passing),
            n_passed,
            len(kept),
        ]
    assert n_pruned > 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_probe_records__sides_alone(measure, algorithm):
    """Whoever probes: of a containment what lies in the other is of the left collection."""
    for generator, probe in random_probes(measure):
        n_fitting = len(probe.pairs())
        probe.sides = [generator.randint(1, 3) for _ in probe.records]
        found, counts = probe.run(algorithm)
        assert found == probe.results()
        n_met = sum(len(probe.meetings(x, y)) for x, y in probe.pairs())
        assert counts[set_join.HITS] == probe.n_hits()
        assert counts[set_join.AFTER_SIZE] == n_met
        assert len(probe.pairs()) <= n_fitting
        # Nor are postings of other groups read where the range of partners leaves some out.
        for x in range(len(probe.records)):
            bounds = sorted(generator.choices(range(len(probe.records) + 1), k=2))
            probe.first_partner[x], probe.last_partner[x] = bounds
        found, counts = probe.run(algorithm)
        assert found == probe.results()
        assert counts[set_join.HITS] == probe.n_hits()
        assert counts[set_join.AFTER_SIZE] == sum(len(probe.meetings(*p)) for p in probe.pairs())


@pytest.mark.parametrize("side", [1, 2])
@pytest.mark.parametrize("measure", JOIN_MEASURES)
def test_probe_records__one_side_only(measure, side):
    for _, probe in random_probes(measure, 3):
        probe.sides = [side] * len(probe.records)
        assert probe.run("ppjoin") == ([], [0] * set_join.RESULTS)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("measure", ["jaccard", "containment", "max-containment"])
def test_probe_records__full_output(measure, algorithm):
    """However little fits, the same results and counts, each record's together."""
    for _, probe in random_probes(measure, 5):
        found, counts = probe.run(algorithm)
        for room in (0, 1, 2, 3, len(found), len(found) + 1):
            assert probe.run(algorithm, room) == (found, counts)


def test_probe_records__full_before_a_record():
    """What the records before it had found is kept, and it is itself begun anew."""
    probe = Probe.of([{0, 1}] * 4, "jaccard", Fraction(1))
    expected = [(1, 0, 2), (2, 0, 2), (2, 1, 2), (3, 0, 2), (3, 1, 2), (3, 2, 2)]
    for room in range(8):
        assert probe.run("ppjoin", room) == (expected, [32, 12, 12, 12, 6])


@pytest.mark.parametrize("algorithm", ["ppjoin", "ppjoin+"])
def test_join_sets__prefixes_start_with_what_no_other_set_has(algorithm):
    """They come first of all and cannot be met under, so that less or nothing is left to look."""
    alike = [{1, 10, 11, 12}, {2, 10, 11, 12}]
    # Two of four tokens each, of which the second is met: by both, and by one with the other.
    assert joined(alike, "jaccard", "0.5", algorithm=algorithm) == (
        [(0, 1, 3)],
        JoinCounts(4, 1, 1, 1, 1, 1),
    )
    unlike = [{1, 2, 3, 4, 10, 11, 12}, {5, 6, 7, 8, 10, 11, 12}]
    nothing = JoinCounts(0, 0, 0, 0, 0, 0)
    assert joined(unlike, "jaccard", "0.75", algorithm=algorithm) == ([], nothing)
