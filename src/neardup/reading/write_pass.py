"""The stage write: the documents of a collection read once more, kept and removed ones apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neardup.files.destinations import Destination
from neardup.files.rows import Source
from neardup.options.choices import OutputFormat
from neardup.outputs.row_files import write_rows
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.runtime.runner import Runner
from neardup.runtime.threads import read_ahead
from neardup.tables import Bools

if TYPE_CHECKING:
    import pyarrow as pa


def read_kept(documents: Catalogue, stays: Bools) -> pa.Table:
    """Return the rows that stay, all columns, in input order."""
    import pyarrow as pa

    parts = [
        block.to_table(stays[rows])
        for source, start, stop in documents.ranges()
        for block, rows in numbered_blocks(source, start, stop)
    ]
    return pa.concat_tables(parts, promote_options="permissive") if parts else pa.table({})


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
