"""From documents to distinct contents in keep order, and the decision about those back again."""

from __future__ import annotations

import numpy as np

from neardup.clustering.keep import KeepPolicy
from neardup.jobs.dedup.result import Assignment
from neardup.reading.first_pass import Catalogue
from neardup.tables import Floats, Int64s, Removals


def order_contents(
    own: Catalogue, other: Catalogue, n_contents: int, n_fixed: int, keep: KeepPolicy
) -> tuple[Int64s, Int64s]:
    """Find each content's first document in keep order, and the contents' own order.

    Documents of ``other`` are numbered before those of ``own``. The first ``n_fixed`` contents
    occur in ``other``; they come first, in input order.
    """
    document_order = np.concatenate(
        [
            np.arange(len(other), dtype=np.int64),
            keep.order(len(own), own.lengths, own.order) + len(other),
        ]
    )
    contents = np.concatenate([other.contents, own.contents])[document_order]
    document_order = document_order[contents >= 0]
    contents = contents[contents >= 0]
    firsts: Int64s = np.empty(n_contents, np.int64)
    ranks: Int64s = np.empty(n_contents, np.int64)
    # Assigned backwards, so that the first document of each content is what remains.
    firsts[contents[::-1]] = document_order[::-1]
    ranks[contents[::-1]] = np.arange(len(contents), dtype=np.int64)[::-1]
    order = np.argsort(ranks, kind="stable")
    assert (order[:n_fixed] < n_fixed).all()
    return firsts, order


def places_of(documents: Int64s, n_other: int, n_own: int) -> tuple[Int64s, Int64s]:
    """Give every document its place in ``documents``, -1 for none; split by catalogue."""
    places: Int64s = np.full(n_other + n_own, -1, np.int64)
    places[documents] = np.arange(len(documents))
    return places[:n_other], places[n_other:]


def assign(
    own: Catalogue, other: Catalogue, firsts: Int64s, candidates: Int64s, removals: Removals
) -> Assignment:
    """Carry the decision about contents over to documents.

    An exact copy follows its content: where that stays, the content's first document stays and
    its copies go for it; where it goes, all its documents go for the same keeper.
    """
    n_contents = len(firsts)
    content_keepers: Int64s = np.full(n_contents, -1, np.int64)
    content_similarities: Floats = np.full(n_contents, np.nan)
    gone = np.flatnonzero(removals.keepers >= 0)
    content_keepers[candidates[gone]] = candidates[removals.keepers[gone]]
    content_similarities[candidates[gone]] = removals.similarities[gone]

    documents = np.arange(len(other), len(other) + len(own), dtype=np.int64)
    keepers: Int64s = np.full(len(own), -1, np.int64)
    similarities: Floats = np.full(len(own), np.nan)
    exact = np.zeros(len(own), np.bool_)
    filled = np.flatnonzero(own.contents >= 0)
    contents = own.contents[filled]
    stays = content_keepers[contents] < 0
    first_documents = firsts[np.where(stays, contents, content_keepers[contents])]
    removed = first_documents != documents[filled]
    rows = filled[removed]
    keepers[rows] = first_documents[removed]
    exact[rows] = stays[removed]
    similarities[rows] = np.where(stays[removed], 1.0, content_similarities[contents[removed]])
    return Assignment(keepers, similarities, exact)
