"""The output of a deduplication, with rows and tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, ReadError
from neardup.files.destinations import SUMMARY, Target, recover, target_of
from neardup.files.documents import as_text
from neardup.files.formats import file_source, has_columns
from neardup.files.inputs import written_document
from neardup.files.memory import WRITTEN_AS
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import is_url
from neardup.files.writers import converted_name
from neardup.options.groups import InputOptions
from neardup.outputs.output_tables import TableRows, read_summary
from neardup.reading.catalogue import Catalogue
from neardup.reading.passes import selected_blocks
from neardup.reading.texts import FoundText
from neardup.reports.dedup_page import Removal
from neardup.reports.examples import Document
from neardup.runs.runner import Runner
from neardup.stages.options import input_options_of
from neardup.stages.result_tables import ReadCollection, open_written
from neardup.tables import Bools, Int64s

Side = Literal["kept", "removed"]

# Columns that locate documents.
PLACE_COLUMNS = ("file", "row", "is_duplicate")


class DocumentPlaces:
    """File, row and removal of each input document.

    ``batches`` have the ``PLACE_COLUMNS``: documents of a file are consecutive, and their rows
    ascend. Memory: 9 bytes per document.
    """

    def __init__(self, batches: Iterable[pa.Table]) -> None:
        starts: dict[str, int] = {}
        rows: list[Int64s] = [np.empty(0, np.int64)]
        are_removed: list[Bools] = [np.empty(0, np.bool_)]
        n_documents = 0
        for batch in batches:
            encoded = batch["file"].combine_chunks().dictionary_encode()
            firsts = np.flatnonzero(np.diff(encoded.indices.to_numpy(), prepend=-1)).tolist()
            for first, name in zip(firsts, encoded.dictionary.to_pylist(), strict=True):
                starts.setdefault(name, n_documents + first)
            rows.append(batch["row"].to_numpy())
            are_removed.append(batch["is_duplicate"].to_numpy())
            n_documents += len(batch)
        self.files = list(starts)
        self._rows, self._are_removed = np.concatenate(rows), np.concatenate(are_removed)
        bounds = pairwise([*starts.values(), n_documents])
        self._ranges = dict(zip(starts, bounds, strict=True))

    def __len__(self) -> int:
        return len(self._are_removed)

    def find(self, file: str, rows: Int64s) -> Int64s:
        """Return the documents in a file's rows, -1 if missing."""
        start, stop = self._ranges.get(file, (0, 0))
        own = self._rows[start:stop]
        places = np.searchsorted(own, rows)
        is_there = np.append(own, -1)[places] == rows
        return np.where(is_there & (places < len(own)), start + places, -1)

    def are_removed(self, numbers: Int64s | slice) -> Bools:
        """Return a mask of the removed documents."""
        return self._are_removed[numbers]

    def count_removed_before(self, number: int) -> int:
        """Return the number of removed documents before a document."""
        return int(np.count_nonzero(self._are_removed[:number]))

    def of_side(self, side: Side, file: str) -> Int64s:
        """Return all removed or kept documents of a file."""
        start, stop = self._ranges[file]
        own = self._are_removed[start:stop]
        numbers: Int64s = start + np.flatnonzero(own == (side == "removed"))
        return numbers


class Outcome(ABC):
    """A deduplication, from an output folder or in memory.

    ``summary`` is the content of ``summary.json``. Documents are identified by the name of their
    input file and their row number there, the columns ``file`` and ``row`` of tables.
    """

    summary: Mapping[str, Any]

    @property
    @abstractmethod
    def removed(self) -> TableRows:
        """A row per removed document, as in ``removed.parquet``."""

    @property
    @abstractmethod
    def clusters(self) -> TableRows:
        """A row per document, as in ``clusters.parquet``."""

    @cached_property
    def documents(self) -> DocumentPlaces:
        """File, row and removal of each input document."""
        return DocumentPlaces(self.clusters.batches(*PLACE_COLUMNS))

    @abstractmethod
    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return a file's compared texts by ascending rows."""


