"""The service under uvicorn, from the options of ``neardup serve`` to its end."""

from __future__ import annotations

import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence

import uvicorn

from neardup.errors import NeardupError
from neardup.options.groups import ServeOptions
from neardup.runs.runner import count_workers
from neardup.service.application import Service, check_address, make_app
from neardup.service.bodies import MAX_BODY
from neardup.service.monitoring import Log
from neardup.service.served_index import ServedIndex, open_all
from neardup.service.tokens import TokenFile

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
    tokens = None if options.token_file is None else TokenFile(options.token_file)
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
    """Make the server of a service, which does not listen yet."""
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
    """Serve until SIGINT or SIGTERM.

    Parameters
    ----------
    service
        Service to run.
    options
        Host and port.
    announce
        Receives the URL when the service listens.
    """
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
    """Raise the limit of open files, so that connections leave some to the indexes."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * _MOST_CONNECTIONS
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
