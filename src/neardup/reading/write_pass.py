"""The stage write: read the documents of a collection once more, and write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.files.rawsource import Buffers
from neardup.files.rows import Place, RowBlock, RowWriter, Source
from neardup.files.streams import Destination
from neardup.options.choices import OutputFormat
from neardup.outputs.folder import SKIPPED, write_rows
from neardup.reading.catalogue import Catalogue
from neardup.reading.second_pass import numbered_blocks, unread_blocks
from neardup.runs.runner import Runner
from neardup.tables import Bools

if TYPE_CHECKING:
    import pyarrow as pa


# Returns the changed block, given the range of its documents.
Change = Callable[[RowBlock, slice], RowBlock]


def read_kept(documents: Catalogue, stays: Bools, change: Change) -> pa.Table:
    """Return the kept documents after a change, with all columns, in input order."""
    import pyarrow as pa

    from neardup.files.conversion import joined

    stays = stays & documents.is_document
    tables = []
    for source, start, stop in documents.ranges():
        schema = source.arrow_schema()
        if start == stop and schema is not None:
            # A table without rows still has columns.
            tables.append(schema.empty_table())
        for block, rows in numbered_blocks(source, start, stop):
            tables.append(change(block, rows).to_table(stays[rows]))
    return joined(tables) if tables else pa.table({})


def sides_of(documents: Catalogue, stays: Bools | None = None) -> dict[str, Bools]:
    """Return the rows of each folder: kept and removed documents, and skipped rows.

    Without ``stays``, there is no folder of removed documents.
    """
    is_document = documents.is_document
    if is_document.all():
        # Uniform masks would take a byte per document.
        none = np.broadcast_to(np.False_, len(documents))
        if stays is None:
            return {"kept": is_document, SKIPPED: none}
        return {"kept": stays, "removed": ~stays, SKIPPED: none}
    if stays is None:
        return {"kept": is_document, SKIPPED: ~is_document}
    return {"kept": stays & is_document, "removed": ~stays, SKIPPED: ~is_document}


def _reader(
    documents: Catalogue, source: Source, change: Change
) -> Callable[[RowBlock | Place, slice], RowBlock]:
    """Return a function that reads a block if necessary, and changes it."""
    take = Buffers().take

    def read(found: RowBlock | Place, rows: slice) -> RowBlock:
        if isinstance(found, Place):
            found = source.block_at(found, documents.numbers[rows], take)
        return change(found, rows)

    return read


def write_lines(
    documents: Catalogue,
    stays: Bools,
    destination: Destination,
    runner: Runner,
    change: Change,
) -> None:
    """Write the kept documents after a change as JSON lines, in input order.

    ``destination`` receives the lines source by source.
    """
    from neardup.files.conversion import lines_writer

    stays = stays & documents.is_document
    count = runner.counter("write", len(documents))

    def prepare(
        writer: RowWriter,
        read: Callable[[RowBlock | Place, slice], RowBlock],
        item: tuple[RowBlock | Place, slice],
    ) -> tuple[Any, int]:
        block = read(*item)
        return writer.prepare(block, stays[item[1]]), len(block)

    for number, source in enumerate(documents.sources):
        with lines_writer(source, destination) as writer:
            work = partial(prepare, writer, _reader(documents, source, change))
            for prepared, n_rows in runner.map(work, unread_blocks(documents, number)):
                writer.append(prepared)
                count(n_rows)


def write_documents(
    documents: Catalogue,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    runner: Runner,
    change: Change,
    write_others: Callable[[], None],
) -> None:
    """Write rows after a change, with sources and their blocks in parallel.

    ``sides`` are the rows of each folder, as in ``write_rows``. ``write_others`` runs in parallel.
    """
    count = runner.counter("write", len(documents))

    def write(number: int) -> None:
        source = documents.sources[number]
        start, stop = documents.source_starts[number : number + 2].tolist()
        own = {side: rows[start:stop] for side, rows in sides.items()}
        read_numbered = _reader(documents, source, change)

        def read(found: RowBlock | Place, within: slice) -> RowBlock:
            return read_numbered(found, slice(start + within.start, start + within.stop))

        unread = (
            (found, slice(rows.start - start, rows.stop - start))
            for found, rows in unread_blocks(documents, number)
        )
        write_rows(source, unread, read, own, folder, output_format, count)

    numbers = range(len(documents.sources))
    work: list[Callable[[], None]] = [write_others, *(partial(write, n) for n in numbers)]
    for _ in runner.map(lambda each: each(), work):
        pass
