"""Each operation over HTTP, with indexes of both kinds as they are on disk."""

from __future__ import annotations

import json

import httpx
import pytest

import neardup
from tests.calls import grouped
from tests.each import each_of
from tests.service.conftest import DOCUMENTS, PASSAGE, Running, make_indexes, start_service


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Running:
    yield from start_service(make_indexes(tmp_path_factory.mktemp("indexes")))


def ask(running: Running, path: str, body: object, status: int = 200):
    answer = running.post(f"/v1/indexes/{path}", body)
    assert answer.status_code == status, answer.text
    return answer.json()


def test_contents(running):
    assert running.get("/v1").json() == {
        "neardup": neardup.__version__,
        "indexes": [
            {"name": "docs", "kind": "documents", "documents": 4, "writable": True},
            {"name": "passages", "kind": "passages", "documents": 4, "writable": True},
        ],
    }


@pytest.mark.parametrize("name", ["docs", "passages"])
def test_info__does_not_say_where_it_lies(running, name):
    found = running.get(f"/v1/indexes/{name}").json()
    assert (found["documents"], found["name"]) == (4, name)
    assert "folder" not in found


def test_query(running):
    found = ask(running, "docs/query", {"text": DOCUMENTS["raven"]})["matches"]
    assert [match["id"] for match in found] == ["raven", "near"]
    assert found[0]["similarity"] == 1
    assert ask(running, "docs/query", {"text": DOCUMENTS["raven"], "limit": 1}) == {
        "matches": found[:1],
        "n_matches": 2,
    }
    for threshold in (1, 1.0, "1"):
        asked = {"text": DOCUMENTS["raven"], "threshold": threshold}
        assert ask(running, "docs/query", asked)["matches"] == found[:1]


@pytest.mark.slow
@each_of(
    "wrong",
    [
        {},
        {"text": "a", "threshold": 0.1},
        {"text": "a", "threshold": "nan"},
        {"text": "a", "threshold": 80},
        {"text": "a", "limit": 0},
        {"text": "a", "limit": 1.5},
        {"text": 5},
        {"text": "a", "nonsense": 1},
        ["a"],
        "a",
    ],
)
def test_query__refuses(running, wrong):
    problem = ask(running, "docs/query", wrong, 422)
    assert problem["error"] in ("InvalidParameterError", "InvalidInputError")
    assert problem["detail"]


def test_search__documents(running):
    asked = {"queries": [DOCUMENTS["near"], {"id": "mine", "text": DOCUMENTS["nul"]}, "nothing"]}
    found = ask(running, "docs/search", asked)
    pairs = [(row["query_id"], row["doc_id"]) for row in found["rows"]]
    assert pairs == [("0", "near"), ("0", "raven"), ("mine", "nul")]
    assert (found["n_rows"], found["summary"]["queries"]) == (3, 3)
    asked["limit"] = 2
    cut = ask(running, "docs/search", asked)
    assert (cut["n_rows"], cut["rows"]) == (3, found["rows"][:2])


def test_align(running):
    text = f"Somebody said that {PASSAGE}, which is known to everybody."
    found = ask(running, "passages/align", {"documents": [text]})["rows"]
    assert {row["doc_id"] for row in found} == {"raven", "near"}
    assert all(PASSAGE in text[row["query_start"] : row["query_end"]] for row in found)


@pytest.mark.parametrize("name", ["docs", "passages"])
def test_get__every_id(running, name):
    for key, text in DOCUMENTS.items():
        found = running.get(f"/v1/indexes/{name}/document", id=key).json()
        assert (found["id"], found["text"]) == (key, text)
        assert found.get("source", f"from {key}") == f"from {key}"
    assert running.get(f"/v1/indexes/{name}/document", id="nobody").status_code == 404
    assert running.get(f"/v1/indexes/{name}/document").status_code == 422


@each_of("wrong", ["limit=0", "limit=1001", "start=-1", "start=x", "page=2"])
def test_documents__refuses(running, wrong):
    answer = httpx.get(f"{running.url}/v1/indexes/docs/documents?{wrong}")
    assert (answer.status_code, answer.json()["error"]) == (422, "InvalidParameterError")


