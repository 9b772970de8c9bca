"""What a search and an alignment return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neardup.results import TableResult

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, repr=False, eq=False)
class PassageResult(TableResult):
    """Passages of queries or documents that are similar to others, and how they were found.

    ``passages`` has the columns ``query_id``, ``query_start``, ``query_end``, ``doc_id``,
    ``doc_start``, ``doc_end`` and ``similarity``, and ``query_text`` and ``doc_text`` if asked for;
    with ``report="windows"`` those of the candidates. ``summary`` counts the queries and what was
    found for them, and lists the rows that were skipped.
    """

    passages: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The passages."""
        return self.passages

    def headline(self) -> str:
        """Return the counts of documents and passages."""
        if "documents" in self.summary:
            counts = [f"{n:,}" for n in self.summary["documents"]]
            searched = f"{' and '.join(counts)} documents"
        else:
            searched = f"{self.summary['queries']:,} queries"
        return f"{searched}: {len(self.passages):,} passages"
