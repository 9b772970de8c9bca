"""Result of ``deduplicate``: tables of removed documents, and their output."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.reading.catalogue import Catalogue
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.stages.selection import KeeperIds, Selection, collections_of, in_batches
from neardup.tables import Assignment, Int64s

if TYPE_CHECKING:
    from neardup.jobs.explain import ExplainResult
    from neardup.stages.output import ResultOutcome


class _Clusters(NamedTuple):
    representatives: Int64s
    ids: Int64s
    sizes: Int64s


class DeduplicationResult(Selection):
    """Kept and removed documents, with reasons.

    ``kept``, ``removed`` and ``clusters`` are Arrow tables, computed on access; ``summary`` is a
    dictionary of options, counts and times. As an Arrow stream it is the rows that stay.
    """

    summary: dict[str, Any]

    def __init__(
        self,
        own: Catalogue,
        other: Catalogue,
        assignment: Assignment,
        summary: dict[str, Any],
        *,
        shares_ids: bool = False,
        sides: pa.DictionaryArray | None = None,
    ) -> None:
        super().__init__(own, assignment.stays, summary, other)
        self._kept_in = sides
        self._shares_ids = shares_ids
        self._assignment = assignment

    def headline(self) -> str:
        """Return the counts of documents kept and removed."""
        counts = self.summary
        return (
            f"{counted(counts['documents_in'], 'document')}: "
            f"{counts['documents_kept']:,} kept, {counts['documents_removed']:,} removed, "
            f"{counts['exact_copies']:,} of those exact copies"
        )

    def _tables(self) -> dict[str, pa.RecordBatchReader]:
        clusters = partial(self._cluster_rows, self._find_clusters())
        return {
            "removed.parquet": in_batches(self._removed_rows, np.flatnonzero(~self._stays)),
            "clusters.parquet": in_batches(clusters, np.flatnonzero(self._documents.is_document)),
        }

    @cached_property
    def removed(self) -> pa.Table:
        """One row per removed document.

        ``id``, ``kept_id``, ``similarity``, ``exact_copy``, ``file`` and ``row``; ``kept_in``, the
        collection of the keeper: ``input`` or ``against``, or ``denied`` for a denied document of
        an index; ``kept_file`` and ``kept_row``, the position of the keeper, null in an index.
        """
        return self._removed_rows(np.flatnonzero(~self._stays))

    @cached_property
    def clusters(self) -> pa.Table:
        """One row per document.

        ``id``, ``cluster_id``, ``cluster_size``, ``is_duplicate``, ``representative_id``, ``file``
        and ``row``.

        Clusters are numbered from 0 in the order of their representatives in the input. The size
        includes a representative from the collection compared ``against``.
        """
        documents = np.flatnonzero(self._documents.is_document)
        return self._cluster_rows(self._find_clusters(), documents)

    def explain(self, id: object) -> ExplainResult:  # noqa: A002 - the name of the column
        """Explain why a document was removed or kept.

        The texts of a removed document and its keeper are read again.

        Parameters
        ----------
        id
            The document.

        Returns
        -------
        The row of ``removed``, both texts and their differences; ``print`` shows it, ``to_dict``
        returns plain values.

        Raises
        ------
        InvalidParameterError
            For an unknown id.
        InvalidInputError, ReadError
            If the texts have changed.
        """
        from neardup.jobs.explain import explain_document
        from neardup.stages.result_tables import ReadCollection

        against = None
        if self._other.sources and self.summary.get("against_documents"):
            against = ReadCollection.of_catalogue(self._other)
        with Runner(1) as runner:
            return explain_document(outcome_of(self), id, runner, against)

    def _removed_rows(self, gone: Int64s) -> pa.Table:
        keepers = self._assignment.keepers[gone]
        similarities = self._assignment.similarities[gone]
        kept_files, kept_rows = self._keeper_places(keepers)
        return pa.table(
            {
                "id": self._own_ids.take(gone),
                "kept_id": self._keeper_ids.take(keepers),
                "similarity": pa.array(similarities, mask=np.isnan(similarities)),
                "exact_copy": pa.array(self._assignment.exact[gone]),
                "file": self._documents.document_files(gone),
                "row": self._documents.numbers[gone],
                "kept_in": self._keeper_sides(gone),
                "kept_file": kept_files,
                "kept_row": kept_rows,
            }
        )

    def _keeper_sides(self, gone: Int64s) -> pa.Array:
        if self._kept_in is not None:
            return self._kept_in.take(pa.array(gone)).cast(pa.string())
        keepers = self._assignment.keepers[gone]
        return pa.array(np.where(keepers < len(self._other), "against", "input"), pa.string())

    def _keeper_places(self, keepers: Int64s) -> tuple[pa.Array, pa.Array]:
        n_other = len(self._other)
        is_own = keepers >= n_other
        # The other collection first, then restored to the given order.
        order = pa.array(np.argsort(np.argsort(is_own, kind="stable"), kind="stable"))
        parts = (
            self._other.lasting_places(keepers[~is_own]),
            self._documents.lasting_places(keepers[is_own] - n_other),
        )
        files, rows = zip(*parts, strict=True)
        return pa.concat_arrays(files).take(order), pa.concat_arrays(rows).take(order)

    def _find_clusters(self) -> _Clusters:
        n_other, n_own = len(self._other), len(self._documents)
        own_numbers = np.arange(n_other, n_other + n_own, dtype=np.int64)
        representatives = np.where(self._stays, own_numbers, self._assignment.keepers)
        sizes = np.bincount(representatives, minlength=n_other + n_own)
        ids = np.cumsum(sizes > 0) - 1
        # A document of the other collection is a member without a row.
        sizes[:n_other] += 1
        return _Clusters(representatives, ids, sizes)

    def _cluster_rows(self, clusters: _Clusters, documents: Int64s) -> pa.Table:
        representatives = clusters.representatives[documents]
        goes = ~self._stays[documents]
        ids = self._own_ids.take(documents)
        return pa.table(
            {
                "id": ids,
                "cluster_id": clusters.ids[representatives],
                "cluster_size": clusters.sizes[representatives],
                "is_duplicate": goes,
                "representative_id": pc.replace_with_mask(
                    ids.cast(self._keeper_ids.type),
                    pa.array(goes),
                    self._keeper_ids.take(representatives[goes]),
                ),
                "file": self._documents.document_files(documents),
                "row": self._documents.numbers[documents],
            }
        )

    @cached_property
    def _keeper_ids(self) -> KeeperIds:
        keepers, shares_ids = self._assignment.keepers, self._shares_ids
        return KeeperIds(self._documents, self._other, keepers, shares_ids=shares_ids)


def outcome_of(result: DeduplicationResult) -> ResultOutcome:
    """Return a result as shown to people."""
    from neardup.stages.output import ResultOutcome

    own, _ = collections_of(result)
    return ResultOutcome(result.summary, result.removed, result.clusters, own)
