"""The stage records: distinct records to join, and their documents.

Documents with the same tokens have one record, and so have contents with equal sets of shingles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from neardup.engine.engine import DocumentPartition, Engine, Exchanged, Partitions, Read
from neardup.jobs.pairs.blocked import BlockedJoin, RecordSizes, SetScheme, digest_compared
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.rows import Collected, FoundPart, collect_runs
from neardup.jobs.pairs.spelling import Speller
from neardup.matching.buckets import bucket_documents, join_buckets
from neardup.matching.join import (
    LEFT,
    RIGHT,
    Compared,
    Join,
    cut_runs,
    salt_sets,
)
from neardup.matching.measures import Hamming, Measure
from neardup.matching.set_join import HammingJoin, SetJoin, SetSizes
from neardup.reading.passes import ContentTable
from neardup.runs.arrays import AnyArray
from neardup.runs.runner import Runner
from neardup.stages.decide import (
    NumberedContents,
    bytes_of,
    candidates_in,
    exchange_candidates,
    find_components,
    find_firsts,
    pack_components,
)
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
    """Documents of one collection, or two, the left one first."""

    @property
    def n_left(self) -> int | None:
        """Number of left documents, None for a self-join."""
        return None if len(self.catalogues) == 1 else len(self.catalogues[0])

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
    """Return the sides of each record: left, right or both.

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

    ``keys`` are the band keys of the contents, of shape (n, n_bands), and ``costs`` the memory of
    each in comparisons. ``find_sides`` returns the sides of the records, given the record of each
    content and their number.
    """

    keys: Uint64s
    costs: Int64s
    read_sets: SetReader
    find_sides: Callable[[Int64s, int], Bytes | None]
    measure: Measure
    limit: int | None

    def run(self, room: int | None, runner: Runner) -> JoinedRecords:
        """Find all pairs within a memory limit, None for unlimited.

        If all sets do not fit, each block of records is joined with itself and with each before it.
        """
        is_whole = room is None or int(self.costs.sum()) <= room
        digests, sizes = [], []
        for start, stop in [(0, len(self.costs))] if is_whole else self._runs(self.costs, room):
            sets = self.read_sets(np.arange(start, stop))
            digests.append(digest_compared(sets))
            sizes.append(_sizes_of(sets))
        own_sizes = np.concatenate(sizes)
        firsts, of_contents = find_equal(np.concatenate(digests), own_sizes)
        n_bands = self.keys.shape[1]
        buckets = bucket_documents(
            lambda band: self.keys[firsts, band], n_bands, len(firsts), runner
        )
        sides = self.find_sides(of_contents, len(firsts))

        def join(records: Int64s) -> tuple[ScoredPairs, int]:
            pairs, counts = join_buckets(
                buckets
                if is_whole
                else Buckets(buckets.numbers.take(records, axis=1), buckets.sizes),
                sets.take(firsts) if is_whole else self.read_sets(firsts[records]),
                self.measure,
                sides=None if sides is None else sides[records],
                limit=self.limit,
                runner=runner,
                report=lambda _: None,
            )
            left, right = records[pairs.left], records[pairs.right]
            return ScoredPairs(left, right, pairs.scores), counts.verified

        every = np.arange(len(firsts))
        if is_whole:
            return JoinedRecords(of_contents, own_sizes[firsts], *join(every))
        pairs_of, n_verified, within = list[ScoredPairs](), 0, list[int]()
        blocks = [every[start:stop] for start, stop in self._runs(self.costs[firsts], room)]
        for block, own in enumerate(blocks):
            pairs, n_own = join(own)
            pairs_of.append(pairs)
            within.append(n_own)
            n_verified += n_own
            for earlier, n_earlier in zip(blocks[:block], within[:block], strict=True):
                pairs, n_both = join(np.concatenate([earlier, own]))
                # Pairs within either block were found before, which is the smaller part.
                pairs_of.append(pairs.take((pairs.left < own[0]) != (pairs.right < own[0])))
                n_verified += n_both - n_own - n_earlier
        joined = ScoredPairs.joined(pairs_of)
        joined = joined.take(joined.ascending())
        return JoinedRecords(of_contents, own_sizes[firsts], joined, n_verified)

    @staticmethod
    def _runs(costs: Int64s, room: int | None) -> Iterator[tuple[int, int]]:
        """Cut contents into blocks, any two of which fit."""
        assert room is not None
        return cut_runs(costs, room // 2)


def _sizes_of(sets: ShingleSets | WeightedSets) -> Int64s:
    return sets.sizes if isinstance(sets, ShingleSets) else sets.totals


def find_equal(digests: Uint64s, sizes: Int64s) -> tuple[Int64s, Int64s]:
    """Find the first of equal sets, and number all sets.

    An empty set equals no other.
    """
    empty = np.flatnonzero(sizes == 0)
    digests[empty, 0], digests[empty, 1] = empty, _NO_DIGEST
    table = ContentTable()
    numbered = table.number(Digests(digests, np.ones(len(digests), np.bool_)))
    return np.flatnonzero(numbered.is_first), numbered.numbers


@dataclass(frozen=True)
class Records:
    """Joined records, and the record of each document, or -1.

    With two collections, the ``n_left`` documents of the left one come first; None for a self-join.
    """

    join: BlockedJoin
    of_documents: Int64s
    n_left: int | None

    def __len__(self) -> int:
        return len(self.join.whole.own_scores)

    def sides(self) -> Bytes | None:
        """Return the sides of each record: left, right or both."""
        return sides_of(self.of_documents, self.n_left, len(self))

    def similarities(self, pairs: ScoredPairs) -> Floats:
        """Return the similarity of each pair, with little extra memory."""
        similarities: Floats = np.empty(len(pairs), np.float64)
        for start in range(0, len(pairs), _AT_ONCE):
            own = slice(start, start + _AT_ONCE)
            left, right = (self.of_documents[side[own]] for side in (pairs.left, pairs.right))
            similarities[own] = self.join.whole.similarities(
                ScoredPairs(left, right, pairs.scores[own])
            )
        return similarities


def scheme_of(plan: PairPlan) -> SetScheme:
    """Return the scheme that turns documents' tokens into compared sets."""
    # Weighing may wait for the document frequencies.
    return SetScheme(None) if plan.edit else SetScheme(plan.reading.shingles, plan.reading.weighted)


