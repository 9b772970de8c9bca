"""Access, size limits and failures of requests."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import http
import re
import stat
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec
import numpy as np
from starlette.requests import ClientDisconnect, Request

from neardup.errors import (
    IndexFormatError,
    IndexLockedError,
    InvalidInputError,
    InvalidParameterError,
    NeardupError,
    ReadError,
    WriteError,
)
from neardup.runs.disk import FULL
from neardup.service.messages import ProblemDetails, error_of_misfit

MAX_BODY = 16_000_000
LARGEST_AT_ONCE = 16
"""All bodies together may hold as many bytes as this number of the largest ones."""
# Memory of a body and its text, with up to four bytes per character; and of a value's object.
_BYTES_PER_BYTE = 4
_BYTES_PER_VALUE = 64
# Small bodies are read whatever others hold.
_SMALL_BYTES = 64_000
_MOST_VALUES = 1_000_000
_MOST_LEVELS = 100
# A string without an end matches, too: otherwise each of its quotes would be a new search.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


Grow = Callable[[int, int], None]


class Bodies:
    """Reader of bodies within a common memory budget.

    A body has at most ``most_bytes`` and arrives within ``seconds``. ``record`` receives the memory
    of all bodies, in bytes, whenever it changes.
    """

    def __init__(self, most_bytes: int, seconds: float, record: Callable[[int], object]) -> None:
        self.most_bytes, self.seconds, self._record = most_bytes, seconds, record
        self._budget, self._held = LARGEST_AT_ONCE * most_bytes, 0

    @asynccontextmanager
    async def read(self, request: Request, asked: type) -> AsyncIterator[Any]:
        """Read a body, and hold its memory while its message is used."""
        with self._growing() as grow:
            yield _decode(await self._receive(request, grow), asked, grow)

    @contextmanager
    def _growing(self) -> Iterator[Grow]:
        """Yield a function that reserves memory for a body."""
        own = 0

        def grow(n_bytes: int, n_values: int) -> None:
            nonlocal own
            if n_bytes <= _SMALL_BYTES:
                return
            needed = n_bytes * _BYTES_PER_BYTE + n_values * _BYTES_PER_VALUE
            if self._held + needed - own > self._budget:
                message = "the bodies of other requests take all the memory for bodies; try again"
                raise Problem(503, message)
            self._held += needed - own
            own = needed
            self._record(self._held)

        try:
            yield grow
        finally:
            self._held -= own
            self._record(self._held)

    async def _receive(self, request: Request, grow: Grow) -> bytearray:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            # A form of another site can send anything but this.
            message = "the body must be JSON: send it with `Content-Type: application/json`"
            raise Problem(415, message)
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared[:20]) > self.most_bytes:
            raise self._too_large()
        # Grows in place: parts that are joined at the end would be there twice.
        body = bytearray()
        try:
            async with asyncio.timeout(self.seconds):
                async for part in request.stream():
                    body += part
                    if len(body) > self.most_bytes:
                        raise self._too_large()
                    grow(len(body), 0)
        except TimeoutError:
            message = (
                f"the body did not arrive within {self.seconds:g} s; send it faster, or send less"
            )
            raise Problem(408, message, headers={"connection": "close"}) from None
        except ClientDisconnect:
            raise Problem(400, "the body ended before it was complete") from None
        return body

    def _too_large(self) -> Problem:
        message = (
            f"the body is larger than {self.most_bytes:,} bytes; send fewer texts at a time, or "
            "raise --max-body of `neardup serve`"
        )
        return Problem(413, message, "InvalidInputError")


def _decode(body: bytearray, asked: type, grow: Grow) -> Any:
    """Decode the message in a body within bounds."""
    n_values = body.count(b",") + 1
    if n_values > _MOST_VALUES:
        message = f"the body has more than {_MOST_VALUES:,} values; send less at a time"
        raise Problem(413, message, "InvalidInputError")
    grow(len(body), n_values)
    if body.count(b"[") + body.count(b"{") > _MOST_LEVELS:
        steps = _STEPS[np.frombuffer(_STRING.sub(b"", body), np.uint8)]
        if len(steps) and np.cumsum(steps, dtype=np.int32).max() > _MOST_LEVELS:
            message = f"the body has more than {_MOST_LEVELS} levels of lists and objects"
            raise Problem(400, message, "InvalidInputError")
    try:
        return msgspec.json.decode(body, type=asked)
    except msgspec.ValidationError as error:
        message = f"the body does not fit: {error}; /openapi.json lists the fields"
        raise Problem(422, message, error_of_misfit(str(error))) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Problem(400, f"the body is not JSON: {error}", "InvalidInputError") from None


# Answers to requests that fail: a status and a message (RFC 9457).

PROBLEM_TYPE = "application/problem+json"
UNREADABLE = (IndexFormatError, ReadError)
# A message may quote the request, which may be as long as a body.
_LONGEST_DETAIL = 2000


class Problem(Exception):
    """Ends a request with a status.

    ``detail`` has the expected value, the received value, and the remedy; ``error`` is the class of
    exception that the client raises.
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

    @property
    def message(self) -> ProblemDetails:
        """Return the body of the answer."""
        title = http.HTTPStatus(self.status).phrase
        return ProblemDetails(title, self.status, self.detail, self.error)


