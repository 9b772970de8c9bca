"""The stage copies: documents of equal token sequences are one content, its first in keep order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.clustering.keep import KeepPolicy
from neardup.files.rows import Source
from neardup.jobs.dedup.plan import DedupPlan
from neardup.reading.catalogue import Catalogue
from neardup.reading.copies import find_copies
from neardup.reading.second_pass import read_comparable, read_sets
from neardup.reading.sign_pass import Signed, sign_collections
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s, ShingleSets, WeightedSets

if TYPE_CHECKING:
    from neardup.storage.workspace import Workspace


@dataclass(frozen=True)
class Contents:
    """The documents of a collection and of the one it is compared against, and their contents.

    Documents of ``other`` are numbered before those of ``own``; they stay in any case. A content is
    known by its first document in keep order: ``firsts`` has that of each document, -1 for one
    without tokens. ``ranks`` are the documents' places in keep order, None if that is their own.
    """

    own: Catalogue
    other: Catalogue
    firsts: Int64s
    ranks: Int64s | None

    @property
    def catalogues(self) -> tuple[Catalogue, Catalogue]:
        """Both collections, in the order in which their documents are numbered."""
        return self.other, self.own

    @property
    def is_content(self) -> Bools:
        """Which documents stand for a content."""
        is_content: Bools = self.firsts == np.arange(len(self.firsts))
        return is_content

    def count(self) -> int:
        """Count the contents."""
        return int(np.count_nonzero(self.is_content))

    def in_keep_order(self) -> Int64s:
        """Return the documents that stand for contents; those that stay in any case come first."""
        return self.sorted_by_rank(np.flatnonzero(self.is_content))

    def sorted_by_rank(self, documents: Int64s) -> Int64s:
        """Return some documents in keep order."""
        return documents[np.argsort(self.ranks_of(documents), kind="stable")]

    def ranks_of(self, documents: Int64s) -> Int64s:
        """Return the places of some documents in keep order."""
        return documents if self.ranks is None else self.ranks[documents]

    def n_tokens_of(self, documents: Int64s) -> Int64s:
        """Return how many tokens some documents have."""
        n_tokens: Int64s = np.empty(len(documents), np.int64)
        is_own = documents >= len(self.other)
        n_tokens[~is_own] = self.other.n_tokens[documents[~is_own]]
        n_tokens[is_own] = self.own.n_tokens[documents[is_own] - len(self.other)]
        return n_tokens

    def count_fixed(self, documents: Int64s) -> int:
        """Count the documents among some that stay in any case."""
        return int(np.count_nonzero(documents < len(self.other)))

    def read_comparable(
        self, documents: Int64s, plan: DedupPlan, runner: Runner
    ) -> ShingleSets | WeightedSets:
        """Read what the measure compares of some documents."""
        wanted = np.split(self.places_of(documents), [len(self.other)])
        return read_comparable(self.catalogues, wanted, plan.reading, runner)

    def read_sets(self, documents: Int64s, plan: DedupPlan, runner: Runner) -> ShingleSets:
        """Read the shingle sets of some documents."""
        wanted = np.split(self.places_of(documents), [len(self.other)])
        return read_sets(self.catalogues, wanted, plan.reading, runner)

    def places_of(self, documents: Int64s) -> Int64s:
        """Return each document's place among some, -1 for none."""
        places: Int64s = np.full(len(self.firsts), -1, np.int64)
        places[documents] = np.arange(len(documents))
        return places


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
    ranks = None
    if keep.rule != "first":
        order = keep.order(len(own), own.lengths, own.order)
        ranks = np.arange(len(other) + len(own), dtype=np.int64)
        ranks[len(other) + order] = np.arange(len(other), len(ranks))
    firsts = find_copies(signed.batches, len(other) + len(own), ranks, workspace)
    return Contents(own, other, firsts, ranks)
