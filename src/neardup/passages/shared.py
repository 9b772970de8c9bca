"""An index of passages that tasks look queries up in, wherever they run."""

from __future__ import annotations

import secrets
from typing import Any

from neardup.index.handle import SharedFolder
from neardup.passages.index import OpenPassages, open_segments
from neardup.runs.runner import Runner

# The index that a process was sent and has opened last: tasks that follow each other share it.
_opened: dict[str, OpenPassages] = {}


class SharedPassages:
    """An open index of passages, which other processes open when they look in it.

    Parameters
    ----------
    index
        The index as it is open in this process.
    folder
        Where its files are; None: in memory alone, where no other process opens it.
    """

    def __init__(self, index: OpenPassages, folder: SharedFolder | None) -> None:
        self._index: OpenPassages | None = index
        self._folder, self._key = folder, secrets.token_hex(8)
        self._parts = (
            index.manifest.segments,
            index.removed,
            index.scheme,
            index.frequencies,
        )
        self._pending = index.segments[len(index.manifest.segments) :]

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is open."""
        return vars(self) | {"_index": None}

    @property
    def opened(self) -> OpenPassages:
        """The index. Every byte of its files is checked when another process opens it."""
        if self._index is None:
            if self._key not in _opened:
                _opened.clear()
                assert self._folder is not None
                with self._folder.open() as folder:
                    _opened[self._key] = open_segments(
                        folder, *self._parts, Runner(1), self._pending
                    )
            self._index = _opened[self._key]
        return self._index
