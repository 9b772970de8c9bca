"""Access, size limits and failures of requests."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import http
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
from neardup.service.messages import ProblemDetails, misfit_of

MAX_BODY = 16_000_000
LARGEST_AT_ONCE = 16
"""All bodies together may hold as many bytes as this number of the largest ones."""
# A body, and its text of which a character may need four bytes; and an object per value.
_BYTES_PER_BYTE = 4
_BYTES_PER_VALUE = 64
# Small bodies are read whatever others hold.
_SMALL_BYTES = 64_000
_MOST_VALUES = 1_000_000
_MOST_LEVELS = 100
# A string that never ends is one, too, so that the time is linear in the length of any body.
_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_STEPS = np.zeros(256, np.int8)
_STEPS[list(b"[{")], _STEPS[list(b"]}")] = 1, -1


class Bodies:
    """Reader of bodies within a common memory budget.

    A body has at most ``most_bytes`` and arrives within ``seconds``. ``record`` receives the memory
    of all bodies, in bytes, whenever it changes.
    """

    def __init__(self, most_bytes: int, seconds: float, record: Callable[[int], object]) -> None:
        self.most_bytes, self.seconds, self._record = most_bytes, seconds, record
        self._budget, self._held = LARGEST_AT_ONCE * most_bytes, 0

    @contextmanager
    def reader(self) -> Iterator[BodyReader]:
        """Return a request's reader, freeing its memory at the end."""
        reader = BodyReader(self)
        try:
            yield reader
        finally:
            self.hold(-reader.n_held)

    def hold(self, n_bytes: int) -> None:
        """Take memory from the budget, or give back negative amounts."""
        if n_bytes > 0 and self._held + n_bytes > self._budget:
            message = "the bodies of other requests take all the memory for bodies; try again"
            raise Problem(503, message)
        self._held += n_bytes
        self._record(self._held)


class BodyReader:
    """Reads the body of one request."""

    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self.n_held = 0

    async def read(self, request: Request, asked: type) -> Any:
        """Read a body and return the message in it."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            # A form of another site can send anything but this.
            message = "the body must be JSON: send it with `Content-Type: application/json`"
            raise Problem(415, message)
        seconds = self._bodies.seconds
        try:
            async with asyncio.timeout(seconds):
                body = await self._collect(request)
        except TimeoutError:
            message = f"the body did not arrive within {seconds:g} s; send it faster, or send less"
            raise Problem(408, message, headers={"connection": "close"}) from None
        except ClientDisconnect:
            raise Problem(400, "the body ended before it was complete") from None
        self._check(body)
        try:
            return msgspec.json.decode(body, type=asked)
        except msgspec.ValidationError as error:
            why, name = misfit_of(error, asked)
            message = f"the body does not fit: {why}; /openapi.json lists the fields"
            raise Problem(422, message, name) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Problem(400, f"the body is not JSON: {error}", "InvalidInputError") from None

    async def _collect(self, request: Request) -> bytearray:
        most = self._bodies.most_bytes
        declared = request.headers.get("content-length", "")
        is_too_large = declared.isdecimal() and int(declared[:20]) > most
        # Grows in place: parts that are joined at the end would be there twice.
        body = bytearray()
        if not is_too_large:
            async for part in request.stream():
                body += part
                if is_too_large := len(body) > most:
                    break
                self._grow(len(body), 0)
        if is_too_large:
            message = (
                f"the body is larger than {most:,} bytes; send fewer texts at a time, or raise "
                "--max-body of `neardup serve`"
            )
            raise Problem(413, message, "InvalidInputError")
        return body

    def _check(self, body: bytearray) -> None:
        """Bound the number and depth of values before decoding."""
        n_values = body.count(b",") + 1
        if n_values > _MOST_VALUES:
            message = f"the body has more than {_MOST_VALUES:,} values; send less at a time"
            raise Problem(413, message, "InvalidInputError")
        self._grow(len(body), n_values)
        if body.count(b"[") + body.count(b"{") <= _MOST_LEVELS:
            return
        steps = _STEPS[np.frombuffer(_STRING.sub(b"", body), np.uint8)]
        if len(steps) and np.cumsum(steps, dtype=np.int32).max() > _MOST_LEVELS:
            message = f"the body has more than {_MOST_LEVELS} levels of lists and objects"
            raise Problem(400, message, "InvalidInputError")

    def _grow(self, n_bytes: int, n_values: int) -> None:
        """Take the memory of a body, unless it is small."""
        if n_bytes > _SMALL_BYTES:
            needed = n_bytes * _BYTES_PER_BYTE + n_values * _BYTES_PER_VALUE
            self._bodies.hold(needed - self.n_held)
            self.n_held = needed


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


class TokenFile:
    """File of tokens, read again when it changes.

    A line is a token, optionally followed by ``role=read`` or ``role=write`` and ``name=NAME``.
    Empty lines and lines that begin with ``#`` are skipped. ReadError or InvalidParameterError if
    the file cannot be read, others may read it, or a line is wrong.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = _state_of(path)
        self._grants = _read_grants(path)

    def refresh(self) -> NeardupError | bool:
        """Read the file if it has changed, and return whether it has.

        Returns the error of a wrong file, whose former tokens stay.
        """
        state = _state_of(self._path)
        if state == self._state:
            return False
        self._state = state
        try:
            self._grants = _read_grants(self._path)
        except NeardupError as error:
            return error
        return True

    def grant_of(self, token: bytes) -> Grant | None:
        """Return the grant of a token in token-independent time."""
        digest, match = hashlib.sha256(token).digest(), None
        for grant in self._grants:
            if hmac.compare_digest(digest, grant.digest):
                match = grant
        return match


def _state_of(path: Path) -> tuple[int, ...]:
    try:
        status = os.stat(path)  # noqa: PTH116 - for every request, without a new object
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_size


def _read_grants(path: Path) -> Sequence[Grant]:
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
    grants: dict[bytes, Grant] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        grant = _grant_of(line.split(), f"token_file {path}, line {number}")
        if grant.digest in grants:
            message = f"token_file {path}, line {number}: the token is there twice; remove one line"
            raise InvalidParameterError(message)
        grants[grant.digest] = grant
    if not grants:
        message = f"token_file {path} has no token; {_HOW_TO_MAKE}"
        raise InvalidParameterError(message)
    return list(grants.values())


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
