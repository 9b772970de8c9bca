"""Bodies, times and queues at their limits: stated answers, and nobody else is kept waiting."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest

from neardup.service.service import Limits
from tests.service.conftest import make_fake
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


def head(running, length: int | str, *more: str) -> bytes:
    lines = [
        f"POST {QUERY} HTTP/1.1",
        f"Host: {urlsplit(running.url).netloc}",
        "Content-Type: application/json",
        f"Content-Length: {length}" if length != "chunked" else "Transfer-Encoding: chunked",
        *more,
    ]
    return "\r\n".join([*lines, "", ""]).encode()


@pytest.mark.parametrize(
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


def test_body__declared_too_large_is_not_read(small):
    received = raw(small, head(small, 10**12))
    assert received.startswith(b"HTTP/1.1 413 ")


def test_body__too_large_in_chunks(small):
    chunk = b"1000\r\n" + b" " * 0x1000 + b"\r\n"
    received = raw(small, head(small, "chunked"), *[chunk] * 5)
    assert received.startswith(b"HTTP/1.1 413 ")


def test_body__slow(small):
    received = raw(small, head(small, 20), b'{"te', seconds=0.1)
    assert received.startswith(b"HTTP/1.1 408 ")


def test_body__ends_early(small):
    received = raw(small, head(small, 20, "Connection: close"), b'{"te')
    # The answer comes, or the connection is gone; the service lives on.
    assert received[:13] in (b"", b"HTTP/1.1 408 ", b"HTTP/1.1 400 ")
    assert small.get("/health").status_code == 200


def test_head__slow(start, monkeypatch):
    monkeypatch.setattr("neardup.service.connection.HEAD_SECONDS", 0.3)
    running = start()
    begin = time.monotonic()
    assert raw(running, b"GET /health HTTP/1.1\r\nHost:") == b""
    assert raw(running, b"") == b""
    assert time.monotonic() - begin < 5
    # A connection that is kept open between requests is not meant.
    with running.client() as client:
        for _ in range(2):
            assert client.get("/health").status_code == 200
            time.sleep(0.5)


def test_head__nonsense(fake):
    for sent in (b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\0" * 100):
        assert raw(fake, sent)[:13] in (b"", b"HTTP/1.1 400 ")
    assert fake.get("/health").status_code == 200


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
    assert "--max-texts" in answer.json()["detail"]


def test_compare__too_long(small):
    answer = small.post("/v1/compare", {"a": "x" * 501, "b": "y"})
    assert (answer.status_code, answer.json()["error"]) == (413, "InvalidInputError")


def test_time__work_is_given_up(small):
    begin = time.monotonic()
    answer = small.post(QUERY, SLOW)
    assert answer.status_code == 504
    assert "--max-seconds" in answer.json()["detail"]
    assert 0.9 < time.monotonic() - begin < 5


def test_time__a_batch_ends_there(start):
    """The thread itself stops, so that the lane is free again."""
    running = start(limits=Limits(seconds=0.5))
    assert running.post(SEARCH, {"queries": ["heavy"] * 900}).status_code == 504
    wait_for(lambda: running.service.heavy.n_running == 0, 2)


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


def test_queue__who_waits_too_long_is_dropped(small):
    """Work that nobody waits for any more is not begun."""
    index = small.service.indexes["docs"].index
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(small.post, [QUERY] * 4, [SLOW] * 4))
    assert {answer.status_code for answer in answers} == {504}
    n_begun = 0
    while index.begun.acquire(blocking=False):
        n_begun += 1
    assert n_begun == small.service.lookups.n_threads
    index.gate.set()
    wait_for(lambda: small.service.lookups.n_running == 0)
    assert not index.begun.acquire(blocking=False)


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


def test_writes__one_at_a_time(start):
    running = start()
    with ThreadPoolExecutor(8) as pool:
        bodies = [{"id": i, "text": f"number {i}"} for i in range(40)]
        answers = list(pool.map(running.post, ["/v1/indexes/docs/insert"] * 40, bodies))
    assert {answer.status_code for answer in answers} == {200}
    assert len(running.service.indexes["docs"]) == 44


def test_documents__long_texts_make_short_pages(start):
    served = make_fake()
    for number in range(5):
        served.index.insert(number, "x" * 2000)
    running = start([served], limits=Limits(body_bytes=20_000))
    page = running.get("/v1/indexes/docs/documents", start=4).json()
    assert ([row["id"] for row in page["documents"]], page["next"]) == ([0, 1], 6)
    page = running.get("/v1/indexes/docs/documents", start=8).json()
    assert (len(page["documents"]), page["next"]) == (1, None)


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


def test_refresh__from_time_to_time(start):
    running = start(refresh=0.1)
    index = running.service.indexes["docs"].index
    wait_for(lambda: index.n_refreshes >= 3)


def test_commit__what_nobody_adds_to(start, monkeypatch):
    monkeypatch.setattr("neardup.service.service._IDLE_SECONDS", 0.2)
    running = start(refresh=0.1)
    index = running.service.indexes["docs"].index
    running.post("/v1/indexes/docs/insert", {"id": "x", "text": "y"})
    wait_for(lambda: index.n_commits == 1)
    time.sleep(0.5)
    assert index.n_commits == 1


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
