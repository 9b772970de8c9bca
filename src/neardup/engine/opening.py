"""The engine of a job: threads of this process, or the executors of a Spark session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from neardup.engine.threads import ThreadEngine
from neardup.engine.workspaces import are_short, open_workspace
from neardup.errors import InvalidParameterError
from neardup.options.groups import RunOptions
from neardup.options.option import no_effect
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY

if TYPE_CHECKING:
    from neardup.engine.engine import Engine
    from neardup.files.rows import Source


def check_run(run: RunOptions | None, *known: str) -> RunOptions:
    """Return the options of a run in threads, of which a job knows some beside these.

    Raises
    ------
    InvalidParameterError
        For an option of memory, temporary files or Spark that has no effect.
    """
    options = _checked(run)
    for name in ("memory", "work", "spark"):
        if name not in known and getattr(options, name) is not None:
            message = f"{name} of RunOptions has no effect here; leave it out"
            raise InvalidParameterError(message, name)
    return options


def open_runner(run: RunOptions | None, job: str) -> Runner:
    """Return the threads of a job that keeps everything in memory; raises as ``check_run``."""
    options = check_run(run)
    return Runner(options.workers, options.progress, job)


@contextmanager
def open_engine(
    run: RunOptions | None, job: str, sources: Sequence[Source] = ()
) -> Iterator[Engine]:
    """Give the engine of a job of this process or of a Spark session.

    Parameters
    ----------
    run
        Options of the caller.
    job
        Name of the job, for progress.
    sources
        All inputs, found before a folder is made.
    """
    options = _checked(run)
    if options.spark is None:
        with Runner(options.workers, options.progress, job) as runner:
            # To ask for the free memory takes longer than a few texts.
            is_short = options.memory is None and options.work is None and are_short(sources)
            workspace = IN_MEMORY if is_short else open_workspace(options.memory, options.work)
            yield ThreadEngine(runner, workspace)
        return
    from neardup.engine.spark.cluster import check_reached
    from neardup.engine.spark.engine import SparkEngine
    from neardup.engine.spark.session import cluster_of

    if options.workers is not None:
        remedy = "set spark.executor.cores and spark.executor.instances"
        raise no_effect("workers", "with spark", remedy, "spark")
    cluster = cluster_of(options.spark)
    with Runner(None, options.progress, job) as runner:
        check_reached(sources)
        workspace = open_workspace(options.memory, options.work)
        yield SparkEngine(lambda: cluster, runner, workspace)


def is_on_spark(run: RunOptions | None) -> bool:
    """Return whether a Spark session is to do the work."""
    return _checked(run).spark is not None


def _checked(run: RunOptions | None) -> RunOptions:
    if run is None:
        return RunOptions()
    if not isinstance(run, RunOptions):
        message = f"run must be RunOptions(...), got {run!r}"
        raise InvalidParameterError(message, "run")
    return run
