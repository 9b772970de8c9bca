"""Requests to a service, over connections that stay open; answers, or neardup's own errors.

With the standard library alone, so that a client needs no extra: requests are small, and a stack of
idle connections is all the pool that they need.
"""

from __future__ import annotations

import http.client
import json
import select
from collections import deque
from collections.abc import Iterable, Iterator
from typing import IO, Any
from urllib.parse import quote, urlencode, urlsplit

from neardup import errors
from neardup.errors import IndexLockedError, InvalidParameterError, NeardupError, ServiceError

# These are made of a message alone.
_PLAIN = {
    name: getattr(errors, name)
    for name in (
        *("InvalidParameterError", "InvalidInputError", "ReadError", "WriteError"),
        *("IndexFormatError", "DeniedError"),
    )
}
_PART_BYTES = 1 << 20
_LOST = (http.client.HTTPException, OSError)


class Transport:
    """Sends requests to a service; for any number of threads.

    Parameters
    ----------
    url
        Of the service, such as http://127.0.0.1:8600.
    token
        One of those in its file of tokens.
    timeout
        Seconds to wait for an answer.
    """

    def __init__(self, url: str, token: str | None, timeout: float) -> None:
        self._idle: deque[http.client.HTTPConnection] = deque()
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            message = f"url must be like http://127.0.0.1:8600, got {url!r}"
            raise InvalidParameterError(message)
        try:
            self._address = (parts.hostname, parts.port)
        except ValueError:
            message = f"url has no valid port: {url!r}"
            raise InvalidParameterError(message) from None
        self.url = url.rstrip("/")
        self._is_encrypted, self._timeout = parts.scheme == "https", timeout
        self._path = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if token is not None:
            if not token.isascii() or not token.isprintable():
                message = "token must be printable ASCII, as it is in the file of tokens"
                raise InvalidParameterError(message)
            self._headers["Authorization"] = f"Bearer {token}"

    def get(self, path: str, **parameters: Any) -> Any:
        """Ask for something, and return the answer."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        return self._send("GET", f"{path}{query}", None, may_repeat=True)

    def post(
        self, path: str, body: dict[str, Any], *, may_repeat: bool, method: str = "POST"
    ) -> Any:
        """Send something, and return the answer.

        With ``may_repeat``, it is sent again if the connection was lost meanwhile.
        """
        content = as_json(body)
        return self._send(method, path, content, may_repeat=may_repeat)

    def stream(self, path: str, parts: Iterable[bytes], kind: str) -> Iterator[bytes]:
        """Send something part by part, and yield the lines of the answer."""
        headers = {**self._headers, "Content-Type": kind, "Transfer-Encoding": "chunked"}
        connection = self._take()
        try:
            try:
                path = self._path + path
                connection.request("POST", path, parts, headers, encode_chunked=True)
            except ConnectionError:
                # It may have been refused before all was sent.
                if connection.sock is None:
                    raise
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                self._read(answer.status, answer.read())
            yield from answer
        except _LOST as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()

    def save(self, path: str, file: IO[bytes]) -> int:
        """Ask for something large, and write it to a file; return its bytes."""
        connection, n_bytes = self._take(), 0
        try:
            connection.request("GET", self._path + path, None, self._headers)
            answer = connection.getresponse()
            if answer.status != http.client.OK:
                self._read(answer.status, answer.read())
            while part := answer.read(_PART_BYTES):
                n_bytes += file.write(part)
            if answer.length:
                raise http.client.IncompleteRead(b"", answer.length)
        except _LOST as error:
            raise self._unreachable(error) from error
        finally:
            connection.close()
        return n_bytes

    def close(self) -> None:
        """Close all connections that are not in use."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        self.close()

    def _send(self, method: str, path: str, body: bytes | None, *, may_repeat: bool) -> Any:
        for is_last in (not may_repeat, True):
            connection = self._take()
            try:
                connection.request(method, self._path + path, body, self._headers)
                answer = connection.getresponse()
                content = answer.read()
            except _LOST as error:
                connection.close()
                if is_last or isinstance(error, TimeoutError):
                    raise self._unreachable(error) from error
            except BaseException:
                # Interrupted: what is still to come is not the answer of the next request.
                connection.close()
                raise
            else:
                if connection.sock is not None:
                    self._idle.append(connection)
                return self._read(answer.status, content)
        raise AssertionError

    def _take(self) -> http.client.HTTPConnection:
        """Return an idle connection, the last one used first, or a new one."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                break
            # Nothing is to come: if there is something to read, the service has hung up.
            if not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        kind = http.client.HTTPSConnection if self._is_encrypted else http.client.HTTPConnection
        return kind(*self._address, timeout=self._timeout)

    def _read(self, status: int, content: bytes) -> Any:
        try:
            value = json.loads(content)
        except ValueError:
            message = f"{self.url} does not answer as `neardup serve` does (status {status})"
            raise ServiceError(message, status=status) from None
        if status != http.client.OK:
            raise self._error_of(status, value)
        return value

    def _error_of(self, status: int, problem: Any) -> NeardupError:
        detail = problem.get("detail", "") if isinstance(problem, dict) else str(problem)
        name = problem.get("error", "") if isinstance(problem, dict) else ""
        if name == "IndexLockedError":
            return IndexLockedError(self.url)
        if name in _PLAIN:
            found: NeardupError = _PLAIN[name](detail)
            return found
        return ServiceError(detail or f"status {status}", status=status)

    def _unreachable(self, error: Exception) -> ServiceError:
        if isinstance(error, TimeoutError):
            reason = f"no answer within {self._timeout:g} s"
        else:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return ServiceError(f"{self.url} cannot be reached: {reason}; is `neardup serve` running?")


def as_json(value: Any) -> bytes:
    """Return a value as JSON; one that has none is an error of ours."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        message = "a text is not valid Unicode: it has half of a surrogate pair"
        raise errors.InvalidInputError(message) from None
    except (TypeError, ValueError) as error:
        message = f"a value cannot be sent as JSON: {error}"
        raise errors.InvalidInputError(message) from None


def path_of(index: str, operation: str = "") -> str:
    """Return the path of an operation on an index."""
    path = f"/v1/indexes/{quote(index, safe='')}"
    return f"{path}/{operation}" if operation else path
