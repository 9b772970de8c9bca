"""The stage write: executors read sources once more, and write kept and removed rows."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import NeardupError, WriteError
from neardup.files.destinations import Destination, LocalDestination
from neardup.files.remote import RemoteDestination, WrittenFile
from neardup.files.streams import writing
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.outputs.folder import SKIPPED, write_rows
from neardup.reading.second_pass import numbered_blocks
from neardup.spark.cluster import Cluster, Failure, Piece, cut_tasks
from neardup.tables import Bools

if TYPE_CHECKING:
    from neardup.options.choices import OutputFormat
    from neardup.reading.catalogue import Catalogue
    from neardup.runs.runner import Runner

# Folder in the output, while it is made, for files that are not complete.
_ATTEMPTS = ".attempts"

# A source with the number of its rows, and which of them go to which folder, as bits.
_Job = tuple[Piece, int, dict[str, bytes]]


def write_on_executors(
    documents: Catalogue,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    cluster: Cluster,
) -> None:
    """Write rows to the folders of ``sides``, as ``write_rows`` takes it, some sources a task.

    The folder is one that all executors reach under the same path or URL.
    """
    bounds = [(start, stop) for _, start, stop in documents.ranges()]
    tasks: list[list[_Job]] = []
    for task in cut_tasks([documents.sources], cluster.slots, are_whole=True):
        jobs = []
        for piece in task:
            start, stop = bounds[piece.number]
            packed = {side: np.packbits(rows[start:stop]).tobytes() for side, rows in sides.items()}
            jobs.append((piece, stop - start, packed))
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
    write_source: Callable[[Piece, Mapping[str, Bools], OutputFormat], list[WrittenFile]],
    output_format: OutputFormat,
    tasks: Iterator[tuple[int, Sequence[_Job]]],
) -> Iterator[tuple[list[WrittenFile], bytes] | Failure]:
    for number, jobs in tasks:
        piece = None
        try:
            for piece, n_rows, packed in jobs:
                sides = {side: _unpacked(bits, n_rows) for side, bits in packed.items()}
                yield write_source(piece, sides, output_format), b""
        except NeardupError as error:
            yield Failure.of(number, piece, error)


def _unpacked(bits: bytes, n_rows: int) -> Bools:
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=n_rows).astype(np.bool_)


def _write_remote(
    folder: RemoteDestination,
    piece: Piece,
    sides: Mapping[str, Bools],
    output_format: OutputFormat,
) -> list[WrittenFile]:
    """Write the rows of a source; object stores show a file when it is complete."""
    place = folder.for_other_process()
    _write_rows(piece, sides, place, output_format)
    return place.written()


def _write_local(
    folder: Path, piece: Piece, sides: Mapping[str, Bools], output_format: OutputFormat
) -> list[WrittenFile]:
    """Write the rows of a source under a name of this attempt; files get theirs when complete.

    Another attempt at the same task may be under way, or have died on the way.
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
        _write_rows(piece, sides, LocalDestination(attempt), output_format)
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
    piece: Piece,
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
) -> None:
    blocks = numbered_blocks(piece.source, 0, len(sides[SKIPPED]))
    write_rows(piece.source, blocks, sides, folder, output_format, lambda _: None)


# The result of a deduplication whose rows executors write.


class SparkResult(DeduplicationResult):
    """As ``DeduplicationResult``; the session has to run while the result is written."""

    cluster: Cluster

    def __reduce__(self) -> tuple[Any, ...]:
        """Be copied as a result of threads: a session is of its process alone."""
        state = {name: value for name, value in vars(self).items() if name != "cluster"}
        return DeduplicationResult.__new__, (DeduplicationResult,), state

    def write_documents(
        self, folder: Destination, output_format: OutputFormat, runner: Runner
    ) -> None:
        """Have executors write the rows to a folder that they reach under the same path or URL."""
        write_on_executors(self._documents, self._sides(), folder, output_format, self.cluster)
        runner.report("write", len(self._stays), len(self._stays))
