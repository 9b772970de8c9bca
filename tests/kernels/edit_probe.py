"""What the kernel that looks for strings within a distance takes, made by the definitions."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

import numpy as np

from neardup.kernels.edit import join as kernels
from neardup.kernels.join.postings import PPJOIN_PLUS, Postings
from neardup.kernels.types import sealed
from neardup.matching.postings import group_records
from tests.kernels.edit_strings import QGRAMS, SIMILARITIES, random_strings
from tests.kernels.set_probe import suffix_bound
from tests.oracles import edits, joins
from tests.oracles.shingles import shingle_tuples


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

    def ranked_grams(self):
        """The q-grams as the kernels take them."""
        sizes = [len(row) for row in self.grams]
        return sealed(
            kernels.Grams(
                np.array([token for row in self.grams for token, _ in row], np.int32),
                np.array([place for row in self.grams for _, place in row], np.int32),
                np.cumsum([0, *sizes])[:-1].astype(np.int64),
                np.array(sizes, np.int64),
                np.array(self.probing, np.int64),
                self.n_tokens,
                self.qgram,
            )
        )

    def index(self):
        """The index as the kernels take it, and the rests behind its places."""
        groups, rows = self.groups(), self.postings()
        n_keys = (self.n_tokens + 1) * groups.n_groups
        starts = [sum(row[0] < key for row in rows) for key in range(n_keys + 1)]
        records, places, rests = (np.array([row[i] for row in rows], np.int32) for i in (1, 2, 3))
        return sealed(Postings(np.array(starts, np.int64), records, places)), rests

    def with_common_gram(self, is_fitting=lambda x, y, place, other: True):
        """Fitting pairs that have a q-gram of x's prefix in y's, at places that are fitting."""
        return {
            (x, y)
            for x, y in self.fitting()
            for token, place in self.grams[x][: self.probing[x]]
            for other_token, other in self.grams[y][: self.indexing[y]]
            if token == other_token and is_fitting(x, y, place, other)
        }

    def passes_suffix(self, x, y):
        """Whether what follows the first common q-gram leaves enough of them alike.

        Places all fit. Nothing is asked of strings that are compared with all others, or of which
        edits may touch every q-gram.
        """
        one, other = ([token for token, _ in self.grams[k]] for k in (x, y))
        untouched = len(one) - self.qgram * self.allowed[x]
        if not self.probing[x] or untouched <= 0:
            return True
        i = next(i for i, token in enumerate(one) if token in other)
        j = other.index(one[i])
        most = len(one) + len(other) - 2 * untouched
        return i + j + suffix_bound(one[i:], other[j:], 2) <= most

    def run(self, room=1000, algorithm=PPJOIN_PLUS):
        """Candidates (x, y), with the output full after ``room`` of them, and counts."""
        n = len(self.lengths)
        strings = kernels.Strings(
            np.array(self.lengths, np.int64),
            np.array(self.allowed, np.int64),
            np.array(self.first_partner, np.int64),
            np.array(self.parities, np.uint64).reshape(-1, 2),
        )
        grams, groups, (index, rests) = self.ranked_grams(), self.groups(), self.index()
        last_seen = np.full(n, -1, np.int32)
        counts = np.zeros(kernels.N_COUNTS, np.int64)
        found, start = [], 0
        while start < n:
            left, right = np.full(room, -9, np.int32), np.full(room, -9, np.int32)
            reached, n_pairs = kernels.probe_strings(
                start,
                n,
                algorithm,
                sealed(strings),
                grams,
                groups,
                index,
                rests,
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
