"""The stage components: contents that hang together by shared buckets, packed into partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.stages.contents import NumberedContents
from neardup.kernels.common.union_find import find_roots, union_edges
from neardup.matching.buckets import star_edges
from neardup.reading.first_pass import part_of
from neardup.runtime.runner import Runner
from neardup.storage.kept_arrays import keep_arrays, kept_arrays
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    from neardup.reading.sign import ReadingPlan
    from neardup.reading.signed_batches import SignedBatches
    from neardup.storage.work import Workspace

# Memory of a document whose key in a band is sorted, and the share that all workers take for that.
SORTING_BYTES = 60
SORTING_SHARE = 0.4

# The share of the memory that all partitions take that are worked on at the same time.
PARTITION_SHARE = 0.4

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
    contents: NumberedContents,
    workspace: Workspace,
    runner: Runner,
    are_ignored: Bools | None = None,
) -> Int64s:
    """Find for each document the first one of its component, itself if it is no content.

    Contents are of one component that share a band key, all 64 bits of it, or are connected by
    others that do. Documents that ``are_ignored`` do not meet each other.
    """
    documents, n_documents = np.flatnonzero(contents.is_content), len(contents.firsts)
    n_bands = batches.n_bands
    n_passes = workspace.passes(
        n_documents * SORTING_BYTES * min(runner.workers, n_bands), SORTING_SHARE
    )
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    work = product(range(n_bands), range(n_passes))
    edges = partial(_band_edges, batches, documents, n_passes, are_ignored)
    for done, (firsts, members) in enumerate(runner.map(edges, work), 1):
        union_edges(parents, firsts, members)
        runner.report("bucket", done, n_bands * n_passes)
    find_roots(parents)
    return parents


def _band_edges(
    batches: SignedBatches,
    documents: Int64s,
    n_passes: int,
    are_ignored: Bools | None,
    work: tuple[int, int],
) -> tuple[Int64s, Int64s]:
    """Return edges between documents of equal keys of one band, those in one range of keys."""
    band, number = work
    keys, wanted = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for start, values in batches.band(band):
        first, last = np.searchsorted(documents, [start, start + len(values)])
        own = documents[first:last]
        own_keys = values[own - start]
        if n_passes > 1:
            is_wanted = part_of(own_keys, n_passes) == number
            own, own_keys = own[is_wanted], own_keys[is_wanted]
        keys.append(own_keys)
        wanted.append(own)
    numbers = np.concatenate(wanted)
    ignored = None if are_ignored is None else are_ignored[numbers]
    firsts, members = star_edges(np.concatenate(keys), are_ignored=ignored)
    return numbers[firsts], numbers[members]


def pack_components(
    roots: Int64s,
    contents: NumberedContents,
    reading: ReadingPlan,
    room: int | None,
    n_least: int = 1,
    are_packed: Bools | None = None,
) -> Partitions:
    """Pack components into partitions, in the order of their firsts.

    Parameters
    ----------
    roots
        First document of each document's component.
    contents
        Whose components they are.
    reading
        Says how much is compared of a document.
    room
        Bytes that a partition may take when its documents are compared, None if that does not
        matter. A component that takes more has a partition of its own.
    n_least
        Partitions of about the same size that there should be at least.
    are_packed
        Documents that are packed though they are alone in their component.
    """
    has_place = contents.is_content & ~(np.bincount(roots, minlength=len(roots)) == 1)[roots]
    if are_packed is not None:
        has_place |= are_packed
    documents = contents.sorted_by_rank(np.flatnonzero(has_place))
    order = np.argsort(roots[documents], kind="stable")
    documents = documents[order]
    components = roots[documents]
    ends = np.flatnonzero(np.diff(components, append=-1)) + 1
    n_tokens = contents.n_tokens_of(documents)
    costs: Int64s = np.concatenate([[0], np.cumsum(bytes_of(n_tokens, reading))])
    evenly = -(-int(costs[-1]) // n_least)
    bounds = _cut(ends, costs[ends], evenly if room is None else min(evenly, room))
    for start, stop in pairwise(bounds.tolist()):
        # In keep order within the partition, whatever the component.
        order = np.argsort(contents.ranks_of(documents[start:stop]))
        documents[start:stop] = documents[start:stop][order]
        components[start:stop] = components[start:stop][order]
    return Partitions(documents, components, bounds)


def bytes_of(n_tokens: Int64s, reading: ReadingPlan) -> Int64s:
    """Return how much memory documents of so many tokens take when they are compared."""
    n_shingles = np.maximum(n_tokens - reading.shingles.ngram + 1, 1)
    n_bands = reading.banding.bands if reading.banding else 0
    return (16 if reading.weighted else 8) * n_shingles + 8 * n_bands + _OVERHEAD


def room_of_partition(workspace: Workspace, n_at_once: int) -> int | None:
    """Return how many bytes a partition may take while others are in memory beside it.

    None if all stays in memory in any case.
    """
    return None if workspace.work is None else workspace.share(PARTITION_SHARE) // n_at_once


def _cut(ends: Int64s, costs: Int64s, capacity: int) -> Int64s:
    """Cut components that end at these places, costs added up, into runs within a capacity."""
    bounds, before = [0], 0
    while bounds[-1] < (ends[-1] if len(ends) else 0):
        last = int(np.searchsorted(costs, before + capacity, side="right")) - 1
        last = max(last, int(np.searchsorted(ends, bounds[-1], side="right")))
        bounds.append(int(ends[last]))
        before = int(costs[last])
    return np.array(bounds, np.int64)
