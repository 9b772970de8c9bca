"""The service run by uvicorn, until somebody asks it to end: its routes, its gate, its errors."""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, cast

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.errors import InvalidParameterError, NeardupError, WriteError
from neardup.index.store import kind_of
from neardup.jobs.index.documents import DocumentIndex
from neardup.jobs.index.passages import PassageIndex
from neardup.options.service import ServeOptions
from neardup.runs.threads import count_workers
from neardup.service.bodies import problem_answer
from neardup.service.connection import N_PLACES, Connection
from neardup.service.gate import (
    REQUEST_ID,
    ROUTE,
    Access,
    Gate,
)
from neardup.service.messages import Query
from neardup.service.operations import describe, make_routes
from neardup.service.pages import make_page_routes
from neardup.service.problems import Problem, problem_of
from neardup.service.processes import Processes, silence_hints
from neardup.service.records import METRICS_TYPE, Log
from neardup.service.reference import reference_answer
from neardup.service.served import Served, ServedDocuments, ServedPassages
from neardup.service.service import Limits, Service
from neardup.service.tokens import GRANT, Tokens


def make_app(service: Service, access: Access) -> Gate:
    """Make the application of a service; it starts and stops the service."""

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        service.watch("tokens", access.tokens.refresh)
        yield
        await service.stop()

    async def openapi(request: Request) -> Response:
        request.scope[ROUTE] = "/openapi.json"
        return Response(describe(), media_type="application/json")

    async def reference(request: Request) -> Response:
        request.scope[ROUTE] = "/reference"
        return await service.transfers.run(reference_answer, service.deadline())

    async def metrics(request: Request) -> Response:
        request.scope[ROUTE] = "/metrics"
        GRANT.get().check_everything()
        text = await service.lookups.run(service.metrics.to_text, service.deadline())
        return Response(text, headers={"content-type": METRICS_TYPE})

    routes = [
        *make_routes(service),
        *make_page_routes(service, access.tokens),
        Route("/openapi.json", openapi),
        Route("/reference", reference),
        Route("/metrics", metrics),
    ]
    app = Starlette(
        routes=routes,
        lifespan=life,
        exception_handlers={
            Problem: _answer_problem,
            NeardupError: partial(_answer_error, service.log),
            HTTPException: _answer_http,
            UnicodeEncodeError: _answer_surrogate,
            Exception: partial(_answer_defect, service.log),
        },
    )
    app.router.redirect_slashes = False
    # Outside of all else, so that answers about defects go through it too.
    return Gate(
        *(app,),
        access=access,
        places=service.places,
        log=service.log,
        metrics=service.metrics,
        seconds=service.limits.seconds,
    )


async def _answer_problem(request: Request, error: Exception) -> Response:
    return problem_answer(request.scope, cast("Problem", error))


async def _answer_error(log: Log, request: Request, error: Exception) -> Response:
    problem = problem_of(cast("NeardupError", error))
    if problem.status >= 500:
        # Errors of files; none of these has a text of a request in it.
        log.failure("error", error, **_which(request), detail=str(error))
    return problem_answer(request.scope, problem)


async def _answer_http(request: Request, error: Exception) -> Response:
    found = cast("HTTPException", error)
    details = {
        404: "there is nothing here; /openapi.json lists what there is",
        405: "this address does not take this method; /openapi.json says which it takes",
    }
    detail = details.get(found.status_code, found.detail)
    return problem_answer(
        request.scope, Problem(found.status_code, detail, headers=found.headers or {})
    )


async def _answer_surrogate(request: Request, _: Exception) -> Response:
    message = "a text or id is not valid Unicode: it has half of a surrogate pair"
    return problem_answer(request.scope, Problem(422, message, "InvalidInputError"))


async def _answer_defect(log: Log, request: Request, error: Exception) -> Response:
    """Answer for an error that should not have been; the log says where it arose."""
    log.failure("defect", error, **_which(request))
    message = "the service failed; its log says where"
    return problem_answer(request.scope, Problem(500, message))


def _which(request: Request) -> dict[str, Any]:
    return {"route": request.scope.get(ROUTE), "id": request.scope.get(REQUEST_ID)}


# The options of ``neardup serve``, checked, and the indexes that it is to open.


def limits_of(options: ServeOptions) -> Limits:
    """Return how much a request may ask for."""
    return Limits(options.max_body or Limits().body_bytes, seconds=options.max_seconds)


def access_of(options: ServeOptions) -> Access:
    """Read the tokens, and return who may ask."""
    path = options.token_file
    tokens = Tokens() if path is None else Tokens.of_file(path)
    return Access(tokens, options.host, options.allowed_origin or ())


