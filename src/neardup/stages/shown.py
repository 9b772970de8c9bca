"""Texts of documents of a deduplication, from its folder or its result, those of a page at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from neardup.outputs.table_rows import TableRows
from neardup.reading.column_values import ColumnValues, ValueCollector, read_values
from neardup.reading.second_pass import numbered_blocks
from neardup.reading.texts import FoundText
from neardup.reports.dedup.examples import Document, Pair
from neardup.runs.runner import Runner
from neardup.stages.decided import NO_TEXT, ResultDocuments, ids_in_other
from neardup.stages.output import DedupOutput, Side, other_rows
from neardup.stages.places import DocumentPlaces
from neardup.stages.tables import Collection

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.reading.catalogue import Catalogue


class DecidedInMemory(Protocol):
    """What a deduplication returns, as far as its documents are shown."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """What the run has said of itself."""

    @property
    def removed(self) -> pa.Table:
        """One row for each removed document."""

    @property
    def clusters(self) -> pa.Table:
        """One row for each document."""


@dataclass(frozen=True)
class Outcome:
    """A deduplication as a page needs it: its documents, and where more of them is read.

    Parameters
    ----------
    is_written
        Whether the rows are in a folder.
    summary, removed, clusters
        What ``summary.json`` says, a row for each removed document, and one for each document.
    documents
        Returns where all documents of the input are.
    texts
        Returns the texts of documents of an input file, all on one side, in rows that ascend. Once
        they have as many bytes as are to be read, the last ones are left out.
    values
        Returns the values of a column of all documents of the input.
    """

    is_written: bool
    summary: Mapping[str, Any]
    removed: TableRows
    clusters: TableRows
    documents: Callable[[], DocumentPlaces]
    texts: Callable[[Side, str, Sequence[int], int | None], list[str]]
    values: Callable[[str], ColumnValues]

    @classmethod
    def of_folder(cls, output: DedupOutput) -> Outcome:
        """Take an output folder."""
        return cls(
            True,
            output.summary,
            output.removed,
            output.clusters,
            lambda: output.documents,
            output.texts,
            partial(_values_in_folder, output),
        )

    @classmethod
    def of_result(cls, result: DecidedInMemory, own: Catalogue) -> Outcome:
        """Take a result in memory, whose input ``own`` is read again."""
        removed, clusters = map(TableRows.of_table, (result.removed, result.clusters))
        read = ResultDocuments(own, result.summary, removed, clusters, ())

        def read_texts(
            _: Side, file: str, rows: Sequence[int], most_bytes: int | None
        ) -> list[str]:
            texts: list[str] = []
            n_bytes = 0
            for batch in read.batches(read.places.find(file, np.array(rows, np.int64))):
                texts += batch.all_texts()
                n_bytes += batch.texts.nbytes
                if most_bytes is not None and n_bytes >= most_bytes:
                    break
            return texts

        def values(column: str) -> ColumnValues:
            collector, is_document = ValueCollector(column), own.is_document
            for source, start, stop in own.ranges():
                for block, rows in numbered_blocks(source, start, stop):
                    is_good = is_document[rows]
                    collector.add(read_values(block, column, ~is_good).filter(is_good))
            return collector.values(own.sources)

        return cls(
            False,
            result.summary,
            removed,
            clusters,
            lambda: read.places,
            read_texts,
            values,
        )


def _values_in_folder(output: DedupOutput, column: str) -> ColumnValues:
    """Read the values of a column of all documents of an output folder, in input order."""
    documents = output.documents
    collector, sources = ValueCollector(column), []
    sides = [(file, went) for file in range(len(documents.files)) for went in (False, True)]
    for file, went in sides:
        n_here = sum(map(len, documents.of_side(went=went, file=file)))
        if not n_here:
            continue
        source, _ = output.source("removed" if went else "kept", documents.files[file])
        n_found = 0
        for block in source.blocks():
            collector.add(read_values(block, column, np.zeros(len(block), np.bool_)))
            n_found += len(block)
        if n_found != n_here:
            raise other_rows(source)
        sources.append(source)
    found = collector.values(sources)
    numbers, start = np.empty_like(found.numbers), 0
    for file, went in sides:
        for here in documents.of_side(went=went, file=file):
            numbers[here] = found.numbers[start : start + len(here)]
            start += len(here)
    return ColumnValues(column, found.names, numbers)


class ShownTexts:
    """The documents of a table of removed ones, and those that stay for them, with texts."""

    def __init__(self, removed: TableRows) -> None:
        self._removed = removed
        self._rows: dict[int, dict[str, Any]] = {}
        self._texts: dict[tuple[Side, str, int], str] = {}
        self._other: dict[str, FoundText] = {}

    def read(
        self,
        outcome: Outcome,
        against: Collection | None,
        runner: Runner,
        *,
        removed: Iterable[int],
        keepers: Iterable[int],
    ) -> None:
        """Read the texts of documents by their places in the table, each file once.

        Those of keepers of the other collection are read only if it is there, and none where only
        ids of the documents are known.
        """
        gone, stay = list(removed), list(keepers)
        places = np.unique(np.array([*gone, *stay], np.int64))
        self._rows = dict(zip(places.tolist(), self._removed.take(places).to_pylist(), strict=True))
        if not outcome.summary["input_files"]:
            return
        wanted: dict[tuple[Side, str], set[int]] = {}
        other: set[str] = set()
        for place in gone:
            row = self._rows[place]
            wanted.setdefault(("removed", row["file"]), set()).add(row["row"])
        for place in stay:
            row = self._rows[place]
            if row["kept_in"] == "input":
                wanted.setdefault(("kept", row["kept_file"]), set()).add(row["kept_row"])
            elif row["kept_in"] == "against":
                other.update(ids_in_other(row["kept_id"]))
        for (side, file), rows in wanted.items():
            ordered = sorted(rows)
            texts = outcome.texts(side, file, ordered, None)
            self._texts |= {
                (side, file, row): text for row, text in zip(ordered, texts, strict=True)
            }
        if against is not None and other:
            self._other = against.texts(other, runner)

    def removal(self, place: int) -> Pair:
        """Return a removed document with the one that stays for it."""
        row = self._rows[place]
        text = self._texts.get(("removed", row["file"], row["row"]))
        first = Document(str(row["id"]), row["file"], row["row"], text, row.get("by"))
        no_text = NO_TEXT.get(row["kept_in"], "")
        return Pair(first, self.keeper(place), row["similarity"], no_text=no_text)

    def keeper(self, place: int) -> Document:
        """Return the one that stays for a removed document."""
        row = self._rows[place]
        text = None
        if row["kept_in"] == "input":
            text = self._texts.get(("kept", row["kept_file"], row["kept_row"]))
        elif row["kept_in"] == "against":
            ids = ids_in_other(row["kept_id"])
            found = [self._other[each] for each in ids if each in self._other]
            # Files may be called otherwise now; where they are not, file and row leave no doubt.
            there = row["kept_file"], row["kept_row"]
            found.sort(key=lambda each: (each.file, each.row) != there)
            text = found[0].text if found else None
        by = row.get("kept_by")
        return Document(str(row["kept_id"]), row["kept_file"], row["kept_row"], text, by)
