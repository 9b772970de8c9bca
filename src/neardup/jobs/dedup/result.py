"""The result of ``deduplicate``: tables of what goes and why, and the way to write them out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.files.ids import as_text, join_ids
from neardup.jobs.dedup.decide import Assignment
from neardup.jobs.selection import Selection, in_batches
from neardup.reading.catalogue import Catalogue
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class _Clusters(NamedTuple):
    """Each document's representative and cluster, and each cluster's size."""

    representatives: Int64s
    ids: Int64s
    sizes: Int64s


class DeduplicationResult(Selection):
    """Which documents stay, which go, and why.

    ``kept``, ``removed`` and ``clusters`` are Arrow tables, worked out when asked for; ``summary``
    is a dictionary of options, counts and times. As an Arrow stream it is the rows that stay.
    """

    def __init__(
        self, own: Catalogue, other: Catalogue, assignment: Assignment, summary: dict[str, Any]
    ) -> None:
        super().__init__(own, assignment.stays, summary)
        self._other = other
        self._assignment = assignment

    def headline(self) -> str:
        """Return the counts of documents kept and removed."""
        counts = self.summary
        return (
            f"{counts['documents_in']:,} documents: "
            f"{counts['documents_kept']:,} kept, {counts['documents_removed']:,} removed, "
            f"{counts['exact_copies']:,} of those exact copies"
        )

    def origins(self) -> Sequence[str | None]:
        """Return the paths and URLs of both collections."""
        return [*super().origins(), *(source.origin for source in self._other.sources)]

    def tables(self) -> dict[str, pa.RecordBatchReader]:
        """Return the tables that are written beside the rows."""
        clusters = partial(self._cluster_rows, self._find_clusters())
        return {
            "removed.parquet": in_batches(self._removed_rows, self._removed_numbers()),
            "clusters.parquet": in_batches(clusters, self._document_numbers()),
        }

    @cached_property
    def removed(self) -> pa.Table:
        """One row for each removed document.

        ``id``, ``kept_id``, ``similarity``, ``exact_copy``, ``file``, ``row`` and ``kept_in``:
        whether the one that stays for it is of the ``input`` or of ``against``.
        """
        return self._removed_rows(self._removed_numbers())

    @cached_property
    def clusters(self) -> pa.Table:
        """One row for each document: id, cluster_id, cluster_size, is_duplicate, representative_id.

        Clusters are numbered from 0 in the order of their representatives in the input. The size
        counts the representative, also where it belongs to the collection compared ``against``.
        """
        return self._cluster_rows(self._find_clusters(), self._document_numbers())

    def _removed_numbers(self) -> Int64s:
        return np.flatnonzero(~self._stays)

    def _document_numbers(self) -> Int64s:
        """Return the numbers of all rows that are documents."""
        return np.flatnonzero(self._documents.is_document)

    def _removed_rows(self, gone: Int64s) -> pa.Table:
        import pyarrow as pa

        keepers = self._assignment.keepers[gone]
        return pa.table(
            {
                "id": self._own_ids.take(gone),
                "kept_id": self._ids.take(keepers),
                "similarity": self._assignment.similarities[gone],
                "exact_copy": self._assignment.exact[gone],
                "file": self._documents.document_files(gone),
                "row": self._documents.numbers[gone],
                "kept_in": np.where(keepers < len(self._other), "against", "input"),
            }
        )

    def _find_clusters(self) -> _Clusters:
        n_other, n_own = len(self._other), len(self._documents)
        own_numbers = np.arange(n_other, n_other + n_own, dtype=np.int64)
        representatives = np.where(self._stays, own_numbers, self._assignment.keepers)
        heads, clusters, sizes = np.unique(representatives, return_inverse=True, return_counts=True)
        return _Clusters(representatives, clusters, sizes + (heads < n_other))

    def _cluster_rows(self, clusters: _Clusters, documents: Int64s) -> pa.Table:
        import pyarrow as pa

        ids = clusters.ids[documents]
        return pa.table(
            {
                "id": self._own_ids.take(documents),
                "cluster_id": ids,
                "cluster_size": clusters.sizes[ids],
                "is_duplicate": ~self._stays[documents],
                "representative_id": self._ids.take(clusters.representatives[documents]),
            }
        )

    @cached_property
    def _ids(self) -> pa.Array:
        """Ids of all documents; one of the other collection that is taken gets a prefix.

        They are text where one has, or where the collections have ids of different types.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        own, other = self._own_ids, self._other.document_ids()
        names = as_text(other)
        is_taken = pc.is_in(names, value_set=as_text(own))
        if pc.any(is_taken).as_py():
            prefix, nothing = pa.array(["against/", ""], pa.large_string())
            prefixed = pc.binary_join_element_wise(prefix, names, nothing)
            other = pc.if_else(is_taken, prefixed, names)
        return join_ids([other, own])

    @cached_property
    def _own_ids(self) -> pa.Array:
        """Ids of the documents that may go, of their type."""
        return self._documents.document_ids()
