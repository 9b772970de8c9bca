"""Texts of documents of a deduplication, from its folder or its result, those of a page at once."""

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

# In front of an id of the other collection that the first one has, too.
_AGAINST = "against/"

# By where the document is that stays for one: why its text cannot be had.
_NO_TEXT = {
    "index": "the text is in the index, which cannot be read where it was named beside files",
    **dict.fromkeys(
        ("denied-exact", "denied-estimated"),
        "an index keeps no text of what was removed and denied",
    ),
}


def ids_in_other(identifier: object) -> tuple[str, ...]:
    """Return the ids that a document of the other collection may have there, by its id in a table.

    The id itself is the likelier one: a collection may have ids that begin so, such as those of
    files in a folder of this name.
    """
    full = str(identifier)
    own = full.removeprefix(_AGAINST)
    return (full,) if own == full else (full, own)


def texts_of_documents(*documents: Document) -> Texts:
    """Return the texts of documents that are at hand, each with the language of its file."""
    import pyarrow as pa

    languages = [language_of_file(each.file or each.id) or IN_MEMORY for each in documents]
    texts = pa.array([each.text for each in documents], pa.large_string())
    return Texts.from_arrow(texts, np.array(languages, np.uint8))


class Outcome(Protocol):
    """A deduplication whose documents are shown: an output folder, or a result in memory.

    ``is_written`` says whether the rows are in a folder, ``summary`` is what ``summary.json`` says.
    """

    is_written: bool

    @property
    def summary(self) -> Mapping[str, Any]:
        """What the run has said of itself."""

    @property
    def removed(self) -> TableRows:
        """A row for each removed document."""

    @property
    def clusters(self) -> TableRows:
        """A row for each document."""

    @property
    def documents(self) -> DocumentPlaces:
        """Where the documents of the input stand, and which went."""

    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return the texts of documents of an input file that are on one side, by their rows."""

    def blocks(self, side: Side) -> Iterator[tuple[Int64s, Texts]]:
        """Yield the numbers and texts of all documents of one side, some at a time."""


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


class ResultOutcome:
    """A result in memory, whose input ``own`` is read again."""

    is_written = False

    def __init__(self, result: DecidedInMemory, own: Catalogue) -> None:
        self.summary = result.summary
        self.removed, self.clusters = map(TableRows.of_table, (result.removed, result.clusters))
        self._own = own

    @cached_property
    def documents(self) -> DocumentPlaces:
        """Where the documents of the input stand, and which went."""
        return DocumentPlaces(self.clusters.batches(*PLACE_COLUMNS))

    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return the texts of documents in ascending rows of an input file, on either side."""
        is_wanted = np.zeros(len(self.documents), np.bool_)
        is_wanted[self.documents.find(file, np.asarray(rows, np.int64))] = True
        return [
            as_shown(text) for _, _, found in self._read(is_wanted) for text in found.to_pylist()
        ]

    def blocks(self, side: Side) -> Iterator[tuple[Int64s, Texts]]:
        """Yield the numbers and texts of all documents of one side, some at a time."""
        went = self.documents.went(np.arange(len(self.documents)))
        for numbers, block, texts in self._read(went == (side == "removed")):
            yield numbers, Texts.from_arrow(texts, block.language)

    def _read(self, is_wanted: Bools) -> Iterator[tuple[Int64s, RowBlock, pa.Array]]:
        """Yield the numbers and texts of some documents."""
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
    """The documents of a table of removed ones, and those that stay for them, with texts."""

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
        """Read the texts of documents by their places in the table, each file once.

        Those of keepers of the other collection are read only if it is there, and none where only
        ids of the documents are known.
        """
        gone, stay = list(removed), list(keepers)
        if outcome.summary["keep"] == "none":
            # The copy that is named for one was removed, too.
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
        """Return a removed document with the one that stays for it."""
        row = self._rows[place]
        text = self._texts.get(("removed", row["file"], row["row"]))
        first = Document(str(row["id"]), row["file"], row["row"], text)
        no_text = _NO_TEXT.get(row["kept_in"], "")
        return Removal(first, self.keeper(place), row["similarity"], no_text=no_text)

    def keeper(self, place: int) -> Document:
        """Return the one that stays for a removed document."""
        row = self._rows[place]
        text = None
        if row["kept_in"] == "input":
            text = self._texts.get((self._kept, row["kept_file"], row["kept_row"]))
        elif row["kept_in"] == "against":
            ids = ids_in_other(row["kept_id"])
            found = [self._other[each] for each in ids if each in self._other]
            # Files may be called otherwise now; where they are not, file and row leave no doubt.
            there = row["kept_file"], row["kept_row"]
            found.sort(key=lambda each: (each.file, each.row) != there)
            text = found[0].text if found else None
        return Document(str(row["kept_id"]), row["kept_file"], row["kept_row"], text)
