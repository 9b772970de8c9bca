"""Write the rows of a source to the folders of an output."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any, TypeVar

from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.streams import Destination
from neardup.options.choices import OutputFormat
from neardup.runs.runner import map_ordered
from neardup.tables import Bools

T = TypeVar("T")

SKIPPED = "skipped"
"""The folder of bad rows."""


def write_rows(
    source: Source,
    blocks: Iterator[tuple[T, slice]],
    read: Callable[[T, slice], RowBlock],
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    report: Callable[[int], None],
) -> None:
    """Write one source's rows to folders in ``folder``.

    ``sides`` maps the name of a folder to a mask of the rows that it gets. Rows of ``skipped`` are
    written unchanged in any format, and get a file only if there are some. ``blocks`` yields the
    arguments of ``read`` with the range of their rows; ``report`` is called with the number of rows
    of each block. Idle threads of a map may help; the files are the same without them.
    """
    # Loads all writers, which results that are tables do not need.
    from neardup.files.conversion import Conversion

    documents = ~sides[SKIPPED]
    converted = Conversion(source, output_format, documents)
    with ExitStack() as opened:
        writers: dict[str, RowWriter] = {}
        for side, rows in sides.items():
            if side != SKIPPED or rows.any():
                place = folder / side
                place.make_folder()
                conversion = Conversion(source, "same") if side == SKIPPED else converted
                writers[side] = opened.enter_context(conversion.writer(place))

        def prepare(item: tuple[T, slice]) -> tuple[list[Any], int]:
            found, rows = item
            block = read(found, rows)
            prepared = [
                writer.prepare(block, sides[side][rows]) for side, writer in writers.items()
            ]
            return prepared, len(block)

        for prepared, n_rows in map_ordered(prepare, blocks, 1):
            for writer, parts in zip(writers.values(), prepared, strict=True):
                writer.append(parts)
            report(n_rows)
