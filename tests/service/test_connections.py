"""Connections: places for those who sent a token and for those who did not, and broken requests."""

from __future__ import annotations

import contextlib
import json
import socket
from urllib.parse import urlsplit

import pytest

from neardup.service import service
from neardup.service.connection import Places
from tests.each import each_of
from tests.service.conftest import TOKEN
from tests.service.test_limits import raw
from tests.service.waiting import wait_for

WITH_TOKEN = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def narrow(start, token_file, monkeypatch):
    """Give a service of thirty places, three of them for strangers."""
    monkeypatch.setattr(service, "Places", lambda: Places(30))
    return start(token_file=token_file)


def connect(running) -> socket.socket:
    address = urlsplit(running.url)
    return socket.create_connection((address.hostname, address.port), timeout=20)


def is_closed(connection: socket.socket) -> bool:
    try:
        return connection.recv(1 << 16) == b""
    except ConnectionError:
        return True


def test_strangers__have_a_tenth(narrow):
    """Those that say nothing make room for others, the one that waits the longest first."""
    places = narrow.service.places
    assert (places.n_strangers_at_most, places.n_known_at_most) == (3, 27)
    with contextlib.ExitStack() as stack:
        silent = []
        for number in range(20):
            silent.append(stack.enter_context(connect(narrow)))
            wait_for(lambda n=number: places.n_closed == max(n - 2, 0))
        assert places.n_strangers == 3
        for _ in range(3):
            with narrow.client() as client:
                assert client.get("/health").status_code == 200
                assert client.get("/v1", headers=WITH_TOKEN).status_code == 200
                wait_for(lambda: places.n_known == 1)
        assert all(is_closed(each) for each in silent[:18])


HEADS = [
    (b"nonsense\r\n\r\n", 400),
    (b"GET / HTTP/9.9\r\n\r\n", 400),
    (b"\0" * 100, 400),
    (b"GET /\xff HTTP/1.1\r\n\r\n", 400),
    (b"POST /v1 HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
    (b"GET / HTTP/1.1\r\nA: " + b"a" * 70_000 + b"\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\n" + b"A: aaaa\r\n" * 40_000, 431),
    (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", 431),
    (b"GET / HTTP/1.1\r\nA: " + b"a" * 300_000, 431),
    (b"POST /v1 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;" + b"e" * 300_000, 431),
]


@pytest.mark.slow
@each_of(("sent", "status"), HEADS)
def test_requests__that_cannot_be_read(fake, sent, status):
    """They get a problem as all others do, and are in the log and in the metrics."""
    counted = f'neardup_requests_total{{method="-",route="-",status="{status}"}}'
    before = fake.get("/metrics").text.partition(counted)[2].split("\n")[0] or "0"
    answers = raw(fake, sent).split(b"HTTP/1.1 ")
    head, _, body = answers[-1].partition(b"\r\n\r\n")
    assert head.startswith(b"%d " % status)
    for header in (b"content-type: application/problem+json", b"connection: close"):
        assert header in head
    assert b"x-content-type-options: nosniff" in head
    problem = json.loads(body)
    assert (problem["status"], set(problem)) == (status, {"title", "status", "detail", "error"})
    after = fake.get("/metrics").text.partition(counted)[2].split("\n")[0]
    assert float(after) == float(before) + 1
    wait_for(lambda: f'"route": "-", "status": {status}' in "".join(fake.lines))
