"""Pairs by method minhash: contents that share a bucket, joined by partitions of components."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import NamedTuple

import numpy as np

from neardup.engine.engine import Engine, Read
from neardup.engine.partitions import DocumentPartition, Exchanged, Partitions
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import JoinedRecords, PairContents, RecordJoin, sides_of
from neardup.jobs.pairs.rows import Collected, FoundPart, collect_runs
from neardup.jobs.pairs.spelling import Speller
from neardup.matching.join import salt_sets
from neardup.matching.set_join import SetSizes
from neardup.runs.arrays import AnyArray
from neardup.stages.decide import (
    bytes_of,
    candidates_in,
    exchange_candidates,
    find_components,
    pack_components,
)
from neardup.tables import Bytes, Int64s, ShingleSets, Uint64s, WeightedSets


class Bucketed(NamedTuple):
    """Contents that may be in a pair, in partitions, with their keys and sets.

    These share a bucket with another content, or have several documents.
    """

    contents: PairContents
    partitions: Partitions
    exchanged: Exchanged
    blocking_keys: Uint64s | None


def meet_in_buckets(engine: Engine, read: Read, contents: PairContents, plan: PairPlan) -> Bucketed:
    """Find the contents that may be in a pair, and send them to their partitions."""
    assert plan.banding is not None
    n_bands = plan.banding.bands

    def find_partitions() -> Partitions:
        roots = find_components(engine, read, contents, n_bands)
        return pack_components(
            roots,
            contents,
            plan.reading,
            engine.partition_bytes,
            engine.least_partitions,
            are_packed=contents.are_shared,
        )

    partitions = Partitions.kept(engine.workspace, find_partitions)
    exchanged = exchange_candidates(engine, read, partitions, n_bands)
    exchanged = exchanged.with_sets(np.ones(len(partitions.documents), np.bool_))
    return Bucketed(contents, partitions, exchanged, read.known.blocking_keys())


class _Part(NamedTuple):
    """Contents of a partition from position ``start`` on, and their documents."""

    start: int
    n_tokens: Int64s
    members: PartMembers
    blocking_keys: Uint64s | None


def join_partitions(engine: Engine, found: Bucketed, plan: PairPlan) -> Collected:
    """Join the records of each partition, and spell out its pairs.

    The counts of a partition are its records, its verified pairs, and its pairs at the threshold.
    """
    partitions, keys = found.partitions, found.blocking_keys
    members = Members.of(found.contents, partitions)
    n_tokens = found.contents.n_tokens_of(partitions.documents)

    def part_of(number: int) -> _Part:
        within = partitions.places(number)
        own_keys = None if keys is None else keys[partitions.documents[within]]
        return _Part(within.start, n_tokens[within], members.of_partition(number), own_keys)

    def spelled(first: int) -> Iterator[FoundPart]:
        joining = partial(_join_partition, plan, engine.partition_bytes)
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


class PartMembers(NamedTuple):
    """Documents of a partition, ascending, and the position of each one's content.

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
class Members:
    """Documents of each partition, ascending, and the position of each one's content.

    Partition k has the documents from ``bounds[k]`` to ``bounds[k + 1]``.
    """

    partitions: Partitions
    n_left: int | None
    documents: Int64s
    places: Int64s
    bounds: Int64s

    @classmethod
    def of(cls, contents: PairContents, partitions: Partitions) -> Members:
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

    def of_partition(self, partition: int) -> PartMembers:
        """Return the documents of one partition."""
        here = slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))
        documents, n_left = self.documents[here], self.n_left
        return PartMembers(
            documents,
            self.places[here] - self.partitions.places(partition).start,
            None if n_left is None else int(np.searchsorted(documents, n_left)),
        )
