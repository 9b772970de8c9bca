"""Documents added and removed on the page: shown first, by a form of ours alone, where allowed."""

from __future__ import annotations

import html
import re
from types import SimpleNamespace

import pytest

import neardup
from neardup.service.gate import SESSION_COOKIE
from neardup.service.pages import Seal
from neardup.service.problems import Problem
from neardup.service.served import ServedDocuments, ServedPassages
from tests.each import each_of
from tests.service.conftest import OTHER, PATIENT, TOKEN, make_fake, start_service
from tests.service.test_page import HOSTILE, HOSTILE_ID, check, parts

TEXT = "the lift in the east wing is stuck between two floors again"
ROWS = [
    {"id": "lift", "text": f"since noon {TEXT}", "customer": "Physics"},
    {"id": "door", "text": "the door of the library does not close any more", "customer": None},
]


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(
        folder / "d", threshold="0.2", ngram=1, columns=["customer"]
    )
    numbered = neardup.DocumentIndex.create(folder / "n", threshold="0.2", ngram=1)
    passages = neardup.PassageIndex.create(folder / "p", min_tokens=5, num_perm=16)
    documents.add(ROWS)
    numbered.add([{"id": 7, "text": TEXT}])
    yield from start_service(
        [
            ServedDocuments("docs", documents, is_writable=True),
            ServedDocuments("numbered", numbered, is_writable=True),
            ServedPassages("passages", passages, is_writable=True),
        ],
        PATIENT,
    )


@pytest.fixture(scope="module")
def client(running):
    with running.client(headers={"accept": "text/html"}) as client:
        yield client


def hidden(page: str) -> dict[str, str]:
    """Return what the last form of a page sends unseen, as a browser would."""
    form = page[page.rindex("<form") :]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', form)
    areas = re.findall(r'<textarea name="(\w+)" hidden>\n(.*?)</textarea>', form, re.DOTALL)
    return {name: html.unescape(value) for name, value in found + areas}


def begin(client, path: str, index: str = "docs", **asked: str) -> dict[str, str]:
    return hidden(check(client.get(path, params={"index": index, **asked})))


@each_of("identifier", ["new", HOSTILE_ID])
def test_add__shown_first(client, identifier):
    text = f"{TEXT}, {identifier}" if identifier == "new" else HOSTILE.replace("\0", "")
    form = begin(client, "/add") | {"id": identifier, "text": text, "column_0": "<b>Law</b>"}
    page = check(client.post("/add", data=form | {"step": "check"}))
    if identifier == "new":
        # What is there already is named.
        assert ">lift</bdi>" in page
    where = {"index": "docs", "id": identifier}
    assert client.get("/document", params=where).status_code == 404
    confirmed = hidden(page)
    assert confirmed == form
    # It may be changed once more.
    again = check(client.post("/add", data=confirmed | {"step": "write"}))
    assert parts(again, "textarea")[0].strip() == text
    answer = client.post("/add", data=confirmed | {"step": "add"}, follow_redirects=False)
    assert answer.status_code == 303
    page = check(client.get(answer.headers["location"]))
    assert "It was added." in page
    assert "<b>Law</b>" in parts(page, "dd")
    # It is durable at once.
    assert client.get("/browse?index=docs").text.count("<h3>") >= 3


@each_of(
    ("index", "given", "says"),
    [
        ("docs", {"id": " "}, "needs an id and a text"),
        ("docs", {"text": "\n "}, "needs an id and a text"),
        ("docs", {"id": "lift"}, "There is a document 'lift' in the index already."),
        ("docs", {"text": "a \x00 b"}, "control characters"),
        ("docs", {"column_0": "a \x01 b"}, "control characters"),
        ("numbered", {"id": "x"}, "whole numbers"),
        ("numbered", {"id": "7"}, "There is a document '7' in the index already."),
    ],
)
def test_add__what_cannot_go_in(client, index, given, says):
    form = begin(client, "/add", index) | {"id": "another", "text": TEXT} | given
    for step in ("check", "add"):
        page = check(client.post("/add", data=form | {"step": step}), 422)
        assert any(says in part for part in parts(page, "p"))


