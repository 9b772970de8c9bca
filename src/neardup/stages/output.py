"""The output folder of a deduplication: its tables, and the texts of its documents."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from neardup.errors import InvalidInputError, ReadError
from neardup.files.conversion import converted_name
from neardup.files.formats import file_source, has_columns
from neardup.files.ids import as_text
from neardup.files.languages import IN_MEMORY, language_of_file
from neardup.files.memory import WRITTEN_AS
from neardup.files.resolve import written_document
from neardup.files.rows import ColumnNames, Source
from neardup.files.streams import Destination, LocalDestination, is_url
from neardup.options.groups import InputOptions
from neardup.outputs.summary_file import SUMMARY, read_summary
from neardup.outputs.table_rows import TableRows
from neardup.outputs.targets import Target, target_of
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import read_at
from neardup.reading.texts import KeptTexts, keep_texts
from neardup.runs.runner import Runner
from neardup.runs.scratch import recover
from neardup.stages.options import input_options_of
from neardup.stages.places import COLUMNS as PLACE_COLUMNS
from neardup.stages.places import DocumentPlaces
from neardup.stages.tables import open_written
from neardup.tables import Bools, Int64s, Texts

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.outputs.summary_records import DedupRecord

# The table of removed documents with the texts of both, written within bounded memory.

TEXT_COLUMNS = ("text", "kept_text")
"""Columns of the texts, after all others."""

# Rows per row group, and bytes of their texts unless one row has more.
_GROUP_ROWS, _GROUP_BYTES = 1 << 16, 32 << 20


def write_with_texts(
    rows_of: Callable[[Int64s], pa.Table],
    gone: Int64s,
    keepers: Int64s,
    catalogues: Sequence[Catalogue],
    destination: Destination,
    runner: Runner,
    *,
    as_bytes: bool,
) -> str:
    """Write a table of removed documents with their texts and their keepers' texts.

    Returns its digest. Texts are first copied to a file next to the table, in reading order,
    because keepers' texts are needed in any order.

    Parameters
    ----------
    rows_of
        Returns the rows of some of the documents.
    gone, keepers
        Numbers of the documents and of their keepers, among all of ``catalogues``.
    catalogues
        The other collection, then the own one, whose documents may be removed.
    destination
        Path of the table.
    runner
        Runner of the reading.
    as_bytes
        Whether the documents are bytes.
    """
    from neardup.outputs.table_files import write_parquet_parts

    n_other = len(catalogues[0])
    wanted: Bools = np.zeros(sum(map(len, catalogues)), np.bool_)
    wanted[gone + n_other] = True
    wanted[keepers] = True
    folder = Path(str(destination)).parent if isinstance(destination, LocalDestination) else None
    with tempfile.TemporaryDirectory(prefix=".texts-", dir=folder) as temporary:
        path = Path(temporary, "texts")
        texts = keep_texts(catalogues, wanted, path, runner, as_bytes=as_bytes)

        def groups() -> Iterator[pa.Table]:
            sizes = texts.sizes(gone + n_other) + texts.sizes(keepers)
            for rows in _slices(sizes):
                yield _with_texts(rows_of(gone[rows]), gone[rows] + n_other, keepers[rows], texts)

        nothing = gone[:0]
        schema = _with_texts(rows_of(nothing), nothing, nothing, texts).schema
        digest = write_parquet_parts(groups(), schema, destination, are_groups=True)
        texts.close()
    return digest


def _with_texts(rows: pa.Table, gone: Int64s, keepers: Int64s, texts: KeptTexts) -> pa.Table:
    for name, documents in zip(TEXT_COLUMNS, (gone, keepers), strict=True):
        rows = rows.append_column(name, texts.take(documents))
    return rows


def _slices(sizes: Int64s) -> Iterator[slice]:
    """Divide rows into row groups, by number and by bytes of their texts."""
    ends = np.cumsum(sizes)
    start = 0
    while start < len(sizes):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + _GROUP_BYTES, side="right"))
        stop = min(max(stop, start + 1), start + _GROUP_ROWS, len(sizes))
        yield slice(start, stop)
        start = stop


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
        # A written spreadsheet has one sheet.
        options = input_options_of(described).but(sheet=None)
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
        return open_written(path, without=TEXT_COLUMNS)

    def _incomplete(self, name: str) -> InvalidInputError:
        message = f"the output is not complete: it has no {name}; run `neardup dedup` again"
        return InvalidInputError(message, path=str(self.folder))
