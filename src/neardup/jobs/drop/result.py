"""The result of a drop: the documents that stay, and those that were named."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.selection import Selection, in_batches
from neardup.reading.id_lookup import IdLookup
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class DropResult(Selection):
    """Which documents stay, and which go because a table names them."""

    def headline(self) -> str:
        """Return the counts of documents kept and removed."""
        counts = self.summary
        return (
            f"{counts['documents_in']:,} documents: {counts['documents_kept']:,} kept, "
            f"{counts['documents_removed']:,} removed"
        )

    def tables(self) -> dict[str, pa.RecordBatchReader]:
        """Return the table that is written beside the rows."""
        return {"removed.parquet": in_batches(self._removed_rows, np.flatnonzero(~self._stays))}

    @cached_property
    def removed(self) -> pa.Table:
        """One row for each removed document: id, file, row."""
        return self._removed_rows(np.flatnonzero(~self._stays))

    def _removed_rows(self, gone: Int64s) -> pa.Table:
        import pyarrow as pa

        return pa.table(
            {
                "id": self._ids.take(gone),
                "file": self._documents.document_files(gone),
                "row": self._documents.numbers[gone],
            }
        )

    @cached_property
    def _ids(self) -> IdLookup:
        return IdLookup(self._documents)
