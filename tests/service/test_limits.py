"""Limits of requests: bodies, values, time and memory; the service answers others meanwhile."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import httpx
import pytest

import neardup
from neardup.runs.progress import raise_if_cancelled
from neardup.service import worker_processes
from tests.each import each_of
from tests.service.waiting import wait_for

QUERY = "/v1/indexes/docs/query"
JSON = {"content-type": "application/json"}


def connect(running) -> socket.socket:
    address = urlsplit(running.url)
    return socket.create_connection((address.hostname, address.port), timeout=60)


def begin(running, length: int, sent: bytes) -> socket.socket:
    """Send the beginning of a body."""
    connection = connect(running)
    head = f"POST {QUERY} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    connection.sendall(f"{head}Content-Length: {length}\r\n\r\n".encode() + sent)
    return connection


@each_of(
    ("body", "statuses"),
    [
        (b"", {400}),
        (b"{", {400}),
        (b'{"text": "\xff"}', {400, 422}),
        (b'{"text": "\\ud800"}', {400, 422}),
        (b"nonsense", {400}),
        (b"[" * 100_000, {400}),
        (b'{"a":' * 2_000_000, {400}),
        (b'{"text": "' + b'\\"' * 2_000_000, {400}),
        (b'{"text": "' + b"[" * 2_000_000 + b'"}', {200}),
        (b'{"ids": [' + b"1," * 1_100_000 + b"1]}", {413}),
    ],
    ids=str,
)
def test_json__broken_or_deep(shared, body, statuses):
    answer = httpx.post(shared.url + QUERY, content=body, headers=JSON, timeout=60)
    assert answer.status_code in statuses, answer.text[:300]
    if answer.status_code != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["error"] == "InvalidInputError"


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_body__of_5_mb_to_any_route(shared, method):
    body = b'{"text": "' + b"word " * 1_000_000 + b'"}'
    paths = ["/", "/v1", "/v1/indexes/docs", QUERY, "/v1/indexes/docs/document", "/metrics", "/no"]
    with shared.client() as client:
        for path in paths:
            answer = client.request(method, path, content=body, headers=JSON)
            assert answer.status_code < 500, (path, answer.text[:300])
    assert shared.get("/health").status_code == 200


def test_body__too_large(start):
    running = start(max_body=10_000)
    for body in (b" " * 10_001, iter([b" " * 6_000] * 4)):
        answer = httpx.post(running.url + QUERY, content=body, headers=JSON)
        assert answer.status_code == 413
        assert "--max-body" in answer.json()["detail"]


def test_body__slow(start):
    running = start(max_seconds=0.5)
    with begin(running, 20, b'{"te') as connection:
        assert connection.recv(1000).startswith(b"HTTP/1.1 408 ")


def test_bodies__60_unfinished(start):
    """They hold the budget of memory; more are refused, and small bodies are not."""
    running = start(max_body=1_000_000)
    part = b" " * 990_000
    with ThreadPoolExecutor(60) as pool:
        held = list(pool.map(lambda _: begin(running, 1_000_000, part), range(60)))
    wait_for(lambda: running.service.bodies._held > 12_000_000)
    assert running.service.bodies._held <= 16_000_000
    assert running.get("/health").status_code == 200
    assert running.post(QUERY, {"text": "a small text"}).status_code == 200
    statuses = set()
    for connection in held:
        connection.settimeout(0.05)
        try:
            statuses.add(connection.recv(1000)[:12])
        except TimeoutError:
            statuses.add(b"waits")
        connection.close()
    assert statuses == {b"HTTP/1.1 503", b"waits"}
    wait_for(lambda: running.service.bodies._held == 0)
    assert running.post(QUERY, {"text": "x" * 900_000}).status_code == 200


def test_connections__1000_silent(start):
    """The service lives, refuses with 503 beyond its limit, and answers when they are gone."""
    running = start()
    silent = [connect(running) for _ in range(1000)]
    wait_for(lambda: running.get("/health").status_code == 503)
    for connection in silent:
        connection.close()
    wait_for(lambda: running.get("/health").status_code == 200)


def test_head__is_bounded(shared):
    with connect(shared) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 200_000)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0." + "9" * 1_000_000, "1,000,002"),
        ("1e-999999999", "10^9"),
    ],
)
def test_numbers__as_texts_are_short(shared, value, message):
    bodies = {
        "/v1/compare": {"a": "one", "b": "two"},
        QUERY: {"text": "one"},
        "/v1/indexes/passages/search": {"queries": ["one"]},
        "/v1/indexes/passages/align": {"documents": ["one"]},
    }
    for path, body in bodies.items():
        answer = shared.post(path, body | {"threshold": value})
        assert (answer.status_code, answer.json()["error"]) == (422, "InvalidParameterError")
        assert answer.json()["detail"].startswith("threshold ")
        assert message in answer.json()["detail"]


def test_time__a_look_up_is_ended(start, monkeypatch):
    running = start(max_seconds=0.3)
    ended = threading.Event()

    def query(*_: object, **__: object) -> None:
        try:
            while True:
                raise_if_cancelled()
                time.sleep(0.01)
        finally:
            ended.set()

    monkeypatch.setattr(running.service.indexes["docs"].index, "query", query)
    answer = running.post(QUERY, {"text": "endless"})
    assert answer.status_code == 504
    assert "--max-seconds" in answer.json()["detail"]
    assert ended.wait(5)


def test_time__a_change_is_waited_for(start, monkeypatch):
    """A change that has begun is done as a whole; one that waits for it gives up in time."""
    running = start(max_seconds=0.3)
    index = running.service.indexes["docs"].index
    insert, begun = index.insert, threading.Event()

    def slow(*arguments: object, **options: object) -> None:
        begun.set()
        time.sleep(1)
        insert(*arguments, **options)

    monkeypatch.setattr(index, "insert", slow)
    with ThreadPoolExecutor(1) as pool:
        path = "/v1/indexes/docs/insert"
        first = pool.submit(running.post, path, {"id": "new", "text": "some new text"})
        begun.wait()
        assert running.post(path, {"id": "newer", "text": "other"}).status_code == 504
        assert first.result().status_code == 200
    assert running.get("/v1/indexes/docs/document", id="new").status_code == 200
    assert running.get("/v1/indexes/docs/document", id="newer").status_code == 404


REPETITIVE = "a b " * 125_000


def memory_of(pid: int) -> int:
    """Return the resident bytes of a process, 0 if it has just ended."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return sum(int(line.split()[1]) for line in status if line.startswith("VmRSS")) * 1024
    except OSError:
        return 0