def problem_of(error: NeardupError) -> Problem:
    """Return the problem that answers an error of the package."""
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
    """Return the name of an error's file, without folder."""
    path = getattr(error, "path", None)
    return Path(path).name if path else type(error).__name__


# Bearer tokens: a file with one token per line, its role and its name.

Role = Literal["read", "write"]

_SHORTEST_TOKEN = 16
_LONGEST_NAME = 64
_HOW_TO_MAKE = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))' makes one"


@dataclass(frozen=True)
class Grant:
    """A token's digest, role, and name in the log."""

    digest: bytes = b""
    role: Role = "write"
    name: str = "-"


EVERYTHING = Grant()
"""Grant of every request where the service has no tokens."""


def read_tokens(path: Path) -> list[Grant]:
    """Read a file of tokens.

    A line is a token, optionally followed by ``role=read`` or ``role=write`` and ``name=NAME``.
    Empty lines and lines that begin with ``#`` are skipped. ReadError or InvalidParameterError if
    the file cannot be read, others may read it, or a line is wrong.
    """
    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from None
    except UnicodeDecodeError:
        message = f"token_file {path} is not UTF-8 text; write one token per line"
        raise InvalidParameterError(message) from None
    if mode & (stat.S_IWGRP | stat.S_IRWXO):
        message = (
            f"token_file {path} can be read by everybody or changed by its group; protect it: "
            f"chmod 600 {path}"
        )
        raise InvalidParameterError(message)
    grants = [
        _grant_of(line.split(), f"token_file {path}, line {number}")
        for number, line in enumerate(lines, 1)
        if line.strip() and not line.startswith("#")
    ]
    if not grants:
        message = f"token_file {path} has no token; {_HOW_TO_MAKE}"
        raise InvalidParameterError(message)
    return grants


def find_grant(grants: Sequence[Grant], token: bytes) -> Grant | None:
    """Return the grant of a token in token-independent time."""
    digest = hashlib.sha256(token).digest()
    matches = [grant for grant in grants if hmac.compare_digest(digest, grant.digest)]
    return matches[0] if matches else None


def _grant_of(words: list[str], where: str) -> Grant:
    """Read a line without quoting the token in messages."""
    token, *more = words
    if len(token) < _SHORTEST_TOKEN or not token.isascii() or not token.isprintable():
        message = (
            f"{where}: a token must have {_SHORTEST_TOKEN} ASCII characters or more; {_HOW_TO_MAKE}"
        )
        raise InvalidParameterError(message)
    settings = dict(word.partition("=")[::2] for word in more)
    role = settings.pop("role", "write")
    name = settings.pop("name", "-")[:_LONGEST_NAME]
    if settings or len(more) > len({word.partition("=")[0] for word in more}):
        message = f"{where}: only role= and name= may follow a token, each once"
        raise InvalidParameterError(message)
    if role not in ("read", "write"):
        message = f"{where}: role must be read or write, got {role[:20]!r}"
        raise InvalidParameterError(message)
    digest = hashlib.sha256(token.encode()).digest()
    return Grant(digest, "read" if role == "read" else "write", name)