def make_records(engine: Engine, read: Read, plan: PairPlan) -> Records:
    """Make the records of all documents, sets or strings."""
    scheme = scheme_of(plan)
    contents = find_pair_contents(engine, read)
    documents = np.flatnonzero(contents.is_content)
    of_documents = contents.places_of(documents)[contents.firsts]
    of_documents[contents.firsts < 0] = -1
    keys = read.known.blocking_keys()
    found = scheme.sizes(read.known, len(of_documents))
    sizes = found.sizes[documents]
    extents = sizes if found.extents is found.sizes else found.extents[documents]
    whole = _join_of(scheme.only_sizes(sizes, extents), plan)
    own_keys = None if keys is None else keys[documents]
    known = RecordSizes(documents, sizes, extents, own_keys, found.n_distinct)
    join = BlockedJoin.of(engine, read, scheme, whole, known)
    return Records(join, of_documents, contents.n_left)


def _join_of(sets: Compared, plan: PairPlan) -> Join:
    """Return the requested join."""
    if isinstance(sets, TokenLists):
        from neardup.matching.edit_join import EditJoin

        assert plan.edit is not None
        return EditJoin(sets, plan.edit, plan.options.ngram, plan.algorithm)
    if isinstance(sets, WeightedSets):
        # Few jobs need its kernels.
        from neardup.matching.set_join import WeightedJoin

        return WeightedJoin(sets, plan.measure_of_sets)
    if isinstance(plan.measure, Hamming):
        return HammingJoin(sets, plan.measure, plan.algorithm)
    return SetJoin(sets, plan.measure_of_sets, plan.algorithm)


class Bucketed(NamedTuple):
    """Partitioned contents that may be in pairs, with their keys.

    These contents share a bucket with another content, or have several documents.
    """

    contents: PairContents
    partitions: Partitions
    exchanged: Exchanged
    blocking_keys: Uint64s | None


def meet_in_buckets(engine: Engine, read: Read, contents: PairContents, plan: PairPlan) -> Bucketed:
    """Send contents that may be in a pair to partitions."""
    assert plan.banding is not None
    n_bands = plan.banding.bands

    def find_partitions() -> Partitions:
        roots = find_components(engine, read, contents, n_bands)
        return pack_components(
            roots,
            contents,
            plan.reading,
            engine.limits.partition_bytes,
            engine.limits.least_partitions,
            are_packed=contents.are_shared,
        )

    partitions = Partitions.kept(engine.workspace, find_partitions)
    exchanged = exchange_candidates(engine, read, partitions, n_bands)
    exchanged = exchanged.with_sets(np.ones(len(partitions.documents), np.bool_))
    return Bucketed(contents, partitions, exchanged, read.known.blocking_keys())


