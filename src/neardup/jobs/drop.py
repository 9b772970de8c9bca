"""``drop``: a collection without the documents that a table names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError, InvalidParameterError
from neardup.files.ids import as_text
from neardup.files.inputs import check_effect, passed_over
from neardup.files.passes import keep_extracted
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.options.documents import DropOptions
from neardup.options.groups import InputOptions
from neardup.outputs.summary_file import resolve_tables
from neardup.reading.catalogue import Catalogue
from neardup.reading.first_pass import list_documents
from neardup.reading.texts import IdLookup
from neardup.results import describe_ids, describe_skipped, versions
from neardup.runs.progress import counted
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.stages.counts import Groups, count_documents
from neardup.stages.options import columns_of
from neardup.stages.selection import Selection, complete_summary, in_batches
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class DropResult(Selection):
    """Which documents stay, and which go because a table names them."""

    def headline(self) -> str:
        """Return the counts of documents kept and removed."""
        counts = self.summary
        return (
            f"{counted(counts['documents_in'], 'document')}: {counts['documents_kept']:,} kept, "
            f"{counts['documents_removed']:,} removed"
        )

    def tables(self) -> dict[str, pa.RecordBatchReader]:
        """Return the table that is written beside the rows."""
        return {"removed.parquet": in_batches(self._removed_rows, np.flatnonzero(~self._stays))}

    @cached_property
    def removed(self) -> pa.Table:
        """One row for each removed document: id, file, row."""
        return self._removed_rows(np.flatnonzero(~self._stays))

    def _removed_rows(self, gone: Int64s) -> pa.Table:
        import pyarrow as pa

        return pa.table(
            {
                "id": self._ids.take(gone),
                "file": self._documents.document_files(gone),
                "row": self._documents.numbers[gone],
            }
        )

    @cached_property
    def _ids(self) -> IdLookup:
        return IdLookup(self._documents)


DEFAULT_COLUMN = "doc_id"


def read_named_ids(named_in: str, column: str | None, *, trust: bool = False) -> pa.Array:
    """Read the different ids that a table, or a text with one id a line, names.

    A folder is one of tables, as results are that come in parts, or of texts.
    """
    import pyarrow as pa

    sources = resolve_tables(named_in, trust=trust, options=InputOptions(lines=True))
    if column is not None and all("lines" in source.input_options for source in sources):
        message = f"column has no effect with {named_in}, a text with one id a line; leave it out"
        raise InvalidParameterError(message)
    parts = (
        _ids_in(block, column or DEFAULT_COLUMN, source.origin or named_in)
        for source in sources
        for block in source.blocks()
    )
    return pa.concat_arrays([pa.array([], pa.large_string()), *parts]).unique()


def _ids_in(block: RowBlock, column: str, path: str) -> pa.Array:
    """Give a column of some rows as strings; ids may also be whole numbers."""
    import pyarrow as pa

    try:
        found = block.parse(ColumnNames(column, text_option="column")).text
    except InvalidInputError:
        try:
            table = block.to_table()
        except (InvalidInputError, pa.ArrowException):
            table = pa.table({})
        names = table.column_names
        if column not in names and {"id", "kept_id", "start", "end"} <= set(names):
            message = (
                f"there is no column {column!r}; the table names spans that were cut out of "
                "documents, which did not go; cut --named-in takes such spans out"
            )
            raise InvalidInputError(message, path=path) from None
        if column not in names and "id" in names and "kept_id" in names:
            message = (
                f"there is no column {column!r}; the documents that went are in column 'id', those "
                "that stay for them in 'kept_id': choose --column id, unless these are to go"
            )
            raise InvalidInputError(message, path=path) from None
        if column not in names or pa.types.is_string(table[column].type):
            raise
        found = table[column].combine_chunks()
        if found.null_count or not pa.types.is_integer(found.type):
            message = f"column {column!r} holds {found.type} values, or nulls; choose one with ids"
            raise InvalidInputError(message, path=path) from None
    return found.cast(pa.large_string())


def drop_documents(
    sources: Sequence[Source],
    named_in: str,
    options: DropOptions,
    runner: Runner,
    workspace: Workspace = IN_MEMORY,
) -> DropResult:
    """Find the documents of some sources that a table names."""
    check_effect(options, sources)
    keep_extracted(workspace, sources)
    with runner.stage("read") as note:
        named = read_named_ids(named_in, options.column, trust=options.trust)
        documents = list_documents(
            sources,
            columns_of(options),
            workspace,
            runner,
            skip_bad=options.skip_bad,
            by=options.by,
        )
        stays, n_missing = _choose(documents, named, options, named_in)
        note(documents=len(documents), named=len(named))
    return DropResult(documents, stays, _summarise(documents, stays, named, n_missing, runner))


def _choose(
    catalogue: Catalogue, named: pa.Array, options: DropOptions, named_in: str
) -> tuple[Bools, int]:
    """Return which documents stay, and how many named ones are not there."""
    import pyarrow as pa
    import pyarrow.compute as pc

    # A skipped row is no document.
    is_document = catalogue.is_document
    stays: Bools = np.ones(len(catalogue), np.bool_)
    is_there: Bools = np.zeros(len(named), np.bool_)
    for first, ids in _long_slices(catalogue, len(named)):
        here = slice(first, first + len(ids))
        places = pc.index_in(as_text(ids), value_set=named)
        is_named = is_document[here] & places.is_valid().to_numpy(zero_copy_only=False)
        stays[here] = ~is_named
        is_there[places.filter(pa.array(is_named)).to_numpy(zero_copy_only=False)] = True
    missing = named.filter(pa.array(~is_there))
    if len(missing) and options.missing == "raise":
        message = (
            f"{named_in} names {len(named):,} documents, {len(missing):,} of which the input does "
            f"not have, such as {missing[0].as_py()!r}; give the same input and --id-column as "
            "when the ids were made, choose another --column, or leave such ids out with "
            "--missing ignore"
        )
        raise InvalidInputError(message)
    return stays, len(missing)


def _long_slices(catalogue: Catalogue, least: int) -> Iterator[tuple[int, pa.Array]]:
    """Yield all ids as ``id_slices``, but so many at a time at least.

    For each slice the named ids are hashed, which should be the smaller part.
    """
    import pyarrow as pa

    start, n_waiting = 0, 0
    waiting: list[pa.Array] = []
    for _, ids in catalogue.id_slices():
        waiting.append(ids)
        n_waiting += len(ids)
        if n_waiting >= least:
            yield start, pa.concat_arrays(waiting)
            start, n_waiting, waiting = start + n_waiting, 0, []
    if waiting:
        yield start, pa.concat_arrays(waiting)


def _summarise(
    documents: Catalogue, stays: Bools, named: pa.Array, n_missing: int, runner: Runner
) -> dict[str, Any]:
    n_documents = int(documents.is_document.sum())
    n_removed = int((~stays).sum())
    summary: dict[str, Any] = {
        "documents_in": n_documents,
        "documents_kept": n_documents - n_removed,
        "documents_removed": n_removed,
        "by_file": count_documents(Groups.of_files(documents), documents.is_document, stays),
        "named_documents": len(named),
        "missing_documents": n_missing,
        **describe_ids(documents.columns),
        **describe_skipped(documents.skipped),
        "passed_over": passed_over(documents.sources),
        "workers": runner.workers,
        "versions": versions(),
    }
    if documents.values is not None:
        counts = count_documents(Groups.of_values(documents.values), documents.is_document, stays)
        summary["by"] = {"column": documents.values.column, **counts}
    complete_summary(summary, runner)
    return summary
