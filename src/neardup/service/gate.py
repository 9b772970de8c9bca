"""What every request goes through: who may ask, what every answer carries, what is noted of it."""

from __future__ import annotations

import asyncio
import ipaddress
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from starlette.middleware.cors import CORSMiddleware

from neardup.errors import InvalidParameterError
from neardup.service.bodies import IS_READ, problem_answer
from neardup.service.connection import CONNECTION, Places
from neardup.service.lanes import end_shares
from neardup.service.problems import Problem
from neardup.service.records import Log, Metrics
from neardup.service.tokens import EVERYTHING, GRANT, Grant, Tokens

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Who may ask: the address served, the host that was meant, the page that sends, the token.

SESSION_COOKIE = "neardup-session"
_SAFE_METHODS = ("GET", "HEAD")
# Answered to anybody: they name an index only when something is the matter with it.
_OPEN_TO_ALL = ("/health", "/ready")
_WITHOUT_TOKEN = (*_OPEN_TO_ALL, "/sign-in", "/page.css", "/page.js")
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def check_address(host: str, tokens: Tokens) -> None:
    """Refuse to serve others without a token."""
    if not tokens and not is_loopback(host):
        message = (
            f"host {host} can be reached from other machines, so a token is needed: name a file "
            "of tokens with token_file, or leave host at 127.0.0.1"
        )
        raise InvalidParameterError(message, "host", "token_file")


class Access:
    """Decides about each request by its headers alone.

    Parameters
    ----------
    tokens
        Those that open the service; without any it is open.
    host
        Address that the service listens at. Without tokens requests must name this machine, so
        that a page elsewhere cannot reach the service by its own name that points here.
    origins
        Sites whose pages may ask what programs ask.
    """

    def __init__(self, tokens: Tokens, host: str, origins: Iterable[str] = ()) -> None:
        check_address(host, tokens)
        self.tokens, self.origins = tokens, tuple(origins)
        self._hosts = None if tokens else _names_of(host)

    def check(self, method: str, path: str, headers: Mapping[bytes, bytes]) -> Grant | None:
        """Make sure that a request may be answered.

        Returns
        -------
        What its sender may do; None for what anybody may ask for, of whom nothing is known.
        """
        if path in _OPEN_TO_ALL:
            return None
        host = headers.get(b"host", b"").decode("latin-1")
        if self._hosts is not None and _without_port(host) not in self._hosts:
            message = (
                "the service does not answer under this name; ask for 127.0.0.1 or localhost, or "
                "start `neardup serve` with --token-file"
            )
            raise Problem(421, message)
        if method not in _SAFE_METHODS:
            self._check_origin(host, path, headers)
        if path in _WITHOUT_TOKEN:
            return None
        grant = self._grant_of(path, headers) if self.tokens else EVERYTHING
        if grant is None:
            message = "a token is needed: send the header `Authorization: Bearer TOKEN`"
            if _token_in(headers):
                message = "the token is not known: send one of those in the file of tokens"
            raise Problem(401, message, headers={"www-authenticate": 'Bearer realm="neardup"'})
        return grant

    def _grant_of(self, path: str, headers: Mapping[bytes, bytes]) -> Grant | None:
        if (given := _token_in(headers)) is not None:
            return self.tokens.grant_of(given)
        # Browsers send cookies by themselves, so they open the page for people and nothing else.
        session = _cookie(headers) if not path.startswith("/v1") else None
        return None if session is None else self.tokens.grant_of_session(session)

    def _check_origin(self, host: str, path: str, headers: Mapping[bytes, bytes]) -> None:
        """Refuse what a page of another site makes a browser send, unless that is allowed."""
        site = headers.get(b"sec-fetch-site", b"none")
        origin = headers.get(b"origin", b"").decode("latin-1")
        # Nothing below it is opened by what a browser sends by itself.
        if path.startswith("/v1") and origin in self.origins:
            return
        is_ours = not origin or origin.partition("://")[2] == host
        if site not in (b"none", b"same-origin") or not is_ours:
            message = (
                "a page of another site may not send this; use the service's own page, or name "
                "the site with --allowed-origin of `neardup serve`"
            )
            raise Problem(403, message)


def _names_of(host: str) -> frozenset[str]:
    """Return the names of this machine, for a service that it alone reaches."""
    return frozenset((*_LOCAL_NAMES, f"[{host}]" if ":" in host else host.lower()))


