"""The stage copies: documents of equal token sequences are one content, its first in keep order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.clustering.keep import KeepPolicy
from neardup.files.rows import Source
from neardup.jobs.dedup.plan import DedupPlan
from neardup.jobs.stages.contents import NumberedContents
from neardup.reading.catalogue import Catalogue
from neardup.reading.copies import find_copies
from neardup.reading.sign_pass import Signed, sign_collections
from neardup.runtime.runner import Runner
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.storage.workspace import Workspace


@dataclass(frozen=True)
class Contents(NumberedContents):
    """The documents of a collection and of the one it is compared against, and their contents.

    Documents of ``other`` are numbered before those of ``own``; they stay in any case.
    """

    own: Catalogue
    other: Catalogue
    firsts: Int64s
    ranks: Int64s | None

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


def find_contents(signed: Signed, keep: KeepPolicy, workspace: Workspace) -> Contents:
    """Find each content's first document in keep order."""
    other, own = signed.catalogues
    ranks = rank_documents(own, other, keep)
    firsts = find_copies(signed.batches, len(other) + len(own), ranks, workspace)
    return Contents(own, other, firsts, ranks)


def rank_documents(own: Catalogue, other: Catalogue, keep: KeepPolicy) -> Int64s | None:
    """Return the places of all documents in keep order, None if that is their own."""
    if keep.rule == "first":
        return None
    order = keep.order(len(own), own.lengths, own.order)
    ranks: Int64s = np.arange(len(other) + len(own), dtype=np.int64)
    ranks[len(other) + order] = np.arange(len(other), len(ranks))
    return ranks
