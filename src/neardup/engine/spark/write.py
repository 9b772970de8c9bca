"""Write the rows of a result on executors, some sources per task."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.engine.spark.cluster import Cluster, Failure, Piece, cut_tasks, spark_errors
from neardup.errors import NeardupError, WriteError
from neardup.files.remote import RemoteDestination
from neardup.files.streams import Destination, LocalDestination, writing
from neardup.options.choices import OutputFormat
from neardup.outputs.row_files import SKIPPED, write_rows
from neardup.reading.passes import numbered_blocks
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    from pyspark.rdd import RDD

    from neardup.reading.catalogue import Catalogue
    from neardup.reading.passes import Change

# Folder in the output for incomplete files while the output is written.
_ATTEMPTS = ".attempts"


class _Job(NamedTuple):
    """A source, its document numbers, and the target folders of each document, as bits."""

    piece: Piece
    start: int
    stop: int
    packed: dict[str, bytes]


# Opens the change of blocks at writing, from the rows that were sent to a task.
OpenChange = Callable[[Iterator[Any]], AbstractContextManager["Change"]]


def no_change(_: Iterator[Any]) -> AbstractContextManager[Change]:
    """Leave blocks as they are."""
    return nullcontext(lambda block, _: block)


def write_on_executors(
    cluster: Cluster,
    documents: Catalogue,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    send: Callable[[Int64s], RDD[Any]] | None = None,
    open_change: OpenChange = no_change,
) -> None:
    """Write rows to the folders of ``sides``, as ``write_documents`` does in threads.

    Parameters
    ----------
    cluster
        Executors that write; all reach the folder under the same path or URL.
    documents, sides, folder, output_format
        As of ``write_documents``.
    send
        Returns rows at the tasks that write their documents, given each task's first document
        number.
    open_change
        Makes the change of blocks from these rows, given the range of a block's documents.
    """
    bounds = [(start, stop) for _, start, stop in documents.ranges()]
    tasks: list[list[_Job]] = []
    for task in cut_tasks([documents.sources], cluster.slots, are_whole=True):
        jobs = []
        for piece in task:
            start, stop = bounds[piece.number]
            packed = {side: np.packbits(rows[start:stop]).tobytes() for side, rows in sides.items()}
            jobs.append(_Job(piece, start, stop, packed))
        tasks.append(jobs)
    numbered = list(enumerate(tasks))
    if send is None:
        laid_out = cluster.lay_out(numbered)
    else:
        starts = np.array([jobs[0].start for jobs in tasks], np.int64)
        laid_out = cluster.attach(numbered, send(starts))
    if isinstance(folder, RemoteDestination):
        write = partial(_write_remote, folder.for_other_process())
        working = partial(_write, write, output_format, open_change)
        with spark_errors():
            answers = cluster.work_out(cluster.work(working, laid_out, lasts=True))
        for answer in answers:
            for sizes, _ in answer.rows or ():
                folder.add_sizes(sizes)
    else:
        local = Path(str(folder)).absolute()
        attempts = local / _ATTEMPTS
        attempts.mkdir()
        working = partial(_write, partial(_write_local, local), output_format, open_change)
        with spark_errors():
            cluster.work_out(cluster.work(working, laid_out, lasts=True))
        shutil.rmtree(attempts)


# Writes the rows of a source: target folders, output format, and change of blocks.
_WriteSource = Callable[[Piece, Mapping[str, Bools], OutputFormat, "Change"], dict[str, int]]


def _write(
    write_source: _WriteSource,
    output_format: OutputFormat,
    open_change: OpenChange,
    rows: Iterator[Any],
) -> Iterator[tuple[dict[str, int], bytes] | Failure]:
    """Write the sources of a task, which is the first of the rows."""
    task: tuple[int, Sequence[_Job]]
    for task in islice(rows, 1):
        number, jobs = task
        piece = None
        try:
            with open_change(rows) as change:
                for piece, start, stop, packed in jobs:
                    sides = {side: _unpacked(bits, stop - start) for side, bits in packed.items()}
                    own = partial(_change_own, change, start)
                    yield write_source(piece, sides, output_format, own), b""
        except NeardupError as error:
            yield Failure.of(number, piece, error)


def _unpacked(bits: bytes, n_rows: int) -> Bools:
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=n_rows).astype(np.bool_)


def _change_own(change: Change, start: int, block: Any, rows: slice) -> Any:
    return change(block, slice(start + rows.start, start + rows.stop))


def _write_remote(
    folder: RemoteDestination,
    piece: Piece,
    sides: Mapping[str, Bools],
    output_format: OutputFormat,
    change: Change,
) -> dict[str, int]:
    """Write the rows of a source; object stores show a file when it is complete."""
    place = folder.for_other_process()
    _write_rows(piece, sides, place, output_format, change)
    return place.sizes()


def _write_local(
    folder: Path,
    piece: Piece,
    sides: Mapping[str, Bools],
    output_format: OutputFormat,
    change: Change,
) -> dict[str, int]:
    """Write the rows of a source under temporary names, and rename complete files.

    Another attempt at the same task may be running, or may have left files.
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
        _write_rows(piece, sides, LocalDestination(attempt), output_format, change)
        with writing(LocalDestination(folder)):
            for path in sorted(attempt.rglob("*")):
                place = folder / path.relative_to(attempt)
                if path.is_dir():
                    place.mkdir(parents=True, exist_ok=True)
                else:
                    path.replace(place)
    finally:
        shutil.rmtree(attempt, ignore_errors=True)
    return {}


def _write_rows(
    piece: Piece,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    change: Change,
) -> None:
    blocks = numbered_blocks(piece.source, 0, len(sides[SKIPPED]))
    write_rows(piece.source, blocks, change, sides, folder, output_format, lambda _: None)
