"""What the kernel that joins sets takes, made by the definitions, and random sets for it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import accumulate, count, product
from operator import xor

import numpy as np

from neardup.kernels.join import set_join
from neardup.kernels.join.overlap import Matches
from neardup.kernels.join.postings import Postings
from neardup.kernels.join.set_join import ParityRows
from neardup.kernels.types import sealed
from neardup.matching.join import ALGORITHMS
from neardup.matching.measures import MEASURES
from neardup.matching.postings import group_records
from tests.oracles import joins
from tests.oracles.measures import reaches

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
    parities: list[list[int]]
    is_folded: bool = False

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
            [[] for _ in records],
        )

    def with_prefixes(self):
        """Give the same with the ranges and the prefixes of a join."""
        sizes = np.array(self.sizes, np.int64)
        least, *prefixes = prefixes_of(sizes, self.measure, self.threshold)
        ranges = MEASURES[self.measure](self.threshold).partner_ranges(sizes, least)
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

    def most_different(self, x, y):
        """How many tokens may be in one of two records only."""
        return len(self.records[x]) + len(self.records[y]) - 2 * self.required(x, y)

    def passes_parities(self, x, y):
        """Whether no more bits differ than tokens may; of no words whether any may."""
        words = zip(self.parities[x], self.parities[y], strict=True)
        return sum((one ^ other).bit_count() for one, other in words) <= self.most_different(x, y)

    def passes_first_position(self, x, y):
        """Whether enough tokens are left where a pair has its first common one."""
        return self.bound_by_position(x, y, 0, *self.meetings(x, y)[0]) >= self.required(x, y)

    def passes_suffix(self, x, y):
        """Whether what follows the first common token leaves enough of the records alike."""
        i, j = self.meetings(x, y)[0]
        one, other = self.records[x], self.records[y]
        bound = suffix_bound(one[i + 1 :], other[j + 1 :], 2)
        return i + j + bound <= self.most_different(x, y)

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
        records = set_join.Records(
            np.array([-9, *tokens], np.int32),
            np.array(starts, np.int64),
            np.array(self.sizes, np.int64),
            np.array(lengths, np.int64),
            np.array(self.probing, np.int64),
            np.array(self.indexing, np.int64),
            np.array(self.first_partner, np.int64),
            np.array(self.last_partner, np.int64),
        )
        index = Postings(
            np.array([sum(row[0] < k for row in rows) for k in range(n_keys + 1)], np.int64),
            np.array([row[1] for row in rows], np.int32),
            np.array([row[2] for row in rows], np.int32),
        )
        packed = [size << 32 | length for size, length in zip(self.sizes, lengths, strict=True)]
        words = [[first, *row] for first, row in zip(packed, self.parities, strict=True)]
        parities = ParityRows(
            np.array([[*row, 0][:2] for row in words], np.uint64).reshape(-1),
            np.array([word for row in words for word in row[2:]], np.uint64),
            len(words[0]) - 1 if words else 0,
            np.empty(0, np.uint64),
        )
        if self.is_folded:
            folded = [reduce(xor, self.parities[r], 0) for r in index.records.tolist()]
            parities = parities._replace(of_postings=np.array(folded, np.uint64))
        shared, touched = np.zeros(n, np.int32), np.full(n, -9, np.int32)
        counts = np.zeros(set_join.N_COUNTS, np.int64)
        found, start = [], 0
        while start < n:
            columns = [np.full(room, -9, np.int32) for _ in range(3)]
            reached, n_pairs = set_join.probe_records(
                start,
                n,
                ALGORITHMS[algorithm],
                MEASURES[self.measure](self.threshold).in_kernels,
                sealed(records),
                groups,
                sealed(index),
                sealed(parities),
                shared,
                touched,
                Matches(*columns),
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
    median = y[len(y) // 2]
    cut, y_cut = sum(token < median for token in x), y.index(median)
    found = median in x
    return (
        suffix_bound(x[:cut], y[:y_cut], n_levels - 1)
        + suffix_bound(x[cut + found :], y[y_cut + 1 :], n_levels - 1)
        + (not found)
    )


def prefixes_of(sizes, measure, threshold):
    return MEASURES[measure](threshold).size_bounds(np.array(sizes, np.int64))


def random_probes(measure, n=12):
    """Probes at random thresholds without any filter, and a generator for what to change."""
    generator = random.Random(f"probes {measure}")
    for _ in range(n):
        threshold = Fraction(threshold_of(generator, measure))
        yield (
            generator,
            Probe.of(random_sets(generator, generator.randint(2, 9)), measure, threshold),
        )
