"""What a request gets that cannot be answered: a status, a message, and how it is written."""

from __future__ import annotations

import http
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from neardup.errors import (
    IndexFormatError,
    IndexLockedError,
    InvalidInputError,
    NeardupError,
    ReadError,
    WriteError,
)
from neardup.runs.disk import FULL

PROBLEM_TYPE = "application/problem+json"
# After so many seconds it is worth to try again.
_RETRY = {"retry-after": "1"}
# They name files of the machine that serves, which are nobody else's business.
_OF_FILES = (IndexFormatError, ReadError, WriteError)
# What was sent may be named in it, and may be as long as a body.
_MOST_CHARACTERS = 2000


@dataclass
class Problem(Exception):
    """Ends a request.

    ``detail`` says what was expected, what came, and what to do; ``error`` is the class that the
    client raises.
    """

    status: int
    detail: str
    error: str = "ServiceError"
    headers: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.detail) > _MOST_CHARACTERS:
            half = _MOST_CHARACTERS // 2
            self.detail = f"{self.detail[:half]} ... {self.detail[-half:]}"

    @property
    def title(self) -> str:
        """The name of the status."""
        return http.HTTPStatus(self.status).phrase

    def to_dict(self) -> dict[str, object]:
        """Return the fields of RFC 9457, and the class of the error."""
        return {
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "error": self.error,
        }


def too_large(detail: str) -> Problem:
    """Return the problem of a request that is larger than allowed; its rest is not read."""
    return Problem(413, detail, "InvalidInputError", {"connection": "close"})


def busy(detail: str) -> Problem:
    """Return the problem of a request for which there is no room now."""
    return Problem(503, detail, headers=_RETRY)


def out_of_time(seconds: float) -> Problem:
    """Return the problem of work that takes too long."""
    return Problem(
        504,
        f"the work took longer than {seconds:g} s and was given up; ask for less at a time, or "
        "raise --max-seconds of `neardup serve`",
    )


def problem_of(error: NeardupError) -> Problem:
    """Return what an error of the package comes to for whoever sent the request."""
    name = type(error).__name__
    if isinstance(error, IndexLockedError):
        detail = "another process is writing the index; try again when it is done"
        return Problem(503, detail, name, _RETRY)
    cause = error.__cause__
    if isinstance(error, WriteError) and isinstance(cause, OSError) and cause.errno in FULL:
        detail = "there is no room on the disk of the service; make room, and send it again"
        return Problem(507, detail, name)
    if isinstance(error, _OF_FILES):
        detail = "the files of the index cannot be used; the log of the service says why"
        return Problem(500, detail, name)
    if isinstance(error, InvalidInputError) and error.is_known_id:
        return Problem(409, str(error), name)
    if isinstance(error, ValueError):
        return Problem(422, str(error), name)
    return Problem(500, str(error), name)


def reason_of(error: BaseException) -> str:
    """Say why something failed, for anybody: neither files nor texts are named."""
    name, cause = type(error).__name__, error.__cause__
    number = cause.errno if isinstance(cause, OSError) else None
    return name if number is None else f"{name}: {os.strerror(number)}"
