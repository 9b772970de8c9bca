"""Choose a job's engine, threads or a Spark session."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.engine.engine import Engine
from neardup.engine.threads import ThreadEngine
from neardup.errors import InvalidParameterError
from neardup.files.destinations import Target, target_of
from neardup.files.rows import Source
from neardup.files.streams import Copied, is_remote, state_of_url
from neardup.options.groups import RunOptions, WorkspaceOptions
from neardup.options.option import Options, no_effect
from neardup.results import versions
from neardup.runs.disk import work_errors
from neardup.runs.runner import Runner, default_memory_bytes
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace

if TYPE_CHECKING:
    from neardup.index.open_index import OpenIndex
    from neardup.index.store import Manifest


def check_run(run: RunOptions | None, *used: str) -> RunOptions:
    """Return a run's options. Options without effect raise."""
    options = _checked(run)
    for name in ("memory", "work", "spark"):
        if name not in used and getattr(options, name) is not None:
            message = f"{name} of RunOptions has no effect here; leave it out"
            raise InvalidParameterError(message, name)
    return options


def open_runner(run: RunOptions | None) -> Runner:
    """Return the runner of a job, raising as ``check_run``."""
    options = check_run(run)
    return Runner(options.workers, options.progress)


@contextmanager
def open_engine(
    run: RunOptions | None,
    sources: Sequence[Source],
    whole: Sequence[str] = (),
) -> Iterator[Engine]:
    """Open a job's engine, in threads or in Spark.

    ``sources`` are all inputs, resolved before a folder is created. ``whole`` are given options
    that need all documents in one process.
    """
    options = _checked(run)
    if options.spark is None:
        with Runner(options.workers, options.progress) as runner:
            # Querying the free memory takes longer than processing a few texts.
            is_short = options.memory is None and options.work is None and are_short(sources)
            workspace = IN_MEMORY if is_short else open_workspace(options.memory, options.work)
            yield ThreadEngine(runner, workspace)
        return
    from neardup.engine.spark.cluster import check_reached, check_tasks, cluster_of
    from neardup.engine.spark.spark_engine import SparkEngine

    check_tasks(whole)
    if options.workers is not None:
        remedy = "set spark.executor.cores and spark.executor.instances"
        raise no_effect("workers", "with spark", remedy, "spark")
    cluster = cluster_of(options.spark)
    with Runner(None, options.progress) as runner:
        check_reached(sources)
        workspace = open_workspace(options.memory, options.work)
        yield SparkEngine(lambda: cluster, runner, workspace)


def _checked(run: RunOptions | None) -> RunOptions:
    if run is None:
        return RunOptions()
    if not isinstance(run, RunOptions):
        message = f"run must be RunOptions(...), got {run!r}"
        raise InvalidParameterError(message, "run")
    return run


# Bytes of rows in memory that need no folder; derived data are some hundred times as large.
_SHORT = 1 << 18


def open_workspace(
    memory: int | str | None,
    work: Path | str | None,
    *,
    output: Target | None = None,
    key: Mapping[str, Any] | None = None,
) -> Workspace:
    """Return a job's workspace, with its folder made on demand.

    ``work`` is the parent of the work folder, not a URL. None is the folder of the ``output``, the
    current folder for an output at a URL, and the system's temporary folder without an output.
    ``key`` are the inputs of the work, None if no later run can resume it.
    """
    limit, parent = memory_budget(memory), None if work is None else work_parent(work)
    if parent is not None:
        around = next(
            each for each in (parent, *parent.absolute().parents) if os.path.lexists(each)
        )
        with work_errors(parent, is_lasting=False), tempfile.TemporaryFile(dir=around):
            pass
    if output is None:
        return Workspace(limit, WorkFolder.temporary(parent))
    name = output.name
    is_named = parent is not None
    if parent is None:
        parent = output.absolute().parent if isinstance(output, Path) else Path.cwd()
    if key is None:
        return Workspace(limit, WorkFolder.temporary(parent, name))
    return Workspace(limit, WorkFolder.open(parent, name, key, at_once=is_named))


def work_parent(work: Path | str) -> Path:
    """Return the folder of ``work``, or raise for a URL."""
    parent = target_of(WorkspaceOptions.known["work"].checked(work))
    if not isinstance(parent, Path):
        message = (
            "work is a folder and no URL; name one, with engine spark one that executors reach"
        )
        raise InvalidParameterError(message, "work")
    return parent


def are_short(sources: Sequence[Source]) -> bool:
    """Return whether all rows are in memory and few."""
    from neardup.files.memory import MemorySource

    are_in_memory = all(isinstance(source, MemorySource) for source in sources)
    return are_in_memory and sum(source.size or 0 for source in sources) <= _SHORT


def memory_budget(memory: int | str | None) -> int:
    """Return job bytes, 60 % of free memory for None."""
    if memory is None:
        return default_memory_bytes()
    return int(WorkspaceOptions.known["memory"].checked(memory))


def key_of(
    command: str, options: Options, scheme: Mapping[str, Any], **inputs: Sequence[Source]
) -> dict[str, Any] | None:
    """Return the inputs that identify a job's work, or None.

    Data in memory and standard input cannot be read again, and functions cannot be compared.
    """
    files = {}
    for name, sources in inputs.items():
        states = [_state(file, source.name) for source in sources for file in source.files]
        if any(state is None for state in states):
            return None
        files[name] = states
    values = vars(options)
    if any(callable(value) for value in values.values()):
        return None
    spelled = {name: _spelled(value) for name, value in values.items() if value is not None}
    return {"command": command, "options": spelled, "scheme": dict(scheme), **files} | {
        "versions": versions()
    }


def key_with_index(
    command: str,
    options: Options,
    index: OpenIndex[Any, Any],
    folder: Path,
    **inputs: Sequence[Source],
) -> dict[str, Any] | None:
    """Return the key of work with an index, as ``key_of``."""
    key = key_of(command, options, index.scheme.describe(), **inputs)
    return None if key is None else key | {"index": [state_of_index(folder, index.manifest)]}


def _state(file: Source, name: str) -> dict[str, object] | None:
    location = file.origin
    # A member of an archive changes with the archive.
    stored = location.archive if isinstance(location, Copied) else location
    if location is None or stored is None:
        return None
    if is_remote(stored):
        return {"path": location, "name": name, "state": state_of_url(stored)}
    found = Path(stored).stat()
    return {
        "path": os.path.realpath(location),
        "name": name,
        "size": found.st_size,
        "time": found.st_mtime_ns,
    }


def state_of_index(folder: Path, manifest: Manifest) -> dict[str, str]:
    """Return the path and digest that identify an index's content."""
    return {"path": os.path.realpath(folder), "manifest": manifest.digest}


def _spelled(value: object) -> object:
    """Return an option's value for JSON, with exact decimals."""
    if isinstance(value, tuple | list):
        return [_spelled(each) for each in value]
    return value if isinstance(value, bool | int) else str(value)
