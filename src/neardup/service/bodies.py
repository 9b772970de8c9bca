"""Bodies of requests: read within a time, a size and a depth."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
from starlette.requests import ClientDisconnect, Request

from neardup.service.messages import misfit_of
from neardup.service.problems import Problem

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
    """Reads bodies, as long as the memory of all of them is within a budget.

    Parameters
    ----------
    most_bytes
        Size of the largest body.
    seconds
        Time in which a body must arrive.
    record
        Receives the memory that all bodies hold, in bytes, whenever it changes.
    """

    def __init__(self, most_bytes: int, seconds: float, record: Callable[[int], object]) -> None:
        self.most_bytes, self.seconds, self._record = most_bytes, seconds, record
        self._budget, self._held = LARGEST_AT_ONCE * most_bytes, 0

    @contextmanager
    def reader(self) -> Iterator[BodyReader]:
        """Return the reader of one request; the end of the block gives its memory back."""
        reader = BodyReader(self)
        try:
            yield reader
        finally:
            self.hold(-reader.n_held)

    def hold(self, n_bytes: int) -> None:
        """Take memory from the budget, or give it back if the number is negative."""
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
        """Bound the number and the depth of values before objects are made of them."""
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