def open_output(folder: str | Path) -> DedupOutput:
    """Open a folder or URL that ``neardup dedup`` has written."""
    target = target_of(folder)
    if not is_url(str(target)):
        recover(Path(target))
        if not Path(target).is_dir():
            message = "there is no such folder; name one that `neardup dedup` has written"
            raise ReadError(message, path=str(target))
        if not Path(target, SUMMARY).is_file():
            raise _no_output(target, f"it has no {SUMMARY}")
    job, summary = read_summary(str(target))
    if job != "dedup":
        page = ", of which `neardup report` makes a page" if job == "cut" else ""
        raise _no_output(target, f"it is that of `neardup {job}`{page}")
    return DedupOutput(target, summary)


def _no_output(folder: Target, reason: str) -> InvalidInputError:
    message = f"no output of `neardup dedup`: {reason}; name a folder that this has written"
    return InvalidInputError(message, path=str(folder))


def _other_rows(source: Source) -> InvalidInputError:
    message = (
        "its rows are not those that were written there; it has been changed since: run "
        "`neardup dedup` again"
    )
    return InvalidInputError(message, path=source.origin)


class DedupOutput(Outcome):
    """The output folder of a deduplication, read on demand."""

    def __init__(self, folder: Target, summary: Mapping[str, Any]) -> None:
        self.folder, self.summary = folder, summary

    @cached_property
    def removed(self) -> TableRows:
        """A row per removed document."""
        return open_written(self._path("removed.parquet"))

    @cached_property
    def clusters(self) -> TableRows:
        """A row per document."""
        return open_written(self._path("clusters.parquet"))

    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return documents' texts, reading files to the last document."""
        wanted, inverse = np.unique(np.asarray(rows, np.int64), return_inverse=True)
        numbers = self.documents.find(file, wanted)
        is_there = numbers >= 0
        is_there[is_there] = self.documents.are_removed(numbers[is_there]) == (side == "removed")
        if not is_there.all():
            row = int(wanted[int(np.argmin(is_there))])
            message = f"no document of {file!r}, row {row}, was {side}"
            raise InvalidInputError(message, path=str(self.folder))
        if not len(wanted):
            return []
        source, columns = self._source(side, file)
        # Rows are in the order of documents in the file of their side.
        places = np.searchsorted(self.documents.of_side(side, file), numbers)
        texts: list[str] = []
        start = 0
        for block in source.blocks():
            here = places[(places >= start) & (places < start + len(block))]
            if len(here):
                select: Bools = np.zeros(len(block), np.bool_)
                select[here - start] = True
                parsed = block.parse(columns, select=select)
                some = slice(len(texts), len(texts) + len(here))
                if parsed.id is not None and not as_text(parsed.id).equals(
                    as_text(self.clusters.take(numbers[some], "id")["id"].combine_chunks())
                ):
                    raise _other_rows(source)
                texts += parsed.text.to_pylist()
            start += len(block)
            if len(texts) == len(wanted):
                return [texts[place] for place in inverse.tolist()]
        raise _other_rows(source)

    def _source(self, side: Side, file: str) -> tuple[Source, ColumnNames]:
        described = self.summary["reading"]
        columns = described["text_column"]
        texts = columns if isinstance(columns, str) else tuple(columns)
        options = input_options_of(described)
        output_format = self.summary["output_format"]
        if output_format is None:
            message = (
                "it has tables only, and this needs its rows; run `neardup dedup` without "
                "format='none' (--format none)"
            )
            raise InvalidInputError(message, path=str(self.folder))
        is_in_memory = {"name": file, "origin": None} in self.summary["inputs"]
        written_name = WRITTEN_AS if is_in_memory else file
        name = converted_name(written_name, output_format)
        if output_format != "same" and not has_columns(written_name, options):
            # Input that was not a table is written as one of a single column.
            texts, options = "text", InputOptions()
        elif output_format != "same":
            options = options.but(input_format="auto", encoding=None, delimiter=None)
        columns_there = ColumnNames(texts, described["id_column"])
        path = self._path(f"{side}/{name}")
        if options.document == "folder" and output_format == "same":
            return written_document(path, name, self.documents.files, options), columns_there
        return file_source(path, name, options), columns_there

    def _path(self, name: str) -> str:
        path = f"{self.folder}/{name}"
        if not is_url(path) and not Path(path).exists():
            message = f"the output is not complete: it has no {name}; run `neardup dedup` again"
            raise InvalidInputError(message, path=str(self.folder))
        return path


