"""Pairs by method minhash, within a memory budget: one partition of whole components at a time."""

from __future__ import annotations

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
from neardup.jobs.pairs.rows import spell_runs
from neardup.jobs.pairs.spelling import Speller
from neardup.matching.bucket_join import BucketJoinCounts
from neardup.matching.join import check_limit, salt_sets
from neardup.matching.set_join import SetSizes
from neardup.reading.first_pass import Signed
from neardup.runs.arrays import AnyArray, kept_arrays
from neardup.runs.exchange import SpilledBatches
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

# Shares of the memory: of rows that are found, and of those that are being spelled out.
_ROWS_SHARE = 0.1
_SPELLING_SHARE = 0.1

# Memory of a row that is being spelled out.
_BYTES_OF_ROW = 160


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


@dataclass(frozen=True)
class BucketedPairs:
    """All pairs of documents in sorted runs, and how they were found."""

    runs: SpilledBatches
    n_pairs: int
    n_records: int
    counts: BucketJoinCounts


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
) -> BucketedPairs:
    """Join one partition after the other, each on all cores, and spell its pairs out."""
    partitions, limit = found.partitions, plan.options.limit
    members = _Members.of(found.contents, partitions)
    # What is in memory is found anew by a run that goes on, but not if there are files anyway.
    is_in_files = workspace.work is not None and workspace.work.n_done > 0
    share = 0 if is_in_files else _ROWS_SHARE
    runs = SpilledBatches("pairs", workspace, share=share, weight_of_file=1)
    n_done = sum(1 for _, known in runs.known() if known is not None)
    n_pairs = sum(len(run) for run in runs)
    with runs:
        for partition in range(n_done, len(partitions)):
            joined = _join_partition(found, members, partition, plan, workspace, runner)
            scored = joined.scored_by(plan.measure_of_sets)
            speller = members.speller(partition, joined.of_contents, scored)
            n_pairs += speller.count(joined.pairs)
            share_done = partitions.bounds[partition + 1] / partitions.bounds[-1]
            check_limit(limit, n_pairs, share_done if share_done < 1 else None)
            rows = spell_runs(joined.pairs, speller, scored, _rows_at_once(workspace))
            waiting = next(rows)
            for run in rows:
                runs.append(waiting, None, 0)
                waiting = run
            # A file is complete with the last rows of a partition.
            runs.append(waiting, [len(joined.sizes), joined.n_verified, len(joined.pairs)], 1)
    totals = np.array([known for _, known in runs.known() if known is not None] or [[0, 0, 0]])
    n_records, n_verified, n_joined = totals.sum(axis=0).tolist()
    return BucketedPairs(runs, n_pairs, n_records, BucketJoinCounts(n_verified, n_joined))


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


def _rows_at_once(workspace: Workspace) -> int | None:
    """Return how many rows are spelled out at once, None for all."""
    if workspace.work is None:
        return None
    return max(1, workspace.share(_SPELLING_SHARE) // _BYTES_OF_ROW)
