"""Results of jobs: tables and summaries, how notebooks show them, and hits of searches."""

from __future__ import annotations

import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.files.destinations import target_of
from neardup.files.rows import ColumnNames
from neardup.outputs.tables import write_table
from neardup.runs.progress import counted
from neardup.tables import Int64s
from neardup.version import __version__

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from neardup.reports.page import Report


# Rows of a table, and characters of a value, that a notebook is shown.
_SHOWN_ROWS = 10
_SHOWN_CHARACTERS = 80

# Skipped rows that a summary lists one by one.
_LISTED = 100

# Those of a collection that is not there, or is an index.
NO_COLUMNS = ColumnNames()

# A bad row: its file, its number there, counted from 1, and what is wrong with it.
SkippedRow = tuple[str, int, str]


class Result(ABC):
    """The result of a job.

    ``summary`` is a dictionary of plain values: options, counts, skipped rows, predicted recall,
    seconds. The result is also an Arrow stream of its ``table``, so that pandas, Polars, DuckDB and
    Arrow take it as it is.
    """

    # What the rows are that a notebook shows.
    _rows_are = "rows"

    # A dictionary of plain values; which ones, each class says.
    summary: Any

    @property
    @abstractmethod
    def table(self) -> pa.Table:
        """The table that other libraries see."""

    @abstractmethod
    def headline(self) -> str:
        """Return the most important counts, as one line."""

    @abstractmethod
    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the result; it appears when it is complete, or not at all."""

    def to_arrow(self) -> pa.Table:
        """Return the table as one of Arrow; of documents that stay, as of ``kept``, all columns."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """Return the table as a data frame of pandas, which has to be installed.

        Rows of a pandas data frame that was given come back with its types and its index, but for
        an index of row numbers, which is counted anew.
        """
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return the table as a data frame of Polars, which has to be installed."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def report(
        self, data: Any = None, against: Any = None, *, labels: Any = None, read: Any = None
    ) -> Report:
        """Return a page that shows the result; see ``neardup.report``.

        Parameters
        ----------
        data, against, labels, read
            As of ``neardup.report``. A deduplication needs no documents.

        Raises
        ------
        InvalidParameterError, InvalidInputError, ReadError
            As ``neardup.report``.
        """
        # By its public name: jobs are above results.
        page: Report = import_module("neardup").report(
            self, data, against, labels=labels, read=read
        )
        return page

    def __repr__(self) -> str:
        """Return the class and the headline."""
        return f"{type(self).__name__}({self.headline()})"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the table as an Arrow stream (the PyCapsule protocol)."""
        return self.table.__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """Return the headline, a chart and the first rows for a notebook.

        Whatever they hold is text, and nothing is loaded from anywhere.
        """
        table, n_rows = self._first_rows(_SHOWN_ROWS)
        if not n_rows:
            return f"<p>{escape(repr(self))}</p>"
        rows = rows_in_notebook(table, _shorten, f"First {self._rows_are}")
        more = n_rows - len(table)
        rest = f"<p>and {more:,} more {self._rows_are}</p>" if more > 0 else ""
        return f"<p>{escape(repr(self))}</p>{self._chart()}{rows}{rest}"

    def _first_rows(self, most: int) -> tuple[pa.Table, int]:
        """Return the first of the rows that a notebook shows, and how many there are."""
        table = self.table
        return table.slice(0, most), len(table)

    def _chart(self) -> str:
        """Return the chart that matters most, as HTML, where there are rows; it may be empty."""
        return ""


class TableResult(Result):
    """The result of a job that makes one table, written to a file."""

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.table)

    def _chart(self) -> str:
        table = self.table
        if "similarity" not in table.column_names:
            return ""
        threshold = self.summary.get("threshold")
        return chart_in_notebook(table["similarity"], threshold, self._rows_are)

    def rows(self) -> pa.Table | pa.RecordBatchReader:
        """Return the rows that are written, which need not all be in memory."""
        return self.table

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the table to a file or URL: .parquet, .csv, .jsonl or .xlsx, by its ending.

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
    """Return for a summary how many bad rows were skipped, and the first of them, if any.

    Those of ``other`` are added where a job of one collection may read another.
    """
    described: dict[str, Any] = {"skipped_rows": len(rows)}
    if rows:
        first = rows[:_LISTED]
        described["skipped"] = [{"file": f, "row": row, "reason": why} for f, row, why in first]
    if other is None:
        return described
    return described | {f"against_{key}": value for key, value in describe_skipped(other).items()}


def describe_ids(columns: ColumnNames, other: ColumnNames | None = None) -> dict[str, Any]:
    """Return for a summary where ids are from, and whether nobody has said so.

    Those of ``other`` are added where a job may read another collection.
    """
    described = {"id_column": columns.id, "id_column_by_default": columns.id_is_default}
    if other is None:
        return described
    return described | {f"against_{name}": value for name, value in describe_ids(other).items()}


def versions() -> dict[str, str]:
    """Return the versions of neardup, Python and the libraries that results rest on."""
    libraries = {name: import_module(name).__version__ for name in ("numpy", "pyarrow")}
    return {"neardup": __version__, "python": platform.python_version(), **libraries}


def _shorten(value: object) -> str:
    if value is None:
        return ""
    text = f"{value:.4f}" if isinstance(value, float) else str(value)
    return text if len(text) <= _SHOWN_CHARACTERS else text[: _SHOWN_CHARACTERS - 3] + "..."


def _queries(summary: Mapping[str, Any]) -> str:
    return counted(summary["queries"], "query", "queries")


