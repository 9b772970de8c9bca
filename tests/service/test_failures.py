"""Failures of the indexes and of the code: stated answers, and a service that is not ready."""

from __future__ import annotations

import errno
import os
from typing import Any

import pytest

from neardup.errors import IndexFormatError, ReadError, WriteError
from neardup.service.served_index import WorkError
from tests.service.waiting import wait_for

QUERY, INSERT = "/v1/indexes/docs/query", "/v1/indexes/docs/insert"


def raises(error: BaseException) -> Any:
    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@pytest.mark.parametrize("kind", [IndexFormatError, ReadError])
def test_ready__fails_after_a_failed_read(start, monkeypatch, kind):
    """A damaged file is found by a request: from then on the service says that it is not ready."""
    running = start()
    assert running.get("/ready").status_code == 200
    error = kind("checksum is wrong", path="/secret/place/texts.bin")
    monkeypatch.setattr(running.service.indexes["docs"].index, "query", raises(error))
    answer = running.post(QUERY, {"text": "a"})
    assert (answer.status_code, answer.json()["error"]) == (500, kind.__name__)
    ready = running.get("/ready")
    assert ready.status_code == 503
    assert "'docs'" in ready.json()["detail"]
    assert "(texts.bin)" in ready.json()["detail"]
    assert "secret" not in ready.text + answer.text
    assert running.get("/health").status_code == 200
    assert 'neardup_unreadable{index="docs"} 1.0' in running.get("/metrics").text
    assert "/secret/place/texts.bin" in running.events("error")[0]["detail"]
    # The others are served.
    assert running.post("/v1/compare", {"a": "x", "b": "y"}).status_code == 200


def test_ready__of_an_index_that_is_damaged_on_disk(start):
    running = start()
    for path in running.service.indexes["docs"].folder.iterdir():
        if path.is_file():
            path.write_bytes(b"{")
    wait_for(lambda: running.get("/ready").status_code == 503)
    assert "'docs'" in running.get("/ready").json()["detail"]


def test_disk__full(start, monkeypatch):
    running = start()
    error = WriteError("cannot write /secret/place: No space left on device")
    error.__cause__ = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with monkeypatch.context() as patch:
        patch.setattr(running.service.indexes["docs"].index, "insert", raises(error))
        answer = running.post(INSERT, {"id": "x", "text": "y"})
        assert (answer.status_code, answer.json()["error"]) == (507, "WriteError")
        assert "secret" not in answer.text
    assert running.post(INSERT, {"id": "x", "text": "y"}).status_code == 200
    assert running.get("/ready").status_code == 200


def break_down() -> bytes:
    message = "the secret text"
    raise ZeroDivisionError(message)


@pytest.mark.parametrize("where", ["thread", "process"])
def test_defect__is_logged_without_texts(start, monkeypatch, where):
    running = start()
    if where == "thread":
        error = ZeroDivisionError("the secret text")
        monkeypatch.setattr(running.service.indexes["docs"].index, "query", raises(error))
        answer = running.post(QUERY, {"text": "the secret text"})
    else:
        call = running.service.answer.__globals__["run_in_process"]

        async def broken(*_, limiter):
            return await call(break_down, limiter=limiter)

        monkeypatch.setattr("neardup.service.application.run_in_process", broken)
        answer = running.post("/v1/compare", {"a": "the secret text", "b": "y"})
    assert answer.status_code == 500
    assert "content-security-policy" in answer.headers
    wait_for(lambda: running.events("defect"))
    (line,) = running.events("defect")
    assert line["error"] == "ZeroDivisionError"
    assert any("test_failures.py" in place for place in line["places"])
    assert "secret" not in answer.text + "".join(running.lines)


def test_work_error__is_sent_between_processes():
    import pickle

    error = pickle.loads(pickle.dumps(WorkError("KeyError", ["a.py:1"])))
    assert (error.kind, error.places) == ("KeyError", ["a.py:1"])


def test_metrics(start):
    running = start()
    running.post(QUERY, {"text": "the cat"})
    text = running.get("/metrics").text
    counted = 'method="POST",route="/v1/indexes/{index}/query",status="200"'
    assert f"neardup_requests_total{{{counted}}} 1.0" in text
    assert 'neardup_documents{index="docs"} 4.0' in text
    assert "neardup_body_bytes 0.0" in text
