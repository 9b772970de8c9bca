"""What a run has written, for whoever has to say so when it ends early.

An interrupt may come between the call that gives an output its name and the next line. So an output
is noted before that call, and whether it took place is looked up when somebody asks.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Note:
    """Something that is to be found at a path, told by its numbers on the disk."""

    name: str
    path: Path
    device: int
    number: int

    def is_there(self) -> bool:
        """Return whether it is found there."""
        try:
            found = self.path.stat()
        except OSError:
            return False
        return (found.st_dev, found.st_ino) == (self.device, self.number)


@dataclass
class Journal:
    """The outputs of a run: what takes a name, what was streamed, and what is being streamed.

    ``unfinished`` is a folder by which the same command goes on.
    """

    notes: list[Note] = field(default_factory=list)
    streamed: list[str] = field(default_factory=list)
    partial: str = ""
    unfinished: Path | None = None

    def written(self) -> list[str]:
        """Return the names of the outputs that are at their places."""
        names = [note.name for note in self.notes if note.is_there()]
        return list(dict.fromkeys([*names, *self.streamed]))


_CURRENT: ContextVar[Journal | None] = ContextVar("journal", default=None)


@contextmanager
def keep_journal() -> Iterator[Journal]:
    """Give a journal of what is written in the block."""
    journal = Journal()
    token = _CURRENT.set(journal)
    try:
        yield journal
    finally:
        _CURRENT.reset(token)


def note(content: Path, target: Path, name: Path | None = None) -> None:
    """Note that ``content`` is about to be moved to ``target``; ``name`` is what users call it."""
    journal = _CURRENT.get()
    if journal is not None:
        # Relative paths still mean the same when somebody asks: nothing here changes the folder.
        found = content.stat()
        journal.notes.append(Note(str(name or target), target, found.st_dev, found.st_ino))


def note_written(name: str) -> None:
    """Note an output that was written, and that nobody need look up."""
    journal = _CURRENT.get()
    if journal is not None:
        journal.streamed.append(name)


def note_unfinished(folder: Path) -> None:
    """Note that the run has ended early, and what it has done is kept in a folder."""
    journal = _CURRENT.get()
    if journal is not None:
        journal.unfinished = folder


@contextmanager
def note_stream(name: str) -> Iterator[None]:
    """Note that the block writes to a stream, which has a part of it until the block has ended."""
    journal = _CURRENT.get() or Journal()
    journal.partial = name
    yield
    journal.streamed.append(name)
    journal.partial = ""
