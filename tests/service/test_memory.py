"""The memory of all bodies together, and of all answers: what is too much is turned away, soon."""

from __future__ import annotations

import contextlib
import socket
from urllib.parse import urlsplit

from neardup.service import bodies
from neardup.service.bodies import LIGHT_BYTES
from neardup.service.service import Limits
from tests.service.conftest import make_fake
from tests.service.waiting import wait_for

QUERY = "/v1/indexes/docs/query"
# The budgets are 16 times as large.
LIMITS = Limits(body_bytes=1_000_000, seconds=10)


def begin(running, length: int, sent: int) -> socket.socket:
    """Send the beginning of a body, and leave it at that."""
    address = urlsplit(running.url)
    connection = socket.create_connection((address.hostname, address.port), timeout=30)
    head = (
        f"POST {QUERY} HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {length}\r\n\r\n"
    )
    connection.sendall(head.encode() + b'"' * sent)
    return connection


def wait_until_none_is_held(running):
    wait_for(lambda: running.service.bodies.n_held == running.service.answers.n_held == 0)


def test_bodies__together(start, monkeypatch):
    """Those that are not complete hold what there is; more are turned away, small ones are not."""
    monkeypatch.setattr(bodies, "_DRAIN_SECONDS", 0.1)
    running = start(limits=LIMITS)
    held = [begin(running, 900_000, 890_000) for _ in range(4)]
    wait_for(lambda: running.service.bodies.n_held > 4 * 3 * 800_000)
    more = [begin(running, 900_000, 890_000) for _ in range(4)]
    for connection in more:
        answer = connection.makefile("rb").read()
        assert answer.startswith(b"HTTP/1.1 503 ")
        for part in (b"retry-after: 1", b"application/problem+json", b"take all the memory"):
            assert part in answer
        connection.close()
    assert running.service.bodies.n_held <= running.service.bodies.n_bytes
    for text in ("the cat", "x" * (LIGHT_BYTES - 100)):
        assert running.post(QUERY, {"text": text}).status_code == 200
    assert running.get("/health").status_code == 200
    for connection in held:
        connection.close()
    wait_until_none_is_held(running)
    assert running.post(QUERY, {"text": "x" * 900_000}).status_code == 200
    wait_until_none_is_held(running)


def large(start, **options):
    """Start a service of a document that is longer than what the system buffers."""
    index = make_fake()
    index.index.insert("long", "word " * 2_000_000)
    return start([index], **options)


def test_answers__have_to_be_taken(start):
    """Whoever does not read is hung up on, and the memory is there for others."""
    running = large(start, limits=Limits(body_bytes=1_000_000, seconds=2))
    address = urlsplit(running.url)
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        path = "/v1/indexes/docs/document?id=long"
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        wait_for(lambda: running.service.answers.n_held)
        wait_until_none_is_held(running)
        # At once, though the other side still takes nothing.
        wait_for(lambda: not running.service.places.n_known)
        received = b""
        with contextlib.suppress(ConnectionError):
            while chunk := connection.recv(1 << 20):
                received += chunk
    assert received.startswith(b"HTTP/1.1 200 ")
    assert len(received) < 10_000_000
