"""The distinct contents of two collections in keep order, read again when they are compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neardup.clustering.keep import KeepPolicy
from neardup.files.rows import Source
from neardup.jobs.dedup.plan import DedupPlan
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import FirstPass, read_collections
from neardup.reading.second_pass import read_sets, read_weighted_sets
from neardup.runtime.runner import Runner
from neardup.tables import BandKeys, Int64s, ShingleSets, WeightedSets


@dataclass(frozen=True)
class Contents:
    """The distinct contents of a collection and of the one it is compared against, in keep order.

    Documents of ``other`` are numbered before those of ``own``. ``firsts`` is each content's first
    document in keep order; ``order`` lists the contents, the first ``n_fixed`` of which stay in any
    case, because they occur in ``other``.
    """

    own: Catalogue
    other: Catalogue
    firsts: Int64s
    order: Int64s
    n_fixed: int

    def __len__(self) -> int:
        return len(self.order)

    @property
    def catalogues(self) -> tuple[Catalogue, Catalogue]:
        """Both collections, in the order in which their documents are numbered."""
        return self.other, self.own

    def read_sets(self, contents: Int64s, plan: DedupPlan, runner: Runner) -> ShingleSets:
        """Read the shingle sets of some contents."""
        return read_sets(self.catalogues, self._places(contents), plan.reading, runner)

    def read_comparable(
        self, contents: Int64s, plan: DedupPlan, runner: Runner
    ) -> ShingleSets | WeightedSets:
        """Read what the measure compares of some contents."""
        weighted = plan.reading.weighted
        if weighted is None:
            return self.read_sets(contents, plan, runner)
        places = self._places(contents)
        return read_weighted_sets(self.catalogues, places, plan.reading, weighted, runner)

    def _places(self, contents: Int64s) -> list[Int64s]:
        """Return each document's place among some contents, -1 for none; split by catalogue."""
        places: Int64s = np.full(len(self.other) + len(self.own), -1, np.int64)
        places[self.firsts[contents]] = np.arange(len(contents))
        return np.split(places, [len(self.other)])


def read_contents(
    sources: Sequence[Source], against: Sequence[Source], plan: DedupPlan, runner: Runner
) -> tuple[Contents, BandKeys]:
    """Read all documents once; return their contents in keep order, and the contents' band keys.

    Keys are numbered as contents are, not in keep order.
    """
    others = plan.reading.for_other(plan.options.other_columns)
    found = read_collections([(against, others), (sources, plan.reading)], runner)
    return _order_contents(found, plan.keep), found.keys


def _order_contents(found: FirstPass, keep: KeepPolicy) -> Contents:
    """Find each content's first document in keep order, and the contents' own order.

    Contents of the other collection come first, in input order.
    """
    other, own = found.catalogues
    n_fixed = found.content_ends[0]
    document_order = np.concatenate(
        [
            np.arange(len(other), dtype=np.int64),
            keep.order(len(own), own.lengths, own.order) + len(other),
        ]
    )
    contents = np.concatenate([other.contents, own.contents])[document_order]
    document_order = document_order[contents >= 0]
    contents = contents[contents >= 0]
    firsts: Int64s = np.empty(found.n_contents, np.int64)
    ranks: Int64s = np.empty(found.n_contents, np.int64)
    # Assigned backwards, so that the first document of each content is what remains.
    firsts[contents[::-1]] = document_order[::-1]
    ranks[contents[::-1]] = np.arange(len(contents), dtype=np.int64)[::-1]
    order = np.argsort(ranks, kind="stable")
    assert (order[:n_fixed] < n_fixed).all()
    return Contents(own, other, firsts, order, n_fixed)