@dataclass
class QueryCounts:
    """Counts of documents that were looked up, and their skipped rows.

    A document with fewer than ``n_asked`` results is incomplete.
    """

    n_asked: int = 0
    n_incomplete: int = 0
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
        """Count some documents by their tokens, and their results by number of the document.

        Documents with fewer than ``least_tokens`` are short.
        """
        self.n_queries += len(n_tokens)
        self.n_empty += int((n_tokens == 0).sum())
        self.n_short += int(((n_tokens > 0) & (n_tokens < least_tokens)).sum())
        self.n_tokens += int(n_tokens.sum())
        n_found = np.bincount(queries, minlength=len(n_tokens))
        self.n_found += int((n_found > 0).sum())
        self.n_incomplete += int(((n_found < self.n_asked) & (n_tokens > 0)).sum())
        self.n_results += len(queries)
        self.skipped.extend(skipped)


class Match(NamedTuple):
    """A document that is similar to a text."""

    id: str | int
    similarity: float


class MatchWithColumns(NamedTuple):
    """A document that is similar to a text, and what the index keeps of its columns."""

    id: str | int
    similarity: float
    columns: dict[str, Any]


M = TypeVar("M", bound=Match | MatchWithColumns)


class Matches(list[M]):
    """Documents that are similar to a text, the most similar first; all, or a page of them.

    ``cursor`` leads on behind the last one, and is None at the end; ``n_matches`` are as many as
    there are together with those of other pages.
    """

    def __init__(self, matches: Iterable[M] = (), *, cursor: str | None, n_matches: int) -> None:
        super().__init__(matches)
        self.cursor, self.n_matches = cursor, n_matches


@dataclass(frozen=True, repr=False, eq=False)
class DocumentSearchResult(TableResult):
    """Documents of an index that are similar to queries.

    ``matches`` has the columns ``query_id``, ``doc_id`` and ``similarity``; with ``with_columns``
    those that the index keeps, too, each as ``doc_NAME``; the documents of a
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
        return _queries(self.summary) + f": {counted(len(self.matches), 'document')}"


@dataclass(frozen=True, repr=False, eq=False)
class PassageResult(TableResult):
    """Passages of queries or documents that are similar to others, and how they were found.

    ``passages`` has the columns ``query_id``, ``query_start``, ``query_end``, ``doc_id``,
    ``doc_start``, ``doc_end`` and ``similarity``, and if asked for ``query_place`` and
    ``doc_place``, ``query_text`` and ``doc_text``. ``document_pairs`` has a row for each pair of
    documents that share some, if an alignment was asked for it. ``summary`` counts the queries and
    what was found for them, and lists the rows that were skipped.
    """

    passages: pa.Table
    summary: dict[str, Any]
    document_pairs: pa.Table | None = None
    # Ignored text, so that the shares of a page are those of ``document_pairs``.
    _hidden: Any = field(default=None, repr=False, compare=False)

    @property
    def table(self) -> pa.Table:
        """The passages, or the pairs of documents if it was asked for them."""
        return self.passages if self.document_pairs is None else self.document_pairs

    def headline(self) -> str:
        """Return the counts of documents and passages."""
        if "documents" in self.summary:
            searched = " and ".join(counted(n, "document") for n in self.summary["documents"])
        else:
            searched = _queries(self.summary)
        return f"{searched}: {counted(len(self.passages), 'passage')}"


# Letters and lines have the colour of the notebook's text, be it light or dark; the other colours
# differ from both backgrounds.
_COLOURS = (
    "--ink: currentColor; --faint: currentColor; "
    "--line: color-mix(in srgb, currentColor 25%, transparent); "
    "--kept: #3787c0; --gone: #cc6a33; --other: #8a6fc4; --mark: #d6457a;"
)
_CLASS = "neardup-chart"
_WIDTH = "32rem"


def chart_in_notebook(values: pa.ChunkedArray, threshold: float | None, counted: str) -> str:
    """Return the chart of similarities as HTML whose style sheet changes nothing else.

    It is empty without similarities. A screen reader sees one picture, so that ids repeated by
    several charts do no harm.
    """
    from neardup.reports.charts import similarity_chart
    from neardup.reports.page import source_of
    from neardup.reports.text import escape_text

    similarities = np.asarray(values.cast(pa.float64()).fill_null(np.nan), np.float64)
    chart = similarity_chart(similarities, threshold, counted)
    if chart is None:
        return ""
    _, title, description = chart.caption
    label = escape_text(f"{title}. {description}")
    own = f"margin: 0.5rem 0; max-width: {_WIDTH}; {_COLOURS}"
    return (
        f"<style>.{_CLASS} {{ {own}\n{source_of('charts.css')}}}</style>"
        f'<figure class="{_CLASS}"><figcaption>{escape_text(title)}</figcaption>'
        f'<div role="img" aria-label="{label}">{chart.svg}</div></figure>'
    )


def rows_in_notebook(table: pa.Table, shown: Callable[[Any], str], label: str) -> str:
    """Return rows as an HTML table that scrolls within the output, also by keyboard."""
    from neardup.reports.text import escape_text

    head = "".join(f'<th scope="col">{escape_text(name)}</th>' for name in table.column_names)
    rows = "".join(
        f"<tr>{''.join(f'<td>{escape_text(shown(value))}</td>' for value in row.values())}</tr>"
        for row in table.to_pylist()
    )
    return (
        f'<div role="region" aria-label="{escape_text(label)}" tabindex="0" '
        'style="overflow: auto; max-width: 100%; max-height: 24rem">'
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
