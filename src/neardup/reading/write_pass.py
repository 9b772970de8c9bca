"""The stage write: the documents of a collection read once more, and written out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from neardup.errors import InvalidInputError
from neardup.files.rows import RowBlock, Source
from neardup.files.streams import Destination
from neardup.options.choices import OutputFormat
from neardup.outputs.folder import SKIPPED, write_rows
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks
from neardup.runs.runner import Runner, read_ahead
from neardup.tables import Bools

if TYPE_CHECKING:
    import pyarrow as pa


# Returns what a block becomes, given the range of its documents.
Change = Callable[[RowBlock, slice], RowBlock]


def read_kept(documents: Catalogue, stays: Bools, change: Change) -> pa.Table:
    """Return the documents that stay, all columns, in input order, as blocks are after a change."""
    import pyarrow as pa

    from neardup.files.fitting import JSON_LINES, table_of

    stays = stays & documents.is_document
    joined = pa.schema([])
    tables = []
    for source, start, stop in documents.ranges():
        for block, rows in numbered_blocks(source, start, stop):
            table = table_of(change(block, rows), stays[rows])
            try:
                joined = pa.unify_schemas([joined, table.schema], promote_options="permissive")
            except pa.ArrowException as error:
                message = (
                    "in the rows from here on, values are of other types than before, which do not "
                    f"go together in a table ({error}); {JSON_LINES}"
                )
                path, row = source.origin or source.name, int(block.numbers[0])
                raise InvalidInputError(message, path=path, row=row) from None
            tables.append(table)
    return pa.concat_tables(tables, promote_options="permissive") if tables else pa.table({})


def sides_of(documents: Catalogue, stays: Bools | None = None) -> dict[str, Bools]:
    """Return which rows go to which folder: kept and removed documents, and skipped rows.

    None goes without ``stays``, and there is no folder for such.
    """
    is_document = documents.is_document
    if stays is None:
        return {"kept": is_document, SKIPPED: ~is_document}
    return {"kept": stays & is_document, "removed": ~stays, SKIPPED: ~is_document}


def write_documents(
    documents: Catalogue,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    runner: Runner,
    change: Change,
) -> None:
    """Write rows as blocks are after a change, a source at a time each worker.

    ``sides`` says which go to which folder, as ``write_rows`` takes it.
    """
    count = runner.counter("write", len(documents))

    def write(item: tuple[Source, int, int]) -> None:
        source, start, stop = item
        own = {side: rows[start:stop] for side, rows in sides.items()}
        # Closed here: the traceback of an error would keep it, and its thread, for the collector of
        # garbage, which waits for ever if it comes across it while another thread starts.
        with closing(read_ahead(numbered_blocks(source, start, stop))) as read:
            blocks = (
                (change(block, rows), slice(rows.start - start, rows.stop - start))
                for block, rows in read
            )
            write_rows(source, blocks, own, folder, output_format, count)

    for _ in runner.map(write, documents.ranges()):
        pass
