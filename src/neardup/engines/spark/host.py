"""What a Python worker of an executor does before its tasks."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from neardup.errors import EngineError
from neardup.runtime.compilation import compile_kernels, missing_kernels
from neardup.runtime.job_kernels import KERNELS_OF
from neardup.runtime.threads import count_workers
from neardup.storage.work import WorkFolder
from neardup.storage.workspace import Workspace
from neardup.version import __version__

_LOCK = "compile.lock"
_is_ready = False


def get_ready(version: str) -> None:
    """Check that the driver runs the same version, and see that the kernels are compiled.

    Where several processes start on a host, one compiles and the others wait and load.

    Raises
    ------
    EngineError
        If the executor has another version.
    """
    # Spark collects garbage after each task, which takes longer than many a task: there are some
    # hundred thousand objects of Numba's. Those that are left now stay for good.
    gc.freeze()
    if version != __version__:
        message = (
            f"the executors have neardup {__version__}, the driver {version}; install the same "
            "version everywhere"
        )
        raise EngineError(message)
    global _is_ready
    if not _is_ready:
        _compile()
        _is_ready = True


def _compile() -> None:
    from neardup.kernels._cache import cache_folder

    if not missing_kernels(KERNELS_OF["dedup"]):
        return
    from filelock import FileLock

    folder = cache_folder()
    assert folder is not None
    with FileLock(folder / _LOCK):
        missing = missing_kernels(KERNELS_OF["dedup"])
        compile_kernels(missing, count_workers(None), lambda _, __: None)


def local_workspace(memory: int) -> Workspace:
    """Return a place for what a task does not keep in memory, which goes with the task."""
    given = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    parent = Path(given) if given and Path(given).is_dir() else None
    return Workspace(memory, WorkFolder.temporary(parent, "task"))
