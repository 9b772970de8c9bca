"""Pairs by method minhash on executors: what shares a bucket is joined by partitions of components.

The stages are those of a deduplication, but for the last: a task joins the records of a partition.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.engine.engine import Engine
from neardup.engine.partitions import Partitions
from neardup.engine.spark.cluster import Cluster, Failure, local_workspace
from neardup.engine.spark.read import ReadTasks, read_on_executors
from neardup.errors import NeardupError
from neardup.files.rows import RowBlock
from neardup.jobs.pairs.bucketed import Members, PartMembers, spell_partitions
from neardup.jobs.pairs.plan import PairPlan
from neardup.jobs.pairs.records import JoinedRecords, PairContents, RecordJoin
from neardup.jobs.pairs.run import Found, count_outside, matches_in_buckets
from neardup.matching.join import salt, salt_sets
from neardup.reading.column_values import NO_KEY
from neardup.reading.sign import Collections, ReadingPlan, SignedBlock, sign_block
from neardup.reading.signed_batches import SignedBatches
from neardup.runs.runner import Runner
from neardup.spark.decide import (
    by_place,
    exchange_keys,
    exchange_texts,
    find_components,
    find_firsts,
    pack_arrays,
    receive,
    unpack_arrays,
)
from neardup.stages.components import (
    bytes_of,
    candidates_of,
    pack_components,
    read_sets,
)
from neardup.tables import (
    Digests,
    Int64s,
    ScoredPairs,
    ShingleSets,
    Uint64s,
    WeightedSets,
)

if TYPE_CHECKING:
    from pyspark.rdd import RDD

# Share of a task's memory for what is joined at the same time, and partitions a slot at least.
_PARTITION_SHARE, _PARTITIONS_A_SLOT = 0.4, 4


def find_in_buckets(
    cluster: Cluster, engine: Engine, collections: Collections, plan: PairPlan
) -> Found:
    """Find pairs as ``find_pairs_in_sources`` finds those that share a bucket."""
    workspace, runner = engine.workspace, engine.runner
    assert plan.banding is not None
    with runner.stage("read") as note:
        read = read_on_executors(collections, _sign, cluster, workspace)
        keys = SignedBatches(0, read.batches).blocking_keys()
        n_outside = count_outside(read.catalogues, keys, plan.options.blocking_columns)
        is_filled = np.concatenate([each.n_tokens for each in read.catalogues]) > 0
        if keys is not None:
            is_filled &= keys != NO_KEY
        contents = PairContents(read.catalogues, find_firsts(read, None, is_filled, cluster))
        nobody = np.zeros(len(is_filled), np.bool_)
        roots = find_components(read, contents, plan.banding.bands, nobody, cluster)
        room = int(cluster.task_bytes * _PARTITION_SHARE)
        n_least = _PARTITIONS_A_SLOT * cluster.slots
        partitions = pack_components(
            roots, contents, plan.reading, room, n_least, are_packed=contents.are_shared
        )
        note(documents=len(is_filled), candidates=len(partitions.documents))
    with runner.stage("join") as note:
        members = Members.of(contents, partitions)

        def join_parts(_: int) -> Iterator[JoinedRecords]:
            rows = _exchange(read, contents, partitions, plan, cluster)
            n_tokens = contents.n_tokens_of(partitions.documents)
            parts = []
            for partition in range(len(partitions)):
                within = partitions.places(partition)
                own_keys = None if keys is None else keys[partitions.documents[within]]
                own = members.of_partition(partition)
                parts.append(_Part(partition, within.start, n_tokens[within], own, own_keys))
            joining = partial(_join, plan, cluster.task_bytes)
            keep = "join", cluster.task_bytes
            joined = cluster.work(joining, cluster.attach(parts, rows), keep=keep)
            for _, data in cluster.bring_once(joined):
                yield _unpacked(data)

        matches = matches_in_buckets(
            spell_partitions(
                members, join_parts if len(partitions) else lambda _: iter(()), plan, workspace
            ),
            plan,
        )
        read.rows.unpersist()
        note(records=matches.n_records, pairs=matches.n_pairs)
    return read.catalogues, matches, n_outside


def _sign(block: RowBlock, reading: ReadingPlan) -> SignedBlock:
    """Sign a block; what is in different blocks, or in none, shares neither digest nor key."""
    signed = sign_block(block, reading)
    own = signed.blocking_keys
    if own is None:
        return signed
    digests = np.column_stack([salt(half, own) for half in signed.digests.values.T])
    return replace(
        signed,
        digests=Digests(digests, signed.digests.is_filled & (own != NO_KEY)),
        keys=salt(signed.keys, own[:, None]),
    )


def _exchange(
    read: ReadTasks,
    contents: PairContents,
    partitions: Partitions,
    plan: PairPlan,
    cluster: Cluster,
) -> RDD[Any]:
    """Bring keys and texts of all candidates to their partitions."""
    nobody = np.zeros(len(contents.firsts), np.bool_)
    everything = np.ones(len(partitions.documents), np.bool_)
    sent = exchange_keys(read, contents, partitions, nobody, cluster)
    skip_bad = plan.reading.skip_bad
    texts = exchange_texts(
        read, contents, partitions, partitions.components, everything, skip_bad, cluster
    )
    return sent.union(texts)


class _Part(NamedTuple):
    """What the driver knows of a partition: where it starts, and of its contents what they are."""

    number: int
    start: int
    n_tokens: Int64s
    members: PartMembers
    blocking_keys: Uint64s | None


def _join(
    plan: PairPlan, memory: int, rows: Iterator[Any]
) -> Iterator[tuple[None, bytes] | Failure]:
    """Join the records of a partition, of which keys and texts come in any order."""
    part: _Part = next(rows)
    assert plan.banding is not None
    with local_workspace(memory) as workspace, Runner(1) as runner:
        _, keys, _, texts, failures = receive(rows, workspace)
        if failures:
            yield from failures
            return
        reading, n_tokens = plan.reading, part.n_tokens

        def read_some(places: Int64s) -> ShingleSets | WeightedSets:
            sets = read_sets(texts, 0, part.start + places, n_tokens[places], reading)
            if part.blocking_keys is None:
                return sets
            return salt_sets(sets, part.blocking_keys[places])

        join = RecordJoin(
            keys=candidates_of(by_place(keys), plan.banding.bands).keys,
            costs=bytes_of(n_tokens, reading),
            read_sets=read_some,
            find_sides=part.members.sides,
            measure=plan.measure_of_sets,
            limit=plan.options.limit,
        )
        try:
            joined = join.run(int(memory * _PARTITION_SHARE), runner, lambda _: None)
        except NeardupError as error:
            yield Failure.of(part.number, None, error)
            return
        yield None, _packed(joined)


def _packed(joined: JoinedRecords) -> bytes:
    return pack_arrays(
        {
            "of_contents": joined.of_contents,
            "sizes": joined.sizes,
            **vars(joined.pairs),
            "n_verified": np.array([joined.n_verified]),
        }
    )


def _unpacked(data: bytes) -> JoinedRecords:
    arrays: dict[str, Any] = unpack_arrays(data)
    pairs = ScoredPairs(*(arrays[name] for name in ("left", "right", "scores")))
    n_verified = int(arrays["n_verified"][0])
    return JoinedRecords(arrays["of_contents"], arrays["sizes"], pairs, n_verified)
