"""Errors of tasks: they travel as rows, so that the driver raises them as if it had met them.

What a task raises, Spark would try again, and show as a trace of its own.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neardup.errors import NeardupError

if TYPE_CHECKING:
    from neardup.engines.spark.tasks import Piece


@dataclass(frozen=True)
class Failure:
    """An error that a task has met, and where in the order of all documents."""

    place: tuple[int, int]
    error: NeardupError

    @classmethod
    def of(cls, task: int, piece: Piece | None, error: NeardupError) -> Failure:
        """Make one of an error of a task; a file in it has the name that the user gave it."""
        number = 0
        if piece is not None:
            number = piece.number
            error = _renamed(error, piece.source.origin or "", piece.location)
        return cls((task, number), error)


def raise_first(failures: Iterable[Failure]) -> None:
    """Raise the error that stands first in the order of the documents, if there is one."""
    found = min(failures, key=lambda failure: failure.place, default=None)
    if found is not None:
        raise found.error


def _renamed(error: NeardupError, path: str, given: str) -> NeardupError:
    """Return the error with another name for a file."""
    if path == given or getattr(error, "path", None) != path:
        return error
    renamed = copy.copy(error)
    renamed.args = (str(error).replace(path, given, 1),)
    renamed.path = given  # type: ignore[attr-defined]
    return renamed
