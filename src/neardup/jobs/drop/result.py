"""The result of a drop: the documents that stay, and those that were named."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.selection import Selection

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

    def tables(self) -> dict[str, pa.Table]:
        """Return the table that is written beside the rows."""
        return {"removed.parquet": self.removed}

    @cached_property
    def removed(self) -> pa.Table:
        """One row for each removed document: id, file, row."""
        import pyarrow as pa

        gone = np.flatnonzero(~self._stays)
        return pa.table(
            {
                "id": self._documents.document_ids().take(gone),
                "file": self._documents.document_files().take(gone).cast(pa.string()),
                "row": self._documents.numbers[gone],
            }
        )