def children_of(pid: int) -> list[int]:
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat") as stat:
                if int(stat.read().rpartition(")")[2].split()[1]) == pid:
                    found.append(int(name))
        except (OSError, ValueError):
            continue
    return found


@pytest.mark.slow
@pytest.mark.parametrize("what", ["compare", "search", "align"])
def test_time__repetitive_texts(serve, folder, what):
    """A kernel is busy for minutes: others are answered, and at the deadline it is killed."""
    index = neardup.PassageIndex.create(folder / "p", min_tokens=20, num_perm=16)
    index.add([{"id": 1, "text": REPETITIVE}])
    # The limit holds for the start of a new worker, too, which takes seconds beside other tests.
    process = serve("p", "--max-seconds", "12", "--workers", "2")
    path, body = {
        "compare": ("/v1/compare", {"a": REPETITIVE, "b": REPETITIVE + "z"}),
        "search": ("/v1/indexes/p/search", {"queries": ["a b " * 40_000]}),
        "align": ("/v1/indexes/p/align", {"documents": [REPETITIVE]}),
    }[what]
    slowest = most = 0.0
    with ThreadPoolExecutor(2) as pool:
        heavy = [pool.submit(httpx.post, process.url + path, json=body, timeout=60) for _ in "ab"]
        while not all(each.done() for each in heavy):
            begun = time.monotonic()
            assert httpx.get(f"{process.url}/health", timeout=60).status_code == 200
            slowest = max(slowest, time.monotonic() - begun)
            pids = [process.process.pid, *children_of(process.process.pid)]
            most = max(most, sum(map(memory_of, pids)))
            time.sleep(0.05)
    assert {each.result().status_code for each in heavy} <= {413, 504}
    assert (slowest < 2, most < 1e9) == (True, True), (slowest, most)
    short = {"a": "the cat", "b": "a cat"}
    answer = httpx.post(f"{process.url}/v1/compare", json=short, timeout=60)
    assert answer.status_code == 200


def take(n_bytes: int) -> bytes:
    return str(len(bytearray(n_bytes))).encode()


def test_memory__of_an_operation_is_limited(start, monkeypatch):
    running = start()
    call = running.service.answer.__globals__["run_in_process"]

    async def greedy(work, *_, limiter):
        return await call(take, 700 << 20, limiter=limiter)

    monkeypatch.setattr("neardup.service.application.run_in_process", greedy)
    answer = running.post("/v1/compare", {"a": "x", "b": "y"})
    assert (answer.status_code, answer.json()["error"]) == (413, "InvalidInputError")
    assert f"{worker_processes.MEMORY_BYTES >> 20} MB" in answer.json()["detail"]
    monkeypatch.undo()
    assert running.post("/v1/compare", {"a": "x", "b": "y"}).status_code == 200


@pytest.mark.kills
def test_processes__end_with_a_service_that_is_killed(serve):
    process = serve("--workers", "2")
    pids = children_of(process.process.pid)
    assert pids
    process.process.kill()
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}/status") for pid in pids), 60)


def test_log__has_no_texts(start):
    running = start()
    running.post(QUERY, {"text": "a secret text"})
    running.get("/v1/indexes/docs/document", id="secret")
    running.get("/secret")
    wait_for(lambda: len(running.events("request")) == 3)
    lines = running.events("request")
    assert [(line["route"], line["status"]) for line in lines] == [
        ("/v1/indexes/{index}/query", 200),
        ("/v1/indexes/{index}/document", 404),
        ("-", 404),
    ]
    assert "secret" not in json.dumps(running.lines)
