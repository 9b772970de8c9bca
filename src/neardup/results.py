"""Results of jobs, their tables and summaries."""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.files.destinations import target_of
from neardup.files.rows import ColumnNames
from neardup.outputs.output_tables import write_table
from neardup.runs.progress import counted
from neardup.tables import Int64s
from neardup.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from neardup.reports.page import Report


# Skipped rows that a summary lists one by one.
_LISTED = 100

# Those of a collection that is not there, or is an index.
NO_COLUMNS = ColumnNames()

# A bad row: its file, its number there, counted from 1, and what is wrong with it.
SkippedRow = tuple[str, int, str]


class Result(ABC):
    """Result of a job with its table and summary.

    ``summary`` is a dictionary of plain values: options, counts, skipped rows, predicted recall,
    seconds. The result is also an Arrow stream of its ``table``, so that pandas, Polars, DuckDB and
    Arrow take it as it is.
    """

    # A dictionary of plain values; which ones, each class says.
    summary: Any

    @property
    @abstractmethod
    def table(self) -> pa.Table:
        """Return the table for other libraries."""

    @abstractmethod
    def headline(self) -> str:
        """Return the most important counts, as one line."""

    @abstractmethod
    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the complete result, or nothing on failure."""

    def to_arrow(self) -> pa.Table:
        """Return the Arrow table, with all columns for kept documents."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a pandas data frame.

        pandas must be installed. Rows of a pandas data frame that was given come back with its
        types and its index, but for an index of row numbers, which is counted anew.
        """
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a Polars data frame (requires Polars)."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def report(self, data: Any = None, against: Any = None, *, read: Any = None) -> Report:
        """Return a page that shows the result.

        Parameters
        ----------
        data, against, read
            As of ``neardup.report``. A deduplication needs no documents.

        Raises
        ------
        InvalidParameterError, InvalidInputError, ReadError
            As ``neardup.report``.
        """
        # By its public name: jobs are above results.
        page: Report = import_module("neardup").report(self, data, against, read=read)
        return page

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.headline()})"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as an Arrow stream (the PyCapsule protocol)."""
        return self.table.__arrow_c_stream__(requested_schema)


class TableResult(Result):
    """Result of a job that writes one table."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.table)

    def rows(self) -> pa.Table | pa.RecordBatchReader:
        """Return the rows to write, possibly without loading all."""
        return self.table

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a .parquet, .csv, .jsonl or .xlsx file or URL.

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            If the ending is another, the file exists, or it cannot be written.
        MissingExtraError
            For a spreadsheet (.xlsx), without the library that writes it.
        """
        write_table(self.rows(), target_of(path), overwrite=overwrite)


def describe_skipped(
    rows: Sequence[SkippedRow], other: Sequence[SkippedRow] | None = None
) -> dict[str, Any]:
    """Summarise skipped rows, those of ``other`` if a job may read another."""
    described: dict[str, Any] = {"skipped_rows": len(rows)}
    if rows:
        first = rows[:_LISTED]
        described["skipped"] = [{"file": f, "row": row, "reason": why} for f, row, why in first]
    if other is None:
        return described
    return described | {f"against_{key}": value for key, value in describe_skipped(other).items()}


def describe_ids(columns: ColumnNames, other: ColumnNames | None = None) -> dict[str, Any]:
    """Summarise id columns, that of ``other`` if a job may read another."""
    described = {"id_column": columns.id, "id_column_by_default": columns.id_is_default}
    if other is None:
        return described
    return described | {f"against_{name}": value for name, value in describe_ids(other).items()}


def versions() -> dict[str, str]:
    """Return the versions of neardup, Python, NumPy and Arrow."""
    libraries = {name: import_module(name).__version__ for name in ("numpy", "pyarrow")}
    return {"neardup": __version__, "python": platform.python_version(), **libraries}


def _queries(summary: Mapping[str, Any]) -> str:
    return counted(summary["queries"], "query", "queries")


@dataclass
class QueryCounts:
    """Counts of queries, their results and their skipped rows."""

    n_queries: int = 0
    n_empty: int = 0
    n_short: int = 0
    n_found: int = 0
    n_tokens: int = 0
    n_results: int = 0
    skipped: list[SkippedRow] = field(default_factory=list)

    def add(
        self,
        n_tokens: Int64s,
        least_tokens: int,
        queries: Int64s,
        skipped: Iterable[SkippedRow] = (),
    ) -> None:
        """Count queries by tokens and by ``queries``, the query of each result."""
        self.n_queries += len(n_tokens)
        self.n_empty += int((n_tokens == 0).sum())
        self.n_short += int(((n_tokens > 0) & (n_tokens < least_tokens)).sum())
        self.n_tokens += int(n_tokens.sum())
        n_found = np.bincount(queries, minlength=len(n_tokens))
        self.n_found += int((n_found > 0).sum())
        self.n_results += len(queries)
        self.skipped.extend(skipped)


class Match(NamedTuple):
    """A document that is similar to a text."""

    id: str | int
    similarity: float


class Matches(list[Match]):
    """Documents similar to a text, the most similar first.

    ``n_matches`` counts all similar documents, also beyond the limit of the list.
    """

    def __init__(self, matches: Iterable[Match] = (), *, n_matches: int) -> None:
        super().__init__(matches)
        self.n_matches = n_matches


@dataclass(frozen=True, repr=False, eq=False)
class DocumentSearchResult(TableResult):
    """Documents of an index that are similar to queries.

    ``matches`` has the columns ``query_id``, ``doc_id`` and ``similarity``; with ``with_columns``
    those that the index keeps, too, each as ``doc_NAME``; the documents of a
    query come in the order of their similarities, and on a tie of their addition. ``summary``
    counts the queries and what was found for them, and lists the rows that were skipped.
    """

    matches: pa.Table
    summary: dict[str, Any]

    @property
    def table(self) -> pa.Table:
        """Return the table of the matches."""
        return self.matches

    def headline(self) -> str:
        """Return the counts of queries and documents."""
        return _queries(self.summary) + f": {counted(len(self.matches), 'document')}"


@dataclass(frozen=True, repr=False, eq=False)
class PassageResult(TableResult):
    """Similar passages of queries or documents, with a summary.

    ``passages`` has the columns ``query_id``, ``query_start``, ``query_end``, ``doc_id``,
    ``doc_start``, ``doc_end`` and ``similarity``, and if asked for ``query_place`` and
    ``doc_place``, ``query_text`` and ``doc_text``. ``document_pairs`` has a row for each pair of
    documents with common passages, if an alignment was asked for it. ``summary`` counts the queries
    and their results, and lists the skipped rows.
    """

    passages: pa.Table
    summary: dict[str, Any]
    document_pairs: pa.Table | None = None

    @property
    def table(self) -> pa.Table:
        """Return the document pairs if computed, otherwise the passages."""
        return self.passages if self.document_pairs is None else self.document_pairs

    def headline(self) -> str:
        """Return the counts of documents and passages."""
        if "documents" in self.summary:
            searched = " and ".join(counted(n, "document") for n in self.summary["documents"])
        else:
            searched = _queries(self.summary)
        return f"{searched}: {counted(len(self.passages), 'passage')}"
