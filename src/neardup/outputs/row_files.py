"""Writing rows: those that stay, those that go, and bad ones apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack

from neardup.files.convert import converted_writer
from neardup.files.destinations import Destination
from neardup.files.rows import RowBlock, Source
from neardup.options.choices import OutputFormat
from neardup.tables import Bools

SKIPPED = "skipped"
"""The folder of bad rows, which are no documents."""


def write_rows(
    source: Source,
    blocks: Iterator[tuple[RowBlock, slice]],
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    report: Callable[[int], None],
) -> None:
    """Write one source's rows to folders in ``folder``.

    ``sides`` has, by the name of a folder, which rows of the source go there. Those of ``skipped``
    are written as they came in, whatever the format of the others is, and get a file only if there
    are any. ``blocks`` gives the source's blocks with the range of their rows; ``report`` is called
    with the number of rows of each block.
    """
    bad = sides[SKIPPED]
    with ExitStack() as opened:
        writers = {}
        for side, rows in sides.items():
            if side != SKIPPED or rows.any():
                place = folder / side
                place.make_folder()
                own_format = "same" if side == SKIPPED else output_format
                writer = converted_writer(source, place, own_format, ~bad)
                writers[side] = opened.enter_context(writer)
        for block, range_ in blocks:
            for side, writer in writers.items():
                writer.write(block, sides[side][range_])
            report(len(block))
