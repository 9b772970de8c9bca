"""The stage copies: documents of equal token sequences are one content, its first in keep order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.clustering.keep import KeepPolicy
from neardup.files.rows import Source
from neardup.jobs.dedup.earlier import Earlier
from neardup.jobs.dedup.plan import DedupPlan
from neardup.jobs.stages.contents import NumberedContents
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import Signed, find_copies, sign_collections
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    from neardup.storage.work import Workspace


@dataclass(frozen=True)
class Contents(NumberedContents):
    """The documents of a collection and of the one it is compared against, and their contents.

    Documents of ``other`` are numbered before those of ``own``; they stay in any case. Where the
    collection is compared with an index instead, ``other`` is empty, and ``earlier`` are documents
    that go for one of the index; what is settled of these takes no further part.
    """

    own: Catalogue
    other: Catalogue
    firsts: Int64s
    ranks: Int64s | None
    earlier: Earlier | None = None

    @property
    def is_content(self) -> Bools:
        """Which documents stand for a content that is to be compared."""
        is_content = super().is_content
        if self.earlier is not None:
            is_content[self.earlier.settled] = False
        return is_content

    @property
    def n_others(self) -> int:
        """Documents in front of those of ``own`` in an assignment: of an index those gone for."""
        return len(self.other if self.earlier is None else self.earlier.index_documents)

    def count(self) -> int:
        """Count the contents, also those that are settled."""
        return int(np.count_nonzero(super().is_content))

    @property
    def catalogues(self) -> tuple[Catalogue, Catalogue]:
        """Both collections, in the order in which their documents are numbered."""
        return self.other, self.own

    def in_keep_order(self) -> Int64s:
        """Return the documents that stand for contents; those that stay in any case come first."""
        return self.sorted_by_rank(np.flatnonzero(self.is_content))

    def count_fixed(self, documents: Int64s) -> int:
        """Count the documents among some that stay in any case."""
        return int(np.count_nonzero(documents < len(self.other)))

    def need_not_meet(self) -> Bools:
        """Mark documents of which no two are compared: those that stay, or go, in any case."""
        marks: Bools = np.arange(len(self.firsts)) < len(self.other)
        if self.earlier is not None:
            marks[self.earlier.rows] = True
        return marks


def sign_documents(
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: DedupPlan,
    workspace: Workspace,
    runner: Runner,
) -> Signed:
    """Read all documents once; those of the other collection come first."""
    others = plan.reading.for_other(plan.options.other_columns)
    return sign_collections([(against, others), (sources, plan.reading)], workspace, runner)


def find_contents(
    signed: Signed, keep: KeepPolicy, workspace: Workspace, *, is_looked_up: bool = False
) -> Contents:
    """Find each content's first document in keep order; ``is_looked_up``: in an index, too."""
    other, own = signed.catalogues
    ranks = rank_documents(own, other, keep)
    firsts = find_copies(signed.batches, len(other) + len(own), ranks, workspace)
    earlier = Earlier.of(signed.batches) if is_looked_up else None
    return Contents(own, other, firsts, ranks, earlier)


def rank_documents(own: Catalogue, other: Catalogue, keep: KeepPolicy) -> Int64s | None:
    """Return the places of all documents in keep order, None if that is their own."""
    if keep.rule == "first":
        return None
    order = keep.order(len(own), own.lengths, own.order)
    ranks: Int64s = np.arange(len(other) + len(own), dtype=np.int64)
    ranks[len(other) + order] = np.arange(len(other), len(ranks))
    return ranks
