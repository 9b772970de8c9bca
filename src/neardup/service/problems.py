"""Answers to requests that fail: a status and a message (RFC 9457)."""

from __future__ import annotations

import http
from pathlib import Path

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
UNREADABLE = (IndexFormatError, ReadError)
# A message may quote the request, which may be as long as a body.
_LONGEST_DETAIL = 2000


class Problem(Exception):
    """Ends a request with a status.

    Parameters
    ----------
    status
        Of HTTP.
    detail
        Expected value, received value, and remedy.
    error
        Class of the exception that the client raises.
    headers
        More headers of the answer.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        error: str = "ServiceError",
        headers: dict[str, str] | None = None,
    ) -> None:
        if len(detail) > _LONGEST_DETAIL:
            half = _LONGEST_DETAIL // 2
            detail = f"{detail[:half]} ... {detail[-half:]}"
        super().__init__(status, detail)
        self.status, self.detail, self.error = status, detail, error
        self.headers = dict(headers or {})
        if status == http.HTTPStatus.SERVICE_UNAVAILABLE:
            self.headers["retry-after"] = "1"

    def to_dict(self) -> dict[str, object]:
        """Return the fields of the answer."""
        title = http.HTTPStatus(self.status).phrase
        return {
            "title": title,
            "status": self.status,
            "detail": self.detail,
            "error": self.error,
        }


def problem_of(error: NeardupError) -> Problem:
    """Return the answer to a request that raised an error of the package."""
    name, cause = type(error).__name__, error.__cause__
    if isinstance(error, IndexLockedError):
        return Problem(503, "another process is writing the index; try again when it is done", name)
    if isinstance(error, WriteError) and isinstance(cause, OSError) and cause.errno in FULL:
        detail = "the disk of the service is full; free some space, and send the request again"
        return Problem(507, detail, name)
    # These messages name files of the server, which are nobody else's business.
    if isinstance(error, (*UNREADABLE, WriteError)):
        detail = "the files of the index cannot be used; the log of the service names the file"
        return Problem(500, detail, name)
    if isinstance(error, InvalidInputError) and error.is_known_id:
        return Problem(409, str(error), name)
    return Problem(422 if isinstance(error, ValueError) else 500, str(error), name)


def file_of(error: BaseException) -> str:
    """Return the name of the file that an error is about, without its folder."""
    path = getattr(error, "path", None)
    return Path(path).name if path else type(error).__name__
