"""Arrays that a stage has worked out, kept in the work folder so that it is not done again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neardup.errors import ReadError
from neardup.storage.arrays import AnyArray, header, stored

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.storage.files import NewFile
    from neardup.storage.work import Workspace


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
    """Keep the arrays of a task in the work folder, unless they are there."""
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


# A growing array: in memory while it is short, in a file that is mapped from then on.

_FILE = "values"
_FIRST_ROOM = 1 << 16


class GrowingArray:
    """Values that are appended one after the other, and then are one array.

    Parameters
    ----------
    name
        Of the task of the work folder that has the file.
    dtype
        Type of the values.
    workspace
        Says how much memory there is.
    share
        Part of that memory which the array may take.

    Notes
    -----
    Used in a ``with`` block while values are appended; ``array`` is there afterwards. In memory the
    array is never there twice, because the system moves it as it grows; an eighth of it may be room
    that has no values yet.
    """

    def __init__(
        self, name: str, dtype: npt.DTypeLike, workspace: Workspace, *, share: float
    ) -> None:
        self._name, self._workspace, self._share = name, workspace, share
        self._values: AnyArray = np.empty(_FIRST_ROOM, dtype)
        self._size = 0
        self._file: NewFile | None = None
        self._stack = ExitStack()

    def append(self, values: AnyArray) -> None:
        """Add values at the end."""
        needed = (self._size + len(values)) * self._values.itemsize
        if self._file is None and not self._workspace.fits(needed, self._share):
            self._spill()
        if self._file is not None:
            self._file.append(np.ascontiguousarray(values, self._values.dtype).data)
            self._size += len(values)
            return
        stop = self._size + len(values)
        if stop > len(self._values):
            # In place, because no other object knows the array yet.
            self._values.resize(max(stop, len(self._values) * 9 // 8), refcheck=False)
        self._values[self._size : stop] = values
        self._size = stop

    @property
    def array(self) -> Any:
        """All values; mapped where they are in a file."""
        if self._file is None:
            return self._values[: self._size]
        assert self._workspace.work is not None
        path = self._workspace.work.path(self._name, _FILE)
        return np.memmap(path, self._values.dtype, "r", shape=(self._size,))

    def __enter__(self) -> GrowingArray:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, traceback)

    def _spill(self) -> None:
        assert self._workspace.work is not None
        files = self._stack.enter_context(self._workspace.work.task(self._name))
        self._file = files.new_file(_FILE)
        self._file.append(self._values[: self._size].data)
        self._values = np.empty(0, self._values.dtype)