def test_remove__asks_first_and_keeps_out_what_is_denied(client):
    row = {"id": "gone", "text": "a text that has to go and is not to come back at all"}
    form = begin(client, "/add") | row | {"step": "add"}
    assert client.post("/add", data=form).status_code == 303
    link = re.search(r'href="(/remove[^"]+)"', client.get("/document?index=docs&id=gone").text)
    page = check(client.get(html.unescape(link[1])))
    assert row["text"] in page
    asked = hidden(page)
    check(client.get("/document?index=docs&id=gone"))
    page = check(client.post("/remove", data=asked | {"deny": "on"}))
    assert "1 document does not come back." in page
    assert client.get("/document?index=docs&id=gone").status_code == 404
    assert "denies this document" in check(client.post("/add", data=form), 422)
    check(client.post("/remove", data=asked), 404)


def test_forms__of_others_change_nothing(client, running):
    n_documents = len(running.service.indexes["docs"])
    added = {"index": "docs", "id": "evil", "text": TEXT, "step": "add"}
    for mark in ({}, {"mark": ""}, {"mark": "0" * 64}, {"mark": "ü"}):
        check(client.post("/add", data=added | mark), 403)
        check(client.post("/remove", data={"index": "docs", "id": "lift"} | mark), 403)
    right = begin(client, "/add")
    headers = {"sec-fetch-site": "cross-site"}
    assert client.post("/add", data=added | right, headers=headers).status_code == 403
    assert len(running.service.indexes["docs"]) == n_documents


def test_forms__are_good_for_one_session(start, token_file):
    running = start([make_fake()], token_file=token_file)
    with running.client(headers={"accept": "text/html"}) as client:
        assert client.get("/add?index=docs").status_code == 401
        client.post("/sign-in", data={"token": TOKEN})
        assert begin(client, "/add")["mark"]
    sessions = [SimpleNamespace(cookies={SESSION_COOKIE: each}) for each in ("one", "another")]
    seal = Seal()
    for request, other in (sessions, sessions[::-1]):
        seal.check(request, {"mark": seal.mark(request)})
        for mark in (seal.mark(other), Seal().mark(request)):
            with pytest.raises(Problem, match="open it again"):
                seal.check(request, {"mark": mark})


def test_read_only__offers_and_takes_nothing(start):
    running = start([make_fake(is_writable=False)])
    with running.client(headers={"accept": "text/html"}) as client:
        for path in ("/browse?index=docs", "/document?index=docs&id=cat"):
            page = check(client.get(path))
            assert "/add" not in page
            assert "/remove" not in page
        for path in ("/add?index=docs", "/remove?index=docs&id=cat"):
            assert "--writable" in check(client.get(path), 403)
            name, _, asked = path.partition("?")
            form = dict(pair.split("=") for pair in asked.split("&")) | {"step": "add"}
            check(client.post(name, data=form), 403)


def test_roles__decide_what_is_offered(start, tmp_path):
    """A token for reading, or for other indexes, opens no form that would be refused."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"{TOKEN} role=read\n{OTHER} role=write indexes=docs\n")
    tokens.chmod(0o600)
    running = start([make_fake(), make_fake("secret")], token_file=tokens)
    for token, may_write in ((TOKEN, False), (OTHER, True)):
        with running.client(headers={"accept": "text/html"}) as client:
            client.post("/sign-in", data={"token": token})
            assert ("secret" in check(client.get("/"))) != may_write
            for path in ("/browse?index=docs", "/document?index=docs&id=cat"):
                page = check(client.get(path))
                assert ("/add?" in page or "/remove?" in page) == may_write
            for path in ("/add?index=docs", "/remove?index=docs&id=cat"):
                assert client.get(path).status_code == (200 if may_write else 403)
            form = {"index": "docs", "id": "cat", "mark": "0" * 64}
            assert client.post("/remove", data=form).status_code == 403
            if may_write:
                check(client.get("/add?index=secret"), 404)
