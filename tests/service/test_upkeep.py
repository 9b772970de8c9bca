"""What goes on beside the requests: it lives on whatever fails, and says what does."""

from __future__ import annotations

import errno
import json
import os
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from neardup.errors import IndexFormatError, WriteError
from neardup.service.messages import NewDocument
from tests.service.conftest import make_fake
from tests.service.waiting import wait_for

INSERT = "/v1/indexes/docs/insert"


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Make times shorter: those in which a commit is due, and the pauses between failed ones."""
    monkeypatch.setattr("neardup.service.served._COMMIT_SECONDS", 0.2)
    monkeypatch.setattr("neardup.service.served._FIRST_PAUSE", 0.05)
    monkeypatch.setattr("neardup.service.served._LONGEST_PAUSE", 0.1)
    monkeypatch.setattr("neardup.service.service._SECONDS_BETWEEN_LOOKS", 0.02)


def disk_full() -> WriteError:
    error = WriteError("cannot write /secret/place: No space left on device")
    error.__cause__ = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return error


def events(running, name: str) -> list[dict[str, object]]:
    lines = map(json.loads, "".join(running.lines).splitlines())
    return [line for line in lines if line["event"] == name]


def metric(running, name: str, index: str = "docs") -> float:
    lines = running.get("/metrics").text.splitlines()
    (line,) = [line for line in lines if line.startswith(f'{name}{{index="{index}"}} ')]
    return float(line.rpartition(" ")[2])


@pytest.mark.parametrize(("name", "least"), [("_COMMIT_DOCUMENTS", 3), ("_COMMIT_CHARACTERS", 30)])
def test_commit__when_much_waits(start, monkeypatch, name, least):
    monkeypatch.setattr("neardup.service.served._COMMIT_SECONDS", 1000)
    monkeypatch.setattr(f"neardup.service.served.{name}", least)
    running = start()
    index = running.service.indexes["docs"].index
    for number in range(2):
        running.post(INSERT, {"id": str(number), "text": "ten letter"})
    time.sleep(0.2)
    assert index.n_commits == 0
    running.post("/v1/indexes/docs/insert-if-new", {"id": "2", "text": "ten letter"})
    wait_for(lambda: index.n_commits == 1)


def test_durable__those_who_wait_share_a_commit(start, monkeypatch):
    monkeypatch.setattr("neardup.service.served._COMMIT_SECONDS", 1000)
    running = start()
    served = running.service.indexes["docs"]
    paths = [INSERT, "/v1/indexes/docs/insert-if-new"]

    def insert(number: int) -> int:
        body = {"id": f"n{number}", "text": f"text-{number}", "durable": True}
        return running.post(paths[number % 2], body).status_code

    with ThreadPoolExecutor(8) as pool:
        # Nothing is written until all wait.
        with served.writing:
            answers = [pool.submit(insert, number) for number in range(8)]
            wait_for(lambda: running.service.writes.n_waiting == 7)
        assert [answer.result() for answer in answers] == [200] * 8
    assert served.index.n_commits == 1
    assert served.n_uncommitted == 0
    running.post(INSERT, {"id": "last", "text": "y", "durable": False})
    assert (served.index.n_commits, served.n_uncommitted) == (1, 1)


def test_remove__those_who_wait_share_a_change(start):
    running = start()
    served = running.service.indexes["docs"]
    for number in range(6):
        served.insert(NewDocument(id=f"n{number}", text=f"text-{number}"))
    asked = [["n0"], ["n1", "n2"], ["n2"], ["nobody", "n3"], ["n4", "n5"], []]

    def remove(ids: list[str]) -> httpx.Response:
        return running.post("/v1/indexes/docs/remove", {"ids": ids})

    with ThreadPoolExecutor(8) as pool:
        with served.writing:
            answers = []
            for number, ids in enumerate(asked, 1):
                answers.append(pool.submit(remove, ids))
                wait_for(lambda n=number: n_waiting(running) == n)
        found = [answer.result() for answer in answers]
    # One for all that can be done, and one to refuse each of the others.
    assert served.index.n_removals == 3
    assert [answer.status_code for answer in found] == [200, 200, 422, 422, 200, 200]
    assert "no document 'nobody'" in found[3].json()["detail"]
    told = [answer.json() for answer in found if answer.status_code == 200]
    counts = [(each["removed"], each["documents"]) for each in told]
    assert counts == [(1, 9), (2, 7), (2, 5), (0, 5)]
    assert list(served.index.rows)[-1] == "n3"
    assert not running.service._leaving


def n_waiting(running) -> int:
    return sum(len(group._requests) for group in running.service._leaving.values())


def test_durable__what_could_not_be_committed_is_no_success(start, monkeypatch):
    monkeypatch.setattr("neardup.service.served._FIRST_PAUSE", 1000)
    running = start()
    index = running.service.indexes["docs"].index
    index.failure = disk_full()
    answer = running.post(INSERT, {"id": "x", "text": "y", "durable": True})
    assert answer.status_code == 503
    assert "WriteError: No space left on device" in answer.json()["detail"]
    assert "x" in index.rows
    wait_for(lambda: events(running, "commit failed"))
    index.failure = None
    assert running.post("/v1/indexes/docs/commit", {}).json() == {"committed": 1}


@pytest.mark.slow
def test_commit__failed_is_tried_again_and_said(start):
    running = start()
    served = running.service.indexes["docs"]
    index = served.index
    assert metric(running, "neardup_failed_commits_total") == 0
    index.failure = disk_full()
    running.post(INSERT, {"id": "x", "text": "y"})
    assert metric(running, "neardup_uncommitted_documents") == 1
    wait_for(lambda: index.n_commits >= 3)
    ready = running.get("/ready")
    assert (ready.status_code, ready.headers["retry-after"]) == (503, "1")
    detail = ready.json()["detail"]
    assert "'docs': what was inserted cannot be made durable" in detail
    assert "WriteError: No space left on device" in detail
    assert "secret" not in detail
    assert metric(running, "neardup_failed_commits_total") >= 3
    assert metric(running, "neardup_uncommitted_documents") == 1
    # Memory is all there is for more.
    refused = running.post(INSERT, {"id": "z", "text": "y"})
    assert (refused.status_code, "cannot be made durable" in refused.text) == (503, True)
    assert running.post("/v1/indexes/docs/insert-if-new", {"id": "z", "text": "y"}).status_code
    assert "z" not in index.rows
    # All else goes on.
    assert running.get("/health").status_code == 200
    assert running.post("/v1/indexes/docs/query", {"text": "y"}).json()["matches"]
    before = served.last_commit
    index.failure = None
    wait_for(lambda: not served.troubles)
    assert running.get("/ready").status_code == 200
    assert metric(running, "neardup_uncommitted_documents") == 0
    assert served.last_commit > before
    assert 0 <= metric(running, "neardup_since_last_commit_seconds") < 3600
    assert running.post(INSERT, {"id": "z", "text": "y"}).status_code == 200
    wait_for(lambda: events(running, "commit works again"))
    failed = events(running, "commit failed")
    assert failed[0]["index"] == "docs"
    assert "No space left" in failed[0]["detail"]


@pytest.mark.parametrize(
    "failure", [ZeroDivisionError("the secret text"), StopIteration(), MemoryError()]
)
def test_background__any_failure_of_one_index_ends_nothing(start, failure):
    running = start([make_fake("docs"), make_fake("other")], refresh=0.1)
    bad, good = (running.service.indexes[name].index for name in ("docs", "other"))
    bad.failure = failure
    for name in ("docs", "other"):
        running.post(f"/v1/indexes/{name}/insert", {"id": "x", "text": "y"})
    wait_for(lambda: bad.n_commits >= 2 and bad.n_refreshes >= 2)
    n_refreshes = good.n_refreshes
    wait_for(lambda: good.n_commits == 1 and good.n_refreshes > n_refreshes)
    detail = running.get("/ready").json()["detail"]
    assert "index 'docs'" in detail
    assert "'other'" not in detail
    bad.failure = None
    wait_for(lambda: running.get("/ready").status_code == 200)
    assert running.service.indexes["docs"].n_uncommitted == 0
    wait_for(lambda: events(running, "commit works again"))
    assert {line["index"] for line in events(running, "commit failed")} == {"docs"}
    assert {line["index"] for line in events(running, "refresh failed")} == {"docs"}
    assert "secret" not in "".join(running.lines)


def test_refresh__a_damaged_index_is_named(start):
    running = start([make_fake("docs"), make_fake("other")], refresh=0.1)
    index = running.service.indexes["docs"].index
    index.failure = IndexFormatError("a file is shorter than it was", path="/secret/place")
    wait_for(lambda: index.n_refreshes >= 4)
    ready = running.get("/ready")
    assert ready.status_code == 503
    assert "index 'docs': it cannot be looked at anew" in ready.json()["detail"]
    assert "secret" not in ready.text
    assert metric(running, "neardup_failed_refreshes_total") >= 2
    # The same is said once.
    wait_for(lambda: events(running, "refresh failed"))
    assert len(events(running, "refresh failed")) == 1
    assert running.get("/v1/indexes/docs/document", id="cat").status_code == 200
    index.failure = None
    wait_for(lambda: running.get("/ready").status_code == 200)
