"""A growing array: in memory while it is short, in a file that is mapped from then on."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from neardup.storage.arrays import AnyArray

if TYPE_CHECKING:
    from neardup.storage.files import NewFile
    from neardup.storage.workspace import Workspace

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
