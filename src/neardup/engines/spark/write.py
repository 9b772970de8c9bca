"""The stage write: executors read sources once more, and write kept and removed rows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neardup.engines.spark.cluster import Cluster
from neardup.engines.spark.failures import Failure
from neardup.engines.spark.tasks import Piece, cut_tasks
from neardup.errors import NeardupError, WriteError
from neardup.files.destinations import Destination, LocalDestination
from neardup.files.remote import RemoteDestination, WrittenFile
from neardup.files.streams import writing
from neardup.outputs.row_files import write_rows
from neardup.reading.second_pass import numbered_blocks
from neardup.tables import Bools

if TYPE_CHECKING:
    from neardup.options.choices import OutputFormat
    from neardup.reading.catalogue import Catalogue

# Folder in the output, while it is made, for files that are not complete.
_ATTEMPTS = ".attempts"

# A source with the number of its documents, and which of them stay, as bits.
_Job = tuple[Piece, int, bytes]


def write_on_executors(
    documents: Catalogue,
    stays: Bools,
    folder: Destination,
    output_format: OutputFormat,
    cluster: Cluster,
) -> None:
    """Write all rows to ``folder/kept`` and ``folder/removed``, some sources a task.

    The folder is one that all executors reach under the same path or URL.
    """
    bounds = [(start, stop) for _, start, stop in documents.ranges()]
    tasks: list[list[_Job]] = []
    for task in cut_tasks([documents.sources], cluster.slots, are_whole=True):
        jobs = []
        for piece in task:
            start, stop = bounds[piece.number]
            jobs.append((piece, stop - start, np.packbits(stays[start:stop]).tobytes()))
        tasks.append(jobs)
    laid_out = cluster.lay_out(list(enumerate(tasks)))
    if isinstance(folder, RemoteDestination):
        writing_rows = partial(_write, partial(_write_remote, folder.for_other_process()))
        for answer in cluster.work_out(
            cluster.work(partial(writing_rows, output_format), laid_out)
        ):
            folder.add_written(file for files, _ in answer.rows or () for file in files)
        return
    local = Path(str(folder)).absolute()
    attempts = local / _ATTEMPTS
    attempts.mkdir()
    writing_rows = partial(_write, partial(_write_local, local))
    cluster.work_out(cluster.work(partial(writing_rows, output_format), laid_out))
    shutil.rmtree(attempts)


def _write(
    write_source: Callable[[Piece, Bools, OutputFormat], list[WrittenFile]],
    output_format: OutputFormat,
    tasks: Iterator[tuple[int, Sequence[_Job]]],
) -> Iterator[tuple[list[WrittenFile], bytes] | Failure]:
    for number, jobs in tasks:
        piece = None
        try:
            for piece, n_documents, packed in jobs:
                stays = np.unpackbits(np.frombuffer(packed, np.uint8), count=n_documents)
                yield write_source(piece, stays.astype(np.bool_), output_format), b""
        except NeardupError as error:
            yield Failure.of(number, piece, error)


def _write_remote(
    folder: RemoteDestination, piece: Piece, stays: Bools, output_format: OutputFormat
) -> list[WrittenFile]:
    """Write the rows of a source; object stores show a file when it is complete."""
    place = folder.for_other_process()
    _write_rows(piece, stays, place, output_format)
    return place.written()


def _write_local(
    folder: Path, piece: Piece, stays: Bools, output_format: OutputFormat
) -> list[WrittenFile]:
    """Write the rows of a source under a name of this attempt; files get theirs when complete.

    Another attempt at the same task may be under way, or have died on the way.

    Raises
    ------
    WriteError
        If this host has another folder of that name, or none.
    """
    if not (folder / _ATTEMPTS).is_dir():
        message = (
            f"the executors do not see {folder.parent}, where the driver has begun the output; "
            "choose a folder that all of them share"
        )
        raise WriteError(message)
    with writing(LocalDestination(folder)):
        attempt = Path(tempfile.mkdtemp(dir=folder / _ATTEMPTS))
    try:
        _write_rows(piece, stays, LocalDestination(attempt), output_format)
        with writing(LocalDestination(folder)):
            for path in sorted(attempt.rglob("*")):
                place = folder / path.relative_to(attempt)
                if path.is_dir():
                    place.mkdir(parents=True, exist_ok=True)
                else:
                    path.replace(place)
    finally:
        shutil.rmtree(attempt, ignore_errors=True)
    return []


def _write_rows(
    piece: Piece, stays: Bools, folder: Destination, output_format: OutputFormat
) -> None:
    blocks = numbered_blocks(piece.source, 0, len(stays))
    write_rows(piece.source, blocks, stays, folder, output_format, lambda _: None)
