"""An index of passages for lookups in tasks of any process."""

from __future__ import annotations

import secrets
from typing import Any

from neardup.index.handle import SharedFolder
from neardup.passages.index import OpenPassages, open_segments
from neardup.runs.runner import Runner

# The last index that this process received and opened, for consecutive tasks.
_opened: dict[str, OpenPassages] = {}


class SharedPassages:
    """An open index of passages, which other processes open on first use.

    Parameters
    ----------
    index
        The index, opened in this process.
    folder
        Folder of its files; None: only in memory, not available to other processes.
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
        """Omit the open index."""
        return vars(self) | {"_index": None}

    @property
    def opened(self) -> OpenPassages:
        """The index. Another process checks every byte of its files on opening."""
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
