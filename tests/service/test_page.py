"""The page without a script: what forms send, and what comes back."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import httpx
import pytest

import neardup
from neardup.errors import ReadError
from neardup.service.served import ServedDocuments, ServedPassages
from tests.each import each_of
from tests.service.conftest import PATIENT, make_fake, start_service

PASSAGE = "upon a midnight dreary while I pondered weak and weary over many a quaint volume"
HOSTILE = '</textarea></mark><script>alert(1)</script><img src=x onerror="alert(2)"> \u202egnp'
HOSTILE_ID = '"><script>alert(3)</script>\u202e'
DOCUMENTS = {
    "raven": f"Once {PASSAGE} of forgotten lore",
    HOSTILE_ID: f"{HOSTILE} {PASSAGE} \0 {HOSTILE}",
    "other": "nothing of this kind is to be found in here by anybody at all",
}


@pytest.fixture(scope="module")
def running(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(
        folder / "d", threshold="0.2", ngram=2, columns=["source"]
    )
    passages = neardup.PassageIndex.create(folder / "p", min_tokens=5, num_perm=16)
    rows = [{"id": key, "text": text} for key, text in DOCUMENTS.items()]
    documents.add([{**row, "source": f"<i>{row['id']}</i>"} for row in rows])
    passages.add(rows)
    yield from start_service(
        [
            ServedDocuments("docs", documents, is_writable=False),
            ServedPassages("passages", passages, is_writable=False),
        ],
        PATIENT,
    )


@pytest.fixture(scope="module")
def client(running):
    with running.client(headers={"accept": "text/html"}) as client:
        yield client


def check(answer: httpx.Response, status: int = 200) -> str:
    """Make sure that nothing of a text is markup, and that nothing is loaded from elsewhere."""
    assert (answer.status_code, answer.headers["content-type"]) == (
        status,
        "text/html; charset=utf-8",
    )
    page = answer.text
    seen = Tags()
    seen.feed(page)
    scripts = [attributes for tag, attributes in seen.found if tag == "script"]
    assert scripts == [{"src": "/page.js", "defer": None}]
    for tag, attributes in seen.found:
        assert tag not in ("img", "i", "style", "svg", "iframe")
        for name, value in attributes.items():
            assert not name.startswith("on")
            if name in ("src", "href", "action"):
                assert value.startswith(("/", "#", "data:,"))
    assert "\0" not in page
    return page


class Tags(HTMLParser):
    """Collects the tags of a page, with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def parts(page: str, tag: str) -> list[str]:
    found = re.findall(rf"<{tag}[^>]*>(.*?)</{tag}>", page, re.DOTALL)
    return [html.unescape(re.sub(r"<[^>]*>", "", part)) for part in found]


def test_find__documents_and_passages_with_shared_parts(client):
    page = check(client.post("/", data={"text": DOCUMENTS["raven"]}))
    assert "docs: " in page
    assert "passages: " in page
    assert "<b>1.0000</b> similar" in page
    marked = parts(page, "mark")
    assert any(PASSAGE in part for part in marked)
    assert parts(page, "textarea")[0].strip() == DOCUMENTS["raven"]


def test_find__hostile_text(client):
    page = check(client.post("/", data={"text": DOCUMENTS[HOSTILE_ID]}))
    assert "␀" in page
    assert any("<script>alert(1)" in part for part in parts(page, "textarea"))


def test_find__nothing(client):
    page = check(client.post("/", data={"text": "words that are nowhere"}))
    assert "Nothing here is as similar as 0.2." in page
    assert "No passage of it is in a document here." in page
    # What comes nearest is named, with its columns' index.
    page = check(client.post("/", data={"text": "once upon a time", "threshold": "0.9"}))
    said = next(part for part in parts(page, "p") if "as similar as 0.9." in part)
    assert "The nearest is raven, at 0." in said
    # Without a text nothing is looked for.
    page = check(client.post("/", data={"text": "  "}))
    assert (page.count("<form"), "<h3>" in page) == (1, False)


def test_find__names_no_files(start, monkeypatch):
    running = start([make_fake(), make_fake("other")])
    broken = running.service.indexes["docs"]

    def fail(_):
        raise ReadError("broken", path="/secret/place")

    monkeypatch.setattr(broken, "query", fail)
    with running.client(headers={"accept": "text/html"}) as client:
        page = check(client.post("/", data={"text": "the cat sat on the mat"}))
    assert "the log of the service says why" in page
    assert "/secret" not in page
    assert ">cat</bdi>" in page


def test_browse__every_document(client):
    page = check(client.get("/browse", params={"index": "docs"}))
    links = [html.unescape(link) for link in re.findall(r'<h3><a href="([^"]+)"', page)]
    assert len(links) == len(DOCUMENTS)
    assert "<i>raven</i>" in parts(page, "dd")
    for link, text in zip(links, DOCUMENTS.values(), strict=True):
        shown = re.search(r'class="text whole"[^>]*>(.*?)</div>', client.get(link).text, re.DOTALL)
        assert html.unescape(shown[1]) == text.replace("\0", "␀")


@each_of("path", ["/document?index=docs&id=no", "/document?index=no&id=x", "/document", "/nothing"])
def test_problems__are_pages(client, path):
    assert "<h1>Not Found</h1>" in check(client.get(path), 404)


def test_compare__two_documents(client):
    chosen = {"index_a": "docs", "id_a": "raven", "index_b": "passages", "id_b": HOSTILE_ID}
    page = check(client.get("/compare", params=chosen))
    shown = dict(re.findall(r'class="text" id="([ab])"[^>]*>(.*?)</div>', page, re.DOTALL))
    texts = [html.unescape(re.sub(r"<[^>]*>", "", shown[side])) for side in "ab"]
    assert texts == [DOCUMENTS["raven"], DOCUMENTS[HOSTILE_ID].replace("\0", "␀")]
    # The same passage is marked in both, and each mark leads to the other one.
    for side, other in ("ab", "ba"):
        assert f'id="{side}-1" href="#{other}-1"' in shown[side]
        assert parts(shown[side], 'span class="part[^>]*') or PASSAGE.split()[3] in shown[side]


@pytest.mark.parametrize(("path", "kind"), [("/page.css", "text/css"), ("/page.js", "javascript")])
def test_static(client, path, kind):
    answer = client.get(path)
    assert kind in answer.headers["content-type"]
    assert "://" not in answer.text
