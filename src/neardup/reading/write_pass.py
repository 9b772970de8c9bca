"""The stage write: the documents of a collection read once more, and written out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from neardup.files.destinations import Destination
from neardup.files.rows import RowBlock, Source
from neardup.options.choices import OutputFormat
from neardup.outputs.row_files import write_all_rows, write_rows
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.runtime.runner import Runner
from neardup.runtime.threads import read_ahead
from neardup.tables import Bools

if TYPE_CHECKING:
    import pyarrow as pa


# Returns what a block becomes, given the range of its documents.
Change = Callable[[RowBlock, slice], RowBlock]


def read_kept(documents: Catalogue, stays: Bools) -> pa.Table:
    """Return the rows that stay, all columns, in input order."""
    return _join(
        block.to_table(stays[rows])
        for source, start, stop in documents.ranges()
        for block, rows in numbered_blocks(source, start, stop)
    )


def read_changed(documents: Catalogue, change: Change) -> pa.Table:
    """Return all rows, all columns, in input order, as blocks are after a change."""
    return _join(
        change(block, rows).to_table()
        for source, start, stop in documents.ranges()
        for block, rows in numbered_blocks(source, start, stop)
    )


def _join(parts: Iterable[pa.Table]) -> pa.Table:
    import pyarrow as pa

    tables = list(parts)
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})


def write_documents(
    documents: Catalogue,
    stays: Bools,
    folder: Destination,
    output_format: OutputFormat,
    runner: Runner,
) -> None:
    """Write all rows to ``folder/kept`` and ``folder/removed``, a source at a time each worker."""
    count = runner.counter("write", len(documents))

    def write(item: tuple[Source, int, int]) -> None:
        blocks = read_ahead(numbered_blocks(*item))
        write_rows(item[0], blocks, stays, folder, output_format, count)

    for _ in runner.map(write, documents.ranges()):
        pass


def write_changed(
    documents: Catalogue,
    change: Change,
    folder: Destination,
    output_format: OutputFormat,
    runner: Runner,
) -> None:
    """Write all rows to ``folder/kept``, as blocks are after a change."""
    count = runner.counter("write", len(documents))

    def write(item: tuple[Source, int, int]) -> None:
        blocks = (change(block, rows) for block, rows in read_ahead(numbered_blocks(*item)))
        write_all_rows(item[0], blocks, folder, output_format, count)

    for _ in runner.map(write, documents.ranges()):
        pass
