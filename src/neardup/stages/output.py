"""The output of a deduplication: tables with texts, and documents read again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, cast

import numpy as np
import numpy.typing as npt

from neardup.errors import InvalidInputError, ReadError
from neardup.files.conversion import converted_name
from neardup.files.destinations import Target, recover, target_of
from neardup.files.encodings import IN_MEMORY, language_of_file
from neardup.files.formats import file_source, has_columns
from neardup.files.ids import as_text
from neardup.files.inputs import written_document
from neardup.files.memory import WRITTEN_AS
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import is_url
from neardup.options.groups import InputOptions
from neardup.outputs.summary_file import SUMMARY, read_summary
from neardup.outputs.table_rows import TableRows
from neardup.reading.catalogue import Catalogue, RowNumbers
from neardup.reading.passes import numbered_blocks, read_at
from neardup.reading.texts import FoundText
from neardup.reports.dedup import Removal
from neardup.reports.examples import Document
from neardup.runs.runner import Runner
from neardup.stages.options import input_options_of
from neardup.stages.tables import Collection, open_written
from neardup.tables import Bools, Int64s, Texts, Uint64s, offsets_of

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.outputs.summary_records import DedupRecord


Side = Literal["kept", "removed"]


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
    return DedupOutput(target, cast("DedupRecord", summary))


def _no_output(folder: Target, reason: str) -> InvalidInputError:
    message = f"no output of `neardup dedup`: {reason}; name a folder that this has written"
    return InvalidInputError(message, path=str(folder))


def _other_rows(source: Source) -> InvalidInputError:
    message = (
        "its rows are not those that were written there; it has been changed since: run "
        "`neardup dedup` again"
    )
    return InvalidInputError(message, path=source.origin)


def as_shown(text: str | bytes) -> str:
    """Return a text; bytes are decoded for display."""
    return text if isinstance(text, str) else text.decode("utf-8", "backslashreplace")


def _below(folder: Target, name: str) -> str:
    return f"{folder}/{name}"


class DedupOutput:
    """The output of a deduplication.

    ``folder`` is its path, ``summary`` the content of ``summary.json``. Tables and texts are read
    on request. Documents are identified by the name of their input file and their row number there,
    the columns ``file`` and ``row`` of tables.

    Notes
    -----
    Tables are read some rows at a time. Finding documents takes the memory of ``DocumentPlaces``;
    requested texts and a block of their file are in memory at the same time.
    """

    is_written = True

    def __init__(self, folder: Target, summary: DedupRecord) -> None:
        self.folder, self.summary = folder, summary

    @cached_property
    def removed(self) -> TableRows:
        """A row per removed document, as in ``removed.parquet`` without texts."""
        return self._open("removed.parquet")

    @cached_property
    def clusters(self) -> TableRows:
        """A row per document, as in ``clusters.parquet``."""
        return self._open("clusters.parquet")

    @cached_property
    def documents(self) -> DocumentPlaces:
        """File and row of each input document, and whether it was removed."""
        return DocumentPlaces(self.clusters.batches(*PLACE_COLUMNS))

    def texts(self, side: Side, file: str, rows: Sequence[int] | Int64s) -> list[str]:
        """Return the compared texts of some documents of an input file.

        Several columns are joined as in the job; bytes are decoded for display.

        Parameters
        ----------
        side
            Whether they were kept or removed.
        file, rows
            Name of the input file, and row numbers there, in any order. The file is read up to the
            last one.
        """
        wanted, inverse = np.unique(np.asarray(rows, np.int64), return_inverse=True)
        found, went = self.documents, side == "removed"
        numbers = found.find(file, wanted)
        is_there = numbers >= 0
        is_there[is_there] = found.went(numbers[is_there]) == went
        if not is_there.all():
            row = int(wanted[int(np.argmin(is_there))])
            message = f"no document of {file!r}, row {row}, was {side}"
            raise InvalidInputError(message, path=str(self.folder))
        if not len(wanted):
            return []
        places = found.n_same_before(numbers)
        source, columns = self.source(side, file)
        read = read_at(source, columns, places)
        if len(read.texts) < len(wanted):
            raise _other_rows(source)
        if read.ids is not None and not as_text(read.ids).equals(self.ids(numbers)):
            raise _other_rows(source)
        texts = [as_shown(each) for each in read.texts]
        return [texts[place] for place in inverse.tolist()]

    def blocks(self, side: Side) -> Iterator[tuple[Int64s, Texts]]:
        """Yield the numbers and texts of all documents of one side, some at a time."""
        found = self.documents
        for number, file in enumerate(found.files):
            here = [*found.of_side(went=side == "removed", file=number)]
            numbers = np.concatenate([np.empty(0, np.int64), *here])
            if not len(numbers):
                continue
            source, columns = self.source(side, file)
            start = 0
            for block in source.blocks():
                stop = start + len(block)
                if stop > len(numbers):
                    raise _other_rows(source)
                # The file may have been written in another format.
                language = language_of_file(file) or IN_MEMORY
                texts = Texts.from_arrow(block.parse(columns).text, language)
                yield numbers[start:stop], texts
                start = stop
            if start < len(numbers):
                raise _other_rows(source)

    def source(self, side: Side, file: str) -> tuple[Source, ColumnNames]:
        """Return the source of an input file's rows, and the columns to read."""
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
            texts, options = "bytes" if options.input_format == "bytes" else "text", InputOptions()
        elif output_format != "same":
            # HTML texts are written as HTML.
            is_html = options.input_format == "html"
            options = options.but(
                input_format="html" if is_html else "auto", encoding=None, delimiter=None
            )
        columns_there = ColumnNames(texts, described["id_column"])
        path = _below(self.folder, f"{side}/{name}")
        if not is_url(path) and not Path(path).exists():
            raise self._incomplete(f"{side}/{name}")
        if options.document == "folder" and output_format == "same":
            return written_document(path, name, self.documents.files, options), columns_there
        return file_source(path, name, options), columns_there

    def ids(self, numbers: Int64s) -> pa.Array:
        """Return the ids of some documents as text."""
        return as_text(self.clusters.take(numbers, "id")["id"].combine_chunks())

    def _open(self, name: str) -> TableRows:
        path = _below(self.folder, name)
        if not is_url(path) and not Path(path).exists():
            raise self._incomplete(name)
        return open_written(path)

    def _incomplete(self, name: str) -> InvalidInputError:
        message = f"the output is not complete: it has no {name}; run `neardup dedup` again"
        return InvalidInputError(message, path=str(self.folder))


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


