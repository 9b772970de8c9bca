"""Pairs by method minhash, within a memory budget: one partition of whole components at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import (
    JoinedRecords,
    PairContents,
    RecordJoin,
    find_pair_contents,
    sides_of,
)
from neardup.jobs.pairs.rows import Collected, JoinedPart, collect_runs
from neardup.jobs.pairs.spelling import Speller
from neardup.matching.join import salt_sets
from neardup.matching.set_join import SetSizes
from neardup.reading.first_pass import Signed
from neardup.runs.arrays import AnyArray, kept_arrays
from neardup.runs.runner import Runner
from neardup.stages.components import (
    Partitions,
    bytes_of,
    exchange_keys,
    exchange_texts,
    find_components,
    pack_components,
    read_candidates,
    read_sets,
    room_of_partition,
)
from neardup.tables import Bytes, Int64s, ShingleSets, Uint64s, WeightedSets

if TYPE_CHECKING:
    from neardup.runs.exchange import Shuffle
    from neardup.runs.work import Workspace


@dataclass(frozen=True)
class Bucketed:
    """Contents that may be in a pair, by partitions, with their keys and, or, their sets or texts.

    They share a bucket with another, or several documents have them. ``sets`` are those of all, if
    there is one partition; else there are ``texts``. ``blocking_keys`` are those of all documents.
    """

    contents: PairContents
    partitions: Partitions
    n_bands: int
    keys: Shuffle
    sets: ShingleSets | WeightedSets | None
    texts: Shuffle | None
    blocking_keys: Uint64s | None


def meet_in_buckets(
    signed: Signed, plan: PairPlan, workspace: Workspace, runner: Runner
) -> Bucketed:
    """Find the contents that may be in a pair, and bring them to their partitions."""
    contents = find_pair_contents(signed, workspace)

    def find_partitions() -> dict[str, AnyArray]:
        roots = find_components(signed.batches, contents, workspace, runner)
        room = room_of_partition(workspace, 1)
        packed = pack_components(
            roots, contents, plan.reading, room, are_packed=contents.are_shared
        )
        return vars(packed)

    partitions = Partitions(**kept_arrays(workspace, "components", find_partitions))
    keys = exchange_keys(signed.batches, contents, partitions, workspace, runner)
    sets, texts = None, None
    blocking = signed.batches.blocking_keys()
    if len(partitions) <= 1:
        sets = contents.read_comparable(partitions.documents, plan.reading, runner)
        if blocking is not None:
            sets = salt_sets(sets, blocking[partitions.documents])
    else:
        is_live = np.ones(len(partitions.documents), np.bool_)
        texts = exchange_texts(contents, partitions, is_live, plan.reading, workspace, runner)
    return Bucketed(contents, partitions, signed.batches.n_bands, keys, sets, texts, blocking)


def join_partitions(
    found: Bucketed, plan: PairPlan, workspace: Workspace, runner: Runner
) -> Collected:
    """Join one partition after the other, each on all cores, and spell its pairs out.

    Counted are the records, the pairs that were verified, and those at the threshold.
    """
    partitions = found.partitions
    members = _Members.of(found.contents, partitions)

    def join_part(partition: int) -> JoinedPart:
        joined = _join_partition(found, members, partition, plan, workspace, runner)
        scored = joined.scored_by(plan.measure_of_sets)
        speller = members.speller(partition, joined.of_contents, scored)
        counts = [len(joined.sizes), joined.n_verified, len(joined.pairs)]
        return JoinedPart(joined.pairs, speller, scored, counts)

    shares = (partitions.bounds[1:] / partitions.bounds[-1]).tolist()

    def join_parts(first: int) -> Iterator[JoinedPart]:
        return map(join_part, range(first, len(shares)))

    return collect_runs(join_parts, shares, plan.options.limit, workspace)


def _join_partition(
    found: Bucketed,
    members: _Members,
    partition: int,
    plan: PairPlan,
    workspace: Workspace,
    runner: Runner,
) -> JoinedRecords:
    """Join the records of a partition."""
    partitions, reading = found.partitions, plan.reading
    within = partitions.places(partition)
    documents = partitions.documents[within]
    n_tokens = found.contents.n_tokens_of(documents)

    def read_some(places: Int64s) -> ShingleSets | WeightedSets:
        if found.texts is None:
            assert found.sets is not None
            return found.sets.take(places)
        sets = read_sets(
            found.texts, partition, within.start + places, n_tokens[places], reading, runner
        )
        if found.blocking_keys is None:
            return sets
        return salt_sets(sets, found.blocking_keys[documents[places]])

    join = RecordJoin(
        keys=read_candidates(found.keys, partition, found.n_bands).keys,
        costs=bytes_of(n_tokens, reading),
        read_sets=read_some,
        find_sides=partial(members.sides, partition),
        measure=plan.measure_of_sets,
        limit=plan.options.limit,
    )
    room = None if found.texts is None else room_of_partition(workspace, 1)

    def report(n_joined: int) -> None:
        runner.report("join", within.start + n_joined, len(partitions.documents))

    return join.run(room, runner, report)


@dataclass(frozen=True)
class _Members:
    """The documents of each partition, ascending, and the place of the content of each.

    Partition k has those from ``bounds[k]`` to ``bounds[k + 1]``.
    """

    partitions: Partitions
    n_left: int | None
    documents: Int64s
    places: Int64s
    bounds: Int64s

    @classmethod
    def of(cls, contents: PairContents, partitions: Partitions) -> _Members:
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

    def sides(self, partition: int, of_contents: Int64s, n_records: int) -> Bytes | None:
        """Return the sides of the records of a partition's contents."""
        records, _, n_left = self._records(partition, of_contents)
        return sides_of(records, n_left, n_records)

    def speller(self, partition: int, of_contents: Int64s, records: SetSizes) -> Speller:
        """Return what spells out pairs of the records of a partition's contents."""
        of_documents, documents, n_left = self._records(partition, of_contents)
        return Speller.of(
            of_documents,
            records.own_scores,
            records.twins,
            n_left=n_left,
            is_directed=records.is_directed,
            numbers=documents,
        )

    def _records(self, partition: int, of_contents: Int64s) -> tuple[Int64s, Int64s, int | None]:
        """Return the record and the number of each document, and how many are of the left side."""
        here = slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))
        documents = self.documents[here]
        records = of_contents[self.places[here] - self.partitions.places(partition).start]
        n_left = self.n_left
        return (
            records,
            documents,
            None if n_left is None else int(np.searchsorted(documents, n_left)),
        )
