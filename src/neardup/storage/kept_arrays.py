"""Arrays that a stage has worked out, kept in the work folder so that it is not done again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import ReadError
from neardup.storage.arrays import AnyArray, header, stored

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.storage.workspace import Workspace


def kept_arrays(
    workspace: Workspace, task: str, compute: Callable[[], dict[str, AnyArray]]
) -> dict[str, AnyArray]:
    """Return the arrays of a task that an earlier run has done; else compute and keep them.

    They are kept only where the work folder is in use: what fits in memory is done anew.
    """
    work = workspace.work
    if work is not None and work.is_done(task):
        names: list[str] = work.result(task)
        return {name: _load(work.path(task, name)) for name in names}
    arrays = compute()
    if work is not None and work.n_done:
        keep_arrays(workspace, task, arrays)
    return arrays


def keep_arrays(workspace: Workspace, task: str, arrays: Mapping[str, AnyArray]) -> None:
    """Keep the arrays of a task in the work folder, unless they are there.

    Raises
    ------
    WriteError
        If they cannot be written.
    """
    work = workspace.work
    if work is None or work.is_done(task):
        return
    with work.task(task) as files:
        for name, array in arrays.items():
            values = stored(array)
            # Not by NumPy, whose errors do not tell a full disk from anything else.
            file = files.new_file(name)
            file.append(header(values.dtype, len(values), values.ndim))
            file.append(values.data)
        files.result = list(arrays)


def _load(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError) as error:
        message = f"a file of a run under way cannot be read: {error}"
        raise ReadError(message, path=str(path)) from error
