"""The stage copies: documents of equal token sequences are one content, its first in keep order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from neardup.engine.engine import Engine, Read
from neardup.files.rows import Source
from neardup.matching.keep import KeepPolicy
from neardup.reading.catalogue import Catalogue
from neardup.reading.signed_batches import SignedBatches
from neardup.stages.components import NumberedContents, find_firsts
from neardup.stages.options import other_columns_of
from neardup.stages.plan import DedupPlan
from neardup.tables import Bools, EarlierKeepers, Int64s

# Documents that go for one of an index, unless one that stays is more similar.


@dataclass(frozen=True)
class Earlier:
    """Documents that are similar to one of an index, and the one that each goes for.

    ``rows`` are their numbers, which ascend, ``keepers`` what they go for. None of them stays. The
    index numbers those that it denies from ``first_denied`` on.
    """

    rows: Int64s
    keepers: EarlierKeepers
    first_denied: int

    @classmethod
    def of(cls, batches: SignedBatches, first_denied: int) -> Earlier:
        """Collect them from what was signed."""
        rows, found = [np.empty(0, np.int64)], []
        for start, keepers in batches.earlier():
            here = np.flatnonzero(keepers.documents >= 0)
            rows.append(start + here)
            found.append(keepers.take(here))
        return cls(np.concatenate(rows), EarlierKeepers.joined(found), first_denied)

    @cached_property
    def index_documents(self) -> Int64s:
        """The documents of the index that others go for, each once, ascending."""
        return np.unique(self.keepers.documents)

    @property
    def places(self) -> Int64s:
        """Where the documents that are gone for stand among ``index_documents``."""
        return np.searchsorted(self.index_documents, self.keepers.documents)

    @property
    def are_denied(self) -> Bools:
        """Which have the same tokens as one that the index denies."""
        return self.keepers.are_copies & (self.keepers.documents >= self.first_denied)

    @property
    def settled(self) -> Int64s:
        """Documents that no other one may take."""
        return self.rows[self.keepers.are_settled]

    def of_documents(self, documents: Int64s) -> EarlierKeepers:
        """Return what some documents go for; -1 is nothing."""
        if not len(self.rows):
            return EarlierKeepers.none(len(documents))
        places = np.minimum(np.searchsorted(self.rows, documents), len(self.rows) - 1)
        found = self.keepers.take(places)
        found.documents[self.rows[places] != documents] = -1
        return found


@dataclass(frozen=True)
class Contents(NumberedContents):
    """The documents of a collection and of the one it is compared against, and their contents.

    Documents of ``other`` are numbered before those of ``own``; they stay in any case. Where the
    collection is compared with an index, too, ``earlier`` are documents that go for one of that;
    what is settled of these takes no further part.
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
        """Documents in front of those of ``own`` in an assignment.

        Those of an index that others go for, and behind them those of the other collection.
        """
        n_of_index = 0 if self.earlier is None else len(self.earlier.index_documents)
        return n_of_index + len(self.other)

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
        """Mark documents of which no two are compared: those that stay, or go, in any case.

        What goes for one of an index is compared with another collection all the same, of which a
        document may be more similar.
        """
        marks: Bools = np.arange(len(self.firsts)) < len(self.other)
        if self.earlier is not None and not len(self.other):
            marks[self.earlier.rows] = True
        return marks


def sign_documents(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: DedupPlan
) -> Read:
    """Read all documents once; those of the other collection come first."""
    others = replace(plan.reading.for_other(other_columns_of(plan.options)), look_up=None)
    return engine.sign([(against, others), (sources, plan.reading)])


def find_contents(
    engine: Engine, read: Read, keep: KeepPolicy, first_denied: int | None = None
) -> Contents:
    """Find each content's first document in keep order.

    ``first_denied`` is that of the index in which they were looked up, if they were.
    """
    other, own = read.catalogues
    ranks = rank_documents(own, other, keep)
    firsts = find_firsts(engine, read, ranks)
    earlier = None if first_denied is None else Earlier.of(read.known, first_denied)
    return Contents(own, other, firsts, ranks, earlier)


def rank_documents(own: Catalogue, other: Catalogue, keep: KeepPolicy) -> Int64s | None:
    """Return the places of all documents in keep order, None if that is their own."""
    if keep.rule == "first":
        return None
    order = keep.order(len(own), own.lengths, own.order)
    ranks: Int64s = np.arange(len(other) + len(own), dtype=np.int64)
    ranks[len(other) + order] = np.arange(len(other), len(ranks))
    return ranks
