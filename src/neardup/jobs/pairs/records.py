"""The stage records: distinct records to join, and their documents.

Documents with the same tokens have one record, and so have contents with equal sets of shingles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from neardup.engine.engine import Engine, Read
from neardup.jobs.pairs.blocked import BlockedJoin, RecordSizes
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.sets import SetScheme, digest_compared
from neardup.matching.buckets import bucket_documents, join_buckets
from neardup.matching.join import LEFT, RIGHT, Compared, PartedJoin, choose_algorithm, cut_runs
from neardup.matching.measures import Hamming, Measure
from neardup.matching.set_join import HammingJoin, SetJoin, SetSizes
from neardup.options.choices import Algorithm
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import ContentTable
from neardup.runs.arrays import AnyArray
from neardup.runs.runner import Runner
from neardup.stages.decide import NumberedContents, find_firsts
from neardup.tables import (
    Bools,
    Buckets,
    Bytes,
    Digests,
    Floats,
    Int64s,
    ScoredPairs,
    ShingleSets,
    TokenLists,
    Uint64s,
    WeightedSets,
)


@dataclass(frozen=True)
class PairContents(NumberedContents):
    """Documents of one collection, or of two with the left ones numbered first."""

    collections: tuple[Catalogue, ...]
    firsts: Int64s
    ranks: None = None

    @property
    def catalogues(self) -> tuple[Catalogue, ...]:
        """The collections."""
        return self.collections

    @property
    def n_left(self) -> int | None:
        """Number of documents in the left collection, None for a self-join."""
        return None if len(self.collections) == 1 else len(self.collections[0])

    @property
    def are_shared(self) -> Bools:
        """Documents of contents that other documents have, too."""
        shared: Bools = self.is_content & (
            np.bincount(self.firsts[self.firsts >= 0], minlength=len(self.firsts)) > 1
        )
        return shared


def find_pair_contents(engine: Engine, read: Read) -> PairContents:
    """Find the first document of each content."""
    return PairContents(read.catalogues, find_firsts(engine, read, None))


def sides_of(records: Int64s, n_left: int | None, n_records: int) -> Bytes | None:
    """Return per record whether the left collection has it, the right one, or both.

    ``records`` has the record of each document, -1 for none, starting with the ``n_left`` documents
    of the left collection; None, and no sides, for a self-join.
    """
    if n_left is None:
        return None
    sides: Bytes = np.zeros(n_records, np.uint8)
    left, right = records[:n_left], records[n_left:]
    sides[left[left >= 0]] |= LEFT
    sides[right[right >= 0]] |= RIGHT
    return sides


# Pairs that are judged at a time.
_AT_ONCE = 1 << 16

# Second half of the digest placeholder of an empty set.
_NO_DIGEST = np.uint64(2**64 - 1)

# Returns the sets of contents at ascending positions.
SetReader = Callable[[Int64s], ShingleSets | WeightedSets]


@dataclass(frozen=True)
class JoinedRecords:
    """Pairs of records, which are distinct sets.

    ``of_contents`` has the record of each content; ``sizes`` are the records' sizes, or total
    weights. ``n_verified`` pairs of records share a bucket and were compared.
    """

    of_contents: Int64s
    sizes: Int64s
    pairs: ScoredPairs
    n_verified: int

    def as_arrays(self) -> dict[str, AnyArray]:
        """Return it as arrays for storage."""
        counts = np.array([self.n_verified])
        return {
            "of_contents": self.of_contents,
            "sizes": self.sizes,
            **vars(self.pairs),
            "counts": counts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> JoinedRecords:
        """Restore it from ``as_arrays``."""
        pairs = ScoredPairs(*(arrays[name] for name in ("left", "right", "scores")))
        return cls(arrays["of_contents"], arrays["sizes"], pairs, int(arrays["counts"][0]))

    def scored_by(self, measure: Measure) -> SetSizes:
        """Return the similarities of records from their sizes alone."""
        return SetSizes(self.sizes, measure)


@dataclass(frozen=True)
class RecordJoin:
    """Join the sets of contents that share a bucket.

    Parameters
    ----------
    keys
        Band keys of the contents, of shape (n, n_bands).
    costs
        Memory of each content in comparisons.
    read_sets
        Returns the sets of some contents.
    find_sides
        Returns the sides of the records, given the record of each content and their number.
    measure
        Measure with the threshold of pairs.
    limit
        Maximum number of pairs.
    """

    keys: Uint64s
    costs: Int64s
    read_sets: SetReader
    find_sides: Callable[[Int64s, int], Bytes | None]
    measure: Measure
    limit: int | None

    def run(self, room: int | None, runner: Runner) -> JoinedRecords:
        """Find all pairs within a memory limit for sets; None for no limit."""
        everything = np.arange(len(self.costs))
        if room is None or int(self.costs.sum()) <= room:
            sets = self.read_sets(everything)
            firsts, of_contents = find_equal(digest_compared(sets), sets.sizes)
            sets = sets.take(firsts)
            buckets, sides = self._meet(firsts, of_contents, runner)
            pairs, counts = join_buckets(
                buckets,
                sets,
                self.measure,
                sides=sides,
                limit=self.limit,
                runner=runner,
                report=_report_nothing,
            )
            return JoinedRecords(of_contents, _sizes_of(sets), pairs, counts.verified)
        return self._run_in_blocks(room // 2, runner)

    def _run_in_blocks(self, room: int, runner: Runner) -> JoinedRecords:
        """Join each block with itself, and with each block before it."""
        digests, sizes = [], []
        for start, stop in cut_runs(self.costs, room):
            sets = self.read_sets(np.arange(start, stop))
            digests.append(digest_compared(sets))
            sizes.append(_sizes_of(sets))
        own_sizes = np.concatenate(sizes)
        firsts, of_contents = find_equal(np.concatenate(digests), own_sizes)
        buckets, sides = self._meet(firsts, of_contents, runner)
        found: list[ScoredPairs] = []

        def join(records: Int64s) -> tuple[ScoredPairs, int]:
            pairs, counts = join_buckets(
                Buckets(buckets.numbers.take(records, axis=1), buckets.sizes),
                self.read_sets(firsts[records]),
                self.measure,
                sides=None if sides is None else sides[records],
                limit=self.limit,
                runner=runner,
                report=_report_nothing,
            )
            return (
                ScoredPairs(records[pairs.left], records[pairs.right], pairs.scores),
                counts.verified,
            )

        n_verified, within = 0, []
        blocks = [np.arange(*run) for run in cut_runs(self.costs[firsts], room)]
        for block, own in enumerate(blocks):
            pairs, n_own = join(own)
            found.append(pairs)
            within.append(n_own)
            n_verified += n_own
            for earlier, n_earlier in zip(blocks[:block], within[:block], strict=True):
                pairs, n_both = join(np.concatenate([earlier, own]))
                # Pairs within either block were found before, which is the smaller part.
                found.append(pairs.take((pairs.left < own[0]) != (pairs.right < own[0])))
                n_verified += n_both - n_own - n_earlier
        joined = ScoredPairs.joined(found)
        joined = joined.take(joined.ascending())
        return JoinedRecords(of_contents, own_sizes[firsts], joined, n_verified)

    def _meet(
        self, firsts: Int64s, of_contents: Int64s, runner: Runner
    ) -> tuple[Buckets, Bytes | None]:
        n_bands = self.keys.shape[1]
        buckets = bucket_documents(
            lambda band: self.keys[firsts, band], n_bands, len(firsts), runner
        )
        return buckets, self.find_sides(of_contents, len(firsts))


def _report_nothing(_: int) -> None:
    """Report no progress: partitions are counted."""


def _sizes_of(sets: ShingleSets | WeightedSets) -> Int64s:
    return sets.sizes if isinstance(sets, ShingleSets) else sets.totals


def find_equal(digests: Uint64s, sizes: Int64s) -> tuple[Int64s, Int64s]:
    """Find the first of equal sets, and the index of each set's first among those.

    An empty set equals no other.
    """
    empty = np.flatnonzero(sizes == 0)
    digests[empty, 0], digests[empty, 1] = empty, _NO_DIGEST
    table = ContentTable()
    numbered = table.number(Digests(digests, np.ones(len(digests), np.bool_)))
    return np.flatnonzero(numbered.is_first), numbered.numbers


@dataclass(frozen=True)
class Records:
    """Joined records, and the record of each document, -1 for none.

    With two collections, the ``n_left`` documents of the left one come first; None for a self-join.
    ``algorithm`` is the algorithm of the join, if there are several.
    """

    join: BlockedJoin
    of_documents: Int64s
    n_left: int | None
    algorithm: Algorithm | None

    def __len__(self) -> int:
        return len(self.join.own_scores)

    def sides(self) -> Bytes | None:
        """Return per record whether the left collection has it, the right one, or both."""
        return sides_of(self.of_documents, self.n_left, len(self))

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return the similarity of each pair of documents, with little extra memory."""
        similarities: Floats = np.empty(len(pairs), np.float64)
        for start in range(0, len(pairs), _AT_ONCE):
            own = slice(start, start + _AT_ONCE)
            left, right = (self.of_documents[side[own]] for side in (pairs.left, pairs.right))
            similarities[own] = self.join.similarities(ScoredPairs(left, right, pairs.scores[own]))
        return similarities


