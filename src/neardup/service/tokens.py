"""Bearer tokens: a file with one token per line, its role and its name."""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from neardup.errors import InvalidParameterError, NeardupError, ReadError

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

    Parameters
    ----------
    path
        A line is a token, optionally followed by ``role=read`` or ``role=write`` and ``name=NAME``.
        Empty lines and lines that begin with ``#`` are skipped.

    Raises
    ------
    ReadError, InvalidParameterError
        If the file cannot be read, others may read it, or a line is wrong.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._state = _state_of(path)
        self._grants = _read_grants(path)

    def refresh(self) -> NeardupError | bool:
        """Read the file if it has changed.

        Returns
        -------
        Whether it has changed; or the error of a file that is wrong, whose former tokens stay.
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
        """Return the grant of a token, in time that is independent of the token."""
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
    """Read a line; messages never quote the token."""
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
