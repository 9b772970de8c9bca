"""Bodies, times and queues at their limits: stated answers, and nobody else is kept waiting."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from neardup.service import bodies
from neardup.service.service import Limits
from tests.each import each_of
from tests.service.waiting import wait_for

QUERY = "/v1/indexes/docs/query"
SEARCH = "/v1/indexes/docs/search"
SLOW = {"text": "slow"}


@pytest.fixture
def small(start):
    """Give a service with little room: one look-up at a time, two waiting."""
    running = start(limits=Limits(10_000, 5, 1.0, 2, compared_characters=500))
    index = running.service.indexes["docs"].index
    yield running
    index.gate.set()


def raw(running, *parts: bytes, seconds: float = 0.0) -> bytes:
    """Send bytes, with a pause before each but the first; return what comes until the end."""
    address = urlsplit(running.url)
    with socket.create_connection((address.hostname, address.port), timeout=15) as connection:
        received = b""
        try:
            for number, part in enumerate(parts):
                time.sleep(seconds if number else 0)
                connection.sendall(part)
            while chunk := connection.recv(1 << 16):
                received += chunk
        except ConnectionError:
            pass
        return received


def head(running, length: int | str, *more: str, path: str = QUERY) -> bytes:
    lines = [
        f"POST {path} HTTP/1.1",
        f"Host: {urlsplit(running.url).netloc}",
        "Content-Type: application/json",
        f"Content-Length: {length}" if length != "chunked" else "Transfer-Encoding: chunked",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


@each_of(
    "body",
    [b"", b"{", b"[" * 100_000, b'{"text": "\xff"}', b'{"text": "\\ud800"}', b"nonsense", b"\0"],
)
def test_json__broken(fake, body):
    with fake.client() as client:
        answer = client.post(QUERY, content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422)
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["status"] == answer.status_code
    assert problem["error"] == "InvalidInputError"


def test_body__too_large(small):
    answer = small.post(QUERY, {"text": "x" * 10_000})
    assert answer.status_code == 413
    assert "--max-body" in answer.json()["detail"]


def test_body__too_large_in_chunks(small, monkeypatch):
    monkeypatch.setattr(bodies, "_DRAIN_SECONDS", 0.2)
    chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
    received = raw(small, head(small, "chunked"), *[chunk] * 5)
    assert received.startswith(b"HTTP/1.1 413 ")


def test_body__slow(small):
    received = raw(small, head(small, 20), b'{"te', seconds=0.1)
    assert received.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (SEARCH, {"queries": ["a"] * 6}),
        ("/v1/indexes/docs/add", {"documents": [{"id": str(i), "text": "a"} for i in range(6)]}),
        ("/v1/indexes/docs/remove", {"ids": list("abcdef")}),
    ],
)
def test_texts__too_many(small, path, body):
    answer = small.post(path, body)
    assert answer.status_code == 413
    assert "send fewer at a time" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0." + "9" * 1_000_000, "threshold may have 40 characters at most, got 1,000,002"),
        ("1e-999999999", "threshold may have a denominator of 10^9 at most"),
    ],
)
def test_numbers__as_texts_are_short(fake, value, message):
    answer = fake.post("/v1/compare", {"a": "one", "b": "two", "threshold": value})
    assert (answer.status_code, answer.json()["error"]) == (422, "InvalidParameterError")
    assert message in answer.json()["detail"]


def test_compare__too_long(small):
    answer = small.post("/v1/compare", {"a": "x" * 501, "b": "y"})
    assert (answer.status_code, answer.json()["error"]) == (413, "InvalidInputError")


def test_time__work_is_given_up(small):
    begin = time.monotonic()
    answer = small.post(QUERY, SLOW)
    assert answer.status_code == 504
    assert "--max-seconds" in answer.json()["detail"]
    assert 0.9 < time.monotonic() - begin < 5


def test_time__a_look_up_asks_whether_to_go_on(start):
    running = start(limits=Limits(seconds=0.3))
    assert running.post(QUERY, {"text": "endless"}).status_code == 504
    wait_for(lambda: running.service.lookups.n_running == 0, 2)
    # A change that has begun is waited for, and done as a whole.
    new = {"id": "new", "text": "long"}
    assert running.post("/v1/indexes/docs/insert", new).status_code == 200
    assert running.get("/v1/indexes/docs/document", id="new").status_code == 200


def test_queue__full(small):
    """Who finds no room is told so at once, and when to come again."""
    index = small.service.indexes["docs"].index
    lane = small.service.lookups
    n_inside = lane.n_threads + lane.max_waiting
    with ThreadPoolExecutor(n_inside) as pool:
        inside = [pool.submit(small.post, QUERY, SLOW) for _ in range(n_inside)]
        wait_for(lambda: lane.n_waiting == lane.max_waiting)
        refused = small.post(QUERY, SLOW)
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "1")
        index.gate.set()
        statuses = [answer.result().status_code for answer in inside]
    assert statuses == [200] * n_inside
    assert small.post(QUERY, SLOW).status_code == 200


def test_lanes__heavy_work_does_not_starve_look_ups(start):
    running = start(limits=Limits(seconds=20))
    heavy = {"queries": ["heavy"] * 60}
    with ThreadPoolExecutor(3) as pool, running.client() as client:
        batches = [pool.submit(running.post, SEARCH, heavy) for _ in range(3)]
        wait_for(lambda: running.service.heavy.n_running)
        for _ in range(30):
            assert client.post(QUERY, json={"text": "the cat"}).status_code == 200
        # They were all answered before the batches.
        assert running.service.heavy.n_running
        assert not all(batch.done() for batch in batches)
        assert {batch.result().status_code for batch in batches} == {200}


def test_log__a_line_for_each_request(start):
    running = start()
    running.post(QUERY, {"text": "a secret text"})
    running.get("/v1/indexes/docs/document", id="cat")
    running.get("/secret")
    wait_for(
        lambda: (
            sum("request" in line for line in running.lines)
            and sum(line.count("\n") for line in running.lines) >= 4
        )
    )
    lines = [json.loads(line) for line in "".join(running.lines).splitlines()]
    requests = [line for line in lines if line["event"] == "request"]
    assert [(line["route"], line["status"]) for line in requests] == [
        ("/v1/indexes/{index}/query", 200),
        ("/v1/indexes/{index}/document", 200),
        ("-", 404),
    ]
    assert requests[0]["bytes_in"] == len('{"text":"a secret text"}')
    assert "secret" not in "".join(running.lines)


def test_metrics(start):
    running = start()
    running.post(QUERY, {"text": "the cat"})
    text = running.get("/metrics").text
    assert (
        'neardup_requests_total{method="POST",route="/v1/indexes/{index}/query",status="200"} 1.0'
        in text
    )
    assert 'neardup_documents{index="docs"} 4.0' in text
    assert 'neardup_waiting{lane="heavy"} 0.0' in text


def test_defect__is_answered_and_noted_without_texts(start, monkeypatch):
    running = start()

    def fail(*_: object, **__: object) -> None:
        message = "the secret text"
        raise ZeroDivisionError(message)

    monkeypatch.setattr(running.service.indexes["docs"].index, "query", fail)
    answer = running.post(QUERY, {"text": "the secret text"})
    assert answer.status_code == 500
    assert "secret" not in answer.text
    assert "content-security-policy" in answer.headers
    wait_for(lambda: "ZeroDivisionError" in "".join(running.lines))
    assert "secret" not in "".join(running.lines)
