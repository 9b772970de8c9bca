"""The service's page in a real browser: paste, find, compare; hostile text, keys, a phone."""

from __future__ import annotations

import json

import pytest

import neardup
from neardup.service.served import ServedDocuments, ServedPassages
from tests.browser.rules import WINDOWS, check_keyboard, check_page
from tests.service.conftest import PATIENT, start_service

pytestmark = pytest.mark.browser

PASSAGE = (
    "Once upon a midnight dreary, while I pondered, weak and weary, over many a quaint and curious "
    "volume of forgotten lore, while I nodded, nearly napping, suddenly there came a tapping"
)
HOSTILE = (
    "</textarea><script>alert(1)</script><img src=http://example.invalid/x onerror=alert(2)>"
    "<base href=//example.invalid/>\u202egnp \0 \u2066"
)
HOSTILE_ID = '"><script>alert(3)</script>\u202e'
DOCUMENTS = {
    "The Raven": f"{PASSAGE}, as of some one gently rapping, rapping at my chamber door.",
    "A school edition": (
        f"From a school book. {PASSAGE.replace('forgotten', 'forgoten')}, as of someone gently "
        "knocking. Read it aloud and mark the rhymes."
    ),
    HOSTILE_ID: f"{HOSTILE} {PASSAGE} {HOSTILE}",
    "Other": "Nothing of this kind is to be found in here by anybody who looks for it at all.",
}
PASTED = f"I remember it well: {PASSAGE.lower()}, and so on, as my teacher used to say."


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(folder / "d", threshold="0.3", ngram=2)
    passages = neardup.PassageIndex.create(folder / "p", min_tokens=10, num_perm=32)
    for index in (documents, passages):
        index.add([{"id": key, "text": text} for key, text in DOCUMENTS.items()])
    # Of the pictures.
    library = neardup.DocumentIndex.create(folder / "l", threshold="0.3", ngram=2)
    friendly = {key: text for key, text in DOCUMENTS.items() if key != HOSTILE_ID}
    library.add([{"id": key, "text": text} for key, text in friendly.items()])
    served = [
        ServedDocuments("library", library, is_writable=True),
        ServedDocuments("poems", documents, is_writable=False),
        ServedPassages("passages", passages, is_writable=False),
    ]
    for running in start_service(served, PATIENT):
        yield running.url


@pytest.fixture
def visit(browse, url):
    """Open a page of the service, take steps, and tell the value of the last script."""
    return lambda path, *steps, **window: browse(url + path, *steps, **window).value


def paste(text: str, field: str = "text") -> str:
    value = json.dumps(text)
    return (
        f"go:document.getElementById('{field}').value = {value};"
        f"document.getElementById('{field}').form.requestSubmit()"
    )


# What a form can hold of it.
HELD = json.dumps(DOCUMENTS[HOSTILE_ID].replace("\0", ""))
FILLED_IN = (
    f"go:document.getElementById('id').value = {json.dumps('x' * 300)};"
    f"document.getElementById('text').value = {HELD};"
    "document.querySelector('.first').click()"
)

SEEN = """({
  headings: [...document.querySelectorAll('h2')].map((e) => e.textContent.trim()),
  ids: [...document.querySelectorAll('h3 a')].map((e) => e.textContent),
  marks: [...document.querySelectorAll('mark')].map((e) => e.textContent),
  focus: document.activeElement.id,
  title: document.title,
})"""


def test_find__pasted_text(visit):
    seen = visit("/", paste(PASTED), SEEN)
    names = ["library:", "poems:", "passages:"]
    assert [heading.split()[0] for heading in seen["headings"]] == names
    assert seen["ids"].count("The Raven") == 3
    assert any("midnight dreary" in mark for mark in seen["marks"])
    # Who cannot see is taken to what was found.
    assert seen["focus"] == "found"


def test_find__hostile_text(visit):
    seen = visit("/", paste(DOCUMENTS[HOSTILE_ID]), SEEN)
    assert HOSTILE_ID in seen["ids"]
    assert seen["title"] == "Find what is like a text - neardup"


@pytest.mark.parametrize("path", ["/", "/browse", "/document?index=library&id=Other"])
def test_pages__by_the_tabulator(browse, url, path):
    # No keys at first, as above.
    check_keyboard(lambda *steps, **window: browse(url + path, *["keys:"] * 5, *steps, **window))


@pytest.mark.parametrize("identifier", ["A school edition", HOSTILE_ID])
def test_compare__side_by_side(visit, identifier):
    click = (
        "go:[...document.querySelectorAll('li')].find((e) => "
        f"e.querySelector('h3 a').textContent === {json.dumps(identifier)})"
        ".querySelector('form').requestSubmit()"
    )
    texts = visit(
        "/",
        paste(PASTED),
        click,
        """({
          texts: [...document.querySelectorAll('.text')].map((e) => e.textContent),
          marks: [...document.querySelectorAll('.mark')].map((e) => e.getAttribute('href')),
          lit: (document.querySelector('#a .part').click(),
                document.querySelectorAll('#b .part.on').length),
        })""",
    )
    shown = DOCUMENTS[identifier].replace("\0", "␀")
    assert texts["texts"] == [PASTED, shown]
    assert {"#b-1", "#a-1"} <= set(texts["marks"])
    assert texts["lit"] > 0


@pytest.mark.parametrize(("width", "dark"), WINDOWS)
@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("/", [paste(DOCUMENTS[HOSTILE_ID] + "x" * 300)]),
        ("/browse", []),
        ("/compare", []),
        ("/compare?index_a=poems&id_a=The+Raven&index_b=poems&id_b=A+school+edition", []),
        ("/document?index=poems&id=The+Raven", []),
        ("/document?index=library&id=The+Raven", []),
        ("/document?index=poems&id=none", []),
        ("/document?index=none&id=none", []),
        ("/add?index=library", []),
        ("/add?index=library", [FILLED_IN]),
        ("/remove?index=library&id=Other", []),
        ("/sign-in", []),
        ("/reference", []),
    ],
    ids=[
        *("find", "browse", "compare", "compared", "document", "writable", "missing", "problem"),
        *("add", "added", "remove", "sign-in", "interface"),
    ],
)
def test_pages__keep_the_rules(browse, url, path, steps, width, dark):
    def look(*asked, **window):
        return browse(url + path, *steps, *asked, **window)

    check_page(look, width=width, dark=dark)
