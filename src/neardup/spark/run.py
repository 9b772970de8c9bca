"""``neardup.spark.deduplicate``: the stages in order, as ``jobs.dedup`` has them in threads."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.documents.other import index_among
from neardup.errors import EngineError, InvalidParameterError, NeardupError, WriteError
from neardup.files.inputs import check_effect
from neardup.files.remote import RemoteDestination, WrittenFile
from neardup.files.resolve import resolve_inputs
from neardup.files.streams import Destination, LocalDestination, writing
from neardup.jobs.dedup.deduplication_result import DeduplicationResult
from neardup.jobs.dedup.run import DedupJob
from neardup.jobs.dedup.summary import summarise
from neardup.options.choices import Data
from neardup.options.documents import DedupOptions, SparkOptions
from neardup.options.groups import AgainstDataOptions, ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.outputs.folder import SKIPPED, write_rows
from neardup.reading.second_pass import numbered_blocks
from neardup.reading.signed_batches import count_shingles, with_frequencies
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.cluster import Cluster, Failure, Piece, cut_tasks
from neardup.spark.decide import (
    decide_on_executors,
    exchange_keys,
    find_components,
    find_contents,
    sieve,
)
from neardup.spark.session import cluster_of
from neardup.spark.sign import SignedTasks, sign_on_executors
from neardup.stages.components import pack_components
from neardup.stages.decide import Decision, assign
from neardup.stages.hints import with_warning
from neardup.stages.options import other_columns_of, to_be_counted
from neardup.stages.plan import DedupPlan, plan_deduplication
from neardup.stages.workspaces import open_workspace
from neardup.tables import Bools

if TYPE_CHECKING:
    from neardup.options.choices import OutputFormat
    from neardup.reading.catalogue import Catalogue
    from neardup.stages.contents import Contents

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
    write_rows(
        piece.source, blocks, lambda block, _: block, sides, folder, output_format, lambda _: None
    )


# The result of a deduplication whose rows executors write.


class SparkResult(DeduplicationResult):
    """As ``DeduplicationResult``; the session has to run while the result is written."""

    cluster: Cluster

    def __reduce__(self) -> tuple[Any, ...]:
        """Be copied as a result of threads: a session is of its process alone."""
        state = {name: value for name, value in vars(self).items() if name != "cluster"}
        return DeduplicationResult.__new__, (DeduplicationResult,), state

    def write_documents(
        self,
        folder: Destination,
        output_format: OutputFormat,
        runner: Runner,
        write_others: Callable[[], None],
    ) -> None:
        """Have executors write the rows to a folder that they reach under the same path or URL."""
        write_others()
        write_on_executors(self._documents, self._sides(), folder, output_format, self.cluster)
        runner.report("write", len(self._stays), len(self._stays))


# Share of a task's memory for what is compared at the same time.
_PARTITION_SHARE = 0.4

# Partitions a slot at least; fewer than for a thread, because a task costs more.
_PARTITIONS_A_SLOT = 4


def plan_on_spark(options: DedupOptions, *, has_other: bool, has_index: bool) -> DedupPlan:
    """Check what goes with what, and raise for options that need all documents in one place."""
    if has_index:
        message = (
            "an index is looked up with engine threads; choose that, or name files with against"
        )
        raise InvalidParameterError(message, "engine", "against")
    plan = plan_deduplication(options, has_other=has_other)
    for name, is_given in (
        ("method", plan.options.method != "minhash"),
        ("audit", plan.options.audit is not None),
    ):
        if is_given:
            message = (
                f"{name} needs all documents in one memory, and cannot be had with engine spark; "
                "leave it out, or choose engine threads"
            )
            raise InvalidParameterError(message, name, "engine")
    if plan.options.reads_bytes:
        message = (
            "input_format bytes goes with engine threads; choose that, for executors exchange texts"
        )
        raise InvalidParameterError(message, "input_format", "engine")
    return plan


def run_on_spark(
    cluster: Cluster, job: DedupJob, runner: Runner, workspace: Workspace
) -> SparkResult:
    """Run all stages but the writing, which the result does.

    ``runner`` and ``workspace`` are the driver's: it keeps some numbers of each document.
    """
    assert job.plan is not None
    plan, sources, against, counted = job.plan, job.sources, job.others, job.counted
    check_effect(plan.options, sources, against, counted or ())
    with spark_errors():
        if plan.reading.needs_frequencies:
            with runner.stage("count"):
                collections = to_be_counted(plan.options, sources, against, counted)
                frequencies = count_shingles(collections, plan.reading, runner)
            plan = replace(plan, reading=with_frequencies(plan.reading, frequencies))
        with runner.stage("read") as note:
            others = plan.reading.for_other(other_columns_of(plan.options))
            signed = sign_on_executors(
                [(against, others), (sources, plan.reading)], cluster, workspace
            )
            contents = find_contents(signed, plan.keep, cluster)
            note(documents=len(contents.firsts), distinct_texts=contents.count())
        try:
            decision = _choose(signed, contents, plan, cluster, runner)
        finally:
            signed.rows.unpersist()
    assignment = assign(contents, decision)
    summary = summarise(
        contents,
        decision,
        assignment,
        plan,
        "minhash",
        None,
        None,
        runner,
        engine="spark",
        workers=cluster.slots,
    )
    result = SparkResult(contents.own, contents.other, assignment, summary)
    result.cluster = cluster
    return result


def _choose(
    signed: SignedTasks, contents: Contents, plan: DedupPlan, cluster: Cluster, runner: Runner
) -> Decision:
    """Decide contents that share a bucket."""
    with runner.stage("bucket") as note:
        roots = find_components(signed, contents, plan, cluster)
        room = int(cluster.task_bytes * _PARTITION_SHARE)
        n_least = max(1, _PARTITIONS_A_SLOT * cluster.slots)
        partitions = pack_components(roots, contents, plan.reading, room, n_least)
        note(candidates=len(partitions.documents))
    if not len(partitions):
        return Decision.of_all([])
    with runner.stage("sieve") as note:
        exchanged = exchange_keys(signed, contents, partitions, cluster)
        components = sieve(exchanged, partitions, plan, cluster)
        note(candidates=int(np.count_nonzero(components >= 0)))
    with runner.stage("choose") as note:
        decision = Decision.of_all(
            decide_on_executors(exchanged, signed, contents, partitions, components, plan, cluster)
        )
        note(compared=decision.n_compared, similar=decision.n_verified)
    return decision


@contextmanager
def spark_errors() -> Iterator[None]:
    """Turn what Spark raises when a job cannot be finished into one line."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        yield
    except (Py4JJavaError, PySparkException) as error:
        raise EngineError(_reason(error)) from error


