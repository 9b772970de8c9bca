"""Each operation over HTTP, with indexes of both kinds as they are on disk."""

from __future__ import annotations

import base64
import json
from unittest.mock import ANY

import httpx
import pytest

import neardup
from neardup.service.served import ServedDocuments, ServedPassages
from tests.each import each_of
from tests.service.conftest import PATIENT, Running, start_service

PASSAGE = "upon a midnight dreary while I pondered weak and weary over many a quaint volume"
DOCUMENTS = {
    "raven": f"Once {PASSAGE} of forgotten lore",
    "near": f"Once {PASSAGE} of forgotten law",
    "a/../b ü?#": "nothing of this kind is to be found in here by anybody at all",
    "nul": "a text with \0 and \u202e and <b> in it, and some words more",
}


@pytest.fixture(scope="module")
def running(tmp_path_factory) -> Running:
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(
        folder / "d", threshold="0.5", ngram=2, columns=["source"]
    )
    for key, text in DOCUMENTS.items():
        documents.insert(key, text, source=f"from {key}")
    documents.commit()
    passages = neardup.PassageIndex.create(folder / "p", min_tokens=5, num_perm=16)
    passages.add([{"id": key, "text": text} for key, text in DOCUMENTS.items()])
    yield from start_service(
        [
            ServedDocuments("docs", documents, is_writable=True),
            ServedPassages("passages", passages, is_writable=True),
        ],
        PATIENT,
    )


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
    words = DOCUMENTS["raven"].casefold().split()
    assert ask(running, "docs/query", {"tokens": words})["matches"] == found
    assert ask(running, "docs/query", {"text": DOCUMENTS["raven"], "limit": 1}) == {
        "matches": found[:1],
        "n_matches": 2,
        "cursor": ANY,
    }
    for threshold in (1, 1.0, "1"):
        asked = {"text": DOCUMENTS["raven"], "threshold": threshold}
        assert ask(running, "docs/query", asked)["matches"] == found[:1]


