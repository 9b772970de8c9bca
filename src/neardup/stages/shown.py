"""Display texts of a deduplication's documents, from its folder or its result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from neardup.files.languages import IN_MEMORY, language_of_file
from neardup.files.rows import RowBlock
from neardup.outputs.table_rows import TableRows
from neardup.reading.second_pass import numbered_blocks
from neardup.reading.texts import FoundText
from neardup.reports.dedup import Removal
from neardup.reports.examples import Document
from neardup.runs.runner import Runner
from neardup.stages.output import Side, as_shown
from neardup.stages.places import COLUMNS as PLACE_COLUMNS
from neardup.stages.places import DocumentPlaces
from neardup.stages.tables import Collection
from neardup.tables import Bools, Int64s, Texts

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.reading.catalogue import Catalogue

# Prefix of an id of the other collection that the first one also has.
_AGAINST = "against/"

# Reason for a missing text, by the keeper's side.
_NO_TEXT = {
    "index": "the text is in the index, which cannot be read where it was named beside files",
    **dict.fromkeys(
        ("denied-exact", "denied-estimated"),
        "an index keeps no text of what was removed and denied",
    ),
}


def ids_in_other(identifier: object) -> tuple[str, ...]:
    """Return possible ids in the other collection for an id in a table.

    The id itself comes first: a collection may have ids with this prefix, such as those of files in
    a folder of this name.
    """
    full = str(identifier)
    own = full.removeprefix(_AGAINST)
    return (full,) if own == full else (full, own)


def texts_of_documents(*documents: Document) -> Texts:
    """Return known texts of documents, each with the language of its file."""
    import pyarrow as pa

    languages = [language_of_file(each.file or each.id) or IN_MEMORY for each in documents]
    texts = pa.array([each.text for each in documents], pa.large_string())
    return Texts.from_arrow(texts, np.array(languages, np.uint8))


class Outcome(Protocol):
    """Interface of a displayed deduplication: an output folder, or a result in memory.

    With ``is_written`` the rows are in a folder; ``summary`` is the content of ``summary.json``.
    """

    is_written: bool

    @property
    def summary(self) -> Mapping[str, Any]:
        """Summary of the run."""

    @property
    def removed(self) -> TableRows:
        """A row per removed document."""

    @property
    def clusters(self) -> TableRows:
        """A row per document."""

    @property
    def documents(self) -> DocumentPlaces:
        """File and row of each input document, and whether it was removed."""

    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return texts of an input file's documents on one side, by row."""

    def blocks(self, side: Side) -> Iterator[tuple[Int64s, Texts]]:
        """Yield the numbers and texts of all documents of one side, some at a time."""


class DecidedInMemory(Protocol):
    """Interface of a deduplication's result, as far as it is displayed."""

    @property
    def summary(self) -> Mapping[str, Any]:
        """Summary of the run."""

    @property
    def removed(self) -> pa.Table:
        """One row per removed document."""

    @property
    def clusters(self) -> pa.Table:
        """One row per document."""


class ResultOutcome:
    """A result in memory, whose input ``own`` is read again."""

    is_written = False

    def __init__(self, result: DecidedInMemory, own: Catalogue) -> None:
        self.summary = result.summary
        self.removed, self.clusters = map(TableRows.of_table, (result.removed, result.clusters))
        self._own = own

    @cached_property
    def documents(self) -> DocumentPlaces:
        """Position and side of each input document."""
        return DocumentPlaces(self.clusters.batches(*PLACE_COLUMNS))

    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return the texts of documents in ascending rows of an input file, on either side."""
        is_wanted = np.zeros(len(self.documents), np.bool_)
        is_wanted[self.documents.find(file, np.asarray(rows, np.int64))] = True
        return [
            as_shown(text) for _, _, found in self._read(is_wanted) for text in found.to_pylist()
        ]

    def blocks(self, side: Side) -> Iterator[tuple[Int64s, Texts]]:
        """Yield the numbers and texts of one side, some at a time."""
        went = self.documents.went(np.arange(len(self.documents)))
        for numbers, block, texts in self._read(went == (side == "removed")):
            yield numbers, Texts.from_arrow(texts, block.language)

    def _read(self, is_wanted: Bools) -> Iterator[tuple[Int64s, RowBlock, pa.Array]]:
        is_document = self._own.is_document
        wanted = is_document.copy()
        wanted[is_document] = is_wanted
        numbers = np.cumsum(is_document) - 1
        columns = self._own.columns.only_text()
        for source, start, stop in self._own.ranges():
            if not wanted[start:stop].any():
                continue
            for block, rows in numbered_blocks(source, start, stop):
                here = wanted[rows]
                if here.any():
                    yield numbers[rows][here], block, block.parse(columns, select=here).text


class ShownTexts:
    """Rows of removed documents and their keepers, with texts."""

    def __init__(self, removed: TableRows) -> None:
        self._removed = removed
        self._rows: dict[int, dict[str, Any]] = {}
        self._texts: dict[tuple[Side, str, int], str] = {}
        self._other: dict[str, FoundText] = {}
        self._kept: Side = "kept"

    def read(
        self,
        outcome: Outcome,
        against: Collection | None,
        runner: Runner,
        *,
        removed: Iterable[int],
        keepers: Iterable[int],
    ) -> None:
        """Read the texts of documents by their rows in the table, each file once.

        Keepers' texts of the other collection are read only if it is available, and no texts if
        only ids of the documents are known.
        """
        gone, stay = list(removed), list(keepers)
        if outcome.summary["keep"] == "none":
            # The named keeper was removed, too.
            self._kept = "removed"
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
                wanted.setdefault((self._kept, row["kept_file"]), set()).add(row["kept_row"])
            elif row["kept_in"] == "against":
                other.update(ids_in_other(row["kept_id"]))
        for (side, file), rows in wanted.items():
            ordered = sorted(rows)
            texts = outcome.texts(side, file, ordered)
            self._texts |= {
                (side, file, row): text for row, text in zip(ordered, texts, strict=True)
            }
        if against is not None and other:
            self._other = against.texts(other, runner)

    def row(self, place: int) -> dict[str, Any]:
        """Return a row of the table."""
        return self._rows[place]

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
        text = None
        if row["kept_in"] == "input":
            text = self._texts.get((self._kept, row["kept_file"], row["kept_row"]))
        elif row["kept_in"] == "against":
            ids = ids_in_other(row["kept_id"])
            found = [self._other[each] for each in ids if each in self._other]
            # Files may have been renamed; otherwise file and row are unambiguous.
            there = row["kept_file"], row["kept_row"]
            found.sort(key=lambda each: (each.file, each.row) != there)
            text = found[0].text if found else None
        return Document(str(row["kept_id"]), row["kept_file"], row["kept_row"], text)
