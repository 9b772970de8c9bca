"""An index of passages that tasks look queries up in, wherever they run."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from neardup.indexes.handle import check_seen
from neardup.passages.index import OpenPassages, open_segments
from neardup.runs.runner import Runner


class Folder(Protocol):
    """The folder of an index, for processes that this is sent to."""

    def open(self) -> AbstractContextManager[Path]:
        """Give the folder for as long as a block lasts; files that are mapped in it stay so."""
        ...


class SeenFolder:
    """A folder that all processes reach under the same path."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @contextmanager
    def open(self) -> Iterator[Path]:
        """Give the folder, if this process sees it."""
        check_seen(self.path)
        yield self.path


# The index that a process was sent and has opened last: tasks that follow each other share it.
_opened: dict[str, OpenPassages] = {}


class SharedPassages:
    """An open index of passages, which other processes open when they look in it.

    Parameters
    ----------
    index
        The index as it is open in this process.
    folder
        Where its files are.
    """

    def __init__(self, index: OpenPassages, folder: Folder) -> None:
        self._index: OpenPassages | None = index
        self._folder, self._key = folder, secrets.token_hex(8)
        self._parts = (
            index.manifest.segments,
            index.removed,
            index.scheme,
            index.frequencies,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is open."""
        return vars(self) | {"_index": None}

    @property
    def opened(self) -> OpenPassages:
        """The index. Every byte of its files is checked when another process opens it."""
        if self._index is None:
            if self._key not in _opened:
                _opened.clear()
                with self._folder.open() as folder:
                    _opened[self._key] = open_segments(folder, *self._parts, Runner(1))
            self._index = _opened[self._key]
        return self._index
