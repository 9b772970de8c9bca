"""What searches and alignments return: documents or passages that were found."""

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


@dataclass(frozen=True, repr=False, eq=False)
class PassageResult(TableResult):
    """Passages of queries or documents that are similar to others, and how they were found.

    ``passages`` has the columns ``query_id``, ``query_start``, ``query_end``, ``doc_id``,
    ``doc_start``, ``doc_end`` and ``similarity``, and ``query_text`` and ``doc_text`` if asked for;
    with ``report="windows"`` those of the candidates. ``document_pairs`` has a row for each pair of
    documents that share some, if an alignment was asked for it. ``summary`` counts the queries and
    what was found for them, and lists the rows that were skipped.
    """

    passages: pa.Table
    summary: dict[str, Any]
    document_pairs: pa.Table | None = None

    @property
    def table(self) -> pa.Table:
        """The passages, or the pairs of documents if it was asked for them."""
        return self.passages if self.document_pairs is None else self.document_pairs

    def headline(self) -> str:
        """Return the counts of documents and passages."""
        if "documents" in self.summary:
            counts = [f"{n:,}" for n in self.summary["documents"]]
            searched = f"{' and '.join(counts)} documents"
        else:
            searched = f"{self.summary['queries']:,} queries"
        return f"{searched}: {len(self.passages):,} passages"

    def _chart(self) -> str:
        from neardup.reports.notebook import similarities_in_notebook

        parts = [self.passages["similarity"]]
        return similarities_in_notebook(parts, self.summary.get("threshold"), "passages")
