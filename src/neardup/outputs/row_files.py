"""Writing rows: kept and removed ones apart, each as it came in, or all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from neardup.files.convert import converted_writer
from neardup.files.destinations import Destination
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.options.choices import OutputFormat
from neardup.tables import Bools


def write_rows(
    source: Source,
    blocks: Iterator[tuple[RowBlock, slice]],
    stays: Bools,
    folder: Destination,
    output_format: OutputFormat,
    report: Callable[[int], None],
) -> None:
    """Write one source's rows to ``folder/kept`` and ``folder/removed``.

    ``blocks`` gives the source's blocks with the range of their rows in ``stays``; ``report`` is
    called with the number of rows of each block.
    """
    with (
        _open_writer(source, folder / "kept", output_format) as kept,
        _open_writer(source, folder / "removed", output_format) as removed,
    ):
        for block, rows in blocks:
            kept.write(block, stays[rows])
            removed.write(block, ~stays[rows])
            report(len(block))


def write_all_rows(
    source: Source,
    blocks: Iterator[RowBlock],
    folder: Destination,
    output_format: OutputFormat,
    report: Callable[[int], None],
) -> None:
    """Write one source's rows to ``folder/kept``; ``report`` is called as by ``write_rows``."""
    with _open_writer(source, folder / "kept", output_format) as kept:
        for block in blocks:
            kept.write(block, np.ones(len(block), np.bool_))
            report(len(block))


def _open_writer(source: Source, folder: Destination, output_format: OutputFormat) -> RowWriter:
    folder.make_folder()
    return converted_writer(source, folder, output_format)