@pytest.mark.slow
@each_of(
    "wrong",
    [
        {},
        {"text": "a", "tokens": ["a"]},
        {"text": "a", "threshold": 0.1},
        {"text": "a", "threshold": "nan"},
        {"text": "a", "threshold": 80},
        {"text": "a", "limit": 0},
        {"text": "a", "limit": 1.5},
        {"text": 5},
        {"text": "a", "nonsense": 1},
        {"tokens": [[1]]},
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
    pairs = [(row["query_id"], row["doc_id"]) for row in found["documents"]]
    assert pairs == [(0, "near"), (0, "raven"), ("mine", "nul")]
    assert (found["n_rows"], found["passages"], found["summary"]["queries"]) == (3, [], 3)
    asked["limit"] = 2
    cut = ask(running, "docs/search", asked)
    assert (cut["n_rows"], len(cut["documents"])) == (3, 2)


def test_search__passages(running):
    asked = {"queries": [{"id": 7, "text": PASSAGE}], "threshold": "0.9", "with_text": True}
    found = ask(running, "passages/search", asked)
    assert [row["doc_id"] for row in found["passages"]] == ["raven", "near"]
    for row in found["passages"]:
        text = DOCUMENTS[row["doc_id"]][row["doc_start"] : row["doc_end"]]
        assert row["query_id"] == 7
        assert text == row["doc_text"] == PASSAGE
        assert row["query_text"] == PASSAGE


def test_align(running):
    text = f"Somebody said that {PASSAGE}, which is known to everybody."
    found = ask(running, "passages/align", {"documents": [text]})["passages"]
    assert {row["doc_id"] for row in found} == {"raven", "near"}
    assert all(PASSAGE in text[row["query_start"] : row["query_end"]] for row in found)


BATCHES = {
    "docs/search": {"queries": [DOCUMENTS["near"], "nothing", DOCUMENTS["raven"], PASSAGE]},
    "passages/search": {"queries": [PASSAGE, "nothing", DOCUMENTS["near"]], "threshold": "0.3"},
    "passages/align": {"documents": [f"{PASSAGE}. And again: {PASSAGE}", DOCUMENTS["raven"]]},
}


def rows_of(answer):
    return answer["documents"] + answer["passages"]


@pytest.fixture
def twice(running):
    """Give the passages a document that has one passage in several places."""
    text = f"{PASSAGE}. Then something of quite other words came between. {PASSAGE}"
    ask(running, "passages/insert", {"id": "twice", "text": text})
    yield
    ask(running, "passages/remove", {"ids": ["twice"]})


@pytest.mark.slow
@pytest.mark.parametrize("path", BATCHES)
def test_batches__pages_are_the_whole(running, path, twice):
    whole = ask(running, path, BATCHES[path])
    assert whole["cursor"] is None
    assert len(rows_of(whole)) >= 4
    for limit in (1, 3):
        found, cursor = [], None
        while True:
            asked = BATCHES[path] | {"limit": limit, "cursor": cursor}
            page = ask(running, path, {k: v for k, v in asked.items() if v is not None})
            assert page["n_rows"] == whole["n_rows"] - len(found)
            found += rows_of(page)
            cursor = page["cursor"]
            if cursor is None:
                break
            assert len(rows_of(page)) == limit
        assert found == rows_of(whole)


def test_batches__cursor_of_other_texts(running):
    asked = BATCHES["docs/search"]
    first = ask(running, "docs/search", asked | {"limit": 3})
    wrong = {"queries": asked["queries"][1:], "cursor": first["cursor"]}
    assert "another question" in ask(running, "docs/search", wrong, 422)["detail"]
    other = ask(running, "docs/query", {"text": DOCUMENTS["near"], "limit": 1})["cursor"]
    assert ask(running, "docs/search", asked | {"cursor": other}, 422)


@pytest.mark.parametrize("path", BATCHES)
def test_batches__cursor_that_was_made_up(running, path):
    cursor = ask(running, path, BATCHES[path] | {"limit": 1})["cursor"]
    content = json.loads(base64.urlsafe_b64decode(cursor))
    for place in range(len(content)):
        for value in (10**400, float("inf"), float("nan"), -1e9, "\ud800", None):
            forged = json.dumps([*content[:place], value, *content[place + 1 :]]).encode()
            asked = BATCHES[path] | {"cursor": base64.urlsafe_b64encode(forged).decode()}
            answer = running.post(f"/v1/indexes/{path}", asked)
            assert answer.status_code in (200, 422), (place, value)


@pytest.mark.parametrize("name", ["docs", "passages"])
def test_get__every_id(running, name):
    for key, text in DOCUMENTS.items():
        found = running.get(f"/v1/indexes/{name}/document", id=key).json()
        assert (found["id"], found["text"]) == (key, text)
        assert found.get("source", f"from {key}") == f"from {key}"
    assert running.get(f"/v1/indexes/{name}/document", id="nobody").status_code == 404
    assert running.get(f"/v1/indexes/{name}/document").status_code == 422


@pytest.mark.parametrize("name", ["docs", "passages"])
def test_documents__in_pages(running, name):
    found, start = [], 0
    while start is not None:
        page = running.get(f"/v1/indexes/{name}/documents", start=start, limit=3).json()
        found += [document["id"] for document in page["documents"]]
        start = page["next"]
    assert found == list(DOCUMENTS)


@each_of("wrong", ["limit=0", "limit=1001", "start=-1", "start=x", "page=2", "start=1&start=2"])
def test_documents__refuses(running, wrong):
    answer = httpx.get(f"{running.url}/v1/indexes/docs/documents?{wrong}")
    assert (answer.status_code, answer.json()["error"]) == (422, "InvalidParameterError")


def test_compare__as_here(running):
    texts = (DOCUMENTS["raven"], DOCUMENTS["near"])
    options = {"threshold": 0.6, "min_tokens": 4, "ngram": 3, "strip_accents": True}
    answer = running.post("/v1/compare", {"a": texts[0], "b": texts[1], **options})
    expected = neardup.compare(*texts, **options, edit_limit=10_000)
    assert answer.json() == json.loads(json.dumps(expected.to_dict()))


@pytest.mark.slow
def test_changes__of_documents(running):
    new = {"id": "new", "text": "words that are nowhere else in this whole index of ours"}
    assert ask(running, "docs/insert", new) == {"inserted": 1}
    for operation in ("insert", "insert-if-new"):
        again = {**new, "text": "of other words than those before"}
        refused = ask(running, f"docs/{operation}", again, 409)
        assert refused["error"] == "InvalidInputError"
        assert "with `replace` (over HTTP, PUT)" in refused["detail"]
    similar = {**new, "id": "newer", "columns": {"source": "s"}}
    assert ask(running, "docs/insert-if-new", similar) == {"inserted": False, "similar_to": "new"}
    other = {"id": 12, "tokens": ["quite", "another", "document"], "threshold": 0.9}
    assert ask(running, "docs/insert-if-new", other)["inserted"]
    assert ask(running, "docs/commit", {}) == {"committed": 2}
    assert ask(running, "docs/add", {"documents": [new]}, 409)["error"] == "InvalidInputError"
    folder = running.service.indexes["docs"].index.folder
    assert "new" in neardup.DocumentIndex.open(folder)
    wrong = ask(running, "docs/insert", {**new, "id": "x", "columns": {"other": 1}}, 422)
    assert "other" in wrong["detail"]
    assert ask(running, "docs/insert", {**new, "id": "x", "columns": {"id": 1}}, 422)
    added = {"documents": [{"id": "added", "text": "this comes with others or not at all"}]}
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
        assert "'again' has the same tokens as 'down'" in refused["detail"]
    added = {"documents": [{"id": "again", "text": text}]}
    assert ask(running, "docs/add", added) == {"inserted": 0, "denied": 1}
    assert ask(running, "passages/remove", {"ids": ["raven"], "deny": True}, 422)


@pytest.mark.slow
def test_changes__of_passages(running):
    new = {"id": "new", "text": "words that are nowhere else in this whole index of ours"}
    assert ask(running, "passages/insert", new) == {"inserted": 1}
    assert ask(running, "passages/search", {"queries": [new["text"]]})["n_rows"] == 1
    assert ask(running, "passages/commit", {}) == {"committed": 0}
    assert ask(running, "passages/remove", {"ids": ["new"]})["documents"] == 4
    assert ask(running, "passages/insert-if-new", new, 422)
    assert ask(running, "passages/insert", {"id": "x", "tokens": ["a"]}, 422)
    assert ask(running, "passages/query", {"text": "a"}, 422)
    assert ask(running, "docs/align", {"documents": ["a"]}, 422)


def test_unknown_index(running):
    problem = ask(running, "nothing/query", {"text": "a"}, 404)
    assert "'docs', 'passages'" in problem["detail"]
