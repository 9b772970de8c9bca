"""Choose the engine of a job: threads of this process, or executors of a Spark session."""

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
    """Return the options of a run in threads, without the job's own options.

    Raises
    ------
    InvalidParameterError
        If an option of memory, temporary files or Spark has no effect.
    """
    options = _checked(run)
    for name in ("memory", "work", "spark"):
        if name not in known and getattr(options, name) is not None:
            message = f"{name} of RunOptions has no effect here; leave it out"
            raise InvalidParameterError(message, name)
    return options


def open_runner(run: RunOptions | None, job: str) -> Runner:
    """Return the runner of a job in memory; raises as ``check_run``."""
    options = check_run(run)
    return Runner(options.workers, options.progress, job)


@contextmanager
def open_engine(
    run: RunOptions | None, job: str, sources: Sequence[Source] = ()
) -> Iterator[Engine]:
    """Open the engine of a job, in this process or in a Spark session.

    Parameters
    ----------
    run
        Options of the caller.
    job
        Name of the job, for progress.
    sources
        All inputs, resolved before a folder is created.
    """
    options = _checked(run)
    if options.spark is None:
        with Runner(options.workers, options.progress, job) as runner:
            # Querying the free memory takes longer than processing a few texts.
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
    """Return whether a Spark session does the work."""
    return _checked(run).spark is not None


def _checked(run: RunOptions | None) -> RunOptions:
    if run is None:
        return RunOptions()
    if not isinstance(run, RunOptions):
        message = f"run must be RunOptions(...), got {run!r}"
        raise InvalidParameterError(message, "run")
    return run
