"""Result of a cut: removed spans, their kept copies, and the shortened rows."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.named import Keepers
from neardup.jobs.cut.spans import CutSpans, Spans, take_out
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import sides_of
from neardup.reading.texts import IdLookup
from neardup.runs.progress import counted
from neardup.stages.selection import ROWS_AT_ONCE, TwoCollections
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.outputs.summary_records import CutSummary


def _is_folder(source: Source) -> bool:
    return "document folder" in source.input_options


class CutResult(TwoCollections):
    """Shortened texts, the removed spans, and their kept copies.

    ``kept`` are all documents, with shorter texts after cuts; ``removed`` lists the removed spans.
    As an Arrow stream it is ``kept``.
    """

    _rows_are = "spans"

    summary: CutSummary

    def __init__(
        self,
        own: Catalogue,
        other: Catalogue,
        spans: Spans,
        keepers: Keepers,
        replacement: str,
        summary: dict[str, Any],
    ) -> None:
        super().__init__(own, np.ones(len(own), np.bool_), summary)
        self._other, self._spans = other, spans
        self._keepers, self._replacement = keepers, replacement

    def headline(self) -> str:
        """Return the counts of documents and spans, and the amount of removed text."""
        counts = self.summary
        return (
            f"{counted(counts['documents_in'], 'document')}: "
            f"{counted(counts['spans'], 'span')} cut out of "
            f"{counts['documents_cut']:,}, {counts['characters_removed']:,} characters"
        )

    def _chart(self) -> str:
        import pyarrow.compute as pc

        from neardup.reports.charts import size_chart
        from neardup.reports.notebook import chart_in_notebook

        lengths = pc.subtract(self.removed["end"], self.removed["start"]).to_numpy()
        titles = ("characters", "spans")
        return chart_in_notebook(size_chart("lengths", "Lengths of spans", lengths, titles))

    def _tables(self) -> dict[str, pa.RecordBatchReader]:
        import pyarrow as pa

        schema = self._removed_rows(CutSpans.of_none(), 0).schema
        return {
            "removed.parquet": pa.RecordBatchReader.from_batches(schema, self._removed_batches())
        }

    def _removed_batches(self) -> Iterator[pa.RecordBatch]:
        first = 0
        for part in self._spans.parts():
            for start in range(0, len(part), ROWS_AT_ONCE):
                rows = part.take(slice(start, start + ROWS_AT_ONCE))
                yield from self._removed_rows(rows, first).to_batches()
                first += len(rows)

    def _sides(self) -> dict[str, Bools]:
        """Return that all documents stay; no folder of removed ones is written."""
        return sides_of(self._documents)

    @cached_property
    def removed(self) -> pa.Table:
        """One row per removed span, by document and position.

        ``id``, ``start``, ``end``, ``kept_id``, ``kept_start``, ``kept_end``, ``similarity``,
        ``file``, ``row`` and ``kept_in``, the collection of the kept copy: ``input`` or
        ``against``. Positions are characters of the original texts, ends exclusive. Spans of a
        document may overlap, and one may extend over an earlier removal. For folders as documents,
        ``place`` and ``kept_place`` name file, line and column.
        """
        return self._tables()["removed.parquet"].read_all()

    def _changed(self, block: RowBlock, rows: slice) -> RowBlock:
        """Cut the spans from the texts of a block; ``rows`` are its documents."""
        columns = self._documents.columns.texts
        return take_out(columns, self._replacement, self._spans, block, rows)

    def _removed_rows(self, spans: CutSpans, first: int) -> pa.Table:
        import pyarrow as pa

        columns = {
            "id": self._own_ids.take(spans.documents),
            "start": spans.starts,
            "end": spans.stops,
            "kept_id": self._keepers.ids(spans, first),
            "kept_start": spans.kept_starts,
            "kept_end": spans.kept_stops,
            "similarity": pa.array(spans.similarities, mask=np.isnan(spans.similarities)),
            "file": self._documents.document_files(spans.documents),
            "row": self._documents.numbers[spans.documents],
            "kept_in": self._keepers.places(spans, first),
        }
        if any(map(_is_folder, (*self._other.sources, *self._documents.sources))):
            own = spans.documents + len(self._other)
            columns["place"] = self._places(own, spans.starts)
            columns["kept_place"] = self._places(spans.kept_documents, spans.kept_starts)
        return pa.table(columns)

    def _places(self, documents: Int64s, characters: Int64s) -> pa.Array:
        """Name positions in folders of both collections, the other one first; null elsewhere."""
        import pyarrow as pa

        from neardup.passages.places import Placer

        placer, n_other = Placer(), len(self._other)
        places: list[str | None] = [None] * len(documents)
        for document in np.unique(documents[documents >= 0]).tolist():
            is_own = document >= n_other
            catalogue, number = (
                (self._documents, document - n_other) if is_own else (self._other, document)
            )
            source = catalogue.source_of(number)
            if not _is_folder(source):
                continue
            for block in source.blocks():
                parsed = block.parse(catalogue.columns.only_text())
                rows = np.flatnonzero(documents == document)
                found = placer.places(
                    parsed.text, np.zeros_like(rows), characters[rows], parsed.files
                )
                for row, place in zip(rows.tolist(), found.to_pylist(), strict=True):
                    places[row] = place
        return pa.array(places, pa.large_string())

    @cached_property
    def _own_ids(self) -> IdLookup:
        return IdLookup(self._documents)
