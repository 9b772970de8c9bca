"""Texts of documents of a deduplication, from its folder or its result, those of a page at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from neardup.reading.column_values import ColumnValues, ValueCollector, read_values
from neardup.reading.second_pass import numbered_blocks
from neardup.reading.texts import FoundText
from neardup.reports.dedup.examples import Document, Pair
from neardup.runs.runner import Runner
from neardup.stages.decided import ResultDocuments, ids_in_other
from neardup.stages.output import DedupOutput, Side, other_rows
from neardup.stages.tables import Collection
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.reading.catalogue import Catalogue


class DecidedInMemory(Protocol):
    """What a deduplication returns, as far as its documents are shown."""

    summary: dict[str, Any]

    @property
    def removed(self) -> pa.Table:
        """One row for each removed document."""

    @property
    def clusters(self) -> pa.Table:
        """One row for each document."""

    def collections(self) -> tuple[Catalogue, Catalogue]:
        """Return the documents of the input, and those that they were compared against."""


@dataclass(frozen=True)
class Documents:
    """All documents of the input, in its order: names of files, the number of each one's, its row.

    ``goes`` are those that were removed.
    """

    names: Sequence[str]
    files: Int64s
    rows: Int64s
    goes: Bools


@dataclass(frozen=True)
class Outcome:
    """A deduplication as a page needs it: its documents, and where more of them is read.

    Parameters
    ----------
    is_written
        Whether the rows are in a folder.
    summary, removed
        What ``summary.json`` says, and one row for each removed document.
    documents
        Returns all documents of the input.
    ids_of
        Returns the ids of some documents, which are given by their numbers.
    texts
        Returns the texts of documents of an input file, all on one side, in rows that ascend. Once
        they have as many bytes as are to be read, the last ones are left out.
    values
        Returns the values of a column of all documents of the input.
    """

    is_written: bool
    summary: Mapping[str, Any]
    removed: pa.Table
    documents: Callable[[], Documents]
    ids_of: Callable[[Int64s], list[str]]
    texts: Callable[[Side, str, Sequence[int], int | None], list[str]]
    values: Callable[[str], ColumnValues]

    @classmethod
    def of_folder(cls, output: DedupOutput) -> Outcome:
        """Take an output folder."""

        def documents() -> Documents:
            found = output.documents
            return Documents(output.files, found.files, found.rows, found.goes)

        return cls(
            True,
            output.summary,
            output.removed,
            documents,
            lambda numbers: list(output.documents.ids.take(numbers).to_pylist()),
            output.texts,
            partial(_values_in_folder, output),
        )

    @classmethod
    def of_result(cls, result: DecidedInMemory) -> Outcome:
        """Take a result in memory, whose input is read again."""
        own, _ = result.collections()
        read = ResultDocuments(own, result.summary, result.removed, result.clusters, None)
        clusters = result.clusters
        encoded = clusters["file"].combine_chunks().dictionary_encode()
        documents = Documents(
            encoded.dictionary.to_pylist(),
            encoded.indices.to_numpy().astype(np.int64),
            clusters["row"].to_numpy(),
            clusters["is_duplicate"].to_numpy(),
        )

        def read_texts(
            _: Side, file: str, rows: Sequence[int], most_bytes: int | None
        ) -> list[str]:
            of_file = np.flatnonzero(documents.files == documents.names.index(file))
            texts: list[str] = []
            n_bytes = 0
            for batch in read.batches(of_file[np.searchsorted(documents.rows[of_file], rows)]):
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
            result.removed,
            lambda: documents,
            lambda numbers: [str(each) for each in clusters["id"].take(numbers).to_pylist()],
            read_texts,
            values,
        )


def _values_in_folder(output: DedupOutput, column: str) -> ColumnValues:
    """Read the values of a column of all documents of an output folder, in input order."""
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
            texts = outcome.texts(side, file, ordered, None)
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
            ids = ids_in_other(row["kept_id"])
            found = [self._other[each] for each in ids if each in self._other]
            # Files may be called otherwise now; where they are not, file and row leave no doubt.
            there = row["kept_file"], row["kept_row"]
            found.sort(key=lambda each: (each.file, each.row) != there)
            text = found[0].text if found else None
        return Document(str(row["kept_id"]), row["kept_file"], row["kept_row"], text)

    def _row(self, place: int) -> dict[str, Any]:
        row: dict[str, Any] = self._removed.slice(int(place), 1).to_pylist()[0]
        return row
