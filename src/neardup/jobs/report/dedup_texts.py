"""Texts of documents of a deduplication, from its folder or its result, those of a page at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from neardup.jobs.dedup.explained import ResultDocuments
from neardup.jobs.dedup.output import DedupOutput, Side, other_rows
from neardup.jobs.dedup.result import DeduplicationResult
from neardup.jobs.explain.documents import ids_in_other
from neardup.jobs.report.tables import Collection
from neardup.reading.catalogue import Catalogue
from neardup.reading.column_values import ColumnValues, ValueCollector, read_values
from neardup.reading.second_pass import numbered_blocks
from neardup.reading.texts import FoundText
from neardup.reports.dedup.examples import Document, Pair
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


# Values of a column of all documents of a deduplication, from its folder or its input.


def values_in_folder(output: DedupOutput, column: str) -> ColumnValues:
    """Read a column of all documents of an output folder.

    Returns
    -------
    The values of the documents, in input order.
    """
    documents = output.documents
    collector, places, sources = ValueCollector(column), [np.empty(0, np.int64)], []
    for number, file in enumerate(output.files):
        for goes in (False, True):
            here = np.flatnonzero((documents.files == number) & (documents.goes == goes))
            if not len(here):
                continue
            source, _ = output.source("removed" if goes else "kept", file)
            n_found = 0
            for block in source.blocks():
                collector.add(read_values(block, column, np.zeros(len(block), np.bool_)))
                n_found += len(block)
            if n_found != len(here):
                raise other_rows(source)
            places.append(here)
            sources.append(source)
    order = np.concatenate(places)
    found = collector.values(sources)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = found.numbers
    return ColumnValues(column, found.names, numbers)


def values_in_catalogue(documents: Catalogue, column: str) -> ColumnValues:
    """Read a column of all documents of a catalogue; as ``values_in_folder``."""
    collector, is_document = ValueCollector(column), documents.is_document
    for source, start, stop in documents.ranges():
        for block, rows in numbered_blocks(source, start, stop):
            is_good = is_document[rows]
            collector.add(read_values(block, column, ~is_good).filter(is_good))
    return collector.values(documents.sources)


@dataclass(frozen=True)
class Documents:
    """All documents of the input, in its order: names of files, the number of each one's, its row.

    ``goes`` are those that were removed.
    """

    names: Sequence[str]
    files: Int64s
    rows: Int64s
    goes: Bools

    @classmethod
    def of_clusters(cls, clusters: pa.Table) -> Documents:
        """Take them from the table that has a row for each."""
        encoded = clusters["file"].combine_chunks().dictionary_encode()
        return cls(
            encoded.dictionary.to_pylist(),
            encoded.indices.to_numpy().astype(np.int64),
            clusters["row"].to_numpy(),
            clusters["is_duplicate"].to_numpy(),
        )

    def numbers_of(self, file: str, rows: Sequence[int]) -> Int64s:
        """Return the numbers of the documents in some rows of a file, which ascend."""
        of_file = np.flatnonzero(self.files == self.names.index(file))
        return of_file[np.searchsorted(self.rows[of_file], rows)]


class Outcome(Protocol):
    """What a page needs of a deduplication."""

    is_written: bool

    @property
    def summary(self) -> Mapping[str, Any]:
        """What ``summary.json`` says."""
        ...

    @property
    def removed(self) -> pa.Table:
        """One row for each removed document."""
        ...

    def documents(self) -> Documents:
        """Return all documents of the input."""
        ...

    def ids_of(self, documents: Int64s) -> list[str]:
        """Return the ids of some documents, which are given by their numbers."""
        ...

    def texts(
        self, side: Side, file: str, rows: Sequence[int], most_bytes: int | None = None
    ) -> list[str]:
        """Return the texts of documents of an input file, all on one side, in rows that ascend.

        Once they have as many bytes as are to be read, the last ones are left out.
        """
        ...

    def values(self, column: str) -> ColumnValues:
        """Return the values of a column of all documents of the input."""
        ...


class FolderOutcome:
    """An output folder, as a page needs it."""

    is_written = True

    def __init__(self, output: DedupOutput) -> None:
        self._output = output

    @property
    def summary(self) -> Mapping[str, Any]:
        """What ``summary.json`` says."""
        return self._output.summary

    @property
    def removed(self) -> pa.Table:
        """One row for each removed document."""
        return self._output.removed

    def documents(self) -> Documents:
        """Return all documents of the input."""
        found = self._output.documents
        return Documents(self._output.files, found.files, found.rows, found.goes)

    def ids_of(self, documents: Int64s) -> list[str]:
        """Return the ids of some documents, which are given by their numbers."""
        return list(self._output.documents.ids.take(documents).to_pylist())

    def texts(
        self, side: Side, file: str, rows: Sequence[int], most_bytes: int | None = None
    ) -> list[str]:
        """Return the texts of documents of an input file, all on one side, in rows that ascend.

        Once they have as many bytes as are to be read, the last ones are left out.
        """
        return self._output.texts(side, file, rows, most_bytes)

    def values(self, column: str) -> ColumnValues:
        """Return the values of a column of all documents of the input."""
        return values_in_folder(self._output, column)


class ResultOutcome:
    """A result in memory, as a page needs it; the input is read again."""

    is_written = False

    def __init__(self, result: DeduplicationResult) -> None:
        self._result = result
        own, _ = result.collections()
        self._read = ResultDocuments(own, result.summary, result.removed, result.clusters, None)
        self._documents = Documents.of_clusters(result.clusters)

    @property
    def summary(self) -> Mapping[str, Any]:
        """What ``summary.json`` would say."""
        return self._result.summary

    @property
    def removed(self) -> pa.Table:
        """One row for each removed document."""
        return self._result.removed

    def documents(self) -> Documents:
        """Return all documents of the input."""
        return self._documents

    def ids_of(self, documents: Int64s) -> list[str]:
        """Return the ids of some documents, which are given by their numbers."""
        return [str(each) for each in self._result.clusters["id"].take(documents).to_pylist()]

    def texts(
        self, side: Side, file: str, rows: Sequence[int], most_bytes: int | None = None
    ) -> list[str]:
        """Return the texts of documents of an input file, in rows that ascend.

        Once they have as many bytes as are to be read, the last ones are left out.
        """
        numbers = self._documents.numbers_of(file, rows)
        texts: list[str] = []
        n_bytes = 0
        for batch in self._read.batches(numbers):
            texts += batch.all_texts()
            n_bytes += batch.texts.nbytes
            if most_bytes is not None and n_bytes >= most_bytes:
                break
        return texts

    def values(self, column: str) -> ColumnValues:
        """Return the values of a column of all documents of the input."""
        own, _ = self._result.collections()
        return values_in_catalogue(own, column)


class ShownTexts:
    """The documents of a table of removed ones, and those that stay for them, with texts."""

    def __init__(self, removed: pa.Table) -> None:
        self._removed = removed
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
        if not outcome.summary["input_files"]:
            return
        wanted: dict[tuple[Side, str], set[int]] = {}
        other: set[str] = set()
        for place in removed:
            row = self._row(place)
            wanted.setdefault(("removed", row["file"]), set()).add(row["row"])
        for place in keepers:
            row = self._row(place)
            if row["kept_in"] == "input":
                wanted.setdefault(("kept", row["kept_file"]), set()).add(row["kept_row"])
            else:
                other.update(ids_in_other(row["kept_id"]))
        for (side, file), rows in wanted.items():
            ordered = sorted(rows)
            texts = outcome.texts(side, file, ordered)
            self._texts |= {
                (side, file, row): text for row, text in zip(ordered, texts, strict=True)
            }
        if against is not None and other:
            self._other = against.texts(other, runner)

    def removal(self, place: int) -> Pair:
        """Return a removed document with the one that stays for it."""
        row = self._row(place)
        text = self._texts.get(("removed", row["file"], row["row"]))
        first = Document(str(row["id"]), row["file"], row["row"], text)
        return Pair(first, self.keeper(place), row["similarity"])

    def keeper(self, place: int) -> Document:
        """Return the one that stays for a removed document."""
        row = self._row(place)
        if row["kept_in"] == "input":
            text = self._texts.get(("kept", row["kept_file"], row["kept_row"]))
        else:
            text = self._text_in_other(row)
        return Document(str(row["kept_id"]), row["kept_file"], row["kept_row"], text)

    def _text_in_other(self, row: dict[str, Any]) -> str | None:
        """Return the text of one that stays in the other collection, None if it is not there."""
        found = [self._other[each] for each in ids_in_other(row["kept_id"]) if each in self._other]
        # Files may be called otherwise now; where they are not, file and row leave no doubt.
        place = row["kept_file"], row["kept_row"]
        found.sort(key=lambda each: (each.file, each.row) != place)
        return found[0].text if found else None

    def _row(self, place: int) -> dict[str, Any]:
        row: dict[str, Any] = self._removed.slice(int(place), 1).to_pylist()[0]
        return row