PLACE_COLUMNS = ("file", "row", "is_duplicate")
"""Columns of ``clusters.parquet`` with this information."""

_WORD = 64
# Documents whose bits are unpacked at the same time.
_AT_ONCE = 1 << 16


class DocumentPlaces:
    """File and row of each input document, and whether it was removed.

    Documents are numbered in input order. ``files`` are the names of the files with documents, in
    that order.

    Parameters
    ----------
    batches
        Tables with the ``PLACE_COLUMNS``: documents of a file are consecutive, and their rows
        ascend.

    Notes
    -----
    Memory: a quarter of a byte per document, and 16 bytes per run of rows without a gap.
    """

    def __init__(self, batches: Iterable[pa.Table]) -> None:
        numbers: dict[str, int] = {}
        starts: list[int] = []
        numbered, words = RowNumbers(), _Words()
        n = 0
        last = -1
        for batch in batches:
            encoded = batch["file"].combine_chunks().dictionary_encode()
            names = encoded.dictionary.to_pylist()
            files = np.array([numbers.get(name, -1) for name in names], np.int64)
            codes = encoded.indices.to_numpy()
            begins = np.flatnonzero(np.diff(codes, prepend=-1))
            for begin in begins.tolist():
                code = codes[begin]
                if names[code] not in numbers:
                    files[code] = numbers[names[code]] = len(starts)
                    starts.append(n + begin)
            here = files[codes]
            rows = batch["row"].to_numpy()
            is_same = np.concatenate([[last], here])[: len(rows)] == here
            numbered.add(rows, ~is_same)
            words.add(batch["is_duplicate"].to_numpy())
            if len(rows):
                last = int(here[-1])
            n += len(rows)
        self.files, self._numbers = list(numbers), numbers
        self._n = n
        self._starts: Int64s = np.array([*starts, n], np.int64)
        self._numbered = numbered
        self._words = words.join()
        n_gone: Int64s = np.bitwise_count(self._words).astype(np.int64)
        self._before = offsets_of(n_gone)

    def __len__(self) -> int:
        return self._n

    def files_of(self, numbers: Int64s) -> Int64s:
        """Return the indexes of documents' files in ``files``."""
        found: Int64s = np.searchsorted(self._starts, numbers, side="right") - 1
        return found

    def find(self, file: str, rows: Int64s) -> Int64s:
        """Return the documents in rows of a file; -1 if there is none."""
        number = self._numbers.get(file)
        if number is None:
            return np.full(len(rows), -1, np.int64)
        firsts, first_rows = self._numbered.firsts, self._numbered.rows
        low, high = np.searchsorted(firsts, self._starts[number : number + 2])
        runs = low + np.searchsorted(first_rows[low:high], rows, side="right") - 1
        is_before = runs < low
        runs = np.maximum(runs, low)
        found = firsts[runs] + rows - first_rows[runs]
        is_there = ~is_before & (found < firsts[runs + 1])
        return np.where(is_there, found, -1)

    def went(self, numbers: Int64s) -> Bools:
        """Return a mask of the removed documents."""
        bits = self._words[numbers // _WORD] >> (numbers % _WORD).astype(np.uint64)
        is_set: Bools = (bits & np.uint64(1)).astype(np.bool_)
        return is_set

    def n_gone_before(self, numbers: Int64s) -> Int64s:
        """Return the number of removed documents before each document."""
        in_word = numbers // _WORD
        below = (np.uint64(1) << (numbers % _WORD).astype(np.uint64)) - np.uint64(1)
        words = np.append(self._words, np.uint64(0))[in_word]
        found: Int64s = self._before[in_word] + np.bitwise_count(words & below)
        return found

    def n_same_before(self, numbers: Int64s) -> Int64s:
        """Return the number of earlier documents of the same file and side."""
        starts = self._starts[self.files_of(numbers)]
        n_gone = self.n_gone_before(numbers) - self.n_gone_before(starts)
        return np.where(self.went(numbers), n_gone, numbers - starts - n_gone)

    def of_side(self, *, went: bool, file: int | None = None) -> Iterator[Int64s]:
        """Yield all removed or kept documents, some at a time; optionally of one file."""
        start, stop = (0, self._n) if file is None else self._starts[file : file + 2].tolist()
        for low in range(start, stop, _AT_ONCE):
            numbers = np.arange(low, min(low + _AT_ONCE, stop))
            chosen = numbers[self.went(numbers) == went]
            if len(chosen):
                yield chosen


class _Words:
    """Append bits in pieces of any length, as words."""

    def __init__(self) -> None:
        self._parts: list[npt.NDArray[np.uint8]] = []
        self._rest: Bools = np.empty(0, np.bool_)

    def add(self, bits: Bools) -> None:
        bits = np.concatenate([self._rest, bits])
        n_whole = len(bits) // 8 * 8
        self._parts.append(np.packbits(bits[:n_whole], bitorder="little"))
        self._rest = bits[n_whole:]

    def join(self) -> Uint64s:
        self._parts.append(np.packbits(self._rest, bitorder="little"))
        packed = np.concatenate(self._parts)
        padded = np.concatenate([packed, np.zeros(-len(packed) % 8, np.uint8)])
        words: Uint64s = padded.view("<u8").astype(np.uint64, copy=False)
        return words
