"""``drop``: remove the documents of a table from a collection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Engine
from neardup.errors import InvalidInputError, InvalidParameterError, option_name
from neardup.files.destinations import SUMMARY
from neardup.files.documents import IdTable, as_text, keep_extracted
from neardup.files.inputs import passed_over
from neardup.files.plain import TextLinesSource
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.files.streams import is_url
from neardup.options.document_options import DropOptions
from neardup.options.groups import InputOptions
from neardup.outputs.output_tables import read_summary, resolve_tables
from neardup.reading.sign import describe_filtered
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runs.progress import counted
from neardup.runs.runner import release_memory
from neardup.stages.options import columns_of
from neardup.stages.selection import (
    FileRanges,
    Selection,
    complete_summary,
    count_documents,
    in_batches,
    list_documents,
)
from neardup.tables import Bools, Int64s


class DropResult(Selection):
    """Kept documents, and documents removed because a table names them."""

    def headline(self) -> str:
        """Return the counts of documents kept and removed."""
        counts = self.summary
        return (
            f"{counted(counts['documents_in'], 'document')}: {counts['documents_kept']:,} kept, "
            f"{counts['documents_removed']:,} removed"
        )

    def _tables(self) -> dict[str, pa.RecordBatchReader]:
        return {"removed.parquet": in_batches(self._removed_rows, self._stays, wanted=False)}

    @cached_property
    def removed(self) -> pa.Table:
        """One row per removed document: id, file, row."""
        return self._removed_rows(np.flatnonzero(~self._stays))

    def _removed_rows(self, gone: Int64s) -> pa.Table:
        return pa.table(
            {
                "id": self._own_ids.take(gone),
                "file": self._documents.document_files(gone),
                "row": self._documents.numbers[gone],
            }
        )


DEFAULT_COLUMN = "doc_id"


class NamedIds:
    """Distinct ids in a table, or in lines of text."""

    def __init__(self, named_in: str, column: str | None) -> None:
        sources = resolve_tables(named_in, options=InputOptions(document="line"))
        if column is not None and all(isinstance(each, TextLinesSource) for each in sources):
            message = (
                f"column has no effect with {named_in}, a text with one id a line; leave it out"
            )
            raise InvalidParameterError(message)
        parts = [
            _ids_in(block, column or DEFAULT_COLUMN, source.origin or named_in)
            for source in sources
            for block in source.blocks()
        ]
        self._ids = pa.concat_arrays([pa.array([], pa.large_string()), *parts]).unique()
        self._table = IdTable(self._ids)
        self._is_met: Bools = np.zeros(len(self), np.bool_)

    def __len__(self) -> int:
        return len(self._ids)

    def meet(self, ids: pa.Array, is_document: Bools) -> Bools:
        """Return a mask of the named documents, and record them."""
        # A skipped row has no id.
        places = self._table.find(ids.filter(pa.array(is_document)))
        self._is_met[places[places >= 0]] = True
        is_named: Bools = is_document.copy()
        is_named[is_document] = places >= 0
        return is_named

    def missing(self) -> tuple[int, str]:
        """Count the missing documents, and return the first missing id."""
        missing = np.flatnonzero(~self._is_met)
        return len(missing), self._ids[int(missing[0])].as_py() if len(missing) else ""


def _ids_in(block: RowBlock, column: str, path: str) -> pa.Array:
    """Return an id column as strings, also for integer ids."""
    try:
        found = block.parse(ColumnNames(column, text_option="column")).text
    except InvalidInputError:
        try:
            table = block.to_table()
        except (InvalidInputError, pa.ArrowException):
            table = pa.table({})
        names = table.column_names
        if column not in names and "kept_id" in names:
            message = (
                f"there is no column {column!r}; choose column='id' (--column id) to remove the "
                "documents that went"
            )
            raise InvalidInputError(message, path=path) from None
        if column not in names or pa.types.is_string(table[column].type):
            raise
        found = table[column].combine_chunks()
        if found.null_count or not pa.types.is_integer(found.type):
            message = f"column {column!r} holds {found.type} values, or nulls; choose one with ids"
            raise InvalidInputError(message, path=path) from None
    return found.cast(pa.large_string())


def _table_in(named_in: str, options: DropOptions) -> tuple[str, str | None]:
    """Return the table that names documents, and its id column."""
    if is_url(named_in) or not Path(named_in, SUMMARY).is_file():
        return named_in, options.column
    job, _ = read_summary(named_in)
    if job == "cut":
        message = (
            "it is that of `neardup cut`, which takes spans out of documents; name a table or a "
            "folder of `neardup dedup`"
        )
        raise InvalidInputError(message, path=named_in)
    return f"{named_in}/removed.parquet", options.column or "id"


def drop_documents(
    engine: Engine, sources: Sequence[Source], named_in: str, options: DropOptions
) -> DropResult:
    """Find the documents of some sources that a table names."""
    keep_extracted(engine.workspace, sources)
    with engine.stage("read") as note:
        table, column = _table_in(named_in, options)
        named = NamedIds(table, column)
        documents = list_documents(engine, sources, columns_of(options), skip_bad=options.skip_bad)
        stays: Bools = np.ones(len(documents), np.bool_)
        # A skipped row is not a document.
        is_document = documents.is_document
        for first, ids in documents.id_slices():
            here = slice(first, first + len(ids))
            stays[here] = ~named.meet(as_text(ids), is_document[here])
        n_missing, example = named.missing()
        if n_missing and options.missing == "raise":
            message = (
                f"{table} names {counted(len(named), 'document')}, {n_missing:,} of which the "
                f"input does not have, such as {example!r}; give the same input and "
                f"{option_name('id_column')} as when the ids were made, choose another "
                f"{option_name('column')}, or leave such ids out with missing='ignore' (--missing "
                "ignore)"
            )
            raise InvalidInputError(message)
        n_named = len(named)
        del named
        # Free the memory of reading before writing.
        release_memory()
        note(documents=len(documents), named=n_named)
    n_removed = int((~stays).sum())
    summary: dict[str, Any] = {
        "documents_in": int(is_document.sum()),
        "documents_kept": int(is_document.sum()) - n_removed,
        "documents_removed": n_removed,
        "by_file": count_documents(FileRanges.of(documents), is_document, stays),
        "named_documents": n_named,
        "missing_documents": n_missing,
        **describe_ids(documents.columns),
        **describe_skipped(documents.skipped),
        **describe_filtered(documents.sources),
        "passed_over": passed_over(documents.sources),
        "workers": engine.workers,
        "versions": versions(),
    }
    complete_summary(summary, engine.runner)
    return DropResult(documents, stays, summary)
