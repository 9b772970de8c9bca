"""An open index under its name in the service."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import anyio

from neardup.errors import InvalidParameterError
from neardup.index.store import kind_of
from neardup.jobs.index.documents import DocumentIndex
from neardup.jobs.index.passages import PassageIndex
from neardup.service.problems import file_of

Kind = Literal["documents", "passages"]
# A writer of another process holds the lock of a commit for some milliseconds.
_LOCK_SECONDS = 1.0
_MOST_OPEN = 64


class ServedIndex:
    """An index, its name, and the error of the last read that failed.

    Parameters
    ----------
    name
        Part of the addresses of its operations.
    folder
        Of the index; opened here.
    tokenizer
        The ``tokenizer.json`` file of the index, if it was made with one.
    is_writable
        Whether the service changes it.

    Raises
    ------
    ReadError, IndexFormatError
        If the index cannot be read.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        tokenizer: str | Path | None = None,
        *,
        is_writable: bool = False,
    ) -> None:
        self.name, self.folder, self.tokenizer = name, folder, tokenizer
        self.is_writable = is_writable
        self.kind: Kind = "documents" if kind_of(folder) == "documents" else "passages"
        self.index: Any = _open(folder, tokenizer)
        # One change at a time, in the order of arrival.
        self.writer = anyio.CapacityLimiter(1)
        self.trouble: str | None = None

    def note_unreadable(self, error: BaseException) -> None:
        """Record that a file of the index could not be read, until the service starts anew."""
        self.trouble = f"index {self.name!r} cannot be read ({file_of(error)})"


def _open(folder: Path, tokenizer: str | Path | None) -> DocumentIndex | PassageIndex:
    if kind_of(folder) == "documents":
        # Every insertion is durable before it is acknowledged.
        return DocumentIndex.open(
            folder, tokenizer=tokenizer, timeout=_LOCK_SECONDS, commit_every=1
        )
    return PassageIndex.open(folder, tokenizer=tokenizer, timeout=_LOCK_SECONDS)


open_once = lru_cache(_MOST_OPEN)(_open)
"""Open an index, or return the object that this process has opened before."""


def open_all(
    arguments: Iterable[str], tokenizer: str | Path | None = None, *, is_writable: bool = False
) -> list[ServedIndex]:
    """Open the indexes that are named on the command line.

    Parameters
    ----------
    arguments
        Folders, each optionally behind ``NAME=``; the default name is that of the folder.
    tokenizer, is_writable
        As for ``ServedIndex``.
    """
    folders: dict[str, Path] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        folder = Path(path)
        if not equals or not name or "/" in name or Path(argument).exists():
            folder = Path(argument)
            name = folder.resolve().name or "index"
        if name in folders:
            message = (
                f"{folders[name]} and {folder} would both be served as {name!r}; name one of "
                f"them: {name}-2={folder}"
            )
            raise InvalidParameterError(message)
        folders[name] = folder
    return [
        ServedIndex(name, folder, tokenizer, is_writable=is_writable)
        for name, folder in folders.items()
    ]
