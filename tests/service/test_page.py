"""The page without a script: what forms send, and what comes back."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import httpx
import pytest

import neardup
from neardup.errors import ReadError
from neardup.service.pages import cut_out
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


def test_find__parts_of_a_long_text(client):
    """A passage index has no document like the text, but one of its passages."""
    text = f"{'Quite other words come first, many of them. ' * 3} {PASSAGE} And more after that."
    page = check(client.post("/", data={"text": text, "index": "passages"}))
    assert sum(PASSAGE in part for part in parts(page, "mark")) == 4
    assert "docs: " not in page


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


def test_find__no_more(client):
    """A page behind the last one says so; one that cannot be made says why, and nothing else."""
    asked = {"text": DOCUMENTS["raven"], "index": "passages", "before": "20"}
    assert "There are no more." in check(client.post("/", data=asked))
    page = check(client.post("/", data=asked | {"index": "docs", "cursor": "x"}))
    assert "cursor" in "".join(parts(page, "p"))
    assert "There are no more." not in page


def test_find__where(client):
    asked = {"text": DOCUMENTS["raven"], "where": "id = 'raven'"}
    page = check(client.post("/", data=asked))
    assert "docs: 1 document" in page
    assert "A condition is on documents that are found as a whole." in page
    assert 'value="id = &#39;raven&#39;"' in page
    page = check(client.post("/", data=asked | {"where": "id = 'nobody'", "index": "docs"}))
    assert "Nothing here is as similar" in page
    assert "The nearest" not in page
    for wrong in ("<b> = 1", "colour = 'red'"):
        page = check(client.post("/", data=asked | {"where": wrong, "index": "docs"}))
        assert 'class="note"' in page
        assert "where" in "".join(parts(page, "p"))


def test_find__columns_and_marked_words(client):
    text = DOCUMENTS["raven"].replace("weak", "tired<img src=x>out")
    page = check(client.post("/", data={"text": text, "index": "docs"}))
    assert "<i>raven</i>" in parts(page, "dd")
    marks = re.findall(r"<mark>(.*?)</mark>", page, re.DOTALL)
    assert any("pondered <b>tired&lt;img src=x&gt;out</b> and" in mark for mark in marks)
    assert any("pondered <b>weak</b> and" in mark for mark in marks)


@each_of(
    ("length", "place", "shown"),
    [
        (300, (100, 200), ("…", 80, [100], 80, "…")),
        (300, (80, 220), ("", 80, [140], 80, "")),
        (5000, (1000, 2000), ("…", 80, [300, 0, 300], 80, "…")),
        (600, (0, 600), ("", 0, [600], 0, "")),
    ],
)
def test_cut_out__whole_or_marked(length, place, shown):
    """What is left out is said, before, behind and within."""
    text = "".join(chr(0x4E00 + at) for at in range(length))
    cut = cut_out(text, place)
    left, n_before, pieces, n_after, right = shown
    assert cut.before == left + text[place[0] - n_before : place[0]]
    assert cut.after == text[place[1] : place[1] + n_after] + right
    assert [len(piece.text) for piece in cut.pieces] == pieces
    assert [piece.is_new for piece in cut.pieces] == [None if n == 0 else False for n in pieces]


def test_cut_out__changes_in_what_is_shown():
    text = "".join(chr(0x4E00 + at) for at in range(2000))
    changes = [(10, 20), (250, 350), (800, 900), (1150, 1200)]
    pieces = cut_out(text, (0, 1200), changes).pieces
    assert "".join(piece.text for piece in pieces) == text[:300] + text[900:1200]
    new = [piece.text for piece in pieces if piece.is_new]
    assert new == [text[10:20], text[250:300], text[1150:1200]]


def test_find__index_first_that_has_something(client):
    text = f"{'Quite other words come first, many of them. ' * 3} {PASSAGE} And more after that."
    heads = parts(check(client.post("/", data={"text": text, "threshold": "0.9"})), "h2")
    assert [head.split(":")[0] for head in heads] == ["passages", "docs"]


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


def test_find__usual_thresholds_are_said(client):
    page = check(client.get("/"))
    assert "docs 0.2, passages 0.8" in page
    chosen = dict(re.findall(r'<option value="(\w*)" data-least="([^"]*)"', page))
    assert chosen == {"": "0.2", "docs": "0.2", "passages": "0.8"}
    assert client.post("/", data={"text": "x", "index": "none"}).status_code == 404


def test_find__threshold_that_the_index_refuses(client):
    page = check(client.post("/", data={"text": "some words", "threshold": "0.1"}))
    assert sum("threshold must" in part or "recall" in part for part in parts(page, "p")) == 2


def test_browse__every_document(client):
    page = check(client.get("/browse", params={"index": "docs"}))
    links = [html.unescape(link) for link in re.findall(r'<h3><a href="([^"]+)"', page)]
    assert len(links) == len(DOCUMENTS)
    assert "<i>raven</i>" in parts(page, "dd")
    for link, text in zip(links, DOCUMENTS.values(), strict=True):
        shown = re.search(r'class="text whole"[^>]*>(.*?)</div>', client.get(link).text, re.DOTALL)
        assert html.unescape(shown[1]) == text.replace("\0", "␀")


def test_browse__number(client):
    page = check(client.get("/browse", params={"index": "docs", "number": 3}))
    assert "Documents 3 to 3 of 3" in page
    assert "number=1" in page
    assert "the last one is number 3." in check(client.get("/browse?number=50"))
    for wrong in ("x", "-1", "0", "9" * 50):
        check(client.get("/browse", params={"number": wrong}), 422)


def test_browse__looks_up_an_id(client):
    page = check(client.get("/browse", params={"index": "docs"}))
    assert '<form method="get" action="/document"' in page
    for given in ("raven", " raven "):
        assert "<h1><bdi>raven</bdi></h1>" in check(
            client.get("/document", params={"index": "docs", "id": given})
        )
    # One that is not there may be typed again.
    page = check(client.get("/document", params={"index": "docs", "id": HOSTILE}), 404)
    assert 'name="id" value="&lt;/textarea' in page


def test_document__columns(client):
    page = check(client.get("/document", params={"index": "docs", "id": "raven"}))
    assert "<i>raven</i>" in parts(page, "dd")


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


def test_compare__pasted_texts(client):
    form = {"text_a": DOCUMENTS["raven"], "text_b": f"He said {PASSAGE}.\r\nAnd went."}
    page = check(client.post("/compare", data=form))
    assert "Jaccard similarity" in page
    assert check(client.get("/compare")).count("<textarea") == 2


def test_compare__too_long(client, running):
    most = running.service.limits.compared_characters
    form = {"text_a": "x " * most, "text_b": "y"}
    assert "characters" in check(client.post("/compare", data=form), 413)


def test_form__that_cannot_be_read(client):
    kind = {"content-type": "application/x-www-form-urlencoded"}
    check(client.post("/", content=b"\xff\xfe", headers=kind), 400)
    check(client.post("/", content=b"&".join([b"a=1"] * 30), headers=kind), 400)
    check(client.post("/", json={"text": "x"}), 415)


@pytest.mark.parametrize(("path", "kind"), [("/page.css", "text/css"), ("/page.js", "javascript")])
def test_static(client, path, kind):
    answer = client.get(path)
    assert kind in answer.headers["content-type"]
    assert "://" not in answer.text
