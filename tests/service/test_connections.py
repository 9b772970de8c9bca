"""Connections: places for those who sent a token and for those who did not, and broken requests."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from neardup.service import connection as connections
from neardup.service import service
from neardup.service.connection import Places
from tests.each import each_of
from tests.service.conftest import TOKEN
from tests.service.test_limits import QUERY, head, raw
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


def ask(running, connection: socket.socket, path: str = "/v1", *, with_token: bool = True) -> bytes:
    """Send a request over a connection; return the whole answer, or what came of it."""
    token = f"Authorization: Bearer {TOKEN}\r\n" if with_token else ""
    host = urlsplit(running.url).netloc
    connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{token}\r\n".encode())
    answer = b""
    # Head and page may come one after the other.
    while more := connection.recv(1 << 16):
        answer += more
        head, end, body = answer.partition(b"\r\n\r\n")
        size = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        if end and size and len(body) >= int(size[1]):
            break
    return answer


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


def test_strangers__that_begin_something_go_too(narrow):
    """Half a head, or a form that does not come, holds no place."""
    head = b"POST /sign-in HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 40\r\n"
    kind = b"Content-Type: application/x-www-form-urlencoded\r\n\r\ntok"
    with contextlib.ExitStack() as stack:
        for number in range(10):
            started = stack.enter_context(connect(narrow))
            started.sendall(head + kind if number % 2 else head)
        with narrow.client() as client:
            assert client.get("/health").status_code == 200
            assert client.get("/v1", headers=WITH_TOKEN).status_code == 200
        assert narrow.service.places.n_strangers <= 3


def test_strangers__become_known_by_a_token(narrow):
    """A wrong one, or a page that anybody may see, is not enough."""
    places = narrow.service.places
    with connect(narrow) as connection:
        for path in ("/health", "/ready", "/page.css", "/sign-in", "/v1"):
            assert ask(narrow, connection, path, with_token=False).startswith(b"HTTP/1.1 ")
            assert (places.n_strangers, places.n_known) == (1, 0)
        assert b" 200 " in ask(narrow, connection)
        assert (places.n_strangers, places.n_known) == (0, 1)
        assert b" 401 " in ask(narrow, connection, with_token=False)
        assert (places.n_strangers, places.n_known) == (0, 1)
    wait_for(lambda: places.n_known == 0)


def test_open_service__whoever_asks_is_known(start):
    """Without a file of tokens there are none to be sent."""
    running = start()
    with running.client() as client:
        client.get("/health")
        assert (running.service.places.n_strangers, running.service.places.n_known) == (1, 0)
        client.get("/v1")
        assert (running.service.places.n_strangers, running.service.places.n_known) == (0, 1)


def test_strangers__are_kept_for_seconds(start, token_file, monkeypatch):
    monkeypatch.setattr(connections, "STRANGER_SECONDS", 0.3)
    running = start(token_file=token_file)
    with connect(running) as stranger, connect(running) as known:
        ask(running, stranger, "/health", with_token=False)
        ask(running, known)
        assert is_closed(stranger)
        time.sleep(0.5)
        assert b" 200 " in ask(running, known, "/health", with_token=False)


def test_known__silent_ones_make_room(narrow):
    places = narrow.service.places
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(27):
            held.append(stack.enter_context(connect(narrow)))
            assert b" 200 " in ask(narrow, held[-1])
        # Now the second is the one that was silent for the longest time.
        ask(narrow, held[0])
        assert b" 200 " in ask(narrow, stack.enter_context(connect(narrow)))
        assert (places.n_known, places.n_closed) == (27, 1)
        assert is_closed(held[1])
        assert b" 200 " in ask(narrow, held[0])


def test_known__all_at_work(narrow):
    """Then one more is told so, as every other problem is told, and health is answered."""
    index = narrow.service.indexes["docs"].index
    lookups = narrow.service.lookups
    slow = head(narrow, 15, f"Authorization: Bearer {TOKEN}") + b'{"text":"slow"}'
    with contextlib.ExitStack() as stack:
        # One after the other: beyond three at once these would make room for each other.
        asked = []
        for _ in range(27):
            asked.append(stack.enter_context(connect(narrow)))
            assert b" 200 " in ask(narrow, asked[-1])
        for each in asked:
            each.sendall(slow)
        wait_for(lambda: lookups.n_running + lookups.n_waiting == 27)
        answer = httpx.get(f"{narrow.url}/v1", headers=WITH_TOKEN)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert answer.headers["content-type"] == "application/problem+json"
        assert "all connections" in answer.json()["detail"]
        for path in ("/health", "/ready", "/sign-in"):
            assert httpx.get(narrow.url + path).status_code == 200
        index.gate.set()
        assert all(b" 200 " in each.recv(1 << 16) for each in asked)
    assert httpx.get(f"{narrow.url}/v1", headers=WITH_TOKEN).status_code == 200
    text = httpx.get(f"{narrow.url}/metrics", headers=WITH_TOKEN).text
    assert 'neardup_requests_total{method="GET",route="-",status="503"} 1.0' in text
    assert 'neardup_connections{of="known"}' in text
    assert "neardup_closed_connections 0.0" in text
    wait_for(lambda: '"status": 503' in "".join(narrow.lines))


def test_places__a_second_request_is_under_way():
    """One that was sent before the first is answered counts; the connection is not silent."""

    class Some:
        def abort(self):
            closed.append(self)

    closed: list[Some] = []
    places = Places(20)
    known = [Some() for _ in range(18)]
    for each in known:
        places.enter(each)
        places.recognise(each)
    for each in known[:2]:
        places.hear(each, is_silent=True)
    places.hear(known[0], is_silent=False)
    new = Some()
    places.enter(new)
    places.recognise(new)
    assert closed == [known[1]]


def test_pipeline__is_not_silent_until_its_end(narrow):
    index = narrow.service.indexes["docs"].index
    host = urlsplit(narrow.url).netloc
    body = b'{"text": "slow"}'
    head = (
        f"POST {QUERY} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    first = f"GET /v1 HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {TOKEN}\r\n\r\n"
    with connect(narrow) as connection:
        connection.sendall(first.encode() + head.encode() + body)
        assert index.begun.acquire(timeout=20)
        assert not narrow.service.places._silent
        index.gate.set()
        wait_for(lambda: narrow.service.places._silent)


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


@pytest.mark.slow
def test_heads__that_are_long_but_not_too_long(fake):
    headers = {f"x-{n}": "a" * 1000 for n in range(60)}
    assert httpx.get(f"{fake.url}/v1", headers=headers).status_code == 200
    # A body is as long as it is.
    content = b'{"text": "' + b"x" * 100_000 + b'"}'
    kind = {"content-type": "application/json"}
    for sent in (content, iter([content[i : i + 9] for i in range(0, len(content), 9)])):
        answer = httpx.post(fake.url + QUERY, content=sent, headers=kind, timeout=60)
        assert answer.status_code == 200


def test_connections__come_and_go(narrow):
    """Whatever happens to them, none is counted when all are gone."""

    def work(number: int) -> None:
        for turn in range(15):
            try:
                with connect(narrow) as connection:
                    if (turn + number) % 3:
                        ask(narrow, connection, with_token=turn % 2 == 0)
            except OSError:
                continue

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    places = narrow.service.places
    wait_for(lambda: places.n_strangers == places.n_known == len(places._silent) == 0)
