"""The memory of all bodies together, and of all answers: what is too much is turned away, soon."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlsplit

import httpx
import numpy as np
import pyarrow as pa
import pytest

from neardup.service import batches, bodies, gate, lanes, served
from neardup.service.bodies import LIGHT_BYTES
from neardup.service.messages import Search
from neardup.service.problems import Problem
from neardup.service.service import Limits
from tests.service.conftest import make_fake
from tests.service.waiting import wait_for

QUERY = "/v1/indexes/docs/query"
SEARCH = "/v1/indexes/docs/search"
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


def test_share__of_a_budget():
    budget = lanes.Budget("things", 100)
    scope: dict[str, object] = {}
    one, other = budget.share(scope), budget.share({})
    one.grow(60)
    one.grow(40)
    with pytest.raises(Problem, match="things take all the memory") as caught:
        other.grow(1)
    assert (caught.value.status, caught.value.headers["retry-after"]) == (503, "1")
    with pytest.raises(Problem, match="things may take 100 bytes") as caught:
        one.grow(1)
    assert caught.value.status == 413
    lanes.end_shares(scope)
    other.grow(100)
    # A thread may go on for a request that was answered; it takes nothing any more.
    with pytest.raises(Problem):
        one.grow(1)
    other.end()
    other.end()
    assert budget.n_held == 0


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


def test_bodies__of_many_values(start):
    """Numbers take more room than their digits."""
    running = start(limits=LIMITS)
    answer = running.post(QUERY, {"tokens": [1] * 300_000})
    assert (answer.status_code, answer.json()["error"]) == (413, "InvalidInputError")
    assert running.post(QUERY, {"tokens": [1] * 100_000}).status_code == 200
    wait_until_none_is_held(running)


def large(start, **options):
    """Start a service of a document that is longer than what the system buffers."""
    index = make_fake()
    index.index.insert("long", "word " * 2_000_000)
    return start([index], **options)


@pytest.mark.slow
def test_answers__together(start):
    """What nobody reads is held, and more of it is turned away."""
    running = large(start, limits=LIMITS)
    address = urlsplit(running.url)
    path = "/v1/indexes/docs/document?id=long"
    with socket.create_connection((address.hostname, address.port), timeout=30) as connection:
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: {address.netloc}\r\n\r\n".encode())
        wait_for(lambda: running.service.answers.n_held > 9_000_000)
        answer = httpx.get(running.url + path, timeout=30)
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
        assert "answers to requests take all the memory" in answer.json()["detail"]
        assert running.post(QUERY, {"text": "the cat"}).status_code == 200
    wait_until_none_is_held(running)
    assert len(httpx.get(running.url + path, timeout=30).content) > 10_000_000


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


@pytest.mark.slow
def test_answers__in_parts(start, monkeypatch):
    """However they are cut, they are whole."""
    running = start()
    path = "/v1/indexes/docs/documents"
    whole = running.get(path).content
    for n_bytes in (1, 7, len(whole) - 1, len(whole), len(whole) + 1):
        monkeypatch.setattr(gate, "_PART_BYTES", n_bytes)
        assert running.get(path).content == whole
        assert httpx.head(running.url + "/").status_code == 200
    wait_for(lambda: "".join(running.lines).count("/documents") == 6)
    lines = [json.loads(line) for line in "".join(running.lines).splitlines()]
    sizes = {line["bytes_out"] for line in lines if line.get("route", "").endswith("/documents")}
    assert sizes == {len(whole)}


class Many:
    """An index in which every text has many copies."""

    def __init__(self, n_copies: int) -> None:
        self.n_copies, self.calls = n_copies, []

    def search(self, queries, threshold=None, *, id_column, workers, progress, **_):
        self.calls.append(len(queries))
        ids = np.repeat([row["id"] for row in queries], self.n_copies).astype(np.int64)
        copies = np.tile(np.arange(self.n_copies), len(queries))
        table = pa.table({"query_id": ids, "doc_id": copies, "similarity": np.ones(len(ids))})
        summary = {"queries": len(queries), "matches": len(ids), "threshold": 0.5, "seconds": 0.5}

        class Answer:
            pass

        answer = Answer()
        answer.table, answer.summary = table, summary
        return answer

    @contextlib.contextmanager
    def _shared(self):
        """Show an open index in which no document has gone: cursors are made of it."""
        yield SimpleNamespace(
            documents_of_ids=lambda ids: np.array(ids.to_pylist(), np.int64),
            cursor_at=lambda *place, asked: json.dumps([*place, len(asked)]),
        )

    def __len__(self) -> int:
        return self.n_copies


@pytest.mark.parametrize("limit", [1, 700, 100_000])
def test_batch__of_copies_is_looked_up_in_parts(monkeypatch, limit):
    """The first rows are returned and all are counted, without all of them in memory."""
    monkeypatch.setattr(batches, "_ROWS_AT_ONCE", 1000)
    index = Many(120)
    docs = served.ServedDocuments("docs", index, is_writable=False)
    budget = lanes.Budget("answers", 10**9)
    share = budget.share({})
    texts = [f"text {n}" for n in range(50)]
    found = docs.search(Search(queries=texts, limit=limit), served.Deadline(30), share)
    assert sum(index.calls) == 50
    assert max(index.calls) * 120 <= 1000
    assert found.n_rows == found.summary["matches"] == 6000
    assert (found.summary["queries"], found.summary["threshold"]) == (50, 0.5)
    expected = [(query, copy) for query in range(50) for copy in range(120)][:limit]
    assert [(row.query_id, row.doc_id) for row in found.documents] == expected
    assert budget.n_held >= 4 * 24 * len(expected)


def test_batch__no_text_is_as_one_call():
    index = Many(3)
    docs = served.ServedDocuments("docs", index, is_writable=False)
    share = lanes.Budget("answers", 10**9).share({})
    found = docs.search(Search(queries=[]), served.Deadline(30), share)
    assert (index.calls, found.n_rows, found.summary["queries"]) == ([0], 0, 0)


def test_batch__counts_while_it_is_made(start):
    """One that finds no memory for its rows ends there, and not when it is written."""
    index = Many(20_000)
    running = start([served.ServedDocuments("docs", index, is_writable=False)], limits=LIMITS)
    body = {"queries": ["a"] * 900, "limit": 100_000}
    assert running.post(SEARCH, {**body, "limit": 10}).status_code == 200
    n_calls = len(index.calls)
    running.service.answers.move(running.service.answers.n_bytes - 1_000_000)
    answer = running.post(SEARCH, body)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert len(index.calls) < 2 * n_calls


def test_passages__take_their_share():
    """They are found in another process, and counted when they come from there."""
    index = SimpleNamespace(folder=Path("idx"), _handle=SimpleNamespace(tokenizer=None))
    passages = served.ServedPassages("passages", index, is_writable=False)
    rows = batches.Rows([], 500, 3, {}, None)
    passages.processes = SimpleNamespace(run=lambda work, deadline: rows)
    budget = lanes.Budget("answers", 500)
    asked, deadline = Search(queries=["a"]), served.Deadline(30)
    assert passages.search(asked, deadline, budget.share({})).n_rows == 3
    assert budget.n_held == 500
    with pytest.raises(Problem, match="answers take all the memory"):
        passages.search(asked, deadline, budget.share({}))


def test_metrics__of_memory(start):
    running = start()
    text = running.get("/metrics").text
    assert 'neardup_held_bytes{what="bodies of requests"} 0.0' in text
    assert 'neardup_held_bytes{what="answers to requests"} 0.0' in text


def test_shares__many_threads():
    budget = lanes.Budget("things", 1000)

    def work() -> None:
        for _ in range(500):
            scope: dict[str, object] = {}
            share = budget.share(scope)
            try:
                for _ in range(5):
                    share.grow(60)
                    assert budget.n_held <= 1000
            except Problem:
                time.sleep(0)
            lanes.end_shares(scope)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert budget.n_held == 0
