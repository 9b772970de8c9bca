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
    """Interface of pairs that are made on reading."""

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows, from the first one."""


class PairResult(TableResult):
    """Pairs of similar documents, and the account of their search.

    ``pairs`` has the columns ``id_a``, ``id_b``, ``similarity``, and ``overlap``, the number of
    common shingles, or ``distance``, the number of edits or of shingles that one of the two lacks;
    ``weighted-jaccard`` has neither. They are in input order of a, then b. In a self-join a comes
    before b, except for ``containment``, where a is the contained document. The most similar pairs
    (``top``) come first, partners of each document by document a. Requested columns follow, each
    with its values of a and of b.

    ``counts`` are the pairs that passed the filters, summed over all steps.
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
        """Return the pairs, made some at a time on reading."""
        return self._rows.reader()

    def headline(self) -> str:
        """Return the numbers of documents per collection, and of pairs."""
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
