"""The result of a search for pairs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

from neardup.matching.join import FilterCounts
from neardup.results import TableResult
from neardup.runs.progress import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.outputs.summary_records import PairSummary


class Rows(Protocol):
    """Pairs that are made when they are read."""

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows, from the first one."""


class PairResult(TableResult):
    """Pairs of similar documents and how they were found.

    ``pairs`` has the columns ``id_a``, ``id_b``, ``similarity`` and ``overlap``, the number of
    common shingles, or ``distance``, that of edits, or of shingles that one of the two lacks, or
    neither for ``weighted-jaccard``; in input order of a, then b. In a self-join a
    comes before b, but for ``containment``, where a is the document that lies in b. The most
    similar pairs (``top``) come first, partners of each document by document a. Columns asked for
    stand behind those, each as one of a and one of b.

    ``counts`` says what the filters let through, added up over all steps if there were several.
    """

    _rows_are = "pairs"

    counts: FilterCounts
    summary: PairSummary

    def __init__(self, rows: Rows, counts: FilterCounts, summary: dict[str, Any]) -> None:
        self._rows = rows
        self.counts = counts
        self.summary = cast("PairSummary", summary)

    def __len__(self) -> int:
        """Return the number of pairs."""
        return int(self.summary["pairs"])

    @cached_property
    def pairs(self) -> pa.Table:
        """The pairs, all in memory."""
        return self._rows.reader().read_all()

    @property
    def table(self) -> pa.Table:
        """The pairs."""
        return self.pairs

    def rows(self) -> pa.RecordBatchReader:
        """Return the pairs, made some at a time when they are read."""
        return self._rows.reader()

    def headline(self) -> str:
        """Return how many documents there are, of each collection, and how many pairs."""
        documents = " and ".join(counted(n, "document") for n in self.summary["documents"])
        return f"{documents}: {counted(len(self), 'pair')}"

    def _first_rows(self, most: int) -> tuple[pa.Table, int]:
        import pyarrow as pa

        reader = self.rows()
        first = next(iter(reader), None)
        batches = [] if first is None else [first.slice(0, most)]
        return pa.Table.from_batches(batches, reader.schema), len(self)

    def _chart(self) -> str:
        from neardup.reports.notebook import similarities_in_notebook

        similarities = self.pairs["similarity"]
        return similarities_in_notebook(similarities, self.summary["threshold"], "pairs")
