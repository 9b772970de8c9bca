"""How candidates are decided: through the stages that follow the reading, or all at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.dedup.contents import Contents
from neardup.jobs.dedup.decide import Decision, decide, decide_within
from neardup.jobs.dedup.plan import DedupPlan
from neardup.jobs.stages.components import (
    Partitions,
    find_components,
    pack_components,
    room_of_partition,
)
from neardup.jobs.stages.exchange import (
    Candidates,
    exchange_keys,
    exchange_texts,
    read_candidates,
    read_sets,
)
from neardup.matching.prefixes import list_prefixes
from neardup.matching.sieve import sieve_components
from neardup.reading.signed_batches import SignedBatches
from neardup.runtime.runner import Runner
from neardup.storage.arrays import AnyArray
from neardup.storage.kept_arrays import kept_arrays
from neardup.tables import Bools, Int64s, ShingleSets, WeightedSets

if TYPE_CHECKING:
    from neardup.storage.shuffle import Shuffle
    from neardup.storage.work import Workspace

# Partitions a worker where memory would allow less, so that workers end together.
_PARTITIONS_A_WORKER = 8

# The share of the memory that the sets of all live documents may take together.
SETS_SHARE = 0.5


def choose_by_buckets(
    batches: SignedBatches,
    contents: Contents,
    plan: DedupPlan,
    workspace: Workspace,
    runner: Runner,
) -> Decision:
    """Decide contents that share a bucket: stages components, exchange, sieve and decide."""
    room = room_of_partition(workspace, runner.workers + 1)
    with runner.stage("bucket") as note:

        def find_partitions() -> Partitions:
            # Where only survivors matter, contents that stay in any case need not meet.
            by_components = plan.options.clusters == "components"
            are_ignored = None if by_components else contents.need_not_meet()
            roots = find_components(batches, contents, workspace, runner, are_ignored)
            n_least = _PARTITIONS_A_WORKER * runner.workers
            return pack_components(roots, contents, plan.reading, room, n_least)

        partitions = Partitions.kept(workspace, find_partitions)
        keys = exchange_keys(batches, contents, partitions, workspace)
        note(candidates=len(partitions.documents))
    with runner.stage("sieve") as note:

        def find_live() -> dict[str, AnyArray]:
            return {"components": sieve(partitions, keys, contents, plan, runner)}

        components = kept_arrays(workspace, "sieve", find_live)["components"]
        is_live = components >= 0
        note(candidates=int(is_live.sum()))
    n_tokens = contents.n_tokens_of(partitions.documents)
    with runner.stage("compare"):
        texts, sets = None, None
        if workspace.fits(8 * int(n_tokens[is_live].sum()), SETS_SHARE):
            sets = contents.read_comparable(partitions.documents[is_live], plan.reading, runner)
        else:
            texts = exchange_texts(contents, partitions, is_live, plan.reading, workspace, runner)
    with runner.stage("choose") as note:
        decided = runner.counter("choose", int(is_live.sum()))
        # Elements that a partition may have in memory.
        capacity = None if room is None else room // (16 if plan.reading.weighted else 8)
        # Place of each live document among all live ones, which is where its set is.
        rows = np.cumsum(is_live) - 1

        def decide_partition(partition: int) -> Decision:
            within = partitions.places(partition)
            live = np.flatnonzero(is_live[within])
            places = live + within.start
            documents = partitions.documents[places]
            n_fixed = contents.count_fixed(documents)
            band_keys = read_candidates(keys, partition, batches.n_bands).keys[live]
            own_components, sizes = components[places], n_tokens[places]
            known = contents.earlier

            def read_some(documents: Int64s) -> ShingleSets | WeightedSets:
                wanted = places[documents]
                if texts is None:
                    assert sets is not None
                    return sets.take(rows[wanted])
                return read_sets(texts, partition, wanted, n_tokens[wanted], plan.reading)

            return decide_within(
                documents,
                band_keys,
                own_components,
                sizes,
                read_some,
                plan,
                n_fixed,
                None if texts is None else capacity,
                None if known is None else known.of_documents(documents),
            )

        def kept_decision(partition: int) -> Decision:
            arrays = kept_arrays(
                workspace,
                f"decide-{partition:05d}",
                lambda: decide_partition(partition).as_arrays(),
            )
            within = partitions.places(partition)
            decided(int(np.count_nonzero(is_live[within])))
            return Decision.from_arrays(arrays)

        decision = Decision.of_all(runner.map(kept_decision, range(len(partitions))))
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision


def sieve(
    partitions: Partitions, keys: Shuffle, contents: Contents, plan: DedupPlan, runner: Runner
) -> Int64s:
    """Return the new component of each candidate, -1 for one that is similar to no other.

    Filters tell most pairs apart that share a bucket without being similar.
    """
    components: Int64s = np.full(len(partitions.documents), -1, np.int64)
    are_fixed = contents.need_not_meet()[partitions.documents]
    sieved = runner.counter("sieve", len(components))

    def sieve_partition(partition: int) -> None:
        within = partitions.places(partition)
        candidates = read_candidates(keys, partition, plan.banding.bands)
        own_components = partitions.components[within]
        firsts = sieve_candidates(own_components, candidates, are_fixed[within], plan)
        is_live = firsts >= 0
        components[within][is_live] = firsts[is_live] + within.start
        sieved(len(firsts))

    for _ in runner.map(sieve_partition, range(len(partitions))):
        pass
    return components


def sieve_candidates(
    components: Int64s, candidates: Candidates, are_fixed: Bools, plan: DedupPlan
) -> Int64s:
    """Return the first document of the new component of each candidate of a partition.

    -1 for one that is similar to no other, as filters prove.
    """
    by_components = plan.options.clusters == "components"
    firsts = sieve_components(
        components,
        candidates.keys,
        candidates.filters,
        plan.measure,
        are_fixed=are_fixed,
        with_fixed=by_components,
        either_way=by_components,
    )
    firsts[np.bincount(firsts, minlength=len(firsts))[firsts] == 1] = -1
    return firsts


def choose_exactly(contents: Contents, plan: DedupPlan, runner: Runner) -> Decision:
    """Decide all contents at once, by the elements that they share; no pair is missed."""
    documents = contents.in_keep_order()
    with runner.stage("compare"):
        sets = contents.read_comparable(documents, plan.reading, runner)
        lists = list_prefixes(sets, plan.measure)
    with runner.stage("choose") as note:
        n_fixed = contents.count_fixed(documents)

        def report(done: int) -> None:
            runner.report("choose", done, len(documents))

        decision = decide(documents, lists, sets, plan, n_fixed, progress=report)
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision
