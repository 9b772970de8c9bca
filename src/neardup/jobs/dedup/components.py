"""The stage components: contents that hang together by shared buckets, packed into partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.dedup.contents import Contents
from neardup.kernels.union_find import find_roots, union_edges
from neardup.matching.buckets import star_edges
from neardup.reading.copies import part_of
from neardup.runtime.runner import Runner
from neardup.storage.kept_arrays import keep_arrays, kept_arrays
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    from neardup.jobs.dedup.plan import DedupPlan
    from neardup.reading.signed_batches import SignedBatches
    from neardup.storage.workspace import Workspace

# Memory of a document whose key in a band is sorted, and the share that all workers take for that.
_BYTES = 60
_SHARE = 0.4

# The share of the memory that all partitions take that are worked on at the same time.
_PARTITION_SHARE = 0.4

# Partitions a worker where memory would allow less, so that workers end together.
_PARTITIONS_A_WORKER = 8

# What they are called in the work folder.
_TASK = "components"

# Memory of a candidate beside its keys, its filter and its set.
_OVERHEAD = 120


@dataclass(frozen=True)
class Partitions:
    """Contents that share a bucket with another, in partitions of whole components.

    ``documents`` are in keep order within a partition, ``components`` aligned with them; equal
    numbers are the same one. Partition k has those from ``bounds[k]`` to ``bounds[k + 1]``.
    """

    documents: Int64s
    components: Int64s
    bounds: Int64s

    @classmethod
    def kept(cls, workspace: Workspace, find: Callable[[], Partitions]) -> Partitions:
        """Return those of an earlier run, which may have cut them otherwise; else find them."""
        return cls(**kept_arrays(workspace, _TASK, lambda: vars(find())))

    def keep(self, workspace: Workspace) -> None:
        """See that a later run has the same, before anything is stored by partition."""
        keep_arrays(workspace, _TASK, vars(self))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def places(self, partition: int) -> slice:
        """Return where a partition's documents stand."""
        return slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))

    def of_places(self, places: Int64s) -> Int64s:
        """Return the partitions of documents at these places."""
        return np.searchsorted(self.bounds, places, side="right") - 1


def find_components(
    batches: SignedBatches,
    contents: Contents,
    plan: DedupPlan,
    workspace: Workspace,
    runner: Runner,
) -> Int64s:
    """Find for each document the first one of its component, itself if it is no content.

    Contents are of one component that share a band key, all 64 bits of it, or are connected by
    others that do. Where only survivors matter, contents that stay in any case do not meet.
    """
    is_content, n_documents = contents.is_content, len(contents.firsts)
    n_bands = batches.n_bands
    n_passes = workspace.passes(n_documents * _BYTES * min(runner.workers, n_bands), _SHARE)
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    work = product(range(n_bands), range(n_passes))
    n_ignored = 0 if plan.options.clusters == "components" else len(contents.other)
    edges = partial(_band_edges, batches, is_content, n_passes, n_ignored)
    for done, (firsts, members) in enumerate(runner.map(edges, work), 1):
        union_edges(parents, firsts, members)
        runner.report("bucket", done, n_bands * n_passes)
    find_roots(parents)
    return parents


def _band_edges(
    batches: SignedBatches,
    is_content: Bools,
    n_passes: int,
    n_ignored: int,
    work: tuple[int, int],
) -> tuple[Int64s, Int64s]:
    """Return edges between contents of equal keys of one band, those in one range of keys."""
    band, number = work
    keys, documents = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for start, values in batches.band(band):
        is_wanted = is_content[start : start + len(values)]
        if n_passes > 1:
            is_wanted = is_wanted & (part_of(values, n_passes) == number)
        rows = np.flatnonzero(is_wanted)
        keys.append(values[rows])
        documents.append(rows + start)
    numbers = np.concatenate(documents)
    ignored = numbers < n_ignored if n_ignored else None
    firsts, members = star_edges(np.concatenate(keys), are_ignored=ignored)
    return numbers[firsts], numbers[members]


def pack_components(
    roots: Int64s, contents: Contents, plan: DedupPlan, workspace: Workspace, runner: Runner
) -> Partitions:
    """Pack the components of two contents or more into partitions, in the order of their firsts.

    A partition is worked on by one thread, and what is compared of its documents is then in
    memory. A component that takes more than that has a partition of its own.
    """
    is_alone = np.bincount(roots, minlength=len(roots)) == 1
    documents = contents.sorted_by_rank(np.flatnonzero(contents.is_content & ~is_alone[roots]))
    order = np.argsort(roots[documents], kind="stable")
    documents = documents[order]
    components = roots[documents]
    ends = np.flatnonzero(np.diff(components, append=-1)) + 1
    costs: Int64s = np.concatenate([[0], np.cumsum(_bytes_of(documents, contents, plan))])
    bounds = _cut(ends, costs[ends], _capacity(int(costs[-1]), workspace, runner))
    for start, stop in pairwise(bounds.tolist()):
        # In keep order within the partition, whatever the component.
        order = np.argsort(contents.ranks_of(documents[start:stop]))
        documents[start:stop] = documents[start:stop][order]
        components[start:stop] = components[start:stop][order]
    return Partitions(documents, components, bounds)


def _bytes_of(documents: Int64s, contents: Contents, plan: DedupPlan) -> Int64s:
    """Return how much memory each document takes when it is compared."""
    n_shingles = np.maximum(contents.n_tokens_of(documents) - plan.reading.shingles.ngram + 1, 1)
    bytes_of_shingle = 16 if plan.reading.weighted else 8
    return bytes_of_shingle * n_shingles + 8 * plan.banding.bands + _OVERHEAD


def _capacity(n_bytes: int, workspace: Workspace, runner: Runner) -> int:
    """Return how many bytes a partition may have."""
    evenly = -(-n_bytes // (_PARTITIONS_A_WORKER * runner.workers))
    if workspace.work is None:
        return evenly
    return min(evenly, partition_bytes(workspace, runner))


def partition_bytes(workspace: Workspace, runner: Runner) -> int:
    """Return how much memory a partition may take while others are worked on beside it."""
    return workspace.share(_PARTITION_SHARE) // (runner.workers + 1)


def _cut(ends: Int64s, costs: Int64s, capacity: int) -> Int64s:
    """Cut components that end at these places, costs added up, into runs within a capacity."""
    bounds, before = [0], 0
    while bounds[-1] < (ends[-1] if len(ends) else 0):
        last = int(np.searchsorted(costs, before + capacity, side="right")) - 1
        last = max(last, int(np.searchsorted(ends, bounds[-1], side="right")))
        bounds.append(int(ends[last]))
        before = int(costs[last])
    return np.array(bounds, np.int64)