def _reason(error: Any) -> str:
    text = str(getattr(error, "java_exception", None) or error)
    if "No module named 'neardup'" in text:
        return (
            "the executors' Python has no neardup; install it there, or send an environment along "
            "with --archives"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    # A worker's trace ends with what it has raised.
    raised = [line for line in lines if "Error" in line and not line.startswith("at ")]
    said = raised[-1] if raised else lines[0]
    return f"Spark could not finish: {said[:300]}; the executors' logs say more"


class _Arguments(
    SparkOptions, AgainstDataOptions, WorkspaceOptions, ProgressOptions, kw_only=False
):
    session: Any = argument("A ``SparkSession``; its executors need the same version of neardup.")
    data: Data = argument(
        "A path, glob or URL as a string, or a list of ``pathlib.Path``; files that all "
        "executors reach under the same paths."
    )
    differs = but(
        against={
            "python": "More documents, as for ``data``. They all stay; what is similar to one of "
            "them goes."
        },
        tokenizer={
            "python": "As for ``neardup.deduplicate``; a function has to be one that Spark can "
            "send to its executors."
        },
        memory={
            "python": "Most memory that the driver uses for what it keeps of documents, in bytes "
            "or as a size such as ``4GB``; None is 60 % of what is free. What does not fit goes to "
            "files."
        },
        work={
            "python": "Folder for these files, on the driver; None is where the system has "
            "temporary files."
        },
    )


@takes(_Arguments)
def deduplicate(given: _Arguments) -> DeduplicationResult:
    """Find near-duplicate documents as ``neardup.deduplicate``, on the executors of a session.

    The result is the same, byte by byte. It needs the session until it has been written, which
    executors do as well, to a folder that all of them reach under the same path.

    Returns
    -------
    The result: ``removed``, ``clusters`` (Arrow tables), ``summary`` and ``write()``.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory.
    ReadError
        For a file that cannot be read.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps some 60 bytes a document, and ids in files; see the page on Spark.
    """
    options = given.part(DedupOptions)
    index = None if given.against is None else index_among(given.against, options.tokenizer)
    job = DedupJob(
        options,
        resolve_inputs,
        given.data,
        given.against,
        given.idf_from,
        index=index,
        make_plan=plan_on_spark,
    )
    cluster = cluster_of(given.session)
    with Runner(None, given.progress) as runner, job.opened(runner):
        result = run_on_spark(cluster, job, runner, open_workspace(given.memory, given.work))
    return with_warning(result)
