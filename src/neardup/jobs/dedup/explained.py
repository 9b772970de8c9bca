"""Documents of a deduplication whose result is in memory, read again to be explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.clustering.keep import parse_keep
from neardup.documents.other import DocumentIndexSource, index_among, own_tokenizer
from neardup.errors import InvalidParameterError
from neardup.files.ids import as_text
from neardup.files.resolve import resolve_paths
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.jobs.dedup.output import DedupOutput, Side, other_rows
from neardup.jobs.explain.documents import Batch, DecidedDocuments, Document, Documents
from neardup.jobs.inputs import input_options_of
from neardup.options.option import no_effect
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.text.tokenizers import TokenFunction

# Numbers of documents of another collection begin here, so that all of them are negative.
_FIRST_OF_OTHER = -(2**62)


class ResultDocuments(DecidedDocuments):
    """Documents that are read from where they were.

    Parameters
    ----------
    documents
        The collection.
    summary, removed, clusters
        As of ``DecidedDocuments``.
    order
        The column by which documents were ranked, None for none.
    """

    def __init__(
        self,
        documents: Catalogue,
        summary: dict[str, Any],
        removed: pa.Table,
        clusters: pa.Table,
        order: str | None,
    ) -> None:
        super().__init__(summary, removed, clusters)
        self._catalogue = documents
        self._columns = replace(documents.columns.only_text(), order=order)

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, or those of some numbers, some at a time."""
        is_document = self._catalogue.is_document
        wanted = is_document.copy()
        if numbers is not None:
            wanted[:] = False
            wanted[np.flatnonzero(is_document)[numbers]] = True
        ranks = np.cumsum(is_document) - 1
        for source, start, stop in self._catalogue.ranges():
            if not wanted[start:stop].any():
                continue
            for block, rows in numbered_blocks(source, start, stop):
                if wanted[rows].any():
                    found = ranks[rows][wanted[rows]]
                    yield read_batch(block, self._columns, wanted[rows], found, self)