class _Part(NamedTuple):
    """Contents of a partition, from position ``start``, and their documents."""

    start: int
    n_tokens: Int64s
    members: MembersOfPart
    blocking_keys: Uint64s | None


def join_partitions(engine: Engine, found: Bucketed, plan: PairPlan) -> Collected:
    """Join the records of each partition, and collect its pairs.

    The counts of a partition are its records, its verified pairs, and its pairs at the threshold.
    """
    partitions, keys = found.partitions, found.blocking_keys
    members = PartitionMembers.of(found.contents, partitions)
    n_tokens = found.contents.n_tokens_of(partitions.documents)

    def part_of(number: int) -> _Part:
        within = partitions.places(number)
        own_keys = None if keys is None else keys[partitions.documents[within]]
        return _Part(within.start, n_tokens[within], members.of_partition(number), own_keys)

    def spelled(first: int) -> Iterator[FoundPart]:
        joining = partial(_join_partition, plan, engine.limits.partition_bytes)
        made = found.exchanged.work("join", joining, part_of)
        for number, arrays in enumerate(islice(made, first, None), first):
            joined = JoinedRecords.from_arrays(arrays)
            scored = joined.scored_by(plan.measure_of_sets)
            speller = members.of_partition(number).speller(joined.of_contents, scored)
            counts = [len(joined.sizes), joined.n_verified, len(joined.pairs)]
            yield FoundPart.of_records(joined.pairs, speller, scored, counts)

    shares = (partitions.bounds[1:] / partitions.bounds[-1]).tolist()
    return collect_runs(spelled, shares, plan.options.limit, engine.workspace)


def _join_partition(
    plan: PairPlan, room: int | None, partition: DocumentPartition
) -> dict[str, AnyArray]:
    assert plan.banding is not None
    part: _Part = partition.facts

    def read_some(places: Int64s) -> ShingleSets | WeightedSets:
        sets = partition.read_sets(part.start + places, part.n_tokens[places])
        # Sets in memory are read once.
        return sets if part.blocking_keys is None else salt_sets(sets, part.blocking_keys[places])

    join = RecordJoin(
        keys=candidates_in(partition, plan.banding.bands).keys,
        costs=bytes_of(part.n_tokens, plan.reading),
        read_sets=read_some,
        find_sides=part.members.sides,
        measure=plan.measure_of_sets,
        limit=plan.options.limit,
    )
    return join.run(None if partition.has_sets else room, partition.runner).as_arrays()


class MembersOfPart(NamedTuple):
    """Ascending documents of a partition, with positions of their contents.

    With two collections, the first ``n_left`` are in the left one; None for a self-join.
    """

    documents: Int64s
    places: Int64s
    n_left: int | None

    def sides(self, of_contents: Int64s, n_records: int) -> Bytes | None:
        """Return the sides of the records of the contents."""
        return sides_of(of_contents[self.places], self.n_left, n_records)

    def speller(self, of_contents: Int64s, records: SetSizes) -> Speller:
        """Return the speller of pairs of the contents' records."""
        return Speller.of(
            of_contents[self.places],
            records.own_scores,
            records.twins,
            n_left=self.n_left,
            is_directed=records.is_directed,
            numbers=self.documents,
        )


@dataclass(frozen=True)
class PartitionMembers:
    """Ascending documents of each partition, with positions of their contents.

    Partition k has the documents from ``bounds[k]`` to ``bounds[k + 1]``.
    """

    partitions: Partitions
    n_left: int | None
    documents: Int64s
    places: Int64s
    bounds: Int64s

    @classmethod
    def of(cls, contents: PairContents, partitions: Partitions) -> PartitionMembers:
        """Find the documents of the contents that are in partitions."""
        places = contents.places_of(partitions.documents)[contents.firsts]
        # Documents without tokens have no content.
        documents = np.flatnonzero((contents.firsts >= 0) & (places >= 0))
        places = places[documents]
        if len(partitions) > 1:
            own = partitions.of_places(places)
            order = np.argsort(own, kind="stable")
            documents, places, own = documents[order], places[order], own[order]
            bounds = np.searchsorted(own, np.arange(len(partitions) + 1))
        else:
            bounds = np.array([0, len(documents)])
        return cls(partitions, contents.n_left, documents, places, bounds)

    def of_partition(self, partition: int) -> MembersOfPart:
        """Return the documents of one partition."""
        here = slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))
        documents, n_left = self.documents[here], self.n_left
        return MembersOfPart(
            documents,
            self.places[here] - self.partitions.places(partition).start,
            None if n_left is None else int(np.searchsorted(documents, n_left)),
        )
