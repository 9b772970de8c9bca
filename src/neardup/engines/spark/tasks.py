"""What tasks read: sources, or stretches of long ones, in the order of the documents."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.errors import InvalidInputError
from neardup.files.archives.unpack import ArchiveMember
from neardup.files.streams import Copied, is_remote

if TYPE_CHECKING:
    from neardup.files.rows import RowBlock, Source

# Stored bytes that a task reads: so many tasks for each that runs at the same time, within bounds.
_TASKS_A_SLOT = 4
_LEAST_BYTES = 16_000_000
_MOST_BYTES = 256_000_000
# More tasks than this take larger shares: each exchanges rows with each that comes after.
_MOST_TASKS = 4096

# Stretches of a source, at most, and not more than run at the same time: each task reads the source
# from its start, and cuts it into rows, as far as its stretch goes.
_MOST_PIECES = 8


@dataclass(frozen=True)
class Piece:
    """The blocks of a source that end after ``start`` and not after ``stop``, in stored bytes.

    ``number`` is the source's in its collection, ``location`` what the user calls it.
    """

    collection: int
    number: int
    source: Source
    location: str
    start: int = -1
    stop: int | None = None

    def blocks(self) -> Iterator[RowBlock]:
        """Read the source as far as the stretch goes."""
        for block in self.source.blocks():
            if self.stop is not None and block.end > self.stop:
                return
            if block.end > self.start:
                yield block


Task = tuple[Piece, ...]


def cut_tasks(
    collections: Sequence[Sequence[Source]], slots: int, *, are_whole: bool = False
) -> list[Task]:
    """Divide collections into tasks of about equal size; ``slots`` run at the same time.

    Short sources that follow each other share a task, and long ones are cut into stretches unless
    all stay whole. Of a URL the size is not known, and it is a task by itself.
    """
    sizes = [source.size or 0 for sources in collections for source in sources]
    evenly = sum(sizes) // (_TASKS_A_SLOT * slots)
    room = max(min(max(evenly, _LEAST_BYTES), _MOST_BYTES), sum(sizes) // _MOST_TASKS)
    most = max(2, min(_MOST_PIECES, slots))
    tasks: list[Task] = []
    for collection, sources in enumerate(collections):
        waiting: list[Piece] = []
        size = 0
        for number, source in enumerate(sources):
            own = room if source.size is None else source.size
            if waiting and size + own > room:
                tasks.append(tuple(waiting))
                waiting, size = [], 0
            piece = Piece(collection, number, _for_others(source), source.origin or source.name)
            if own > 2 * room and not are_whole:
                tasks += [(part,) for part in _stretches(piece, own, room, most)]
            else:
                waiting.append(piece)
                size += own
        if waiting:
            tasks.append(tuple(waiting))
    return tasks


def _stretches(piece: Piece, size: int, room: int, most: int) -> Iterator[Piece]:
    n_pieces = min(-(-size // room), most)
    ends = [size * i // n_pieces for i in range(1, n_pieces)]
    for start, stop in zip([-1, *ends], [*ends, None], strict=True):
        yield Piece(piece.collection, piece.number, piece.source, piece.location, start, stop)


def _for_others(source: Source) -> Source:
    """Return a source as other processes find it.

    Raises
    ------
    InvalidInputError
        If they cannot.
    """
    location = source.origin
    if location is None or isinstance(location, Copied):
        what = "data in memory"
        if isinstance(location, ArchiveMember):
            what = f"members of the archive {location.archive}"
        elif location is not None:
            what = "standard input"
        message = f"Spark reads files that all its executors reach, not {what}; name paths or URLs"
        raise InvalidInputError(message)
    if is_remote(location):
        return source
    # They have other working folders.
    found = copy.copy(source)
    found.origin = os.path.abspath(location)  # noqa: PTH100 - links stay as they are
    vars(found)["location"] = found.origin
    return found
