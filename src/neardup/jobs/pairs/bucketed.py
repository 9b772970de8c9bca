"""Pairs by method minhash, within a memory budget: one partition of whole components at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from neardup.engine.partitions import Partitions
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import (
    JoinedRecords,
    PairContents,
    RecordJoin,
    find_pair_contents,
    sides_of,
)
from neardup.jobs.pairs.rows import Collected, FoundPart, collect_runs
from neardup.jobs.pairs.spelling import Speller
from neardup.matching.join import salt_sets
from neardup.matching.set_join import SetSizes
from neardup.reading.first_pass import Signed
from neardup.runs.arrays import AnyArray, kept_arrays
from neardup.runs.runner import Runner
from neardup.stages.components import (
    bytes_of,
    exchange_keys,
    exchange_texts,
    find_components_of_batches,
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
        roots = find_components_of_batches(signed.batches, contents, workspace, runner)
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
    """Join one partition after the other, each on all cores, and spell its pairs out."""
    partitions = found.partitions
    members = Members.of(found.contents, partitions)

    def join_parts(first: int) -> Iterator[JoinedRecords]:
        for partition in range(first, len(partitions)):
            own = members.of_partition(partition)
            yield _join_partition(found, own, partition, plan, workspace, runner)

    return spell_partitions(members, join_parts, plan, workspace)


def spell_partitions(
    members: Members,
    join_parts: Callable[[int], Iterator[JoinedRecords]],
    plan: PairPlan,
    workspace: Workspace,
) -> Collected:
    """Spell out the pairs of partitions, which ``join_parts`` joins from a number on.

    Counted are the records, the pairs that were verified, and those at the threshold.
    """

    def spelled(first: int) -> Iterator[FoundPart]:
        for partition, joined in enumerate(join_parts(first), first):
            scored = joined.scored_by(plan.measure_of_sets)
            speller = members.of_partition(partition).speller(joined.of_contents, scored)
            counts = [len(joined.sizes), joined.n_verified, len(joined.pairs)]
            yield FoundPart.of_records(joined.pairs, speller, scored, counts)

    bounds = members.partitions.bounds
    return collect_runs(spelled, (bounds[1:] / bounds[-1]).tolist(), plan.options.limit, workspace)


def _join_partition(
    found: Bucketed,
    members: PartMembers,
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
        find_sides=members.sides,
        measure=plan.measure_of_sets,
        limit=plan.options.limit,
    )
    room = None if found.texts is None else room_of_partition(workspace, 1)

    def report(n_joined: int) -> None:
        runner.report("join", within.start + n_joined, len(partitions.documents))

    return join.run(room, runner, report)


class PartMembers(NamedTuple):
    """Documents of a partition, ascending, and the place of the content of each there.

    Of two collections the first ``n_left`` are of the left one; None for a self-join.
    """

    documents: Int64s
    places: Int64s
    n_left: int | None

    def sides(self, of_contents: Int64s, n_records: int) -> Bytes | None:
        """Return the sides of the records of the contents."""
        return sides_of(of_contents[self.places], self.n_left, n_records)

    def speller(self, of_contents: Int64s, records: SetSizes) -> Speller:
        """Return what spells out pairs of the records of the contents."""
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
    """The documents of each partition, ascending, and the place of the content of each.

    Partition k has those from ``bounds[k]`` to ``bounds[k + 1]``.
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
        """Return those of one partition."""
        here = slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))
        documents, n_left = self.documents[here], self.n_left
        return PartMembers(
            documents,
            self.places[here] - self.partitions.places(partition).start,
            None if n_left is None else int(np.searchsorted(documents, n_left)),
        )