def scheme_of(plan: PairPlan) -> SetScheme:
    """Return the scheme that turns documents' tokens into compared sets."""
    # Weighing may wait for the document frequencies.
    return SetScheme(None) if plan.edit else SetScheme(plan.reading.shingles, plan.reading.weighted)


def make_records(engine: Engine, read: Read, plan: PairPlan) -> Records:
    """Make the records of all documents, as sets or as strings."""
    scheme = scheme_of(plan)
    contents = find_pair_contents(engine, read)
    documents = np.flatnonzero(contents.is_content)
    of_documents = contents.places_of(documents)[contents.firsts]
    of_documents[contents.firsts < 0] = -1
    keys = read.known.blocking_keys()
    found = scheme.sizes(read.known, len(of_documents))
    sizes = found.sizes[documents]
    extents = sizes if found.extents is found.sizes else found.extents[documents]
    whole, algorithm = _join_of(scheme.only_sizes(sizes, extents), plan)
    own_keys = None if keys is None else keys[documents]
    known = RecordSizes(documents, sizes, extents, own_keys, found.n_distinct)
    join = BlockedJoin.of(engine, read, scheme, whole, known)
    return Records(join, of_documents, contents.n_left, algorithm)


def _join_of(sets: Compared, plan: PairPlan) -> tuple[PartedJoin, Algorithm | None]:
    """Return the requested join, and its algorithm, if there are several."""
    if isinstance(sets, TokenLists):
        from neardup.matching.edit_join import EditJoin

        assert plan.edit is not None
        of_strings = plan.algorithm_of_strings
        return EditJoin(sets, plan.edit, plan.options.ngram, of_strings), of_strings
    if isinstance(sets, WeightedSets):
        # Few jobs need its kernels.
        from neardup.matching.weighted_join import WeightedJoin

        return WeightedJoin(sets, plan.measure_of_sets), None
    algorithm = plan.algorithm
    # For the most similar pairs, thresholds fall, and each step chooses anew.
    if algorithm == "auto" and plan.options.top is None:
        algorithm = choose_algorithm(sets.sizes[sets.sizes > 0], plan.measure_of_sets)
    if isinstance(plan.measure, Hamming):
        return HammingJoin(sets, plan.measure, algorithm), algorithm
    return SetJoin(sets, plan.measure_of_sets, algorithm), algorithm
