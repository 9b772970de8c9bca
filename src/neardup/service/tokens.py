"""Tokens that open the service: who may do what, with which indexes; and sessions.

A file has one token a line, and what it may do behind it. It is read again when it changes.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import stat
import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from neardup.errors import InvalidParameterError, ReadError
from neardup.service.problems import Problem

Role = Literal["read", "write"]
# Each may do what those before it may.
_ROLES: tuple[Role, ...] = get_args(Role)

_LEAST_LENGTH = 16
_HOW_TO_MAKE = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))' makes one"
_SESSION_SECONDS = 12 * 3600
_MOST_IN_NAME = 64


@dataclass(frozen=True)
class Grant:
    """What somebody may do: a role, in some indexes, all if None.

    ``digest`` is that of the token, ``name`` what the log calls it.
    """

    digest: bytes = b""
    name: str = "-"
    role: Role = "write"
    indexes: frozenset[str] | None = None

    def sees(self, index: str) -> bool:
        """Return whether an index is there for them."""
        return self.indexes is None or index in self.indexes

    def may(self, role: Role) -> bool:
        """Return whether they may do what needs a role."""
        return _ROLES.index(self.role) >= _ROLES.index(role)

    def check(self, role: Role) -> None:
        """Make sure that they may."""
        if not self.may(role):
            message = f"this needs a token with the role {role}, and yours has the role {self.role}"
            raise Problem(403, message)

    def check_everything(self) -> None:
        """Make sure that all indexes are there for them."""
        if self.indexes is not None:
            message = "this is about all indexes, and your token is for some of them"
            raise Problem(403, message)


EVERYTHING = Grant()
GRANT: ContextVar[Grant] = ContextVar("grant", default=EVERYTHING)
"""What whoever sent the request that is answered may do; the service itself may do everything."""


def read_grants(path: Path) -> list[Grant]:
    """Read the tokens of a file, without empty lines and those that begin with #.

    A line is a token, and behind it as many of ``role=read``, ``indexes=a,b`` and ``name=alice``
    as are wanted.
    """
    try:
        mode = path.stat().st_mode
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise ReadError(error.strerror or str(error), path=str(path)) from None
    except UnicodeDecodeError:
        message = "token_file is not UTF-8 text; write one token a line"
        raise InvalidParameterError(message) from None
    if mode & (stat.S_IWGRP | stat.S_IRWXO):
        message = (
            f"token_file {path} may be read by everybody or changed by others; take these rights "
            f"away: chmod 600 {path}"
        )
        raise InvalidParameterError(message)
    found = [line.split() for line in lines if line.strip() and not line.startswith("#")]
    if not found:
        message = f"token_file {path} holds no token; {_HOW_TO_MAKE}"
        raise InvalidParameterError(message)
    grants: dict[bytes, Grant] = {}
    for number, words in enumerate(found, 1):
        where = f"token_file {path}: token {number}"
        grant = _grant_of(words, where)
        if grants.setdefault(grant.digest, grant) is not grant:
            message = f"{where} is there twice, and might be for two things; leave one of them out"
            raise InvalidParameterError(message)
    return list(grants.values())


def _grant_of(words: list[str], where: str) -> Grant:
    """Read a line; messages say where it is, and nothing of the token."""
    token, *more = words
    if len(token) < _LEAST_LENGTH or not token.isascii() or not token.isprintable():
        message = f"{where} must have {_LEAST_LENGTH} characters of ASCII or more; {_HOW_TO_MAKE}"
        raise InvalidParameterError(message)
    given: dict[str, str] = {}
    for word in more:
        key, equals, value = word.partition("=")
        if not equals or key not in ("role", "indexes", "name") or key in given:
            message = (
                f"{where} may be followed by role=, indexes= and name=, once each, with nothing "
                "but spaces between them"
            )
            raise InvalidParameterError(message)
        given[key] = value
    role = given.get("role", "write")
    if role not in _ROLES:
        message = f"{where}: role must be one of {', '.join(_ROLES)}, got {role[:20]!r}"
        raise InvalidParameterError(message)
    indexes = frozenset(given["indexes"].split(",")) if "indexes" in given else None
    name = given.get("name", "-")[:_MOST_IN_NAME]
    return Grant(_digest(token.encode()), name, role, indexes)


class Tokens:
    """Says what a token is for, in constant time.

    Sessions are signed with a key of this process: they end with it, with their token, when
    somebody signs out, and after half a day.

    Parameters
    ----------
    grants
        Those that open the service; without any it is open.
    path
        The file that they were read from, if it is to be looked at again.
    """

    def __init__(self, grants: Sequence[Grant] = (), path: Path | None = None) -> None:
        self._grants, self._path = tuple(grants), path
        self._seen = None if path is None else _state_of(path)
        self._key = secrets.token_bytes(32)
        # Sessions that were ended before their time, which is noted.
        self._ended: dict[str, int] = {}

    @classmethod
    def of_file(cls, path: Path) -> Tokens:
        """Read a file of tokens."""
        return cls(read_grants(path), path)

    def __bool__(self) -> bool:
        return bool(self._grants)

    def refresh(self) -> bool:
        """Read the file again if it has changed; return whether it has.

        If it cannot be read, all stays as it is, until it changes again.
        """
        if self._path is None or (state := _state_of(self._path)) == self._seen:
            return False
        self._seen = state
        self._grants = tuple(read_grants(self._path))
        return True

    def grant_of(self, given: bytes) -> Grant | None:
        """Return what a token is for; the time tells nothing about how wrong it is."""
        digest, found = _digest(given), None
        # All are compared, so that the time does not tell which one it is either.
        for grant in self._grants:
            if hmac.compare_digest(digest, grant.digest):
                found = grant
        return found

    def make_session(self, grant: Grant) -> str:
        """Return what the browser of somebody with a token may show instead, for some hours."""
        said = f"{int(time.time()) + _SESSION_SECONDS}.{grant.digest.hex()}"
        return f"{said}.{self._sign(said)}"

    def grant_of_session(self, given: str) -> Grant | None:
        """Return what a session is for that was made here and has not ended, nor its token."""
        said, _, signature = given.rpartition(".")
        if not hmac.compare_digest(self._sign(said).encode(), signature.encode()):
            return None
        if given in self._ended:
            return None
        until, _, digest = said.partition(".")
        known = (grant for grant in self._grants if grant.digest.hex() == digest)
        return next(known, None) if int(until) > time.time() else None

    def end_session(self, given: str) -> None:
        """Let a session that was made here open nothing any more."""
        if self.grant_of_session(given) is not None:
            now = time.time()
            self._ended = {each: until for each, until in self._ended.items() if until > now}
            self._ended[given] = int(given.partition(".")[0])

    def _sign(self, said: str) -> str:
        return hmac.new(self._key, said.encode(), hashlib.sha256).hexdigest()


def _state_of(path: Path) -> tuple[int, ...] | None:
    """Return what tells whether a file has changed; None if it is gone."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_ino, found.st_size


def _digest(token: bytes) -> bytes:
    """Hash a token, so that all that is compared has one length."""
    return hashlib.sha256(token).digest()