class AgainstDocuments(Documents):
    """Documents of the collection that others were compared against, all of which stay.

    Parameters
    ----------
    sources
        What is read.
    columns
        Where texts and ids are.
    skip_bad
        Whether bad rows are left out.
    """

    def __init__(
        self, sources: Sequence[Source], columns: ColumnNames, *, skip_bad: bool = False
    ) -> None:
        self._sources, self._columns, self._skip_bad = sources, columns, skip_bad

    def stay(self, numbers: Int64s) -> Bools:
        """Return that all of them stay."""
        return np.ones(len(numbers), np.bool_)

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, some at a time; numbers are not looked for."""
        first = _FIRST_OF_OTHER
        for source in self._sources:
            for block in source.blocks():
                parsed = block.parse(self._columns, skip_bad=self._skip_bad)
                is_good = parsed.text.is_valid().to_numpy(zero_copy_only=False)
                ids = source.default_ids(block.numbers) if parsed.id is None else parsed.id
                rows = np.flatnonzero(is_good)
                yield Batch(
                    np.arange(first, first + len(rows)),
                    parsed.text.take(rows),
                    None,
                    _Described(first, ids.take(rows), source, block.numbers[rows]),
                )
                first += len(rows)


class _Described:
    """Describes documents of the other collection by their rows in a batch."""

    def __init__(self, first: int, ids: pa.Array, source: Source, rows: Int64s) -> None:
        self._first, self._ids, self._rows = first, ids, rows
        self._file = source.name if source.has_lasting_rows else None

    def __call__(self, row: int) -> Document:
        number = int(self._rows[row]) if self._file is not None else None
        return Document(self._first + row, self._ids[row].as_py(), "against", self._file, number)


def read_batch(
    block: RowBlock,
    columns: ColumnNames,
    wanted: Bools,
    numbers: Int64s,
    documents: DecidedDocuments,
) -> Batch:
    """Read some documents of a block, which have these numbers."""
    parsed = block.parse(columns, select=wanted)
    return Batch(
        numbers, parsed.text, parsed.order, lambda row: documents.describe(int(numbers[row]))
    )


# Documents of a deduplication whose output is in a folder, read again to be explained.


class FolderDocuments(DecidedDocuments):
    """Documents that are read from where a deduplication has written them."""

    def __init__(self, output: DedupOutput) -> None:
        super().__init__(output.summary, output.removed, output.clusters())
        self._output = output
        self._order = parse_keep(output.summary["keep"]).column

    def batches(self, numbers: Int64s | None = None) -> Iterator[Batch]:
        """Yield all documents, or those of some numbers, some at a time.

        They come file by file, those that stay before those that went.
        """
        files = self.clusters["file"].combine_chunks().dictionary_encode()
        of_file = files.indices.to_numpy()
        for number, file in enumerate(files.dictionary.to_pylist()):
            sides: tuple[Side, Side] = ("kept", "removed")
            for side in sides:
                here = np.flatnonzero(
                    (of_file == number) & (self.is_removed == (side == "removed"))
                )
                wanted = np.ones(len(here), np.bool_)
                if numbers is not None:
                    wanted = np.isin(here, numbers)
                if wanted.any():
                    yield from self._read(side, file, here, wanted, is_all=numbers is None)

    def _read(
        self, side: Side, file: str, numbers: Int64s, wanted: Bools, *, is_all: bool
    ) -> Iterator[Batch]:
        """Read the wanted ones of all documents of a file."""
        source, columns = self._output.source(side, file)
        columns = replace(columns, order=self._order)
        last = int(np.flatnonzero(wanted)[-1])
        start = 0
        for block in source.blocks():
            here = slice(start, start + len(block))
            if len(block) > len(numbers) - start:
                raise other_rows(source)
            if wanted[here].any():
                yield self._batch(block, wanted[here], numbers[here], columns, source)
            start = here.stop
            if start > last and not is_all:
                return
        if start != len(numbers):
            raise other_rows(source)

    def _batch(
        self, block: RowBlock, select: Bools, numbers: Int64s, columns: ColumnNames, source: Source
    ) -> Batch:
        numbers = numbers[select]
        parsed = block.parse(columns, select=select)
        if parsed.id is not None and not as_text(parsed.id).equals(self._ids_of(numbers)):
            raise other_rows(source)
        return Batch(
            numbers, parsed.text, parsed.order, lambda row: self.describe(int(numbers[row]))
        )

    def _ids_of(self, numbers: Int64s) -> pa.Array:
        return as_text(self.clusters["id"].take(numbers).combine_chunks())


def open_against(
    summary: Mapping[str, Any],
    against: Sequence[str],
    text_column: str | Sequence[str] | None = None,
    id_column: str | None = None,
    tokenizer: str | Path | TokenFunction | None = None,
) -> AgainstDocuments | None:
    """Open what documents were compared against, as it was read then; None if nothing is named.

    Parameters
    ----------
    summary
        Of the deduplication.
    against
        Files, or the folder of an index.
    text_column, id_column
        Columns, where they are others now.
    tokenizer
        That of an index, if it was a file.
    """
    if not against:
        for name, value in (
            ("against_text_column", text_column),
            ("against_id_column", id_column),
        ):
            if value is not None:
                raise no_effect(name, "without against", "give against", "against")
        return None
    if not summary.get("against_documents"):
        message = "the documents were compared with no others; leave against out"
        raise InvalidParameterError(message, "against")
    named = [Path(each) for each in against]
    handle = index_among(named, own_tokenizer(tokenizer))
    if handle is not None:
        index = handle.view(Runner(1))
        weighted = index.scheme.weighted
        found = AgainstDocuments(
            [DocumentIndexSource(index, handle.folder)], ColumnNames("text", "id")
        )
        found.frequencies = None if weighted is None else weighted.frequencies
        return found
    described = summary["reading"]
    texts = text_column or described.get("against_text_column") or described["text_column"]
    columns = ColumnNames(
        texts if isinstance(texts, str) else tuple(texts),
        id_column or summary.get("against_id_column"),
    )
    return _read(summary, against, columns)


def open_counted(summary: Mapping[str, Any], idf_from: Sequence[str]) -> AgainstDocuments | None:
    """Open the documents by which shingles were weighed; None if none are named."""
    if not idf_from:
        return None
    texts = summary["reading"]["text_column"]
    columns = ColumnNames(texts if isinstance(texts, str) else tuple(texts))
    return _read(summary, idf_from, columns)


def _read(
    summary: Mapping[str, Any], paths: Sequence[str], columns: ColumnNames
) -> AgainstDocuments:
    sources = resolve_paths(paths, input_options_of(summary["reading"]))
    skip_bad = bool(summary["skipped_rows"] or summary.get("against_skipped_rows"))
    return AgainstDocuments(sources, columns, skip_bad=skip_bad)
