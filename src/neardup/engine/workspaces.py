"""The workspace of a job: its memory, and the folder from which a rerun resumes."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neardup.errors import InvalidParameterError
from neardup.files.archives import ArchiveMember
from neardup.files.streams import StandardInput, is_remote, state_of_url
from neardup.index.store import Manifest
from neardup.options.groups import WorkspaceOptions
from neardup.options.option import Options
from neardup.outputs.targets import Target, target_of
from neardup.results import versions
from neardup.runs.runner import default_memory_bytes
from neardup.runs.work import BY_WORK, LastingWork, WorkFolder, Workspace, work_errors

if TYPE_CHECKING:
    from neardup.files.rows import Source
    from neardup.index.index import OpenIndex


# Bytes of rows in memory that need no folder: what is made of them is some hundred times as many.
_SHORT = 1 << 18


def open_workspace(
    memory: int | str | None,
    work: Path | str | None,
    *,
    fresh: bool = False,
    output: Target | None = None,
    key: Mapping[str, Any] | None = None,
    elsewhere: str = BY_WORK,
) -> Workspace:
    """Return what a job may use; a folder is made when it is needed, or is one of a killed run.

    Parameters
    ----------
    memory
        Bytes, or a size such as ``4GB``; None is 60 % of what is free.
    work
        Folder for the work folder, no URL; None is beside the output, the current one for an output
        at a URL, and without an output where the system has temporary files.
    fresh
        Do not go on with a run that was killed.
    output
        What the job writes, if that is known.
    key
        What the work depends on; None if no later run goes on with it.
    elsewhere
        How a folder on a larger disk is named, by a job without that option.
    """
    limit = memory_budget(memory)
    parent = None if work is None else target_of(WorkspaceOptions.known["work"].checked(work))
    if not isinstance(parent, Path | None):
        message = (
            "work is a folder of this machine, unless a command writes a file or folder with "
            "engine spark; name one"
        )
        raise InvalidParameterError(message, "work", "engine")
    if parent is not None:
        around = next(
            each for each in (parent, *parent.absolute().parents) if os.path.lexists(each)
        )
        with work_errors(parent, is_lasting=False), tempfile.TemporaryFile(dir=around):
            pass
    if output is None:
        return Workspace(limit, WorkFolder.temporary(parent, elsewhere=elsewhere))
    name = output.name
    is_named = parent is not None
    if parent is None:
        parent = output.absolute().parent if isinstance(output, Path) else Path.cwd()
    if key is None:
        return Workspace(limit, WorkFolder.temporary(parent, name, elsewhere=elsewhere))
    return Workspace(limit, WorkFolder.open(parent, name, key, fresh=fresh, at_once=is_named))


def are_short(sources: Sequence[Source]) -> bool:
    """Return whether all rows are in memory, and so few that what is made of them is, too."""
    from neardup.files.memory import MemorySource

    are_in_memory = all(isinstance(source, MemorySource) for source in sources)
    return are_in_memory and sum(source.size or 0 for source in sources) <= _SHORT


def account_of_earlier(work: LastingWork) -> list[str]:
    """Return what there is of earlier runs, a line each, and remove what is of no more use.

    What was done with other options stays until this run is done: they may be given again.
    """
    lines = list(work.problems)
    if work.n_done:
        over = "fresh=True (--fresh) starts over"
        lines.append(f"going on with a run that was stopped: {work.said_done}; {over}")
    useless = {path: work.what_changed(path) for path in work.stale if not work.is_of_use(path)}
    removed = work.remove_stale(useless)
    lines += [f"{useless[path]}; starting over" for path in removed if useless[path]]
    for path in work.stale:
        changed = work.what_changed(path)
        lines.append(
            f"a run that was stopped left {path}: {changed}; this run "
            f"{'' if work.n_done else 'starts at the beginning, and '}removes that when it is done"
        )
    return lines


def memory_budget(memory: int | str | None) -> int:
    """Return the bytes that a job may use; None is 60 % of what is free."""
    return (
        default_memory_bytes()
        if memory is None
        else int(WorkspaceOptions.known["memory"].checked(memory))
    )


def key_of(
    command: str, options: Options, scheme: Mapping[str, Any], **inputs: Sequence[Source]
) -> dict[str, Any] | None:
    """Return what the work of a job depends on; None where that cannot be told.

    Data in memory and standard input are not there a second time, and
    nobody knows whether a function is the same.
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
    """Return what the work of a job depends on that looks up in an index, as ``key_of``."""
    key = key_of(command, options, index.scheme.describe(), **inputs)
    return None if key is None else key | {"index": [state_of_index(folder, index.manifest)]}


def _state(file: Source, name: str) -> dict[str, object] | None:
    """Return what changes when a file of the source of a name does; None if it is not a file."""
    location = file.origin
    if location is None or isinstance(location, StandardInput):
        return None
    # A member of an archive changes when that does.
    stored = location.archive if isinstance(location, ArchiveMember) else location
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
    """Return of an index what changes when it does."""
    return {"path": os.path.realpath(folder), "manifest": manifest.digest}


def _spelled(value: object) -> object:
    """Return the value of an option as JSON has it; numbers as exact decimals."""
    if isinstance(value, tuple | list):
        return [_spelled(each) for each in value]
    return value if isinstance(value, bool | int) else str(value)
