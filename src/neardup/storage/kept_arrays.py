"""Arrays that a stage has worked out, kept in the work folder so that it is not done again."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import ReadError
from neardup.storage.arrays import AnyArray

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
        with work.task(task) as files:
            for name, array in arrays.items():
                with files.new(name).open("wb") as file:
                    np.save(file, array)
            files.result = list(arrays)
    return arrays


def _load(path: Path) -> Any:
    try:
        return np.load(path)
    except (OSError, ValueError) as error:
        message = f"a file of a run under way cannot be read: {error}"
        raise ReadError(message, path=str(path)) from error
