"""Any number of changes in one request: answers to each, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

import neardup
from neardup.service.served import ServedDocuments, ServedPassages
from tests.service.conftest import PATIENT, TOKEN, make_fake, start_service
from tests.service.test_upkeep import disk_full

BULK = "/v1/indexes/docs/bulk"
LINES = {"content-type": "application/x-ndjson"}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(folder / "d", threshold="0.5", ngram=1, columns="lang")
    passages = neardup.PassageIndex.create(folder / "p", min_tokens=3, num_perm=16)
    served = [
        ServedDocuments("docs", documents, is_writable=True),
        ServedPassages("passages", passages, is_writable=True),
    ]
    yield from start_service(served, PATIENT)


def send(running: Any, content: bytes | Iterator[bytes], path: str = BULK) -> list[dict[str, Any]]:
    answer = httpx.post(running.url + path, content=content, headers=LINES, timeout=300)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/x-ndjson"
    return [json.loads(line) for line in answer.text.splitlines()]


def test_bulk__an_answer_for_each(running):
    changes = [
        {"id": "a", "text": "the cat sat on the mat", "columns": {"lang": "en"}},
        {"op": "insert-if-new", "id": "b", "text": "the cat sat on the mat too"},
        {"op": "insert-if-new", "id": "c", "text": "something else there"},
        {"id": "a", "text": "again"},
        {"op": "replace", "id": "c", "text": "something new there"},
        {"op": "remove", "id": "nobody"},
        {"id": "d", "text": "for a short time"},
        {"op": "remove", "id": "d"},
        {"id": 5, "tokens": ["x", "y"]},
        {"id": "e", "text": "z", "columns": {"colour": 1}},
    ]
    lines = [json.dumps(change).encode() for change in changes]
    lines[3:3] = [b"", b"{", b'{"id": "x", "wrong": 1}', b'{"id": "\\ud800", "text": ""}', b"\xff"]
    found = send(running, b"\r\n".join(lines))
    assert [each["row"] for each in found] == [1, 2, 3, *range(5, 16)]
    assert [each["done"] for each in found] == [
        *(True, False, True, False, False, False, False),
        *(False, True, False, True, True, True, False),
    ]
    assert found[1] == {"row": 2, "id": "b", "done": False, "similar_to": "a"}
    errors = [each.get("error") for each in found]
    assert errors[3:8] == ["InvalidInputError"] * 5
    assert (errors[9], errors[13]) == ("InvalidInputError", "InvalidParameterError")
    index = running.service.indexes["docs"].index
    # All of it is durable.
    again = neardup.DocumentIndex.open(index.folder)
    assert set(again) == {"a", "c", "5"}
    assert again.get("c")["text"] == "something new there"
    assert again.get("a")["lang"] == "en"


def test_bulk__as_python_has_it(running):
    remote = neardup.connect(running.url, index="docs", timeout=300)
    assert list(remote.bulk([])) == []
    changes = ({"id": f"py{n}", "text": f"text number {n} of many"} for n in range(1100))
    answers = remote.bulk(changes)
    assert [answer["row"] for answer in answers if answer["done"]] == list(range(1, 1101))
    done = remote.bulk({"op": "remove", "id": f"py{n}"} for n in range(3))
    assert all(answer["done"] for answer in done)
    with pytest.raises(neardup.InvalidInputError, match="half of a surrogate pair"):
        list(remote.bulk([{"id": "x", "text": "\ud800"}]))


def test_bulk__of_passages(running):
    texts = [{"id": f"p{n}", "text": f"a text of number {n} for passages"} for n in range(5)]
    lines = [json.dumps(text).encode() for text in [*texts, texts[0]]]
    found = send(running, b"\n".join(lines[:5]), "/v1/indexes/passages/bulk")
    assert [each["done"] for each in found] == [True] * 5
    assert running.service.indexes["passages"].index.info()["segments"] == 1
    found = send(
        running,
        b"\n".join([lines[5], b'{"id": "p9", "text": "last of all"}']),
        "/v1/indexes/passages/bulk",
    )
    assert [each["done"] for each in found] == [False, True]
    replaced = b'{"op": "replace", "id": "p1", "text": "in the place of number one"}'
    (found,) = send(running, replaced, "/v1/indexes/passages/bulk")
    assert found["done"]
    assert running.service.indexes["passages"].get("p1")["text"] == "in the place of number one"


def test_bulk__is_refused_as_a_whole(start, token_file):
    token_file.write_text(f"{TOKEN} role=read\n")
    running = start([make_fake(is_writable=False)])
    body = b'{"id": "x", "text": "y"}'
    assert httpx.post(running.url + BULK, content=body, headers=LINES).status_code == 403
    with pytest.raises(neardup.ServiceError, match="--writable"):
        list(neardup.connect(running.url).bulk([{"id": "x", "text": "y"}]))
    reader = start(token_file=token_file)
    headers = {**LINES, "authorization": f"Bearer {TOKEN}"}
    assert httpx.post(reader.url + BULK, content=body, headers=headers).status_code == 403
    writable = start()
    json_body = {"content-type": "application/json"}
    assert httpx.post(writable.url + BULK, content=body, headers=json_body).status_code == 415


def test_bulk__what_cannot_be_committed_is_not_done(start):
    running = start()
    running.service.indexes["docs"].index.failure = disk_full()
    (found,) = send(running, b'{"id": "x", "text": "y"}')
    assert (found["done"], "not durable" in found["detail"]) == (False, True)
    assert "secret" not in found["detail"]
    running.service.indexes["docs"].index.failure = None