def _token_in(headers: Mapping[bytes, bytes]) -> bytes | None:
    """Return the token that is sent with a request, if one is."""
    scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
    return given.strip() if scheme.lower() == b"bearer" else None


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


def _cookie(headers: Mapping[bytes, bytes]) -> str | None:
    # Ours has nothing in it that would have to be quoted.
    cookies = headers.get(b"cookie", b"").decode("latin-1").split(";")
    return dict(cookie.strip().partition("=")[::2] for cookie in cookies).get(SESSION_COOKIE)


ROUTE = "neardup.route"
REQUEST_ID = "neardup.request_id"
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
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
        self._headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
        self._inner: ASGIApp = self._admit
        if access.origins:
            # Outside of what may refuse, so that pages can read why.
            self._inner = CORSMiddleware(
                self._admit,
                allow_origins=access.origins,
                allow_methods=("GET", "POST", "PUT"),
                allow_headers=("authorization", "content-type", "x-request-id"),
                expose_headers=("x-request-id", "retry-after"),
            )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do so."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin = time.perf_counter()
        status, n_in, n_out = 0, 0, 0
        number = scope[REQUEST_ID] = _request_id(scope)

        async def receive_counted() -> Message:
            nonlocal n_in
            message = await receive()
            n_in += len(message.get("body", b""))
            scope[IS_READ] = not message.get("more_body", False)
            return message

        async def send_marked(message: Message) -> None:
            nonlocal status, n_out
            if message["type"] == "http.response.start":
                status = message["status"]
                given = {name for name, _ in message["headers"]}
                usual = [each for each in self._headers if each[0] not in given]
                own = (b"x-request-id", number.encode())
                message["headers"] = [*message["headers"], *usual, own]
                await send(message)
                return
            body = message.get("body", b"")
            try:
                # What is written waits in memory: no more of it than the other side has taken.
                async with asyncio.timeout(self._seconds):
                    start = 0
                    while len(body) > start + _PART_BYTES:
                        part = body[start : start + _PART_BYTES]
                        await send({**message, "body": part, "more_body": True})
                        start, n_out = start + len(part), n_out + len(part)
                    await send({**message, "body": body[start:]} if start else message)
                    n_out += len(body) - start
            except TimeoutError:
                scope[CONNECTION].abort()

        try:
            await self._inner(scope, receive_counted, send_marked)
        finally:
            end_shares(scope)
            seconds = time.perf_counter() - begin
            client = scope.get("client")
            whose = {
                "id": number,
                "client": client[0] if client else "-",
                "token": GRANT.get().name,
            }
            self._note(scope, status, seconds, n_in, n_out, **whose)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, if it may be answered."""
        try:
            grant = self._access.check(scope["method"], scope["path"], dict(scope["headers"]))
            if grant is not None:
                self.places.recognise(scope[CONNECTION])
                # Each request is a task of its own, and so is what is set here.
                GRANT.set(grant)
        except Problem as problem:
            await problem_answer(scope, problem)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def refuse(self, problem: Problem) -> bytes:
        """Return the answer to what could not be read as a request, and note it as others."""
        answer = problem_answer({"path": "", "headers": ()}, problem)
        headers = [*answer.raw_headers, *self._headers, (b"connection", b"close")]
        lines = [f"HTTP/1.1 {problem.status} {problem.title}".encode()]
        lines += [name + b": " + value for name, value in headers]
        self._note({"method": "-"}, problem.status, 0.0, 0, len(answer.body))
        return b"\r\n".join([*lines, b"", bytes(answer.body)])

    def _note(
        self,
        scope: Mapping[str, Any],
        status: int,
        seconds: float,
        n_in: int,
        n_out: int,
        **whose: str,
    ) -> None:
        method, route = scope["method"], scope.get(ROUTE, "-")
        method = method if method in _METHODS else "-"
        self._metrics.count(method, route, status, seconds)
        self._log.event(
            "request",
            method=method,
            route=route,
            status=status,
            ms=round(seconds * 1000, 2),
            bytes_in=n_in,
            bytes_out=n_out,
            **whose,
        )


def _request_id(scope: Scope) -> str:
    """Return what a request is called in the log: the name that it came with, or a new one."""
    given = dict(scope["headers"]).get(b"x-request-id", b"").decode("latin-1")
    return given if _REQUEST_ID.fullmatch(given) else secrets.token_hex(8)
