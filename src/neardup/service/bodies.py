"""Bodies of requests, within a size and a time."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from neardup.service.problems import Problem, too_large

if TYPE_CHECKING:
    from starlette.requests import Request


_DRAIN_SECONDS = 2.0


async def read_body(request: Request, most_bytes: int, seconds: float) -> bytes:
    """Read the body of a request.

    Raises
    ------
    Problem
        413 if it is larger than allowed, 408 if it does not come in time, 400 if it ends early.
    """
    declared = request.headers.get("content-length", "")
    body = None
    if not (declared.isdecimal() and int(declared) > most_bytes):
        try:
            async with asyncio.timeout(seconds):
                body = await _collect(request, most_bytes)
        except TimeoutError:
            message = f"the body did not arrive within {seconds:g} s; send it faster, or less"
            raise Problem(408, message, headers={"connection": "close"}) from None
    if body is None:
        await _drain(request)
        message = (
            f"the body is larger than {most_bytes:,} bytes; send fewer texts at a time, or raise "
            "--max-body of `neardup serve`"
        )
        raise too_large(message)
    return body


async def _collect(request: Request, most_bytes: int) -> bytes | None:
    """Read a body to its end; return None if it is too large."""
    parts: list[bytes] = []
    n_bytes, is_more = 0, True
    while is_more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "the body ended before it was complete")
        parts.append(message.get("body", b""))
        n_bytes += len(parts[-1])
        if n_bytes > most_bytes:
            return None
        is_more = message.get("more_body", False)
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def _drain(request: Request) -> None:
    """Throw away for a moment what still comes.

    A connection that is closed while the other side still sends takes the answer with it.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while (await request.receive()).get("more_body", False):
                pass