def open_indexes(folders: Iterable[str], options: ServeOptions) -> list[Served]:
    """Open indexes, each under the name before ``=``, else under that of its folder."""
    found: dict[str, tuple[Path, Served]] = {}
    for argument in folders:
        name, folder = _split(argument)
        if name in found:
            message = (
                f"{found[name][0]} and {folder} would both be served as {name!r}; name one of "
                f"them: {name}-2={folder}"
            )
            raise InvalidParameterError(message)
        found[name] = (folder, _open(name, folder, options))
    return [served for _, served in found.values()]


def _split(argument: str) -> tuple[str, Path]:
    """Return the name and the folder that an argument of the command line says."""
    name, equals, folder = argument.partition("=")
    if equals and name and "/" not in name and not Path(argument).exists():
        return name, Path(folder)
    return Path(argument).resolve().name or "index", Path(argument)


def _open(name: str, folder: Path, options: ServeOptions) -> Served:
    # Waiting would keep a thread that others need, and it is the service that refreshes.
    tokenizer, is_writable = options.tokenizer, options.writable
    if kind_of(folder) == "passages":
        passages = PassageIndex.open(folder, tokenizer=tokenizer, timeout=0, refresh="manual")
        return ServedPassages(name, passages, is_writable=is_writable)
    documents = DocumentIndex.open(folder, tokenizer=tokenizer, timeout=0, refresh="manual")
    return ServedDocuments(name, documents, is_writable=is_writable)


# A thread that computes in Python gives way to those that answer others after so many seconds.
_SWITCH_SECONDS = 0.0005
_KEEP_ALIVE_SECONDS = 75
# Requests under way have so long to end when the service is asked to end.
STOP_SECONDS = 10
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Server(uvicorn.Server):
    """A server that ends well when a signal asks it to, and says by ``signal`` which one it was.

    uvicorn's own raises the signal again once all is done, which would end the process.
    """

    signal: int | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Let signals end the server; a second interruption waits for nothing."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: object) -> None:
        """Begin to end."""
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit, self.signal = True, sig


def make_service(indexes: Sequence[Served], options: ServeOptions) -> Service:
    """Make the service of some indexes."""
    silence_hints()
    log = Log(None if options.quiet else sys.stderr.write)
    service = Service(
        indexes,
        limits_of(options),
        workers=count_workers(options.workers),
        refresh_seconds=options.refresh,
        log=log,
        warm_up=lambda: _warm_up(service.processes, indexes),
    )
    return service


def make_server(service: Service, options: ServeOptions) -> Server:
    """Make the server, which does not listen yet."""
    config = uvicorn.Config(
        make_app(service, access_of(options)),
        loop="auto",
        http=Connection,
        ws="none",
        lifespan="on",
        # Ours are lines of JSON, without texts.
        log_config=None,
        log_level="critical",
        access_log=False,
        # A proxy on this machine names the client, and whether it speaks TLS.
        forwarded_allow_ips=["127.0.0.1", "::1"],
        server_header=False,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
    )
    return Server(config)


def listen(options: ServeOptions) -> socket.socket:
    """Take the address and the port."""
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    try:
        return socket.create_server(
            (options.host, options.port), family=family, backlog=1024, reuse_port=False
        )
    except OSError as error:
        message = (
            f"cannot listen at {options.host}, port {options.port}: {error.strerror or error}; "
            "choose another --port or --host"
        )
        raise NeardupError(message) from None


def address_of(listener: socket.socket) -> str:
    """Return the URL of the service."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def run(
    indexes: Sequence[Served],
    options: ServeOptions,
    announce: Callable[[str], object],
) -> int | None:
    """Serve until a signal comes; return its number.

    ``announce`` is called with the URL when the service listens.
    """
    sys.setswitchinterval(_SWITCH_SECONDS)
    _allow_files()
    service = make_service(indexes, options)
    server = make_server(service, options)
    with listen(options) as listener:
        announce(address_of(listener))
        server.run([listener])
    if service.unsaved:
        message = (
            f"the last insertions into {', '.join(service.unsaved)} could not be made durable; the "
            "log says why, and the index is as after the last commit"
        )
        raise WriteError(message)
    return server.signal


def _allow_files() -> None:
    """Let the process have files open beside all connections, as far as the system allows it."""
    if sys.platform == "win32":
        return
    import resource

    soft, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * N_PLACES if most == resource.RLIM_INFINITY else min(4 * N_PLACES, most)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _warm_up(processes: Processes, indexes: Sequence[Served]) -> None:
    """Load what requests call, so that the first one is as fast as the others."""
    processes.start()
    for served in indexes:
        # Passages are looked for in processes of their own, which have all loaded.
        if served.kind == "documents":
            served.query(Query(text="one two three four five six"))
