"""Documents of a deduplication whose output is in a folder, read again to be explained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.clustering.keep import parse_keep
from neardup.documents.other import IndexSource, index_among, own_tokenizer
from neardup.errors import InvalidParameterError
from neardup.files.ids import as_text
from neardup.files.resolve import resolve_paths
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.jobs.dedup.explained import AgainstDocuments
from neardup.jobs.dedup.output import DedupOutput, Side, other_rows
from neardup.jobs.explain.documents import Batch, DecidedDocuments
from neardup.jobs.inputs import input_options_of
from neardup.options.option import no_effect
from neardup.runtime.runner import Runner
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.text.tokenizers import TokenFunction


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
        found = AgainstDocuments([IndexSource(index, handle.folder)], ColumnNames("text", "id"))
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