def test_compare__as_here(running):
    texts = (DOCUMENTS["raven"], DOCUMENTS["near"])
    options = {"threshold": 0.6, "min_tokens": 4, "ngram": 3, "strip_accents": True}
    answer = running.post("/v1/compare", {"a": texts[0], "b": texts[1], **options})
    expected = neardup.compare(*texts, **grouped(**options))
    assert answer.json() == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.slow
def test_changes__of_documents(running):
    new = {"id": "new", "text": "words that are nowhere else in this whole index of ours"}
    in_columns = {"columns": {"source": None}}
    assert ask(running, "docs/insert", new) == {"inserted": 1}
    # Durable, so that others see it.
    folder = running.service.indexes["docs"].folder
    assert "new" in neardup.DocumentIndex.open(folder)
    for operation in ("insert", "insert-if-new"):
        again = {**new, "text": "of other words than those before"}
        refused = ask(running, f"docs/{operation}", again, 409)
        assert refused["error"] == "InvalidInputError"
        assert "HTTP, PUT" in refused["detail"]
    similar = {**new, "id": "newer", "columns": {"source": "s"}}
    assert ask(running, "docs/insert-if-new", similar) == {"inserted": False, "similar_to": "new"}
    other = {"id": 12, "text": "quite another document", "threshold": 0.9}
    assert ask(running, "docs/insert-if-new", other)["inserted"]
    again = {"documents": [new | in_columns]}
    assert ask(running, "docs/add", again, 409)["error"] == "InvalidInputError"
    assert 12 in neardup.DocumentIndex.open(folder)
    wrong = ask(running, "docs/insert", {**new, "id": "x", "columns": {"other": 1}}, 422)
    assert "other" in wrong["detail"]
    assert ask(running, "docs/insert", {**new, "id": "x", "columns": {"id": 1}}, 422)
    other = {"id": "added", "text": "this comes with others or not at all"}
    assert ask(running, "docs/add", {"documents": [other]}, 422)
    added = {"documents": [other | in_columns]}
    assert ask(running, "docs/add", added) == {"inserted": 1, "denied": 0}
    removed = ask(running, "docs/remove", {"ids": ["new", "12", "added"]})
    assert (removed["removed"], removed["documents"]) == (3, 4)
    assert removed["orphans"] == [{"id": "newer", "kept_id": "new", "similarity": 1.0}]
    assert ask(running, "docs/remove", {"ids": ["new"]}, 422)


def test_changes__what_must_not_come_back(running):
    text = "a page that was taken down, and that somebody sends again and again"
    assert ask(running, "docs/insert", {"id": "down", "text": text}) == {"inserted": 1}
    removed = ask(running, "docs/remove", {"ids": ["down"], "deny": True})
    assert removed["denied"] == 1
    for operation in ("insert", "insert-if-new"):
        refused = ask(running, f"docs/{operation}", {"id": "again", "text": text}, 422)
        assert refused["error"] == "DeniedError"
        assert "'again'" in refused["detail"]
        assert "'down'" in refused["detail"]
    added = {"documents": [{"id": "again", "text": text, "columns": {"source": None}}]}
    assert ask(running, "docs/add", added) == {"inserted": 0, "denied": 1}
    assert ask(running, "passages/remove", {"ids": ["raven"], "deny": True}, 422)


@pytest.mark.slow
def test_changes__of_passages(running):
    new = {"id": "new", "text": "words that are nowhere else in this whole index of ours"}
    assert ask(running, "passages/add", {"documents": [new]}) == {"inserted": 1, "denied": 0}
    assert ask(running, "passages/search", {"queries": [new["text"]]})["n_rows"] == 1
    assert ask(running, "passages/remove", {"ids": ["new"]})["documents"] == 4
    assert ask(running, "passages/insert-if-new", new, 422)
    assert ask(running, "passages/insert", new, 422)
    assert ask(running, "passages/query", {"text": "a"}, 422)
    assert ask(running, "docs/align", {"documents": ["a"]}, 422)


def test_compact(running):
    ask(running, "docs/remove", {"ids": ["nul"]})
    others = [each for each in running.service.indexes["docs"].index if each not in DOCUMENTS]
    if others:
        ask(running, "docs/remove", {"ids": others})
    assert ask(running, "docs/compact", {})["documents"] == 3


def test_unknown_index(running):
    problem = ask(running, "nothing/query", {"text": "a"}, 404)
    assert "'docs', 'passages'" in problem["detail"]
