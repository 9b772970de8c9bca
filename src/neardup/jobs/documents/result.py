"""What a search in an index of documents, and a change of it, return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.results import TableResult

if TYPE_CHECKING:
    import pyarrow as pa


class Match(NamedTuple):
    """A document that is similar to a text."""

    id: str | int
    similarity: float


@dataclass(frozen=True, repr=False, eq=False)
class DocumentSearchResult(TableResult):
    """Documents of an index that are similar to queries.

    ``matches`` has the columns ``query_id``, ``doc_id`` and ``similarity``; the documents of a
    query come in the order of their similarities, and on a tie of their addition. ``summary``
    counts the queries and what was found for them, and lists the rows that were skipped.
    """

    _rows_are = "documents"

    matches: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The matches."""
        return self.matches

    def headline(self) -> str:
        """Return the counts of queries and documents."""
        return f"{self.summary['queries']:,} queries: {len(self.matches):,} documents"

    def _chart(self) -> str:
        from neardup.reports.notebook import similarities_in_notebook

        parts = [self.matches["similarity"]]
        return similarities_in_notebook(parts, self.summary["threshold"], "documents")
