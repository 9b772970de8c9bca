"""What a search in an index of documents, and a change of it, return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from neardup.files.rows import ColumnNames
from neardup.results import SkippedRow, TableResult, describe_ids, list_skipped

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

    matches: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """The matches."""
        return self.matches

    def headline(self) -> str:
        """Return the counts of queries and documents."""
        return f"{self.summary['queries']:,} queries: {len(self.matches):,} documents"


@dataclass(frozen=True, repr=False)
class DocumentAdditionResult:
    """What was added to an index.

    ``n_empty`` of the documents have no token, and are never found. ``skipped`` rows (file, row,
    reason) were left out; ``passed_over`` counts files of folders that were not read, by ending;
    ``columns`` says where text and ids were.
    """

    n_documents: int
    n_tokens: int
    n_empty: int
    skipped: list[SkippedRow] = field(default_factory=list)
    passed_over: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    columns: ColumnNames = field(default_factory=ColumnNames)

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, skipped rows, files passed over and seconds, as plain values."""
        return {
            "documents": self.n_documents,
            "tokens": self.n_tokens,
            "empty_documents": self.n_empty,
            **describe_ids(self.columns),
            "skipped_rows": list_skipped(self.skipped),
            "passed_over": self.passed_over,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return f"DocumentAdditionResult({self.n_documents:,} documents: {self.n_tokens:,} tokens)"


@dataclass(frozen=True, repr=False)
class DocumentRemovalResult:
    """What was taken out of an index: ``n_removed`` documents, so that ``n_documents`` are left.

    ``orphans`` lists documents that are not in the index because they went for one that was taken
    out now: ``id``, ``kept_id`` and ``similarity``. Who wants them has to add them again.
    """

    n_removed: int
    n_documents: int
    orphans: pa.Table
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, orphans and seconds, as plain values."""
        return {
            "removed": self.n_removed,
            "documents": self.n_documents,
            "orphans": self.orphans.to_pylist(),
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return (
            f"DocumentRemovalResult({self.n_removed:,} documents removed: {self.n_documents:,} "
            f"left, {len(self.orphans):,} orphans)"
        )