class ResultOutcome(Outcome):
    """A result in memory, whose input ``own`` is read again."""

    def __init__(
        self, summary: Mapping[str, Any], removed: pa.Table, clusters: pa.Table, own: Catalogue
    ) -> None:
        self.summary, self._removed, self._clusters = summary, removed, clusters
        self._own = own

    @cached_property
    def removed(self) -> TableRows:
        """A row per removed document."""
        return TableRows.of_table(self._removed)

    @cached_property
    def clusters(self) -> TableRows:
        """A row per document."""
        return TableRows.of_table(self._clusters)

    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return the texts of documents, on either side."""
        is_wanted = np.zeros(len(self.documents), np.bool_)
        is_wanted[self.documents.find(file, np.asarray(rows, np.int64))] = True
        wanted = self._own.is_document
        wanted[np.flatnonzero(wanted)] = is_wanted
        columns = self._own.columns.only_text()
        return [
            text
            for _, block, rows in selected_blocks(self._own, wanted)
            for text in block.parse(columns, select=wanted[rows]).text.to_pylist()
        ]


# Prefix of an id of the other collection that the first one also has.
_AGAINST = "against/"

# Reason for a missing text, by the keeper's side.
_NO_TEXT = {"denied": "an index keeps no text of a document that was removed and denied"}


def ids_in_other(identifier: object) -> tuple[str, ...]:
    """Return the possible ids in the other collection.

    The id itself comes first: a collection may have ids with this prefix, such as those of files in
    a folder of this name.
    """
    full = str(identifier)
    own = full.removeprefix(_AGAINST)
    return (full,) if own == full else (full, own)


class ShownTexts:
    """Rows of removed documents and their keepers, with texts.

    Each file is read once. Keepers' texts of the other collection are read only if ``against`` is
    given. ``removed`` and ``keepers`` are row numbers in the table of removed documents: those
    whose own text is read, and those whose keeper's text is.
    """

    def __init__(
        self,
        outcome: Outcome,
        against: ReadCollection | None,
        runner: Runner,
        *,
        removed: Iterable[int],
        keepers: Iterable[int],
    ) -> None:
        removed, keepers = list(removed), list(keepers)
        places = np.unique(np.array([*removed, *keepers], np.int64))
        rows = outcome.removed.take(places).to_pylist()
        self._rows = dict(zip(places.tolist(), rows, strict=True))
        self._texts: dict[tuple[Side, str, int], str] = {}
        self._other: dict[str, FoundText] = {}
        wanted: dict[tuple[Side, str], set[int]] = {}
        other: set[str] = set()
        for row in map(self._rows.__getitem__, removed):
            wanted.setdefault(("removed", row["file"]), set()).add(row["row"])
        for row in map(self._rows.__getitem__, keepers):
            if row["kept_in"] == "input":
                wanted.setdefault(("kept", row["kept_file"]), set()).add(row["kept_row"])
            elif row["kept_in"] == "against":
                other.update(ids_in_other(row["kept_id"]))
        for (side, file), numbers in wanted.items():
            ordered = sorted(numbers)
            texts = outcome.texts(side, file, ordered)
            self._texts |= zip(((side, file, row) for row in ordered), texts, strict=True)
        if against is not None and other:
            self._other = against.texts(other, runner)

    def row(self, place: int) -> dict[str, Any]:
        """Return a row of the table."""
        row: dict[str, Any] = self._rows[place]
        return row

    def removal(self, place: int) -> Removal:
        """Return a removed document with its keeper."""
        row = self._rows[place]
        text = self._texts.get(("removed", row["file"], row["row"]))
        first = Document(str(row["id"]), row["file"], row["row"], text)
        no_text = _NO_TEXT.get(row["kept_in"], "")
        return Removal(first, self.keeper(place), row["similarity"], no_text=no_text)

    def keeper(self, place: int) -> Document:
        """Return the keeper of a removed document."""
        row = self._rows[place]
        there = row["kept_file"], row["kept_row"]
        text = None
        if row["kept_in"] == "input":
            text = self._texts.get(("kept", *there))
        elif row["kept_in"] == "against":
            ids = ids_in_other(row["kept_id"])
            texts = [self._other[each] for each in ids if each in self._other]
            # Files may have been renamed; otherwise file and row are unambiguous.
            texts.sort(key=lambda each: (each.file, each.row) != there)
            text = texts[0].text if texts else None
        return Document(str(row["kept_id"]), *there, text)
