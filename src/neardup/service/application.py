"""The ASGI application of the service, and its server."""

from __future__ import annotations

import ipaddress
import re
import resource
import secrets
import signal
import socket
import sys
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import anyio
import msgspec
import uvicorn
from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.errors import InvalidParameterError, NeardupError
from neardup.options.groups import ServeOptions
from neardup.runs.progress import cancellable
from neardup.runs.runner import count_workers
from neardup.service.operations import JSON, OPERATIONS, Operation, describe
from neardup.service.requests import (
    EVERYTHING,
    MAX_BODY,
    PROBLEM_TYPE,
    UNREADABLE,
    Bodies,
    Grant,
    Problem,
    find_grant,
    problem_of,
    read_tokens,
)
from neardup.service.served_index import (
    METRICS_TYPE,
    Log,
    Metrics,
    ServedIndex,
    WorkError,
    open_all,
)
from neardup.service.worker_processes import prepare, run_in_process

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


Endpoint = Callable[[Request], Awaitable[Response]]

_ROUTE, _GRANT, _REQUEST_ID = "neardup.route", "neardup.grant", "neardup.request_id"
_PAGE = {"/": "text/html", "/page.css": "text/css", "/page.js": "text/javascript"}
# The page asks for a token itself, and holds nothing but its code.
_WITHOUT_TOKEN = (*_PAGE, "/health", "/ready", "/openapi.json")
_LOCAL_NAMES = ("localhost", "127.0.0.1", "[::1]")
_GIVEN_ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
_METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
_HEADERS = {
    # Nothing from other sites, nothing inline, in no frame: markup in a text has no effect.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Service:
    """The indexes, and the work of requests on them.

    ``tokens`` None answers everybody. A body has at most ``max_body`` bytes; its arrival, and an
    operation, take at most ``max_seconds``. ``workers`` threads look up; half as many processes do
    heavy work. ``log`` receives a line per request.
    """

    def __init__(
        self,
        indexes: Sequence[ServedIndex],
        tokens: Sequence[Grant] | None = None,
        *,
        max_body: int = MAX_BODY,
        max_seconds: float = 30.0,
        workers: int = 2,
        log: Log | None = None,
    ) -> None:
        self.indexes = {served.name: served for served in indexes}
        self.tokens, self.seconds, self.log = tokens, max_seconds, log or Log(None)
        self.metrics = Metrics(indexes)
        self.bodies = Bodies(max_body, max_seconds, self.metrics.body_bytes.set)
        self.is_ready = False
        self._readers = anyio.CapacityLimiter(workers)
        self._processes = anyio.CapacityLimiter(max(workers // 2, 1))

    async def prepare(self) -> None:
        """Start a worker process with the code and indexes loaded."""
        for served in self.indexes.values():
            try:
                where = served.folder, served.tokenizer
                await run_in_process(prepare, *where, limiter=self._processes)
            except (NeardupError, Problem, WorkError) as error:
                self.log.defect(error)
                if isinstance(error, UNREADABLE):
                    served.note_unreadable(error)
        self.is_ready = True
        self.log.event("ready", indexes=list(self.indexes))

    def find(self, name: str) -> ServedIndex:
        """Return an index by its name."""
        if name in self.indexes:
            return self.indexes[name]
        names = ", ".join(map(repr, self.indexes)) or "none"
        message = f"index must be one of {names}, got {name!r}"
        raise Problem(404, message, "InvalidParameterError")

    async def answer(self, operation: Operation, request: Request) -> Response:
        """Answer a request for an operation."""
        grant: Grant = request.scope[_GRANT]
        target: Any = list(self.indexes.values())
        if operation.is_of_index:
            target = self.find(request.path_params["index"])
            operation.check_kind(target)
        if operation.role == "write":
            _check_write(target, grant)
        if operation.path == "/ready" and not self.is_ready:
            raise Problem(503, "the service is starting")
        if operation.asked is None:
            return await self._run_in_time(operation, target, None, request)
        if not operation.has_body:
            asked = _parameters(request, operation.asked)
            return await self._run_in_time(operation, target, asked, request)
        async with self.bodies.read(request, operation.asked) as asked:
            return await self._run_in_time(operation, target, asked, request)

    async def _run_in_time(
        self, operation: Operation, target: Any, asked: Any, request: Request
    ) -> Response:
        running = self.metrics.running.labels(operation.work).track_inprogress()
        try:
            with anyio.fail_after(self.seconds), running:
                return await self._run(operation, target, asked, request)
        except TimeoutError:
            message = (
                f"the operation took longer than {self.seconds:g} s and was ended; send less "
                "at a time, or raise --max-seconds of `neardup serve`"
            )
            raise Problem(504, message) from None
        except UNREADABLE as error:
            if operation.is_of_index:
                target.note_unreadable(error)
            raise

    async def _run(
        self, operation: Operation, target: Any, asked: Any, request: Request
    ) -> Response:
        if operation.work == "process":
            where: tuple[Any, ...] = ()
            media = JSON
            if operation.is_of_index:
                accepted = request.headers.get("accept", "")
                media = next((each for each in operation.media if each in accepted), JSON)
                where = target.folder, target.tokenizer, media
            content = await run_in_process(operation.run, asked, *where, limiter=self._processes)
            return Response(content, media_type=media)
        work = partial(operation.run, target, asked)
        if operation.work == "write":
            # A change that has begun is waited for, or it would be half done.
            value = await to_thread.run_sync(work, limiter=target.writer)
        elif operation.path == "/health":
            value = work()
        else:
            end = time.monotonic() + self.seconds
            value = await to_thread.run_sync(
                _call_until, end, work, abandon_on_cancel=True, limiter=self._readers
            )
        return Response(msgspec.json.encode(value), media_type=JSON)

    @asynccontextmanager
    async def life(self, _: Starlette) -> AsyncIterator[None]:
        """Prepare in the background while the service runs."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.prepare)
            yield
            tasks.cancel_scope.cancel()
        self.log.event("stopped")


def _check_write(served: ServedIndex, grant: Grant) -> None:
    if grant.role != "write":
        raise Problem(403, "the token has the role read, and this operation needs the role write")
    if not served.is_writable:
        message = f"index {served.name!r} is served for reading; start the service with --writable"
        raise Problem(403, message)


def _call_until(end: float, work: Callable[[], Any]) -> Any:
    """Call a function whose loops check the remaining time."""

    def check() -> None:
        if time.monotonic() > end:
            raise TimeoutError

    with cancellable(check):
        return work()


def _parameters(request: Request, asked: type) -> Any:
    try:
        return msgspec.convert(dict(request.query_params), asked, strict=False)
    except msgspec.ValidationError as error:
        message = f"the parameters do not fit: {error}"
        raise Problem(422, message, "InvalidParameterError") from None


def make_app(service: Service, host: str) -> Frame:
    """Make the application of a service at a host."""

    def route(path: str, endpoints: dict[str, Endpoint]) -> Route:
        async def dispatch(request: Request) -> Response:
            request.scope[_ROUTE] = path
            method = "GET" if request.method == "HEAD" else request.method
            return await endpoints[method](request)

        return Route(path, dispatch, methods=list(endpoints))

    # One route per path, so that its header Allow lists all methods.
    paths: dict[str, dict[str, Endpoint]] = {}
    for each in OPERATIONS:
        paths.setdefault(each.path, {})[each.method] = partial(service.answer, each)

    async def metrics(_: Request) -> Response:
        content = await to_thread.run_sync(service.metrics.to_text)
        return Response(content, headers={"content-type": METRICS_TYPE})

    async def openapi(_: Request) -> Response:
        return Response(describe(), media_type=JSON)

    async def page(media: str, request: Request) -> Response:
        name = request.url.path.removeprefix("/") or "page.html"
        content = files(__package__).joinpath("page", name).read_bytes()
        return Response(content, media_type=media, headers={"cache-control": "no-cache"})

    paths |= {path: {"GET": partial(page, media)} for path, media in _PAGE.items()}
    paths |= {"/metrics": {"GET": metrics}, "/openapi.json": {"GET": openapi}}
    app = Starlette(
        routes=[route(path, endpoints) for path, endpoints in paths.items()],
        lifespan=service.life,
        exception_handlers={
            kind: partial(_answer_error, service)
            for kind in (Problem, NeardupError, HTTPException, UnicodeEncodeError, Exception)
        },
    )
    app.router.redirect_slashes = False
    return Frame(app, service, host)


async def _answer_error(service: Service, request: Request, error: Exception) -> Response:
    known = {"route": request.scope.get(_ROUTE), "id": request.scope.get(_REQUEST_ID)}
    if isinstance(error, Problem):
        problem = error
    elif isinstance(error, NeardupError):
        problem = problem_of(error)
        if problem.status >= 500:
            # Such an error names files, and never a text.
            service.log.event("error", **known, error=type(error).__name__, detail=str(error))
    elif isinstance(error, HTTPException):
        details = {404: "this address does not exist", 405: "this address has other methods"}
        detail = f"{details.get(error.status_code, error.detail)}; /openapi.json lists all"
        problem = Problem(error.status_code, detail, headers=dict(error.headers or {}))
    elif isinstance(error, UnicodeEncodeError):
        message = "a text or id is not valid Unicode: it has half of a surrogate pair"
        problem = Problem(422, message, "InvalidInputError")
    else:
        service.log.defect(error, **known)
        problem = Problem(500, "the service failed; its log has the place")
    return _problem_answer(problem)


def _problem_answer(problem: Problem) -> Response:
    content = msgspec.json.encode(problem.message)
    return Response(content, problem.status, problem.headers, PROBLEM_TYPE)


def check_address(host: str, *, has_tokens: bool) -> None:
    """Raise if other machines reach a service without tokens."""
    try:
        is_local = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_local = False
    if not has_tokens and not is_local:
        message = (
            f"host {host} can be reached from other machines, so a token is needed: name a file "
            "of tokens with token_file, or leave host at 127.0.0.1"
        )
        raise InvalidParameterError(message, "host", "token_file")


class Frame:
    """Wrapper of the application: access, headers, log and metrics.

    ``host`` is the service's address. Without tokens, requests must name this machine, so that a
    page of another site cannot reach the service under a name that it lets point here.
    """

    def __init__(self, app: ASGIApp, service: Service, host: str) -> None:
        self._app, self._service = app, service
        names = (*_LOCAL_NAMES, f"[{host}]" if ":" in host else host.lower())
        self._hosts = None if service.tokens else frozenset(names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request through the application."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, headers = time.perf_counter(), dict(scope["headers"])
        given = headers.get(b"x-request-id", b"").decode("latin-1")
        request_id = given if _GIVEN_ID.fullmatch(given) else secrets.token_hex(8)
        scope[_REQUEST_ID], status, n_bytes = request_id, 0, 0

        async def send_framed(message: Message) -> None:
            nonlocal status, n_bytes
            if message["type"] == "http.response.start":
                status = message["status"]
                own = {name for name, _ in message["headers"]}
                more = {"x-request-id": request_id, **_HEADERS}
                pairs = [(name.encode(), value.encode()) for name, value in more.items()]
                message["headers"] = [
                    *message["headers"],
                    *(pair for pair in pairs if pair[0] not in own),
                ]
            n_bytes += len(message.get("body", b""))
            await send(message)

        try:
            scope[_GRANT] = self._grant(scope["path"], headers)
        except Problem as problem:
            await _problem_answer(problem)(scope, receive, send_framed)
        else:
            await self._app(scope, receive, send_framed)
        finally:
            seconds = time.perf_counter() - begin
            method = scope["method"] if scope["method"] in _METHODS else "-"
            route = scope.get(_ROUTE, "-")
            self._service.metrics.count(method, route, status, seconds)
            self._service.log.event(
                "request",
                id=request_id,
                method=method,
                route=route,
                status=status,
                ms=round(seconds * 1000, 2),
                bytes=n_bytes,
                client=(scope.get("client") or "-")[0],
                token=scope.get(_GRANT, EVERYTHING).name,
            )

    def _grant(self, path: str, headers: dict[bytes, bytes]) -> Grant:
        if path in ("/health", "/ready"):
            return EVERYTHING
        host = headers.get(b"host", b"").decode("latin-1")
        if self._hosts is not None and _without_port(host) not in self._hosts:
            message = (
                "the service does not answer under this host name; use 127.0.0.1 or localhost, or "
                "start the service with --token-file"
            )
            raise Problem(421, message)
        tokens = self._service.tokens
        if tokens is None or path in _WITHOUT_TOKEN:
            return EVERYTHING
        scheme, _, token = headers.get(b"authorization", b"").partition(b" ")
        grant = find_grant(tokens, token.strip()) if scheme.lower() == b"bearer" else None
        if grant is None:
            message = "a token is needed: send the header `Authorization: Bearer TOKEN`"
            if token:
                message = "the token is unknown: send a token of the token file"
            raise Problem(401, message, headers={"www-authenticate": 'Bearer realm="neardup"'})
        return grant


def _without_port(host: str) -> str:
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()


STOP_SECONDS = 10
"""Time that requests have to end after the service is asked to stop."""
# Connections and requests beyond get the status 503; a proxy has finer limits.
_MOST_CONNECTIONS = 1000
_LARGEST_HEAD = 1 << 16
_KEEP_ALIVE_SECONDS = 75
# A thread that computes in Python lets the event loop run after so many seconds.
_SWITCH_SECONDS = 0.0005


def open_service(folders: Sequence[str], options: ServeOptions) -> Service:
    """Check the options, and open the indexes."""
    tokens = None if options.token_file is None else read_tokens(options.token_file)
    check_address(options.host, has_tokens=tokens is not None)
    indexes: list[ServedIndex] = open_all(folders, options.tokenizer, is_writable=options.writable)
    return Service(
        indexes,
        tokens,
        max_body=options.max_body or MAX_BODY,
        max_seconds=options.max_seconds,
        workers=count_workers(options.workers),
        log=Log(None) if options.quiet else Log(),
    )


def make_server(service: Service, host: str) -> uvicorn.Server:
    """Make the server of a service, without listening yet."""
    config = uvicorn.Config(
        make_app(service, host),
        # Pure Python, but the only one that bounds the head of a request.
        http="h11",
        h11_max_incomplete_event_size=_LARGEST_HEAD,
        ws="none",
        lifespan="on",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        # A proxy on this machine names the client.
        forwarded_allow_ips=["127.0.0.1", "::1"],
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    return uvicorn.Server(config)


def listen(host: str, port: int) -> socket.socket:
    """Bind a host and a port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        message = (
            f"cannot listen at {host}, port {port}: {error.strerror or error}; choose another "
            "--port or --host"
        )
        raise NeardupError(message) from None


def address_of(listener: socket.socket) -> str:
    """Return the URL of a listening socket."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(service: Service, options: ServeOptions, announce: Callable[[str], object]) -> None:
    """Serve until SIGINT or SIGTERM."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    _allow_open_files()
    server = make_server(service, options.host)
    with listen(options.host, options.port) as listener:
        announce(address_of(listener))
        if threading.current_thread() is threading.main_thread():
            # uvicorn raises the signal once more after its end, which would end the process.
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, lambda *_: None)
        server.run([listener])


def _allow_open_files() -> None:
    """Raise the limit of open files for connections and indexes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * _MOST_CONNECTIONS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
