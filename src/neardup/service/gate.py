"""What every request goes through: who may ask, what every answer carries, what is noted of it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from neardup.service.access import Access
from neardup.service.answers import problem_answer
from neardup.service.connection import CONNECTION, Places
from neardup.service.memory import end_shares
from neardup.service.problems import Problem
from neardup.service.records import Log, Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ROUTE = "neardup.route"
# An answer is handed over in such parts.
_PART_BYTES = 1 << 16
# Methods that are counted by their names; any other could be a new name each time.
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")

_HEADERS = {
    # Nothing from elsewhere, nothing inline, in no frame; whatever a text holds is not obeyed.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer, by which a browser would hide from us too which page sends a form.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


def _encoded(headers: Iterable[tuple[str, str]]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode()) for name, value in headers]


class Gate:
    """Stands before the application.

    ``seconds`` is the time in which an answer has to be taken.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        places: Places,
        log: Log,
        metrics: Metrics,
        seconds: float,
    ) -> None:
        self._app, self._access, self._log, self._metrics = app, access, log, metrics
        self.places, self._seconds = places, seconds
        self._headers = _encoded(_HEADERS.items())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do so."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()
        status, n_in, n_out = 0, 0, 0

        async def receive_counted() -> Message:
            nonlocal n_in
            message = await receive()
            n_in += len(message.get("body", b""))
            return message

        async def send_marked(message: Message) -> None:
            nonlocal status, n_out
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *self._headers]
                await send(message)
                return
            body = message.get("body", b"")
            try:
                # What is written waits in memory: no more of it than the other side has taken.
                async with asyncio.timeout(self._seconds):
                    while len(body) > n_out + _PART_BYTES:
                        part = body[n_out : n_out + _PART_BYTES]
                        await send({**message, "body": part, "more_body": True})
                        n_out += len(part)
                    await send({**message, "body": body[n_out:]} if n_out else message)
                    n_out = len(body)
            except TimeoutError:
                scope[CONNECTION].abort()

        method = scope["method"]
        try:
            try:
                if self._access.check(method, scope["path"], dict(scope["headers"])):
                    self.places.recognise(scope[CONNECTION])
            except Problem as problem:
                await problem_answer(scope, problem)(scope, receive, send_marked)
            else:
                await self._app(scope, receive_counted, send_marked)
        finally:
            end_shares(scope)
            seconds = time.perf_counter() - begin
            method = method if method in _METHODS else "-"
            self._note(method, scope.get(ROUTE, "-"), status, seconds, n_in, n_out)

    def refuse(self, problem: Problem) -> bytes:
        """Return the answer to what could not be read as a request, and note it as others."""
        answer = problem_answer({"path": "", "headers": ()}, problem)
        headers = [*answer.raw_headers, *self._headers, (b"connection", b"close")]
        lines = [f"HTTP/1.1 {problem.status} {problem.title}".encode()]
        lines += [name + b": " + value for name, value in headers]
        self._note("-", "-", problem.status, 0.0, 0, len(answer.body))
        return b"\r\n".join([*lines, b"", bytes(answer.body)])

    def _note(
        self, method: str, route: str, status: int, seconds: float, n_in: int, n_out: int
    ) -> None:
        self._metrics.count(method, route, status, seconds)
        self._log.event(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            bytes_in=n_in,
            bytes_out=n_out,
        )
