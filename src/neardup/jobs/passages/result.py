"""What a search, an alignment, and a change of an index return."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from neardup.files.rows import ColumnNames
from neardup.results import SkippedRow, TableResult, describe_ids, list_skipped

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
            of_a, of_b = self.summary["documents"]
            searched = f"{of_a:,} and {of_b:,} documents"
        else:
            searched = f"{self.summary['queries']:,} queries"
        return f"{searched}: {len(self.passages):,} passages"


@dataclass(frozen=True, repr=False)
class AdditionResult:
    """What was added to an index.

    ``n_empty`` of the documents have no token, ``n_short`` fewer than the index's ``min_tokens``;
    neither are ever found. ``skipped`` rows (file, row, reason) were left out; ``passed_over``
    counts files of folders that were not read, by ending; ``columns`` says where text and ids were.
    """

    n_documents: int
    n_tokens: int
    n_empty: int
    n_short: int
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
            "short_documents": self.n_short,
            **describe_ids(self.columns),
            "skipped_rows": list_skipped(self.skipped),
            "passed_over": self.passed_over,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return f"AdditionResult({self.n_documents:,} documents: {self.n_tokens:,} tokens)"


@dataclass(frozen=True, repr=False)
class RemovalResult:
    """What was taken out of an index: ``n_removed`` documents, so that ``n_documents`` are left."""

    n_removed: int
    n_documents: int
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and seconds, as plain values."""
        return {
            "removed": self.n_removed,
            "documents": self.n_documents,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return f"RemovalResult({self.n_removed:,} documents removed: {self.n_documents:,} left)"


@dataclass(frozen=True, repr=False)
class CompactionResult:
    """What an index is once it was written anew.

    It has ``n_segments`` segments with ``n_documents`` documents, and takes ``n_freed_bytes`` bytes
    less than before.
    """

    n_segments: int
    n_documents: int
    n_freed_bytes: int
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and seconds, as plain values."""
        return {
            "segments": self.n_segments,
            "documents": self.n_documents,
            "freed_bytes": self.n_freed_bytes,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return (
            f"CompactionResult({self.n_documents:,} documents: {self.n_segments:,} segments, "
            f"{self.n_freed_bytes:,} bytes freed)"
        )
