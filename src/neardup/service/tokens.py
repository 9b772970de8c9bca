"""Tokens that open the service, read from a file, and sessions of people who have given one."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import stat
import time
from collections.abc import Iterable
from pathlib import Path

from neardup.errors import InvalidParameterError, ReadError

_LEAST_LENGTH = 16
_HOW_TO_MAKE = "python3 -c 'import secrets; print(secrets.token_urlsafe(32))' makes one"
_SESSION_SECONDS = 12 * 3600


def read_tokens(path: Path) -> list[str]:
    """Read the tokens of a file, one a line; empty lines and those that begin with # do not count.

    Raises
    ------
    ReadError
        If the file cannot be read.
    InvalidParameterError
        If others may read or change it, or if it holds no token, or one that is easily guessed.
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
    tokens = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    if not tokens:
        message = f"token_file {path} holds no token; {_HOW_TO_MAKE}"
        raise InvalidParameterError(message)
    for number, token in enumerate(tokens, 1):
        if len(token) < _LEAST_LENGTH or not token.isascii() or not token.isprintable():
            message = (
                f"token_file {path}: token {number} must have {_LEAST_LENGTH} characters of ASCII "
                f"or more; {_HOW_TO_MAKE}"
            )
            raise InvalidParameterError(message)
    return tokens


class Tokens:
    """Says whether a token is one of those that open the service, in constant time.

    Sessions are signed with a key of this process: they end with it, and after half a day.
    """

    def __init__(self, tokens: Iterable[str]) -> None:
        self._digests = [_digest(token.encode()) for token in tokens]
        self._key = secrets.token_bytes(32)

    def __bool__(self) -> bool:
        return bool(self._digests)

    def are_right(self, given: bytes) -> bool:
        """Return whether a token is right; the time tells nothing about how wrong it is."""
        digest = _digest(given)
        # All are compared, so that the time does not tell which one it is either.
        return sum(hmac.compare_digest(digest, known) for known in self._digests) > 0

    def make_session(self) -> str:
        """Return what the browser of somebody with a token may show instead, for some hours."""
        until = str(int(time.time()) + _SESSION_SECONDS)
        return f"{until}.{self._sign(until)}"

    def is_session(self, given: str) -> bool:
        """Return whether a session was made here and has not ended."""
        until, _, signature = given.partition(".")
        is_ours = hmac.compare_digest(self._sign(until).encode(), signature.encode())
        return is_ours and int(until) > time.time()

    def _sign(self, until: str) -> str:
        return hmac.new(self._key, until.encode(), hashlib.sha256).hexdigest()


def _digest(token: bytes) -> bytes:
    """Hash a token, so that all that is compared has one length."""
    return hashlib.sha256(token).digest()
