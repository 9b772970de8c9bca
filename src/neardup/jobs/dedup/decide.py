"""The stage decide: which contents give way to which, carried over to all documents."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from neardup.clustering.components import join_components, join_in_chunks
from neardup.clustering.survivors import SetReader, choose_in_chunks, choose_survivors
from neardup.jobs.dedup.contents import Contents
from neardup.jobs.dedup.plan import DedupPlan
from neardup.matching.buckets import list_full_keys
from neardup.storage.arrays import AnyArray
from neardup.tables import (
    Bools,
    EarlierKeepers,
    Floats,
    Int64s,
    KeyLists,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
)


@dataclass(frozen=True)
class Decision:
    """Contents that go, by their first documents, and for which others of those decided.

    ``n_compared`` pairs were compared exactly, ``n_verified`` of them reached the threshold.
    ``n_beyond`` contents go only because components were asked for.
    """

    documents: Int64s
    keepers: Int64s
    similarities: Floats
    n_compared: int = 0
    n_verified: int = 0
    n_beyond: int = 0

    def as_arrays(self) -> dict[str, AnyArray]:
        """Return it as arrays, counts among them, to be kept."""
        counts = np.array([self.n_compared, self.n_verified, self.n_beyond])
        return {
            "documents": self.documents,
            "keepers": self.keepers,
            "similarities": self.similarities,
            "counts": counts,
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, AnyArray]) -> Decision:
        """Make one of what ``as_arrays`` has returned."""
        counts = arrays["counts"].tolist()
        return cls(arrays["documents"], arrays["keepers"], arrays["similarities"], *counts)

    @classmethod
    def of_all(cls, parts: Iterable[Decision]) -> Decision:
        """Put the decisions of all partitions together."""
        listed = [cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)), *parts]
        return cls(
            np.concatenate([part.documents for part in listed]),
            np.concatenate([part.keepers for part in listed]),
            np.concatenate([part.similarities for part in listed]),
            sum(part.n_compared for part in listed),
            sum(part.n_verified for part in listed),
            sum(part.n_beyond for part in listed),
        )


@dataclass(frozen=True)
class Assignment:
    """What each document of the collection gives way to.

    ``keepers`` is -1 for a document that stays, else the number of the one that stays for it;
    documents of the collection it is compared ``against`` are numbered first, of an index only
    those that others go for. ``similarities`` are NaN for documents that stay. ``exact`` marks
    exact copies of their keeper, none where ``copies_are_known`` is not so.
    """

    keepers: Int64s
    similarities: Floats
    exact: Bools
    copies_are_known: bool = True

    @property
    def stays(self) -> Bools:
        """Whether each document stays."""
        stays: Bools = self.keepers < 0
        return stays

    def without(self, documents: Bools) -> Assignment:
        """Return the same where some documents stay."""
        return Assignment(
            np.where(documents, -1, self.keepers),
            np.where(documents, np.nan, self.similarities),
            self.exact & ~documents,
            self.copies_are_known,
        )


def decide(
    documents: Int64s,
    keys: KeyLists,
    sets: ShingleSets | WeightedSets,
    plan: DedupPlan,
    n_fixed: int,
    earlier: EarlierKeepers | None = None,
    progress: Callable[[int], None] | None = None,
) -> Decision:
    """Go through some contents in keep order and decide which of them stay.

    The first ``n_fixed`` stay in any case, and those that have an ``earlier`` keeper go. No
    document outside shares a component with them.
    """
    chosen = choose_survivors(
        keys, sets, plan.measure, n_fixed=n_fixed, earlier=earlier, progress=progress
    )
    joined = None
    if plan.options.clusters == "components":
        joined = join_components(keys, sets, plan.measure, n_fixed=n_fixed, progress=progress)
    return _decision(documents, chosen, joined)


def decide_within(
    documents: Int64s,
    keys: Uint64s,
    components: Int64s,
    sizes: Int64s,
    read_sets: SetReader,
    plan: DedupPlan,
    n_fixed: int,
    capacity: int | None,
    earlier: EarlierKeepers | None = None,
) -> Decision:
    """Decide as ``decide`` with so many elements in memory at once, None for all.

    Arguments as of ``choose_in_chunks``.
    """
    if capacity is None or int(sizes.sum()) <= capacity:
        own_sets = read_sets(np.arange(len(documents)))
        lists = list_full_keys(keys, components)
        return decide(documents, lists, own_sets, plan, n_fixed, earlier)
    chosen = choose_in_chunks(
        keys,
        sizes,
        read_sets,
        plan.measure,
        components=components,
        n_fixed=n_fixed,
        earlier=earlier,
        capacity=capacity,
    )
    joined = None
    if plan.options.clusters == "components":
        joined = join_in_chunks(
            keys,
            sizes,
            read_sets,
            plan.measure,
            chosen,
            components=components,
            n_fixed=n_fixed,
            capacity=capacity,
        )
    return _decision(documents, chosen, joined)


def _decision(documents: Int64s, chosen: Removals, joined: Removals | None) -> Decision:
    """Return what was decided of contents, by the numbers of their documents.

    Counts are those of the survivors: how many pairs it takes to join the rest depends on the order
    in which they meet.
    """
    removals = chosen if joined is None else joined
    gone = np.flatnonzero(removals.keepers >= 0)
    return Decision(
        documents[gone],
        documents[removals.keepers[gone]],
        removals.similarities[gone],
        chosen.n_compared,
        chosen.n_verified,
        len(gone) - int(np.count_nonzero(chosen.keepers >= 0)),
    )


def assign(contents: Contents, decision: Decision) -> Assignment:
    """Carry the decision about contents over to documents.

    An exact copy follows its content: where that stays, the content's first document stays and
    its copies go for it; where it goes, all its documents go for the same keeper.
    """
    n_other, earlier = len(contents.other), contents.earlier
    gone_for: Int64s = np.full(len(contents.firsts), -1, np.int64)
    similarity_of = np.full(len(contents.firsts), np.nan)
    # Documents of an index are not among those that were decided.
    n_of_index = contents.n_others - n_other
    if earlier is not None:
        gone_for[earlier.rows] = earlier.places
        similarity_of[earlier.rows] = earlier.keepers.similarities
    gone_for[decision.documents] = n_of_index + decision.keepers
    similarity_of[decision.documents] = decision.similarities

    firsts = contents.firsts[n_other:]
    filled = np.flatnonzero(firsts >= 0)
    first = firsts[filled]
    exact = np.zeros(len(firsts), np.bool_)
    exact[filled] = (gone_for[first] < 0) & (first != filled + n_other)
    keepers: Int64s = np.full(len(firsts), -1, np.int64)
    keepers[filled] = gone_for[first]
    keepers[exact] = n_of_index + firsts[exact]
    similarities = np.full(len(firsts), np.nan)
    similarities[filled] = similarity_of[first]
    similarities[exact] = 1.0
    if earlier is not None:
        exact[earlier.rows] = earlier.keepers.are_copies
    return Assignment(keepers, similarities, exact)
