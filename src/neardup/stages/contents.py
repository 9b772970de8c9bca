"""The stage copies: group documents by equal token sequences."""

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

# Documents removed in favour of an index document, unless a kept one is more similar.


@dataclass(frozen=True)
class Earlier:
    """Documents similar to an index document, and that document.

    ``rows`` are their ascending numbers, ``keepers`` the index documents. None of the rows stays.
    The index numbers its denied documents from ``first_denied`` on.
    """

    rows: Int64s
    keepers: EarlierKeepers
    first_denied: int

    @classmethod
    def of(cls, batches: SignedBatches, first_denied: int) -> Earlier:
        """Collect them from signed documents."""
        rows, found = [np.empty(0, np.int64)], []
        for start, keepers in batches.earlier():
            here = np.flatnonzero(keepers.documents >= 0)
            rows.append(start + here)
            found.append(keepers.take(here))
        return cls(np.concatenate(rows), EarlierKeepers.joined(found), first_denied)

    @cached_property
    def index_documents(self) -> Int64s:
        """Distinct index documents that replace others, ascending."""
        return np.unique(self.keepers.documents)

    @property
    def places(self) -> Int64s:
        """Positions of the keepers in ``index_documents``."""
        return np.searchsorted(self.index_documents, self.keepers.documents)

    @property
    def are_denied(self) -> Bools:
        """Mask of documents with the same tokens as a denied one."""
        return self.keepers.are_copies & (self.keepers.documents >= self.first_denied)

    @property
    def settled(self) -> Int64s:
        """Documents whose keeper is final."""
        return self.rows[self.keepers.are_settled]

    def of_documents(self, documents: Int64s) -> EarlierKeepers:
        """Return the keepers of documents; -1 for none."""
        if not len(self.rows):
            return EarlierKeepers.none(len(documents))
        places = np.minimum(np.searchsorted(self.rows, documents), len(self.rows) - 1)
        found = self.keepers.take(places)
        found.documents[self.rows[places] != documents] = -1
        return found


@dataclass(frozen=True)
class Contents(NumberedContents):
    """Contents of a collection and of its reference collection.

    Documents of ``other`` are numbered before ``own``; all of them stay. With an index as a further
    reference, ``earlier`` are documents with a keeper there; documents with a final keeper take no
    further part.
    """

    own: Catalogue
    other: Catalogue
    firsts: Int64s
    ranks: Int64s | None
    earlier: Earlier | None = None

    @property
    def is_content(self) -> Bools:
        """Mask of documents that represent a content to be compared."""
        is_content = super().is_content
        if self.earlier is not None:
            is_content[self.earlier.settled] = False
        return is_content

    @property
    def n_others(self) -> int:
        """Number of documents before ``own`` in an assignment.

        They are the index documents that replace others, then the other collection.
        """
        n_of_index = 0 if self.earlier is None else len(self.earlier.index_documents)
        return n_of_index + len(self.other)

    def count(self) -> int:
        """Count all contents."""
        return int(np.count_nonzero(super().is_content))

    @property
    def catalogues(self) -> tuple[Catalogue, Catalogue]:
        """Both collections, in the order of document numbers."""
        return self.other, self.own

    def in_keep_order(self) -> Int64s:
        """Return the documents of contents; documents that stay in any case come first."""
        return self.sorted_by_rank(np.flatnonzero(self.is_content))

    def count_fixed(self, documents: Int64s) -> int:
        """Count the documents that stay in any case."""
        return int(np.count_nonzero(documents < len(self.other)))

    def need_not_meet(self) -> Bools:
        """Mask documents whose decision is known, so that no two of them are compared.

        A document with an index keeper is still compared with another collection, which may have a
        more similar document.
        """
        marks: Bools = np.arange(len(self.firsts)) < len(self.other)
        if self.earlier is not None and not len(self.other):
            marks[self.earlier.rows] = True
        return marks


def sign_documents(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: DedupPlan
) -> Read:
    """Read all documents once; the other collection comes first."""
    others = replace(plan.reading.for_other(other_columns_of(plan.options)), look_up=None)
    return engine.sign([(against, others), (sources, plan.reading)])


def find_contents(
    engine: Engine, read: Read, keep: KeepPolicy, first_denied: int | None = None
) -> Contents:
    """Find each content's first document in keep order.

    ``first_denied`` is the index's first denied document, if an index was searched.
    """
    other, own = read.catalogues
    ranks = rank_documents(own, other, keep)
    firsts = find_firsts(engine, read, ranks)
    earlier = None if first_denied is None else Earlier.of(read.known, first_denied)
    return Contents(own, other, firsts, ranks, earlier)


def rank_documents(own: Catalogue, other: Catalogue, keep: KeepPolicy) -> Int64s | None:
    """Return the positions of all documents in keep order, None if they are in keep order."""
    if keep.rule == "first":
        return None
    order = keep.order(len(own), own.lengths, own.order)
    ranks: Int64s = np.arange(len(other) + len(own), dtype=np.int64)
    ranks[len(other) + order] = np.arange(len(other), len(ranks))
    return ranks
