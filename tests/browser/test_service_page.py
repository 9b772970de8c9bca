"""The service's page in a real browser: paste, find, compare; hostile text, keys, a phone."""

from __future__ import annotations

import json
import os

import pytest

import neardup
from neardup.service.served import ServedDocuments, ServedPassages
from tests.browser.rules import WINDOWS, check_keyboard, check_page
from tests.docs.pages import ROOT
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


def test_find__more_than_fit_on_a_page(browse, tmp_path):
    """Page by page, each document once, the most similar first; nothing is counted as all there."""
    # The later ones say more, two at a time as much.
    more = [" ".join(f"end{k}x{word}" for word in range(k // 2 + 1)) for k in range(23)]
    texts = {f"d{k}": f"{PASSAGE} {end}" for k, end in enumerate(more)}
    texts["same"] = PASSAGE
    served = []
    for name, made in (
        ("d", neardup.DocumentIndex.create(tmp_path / "d", threshold="0.1", ngram=1)),
        ("p", neardup.PassageIndex.create(tmp_path / "p", min_tokens=10, num_perm=32)),
    ):
        made.add([{"id": key, "text": text} for key, text in texts.items()])
        kind = ServedDocuments if name == "d" else ServedPassages
        served.append(kind(name, made, is_writable=False))
    in_d = "go:document.querySelector('section:has(input[value=d]) button.more').click()"
    in_p = "go:document.querySelector('section:has(input[value=p]) button.more').click()"
    button = "document.querySelector('button.more')?.textContent ?? null"
    for running in start_service(served, PATIENT):
        for click, heading in ((in_d, "d: 24 documents"), (in_p, "p: 24 documents with such")):
            steps = (paste(PASSAGE), SEEN, button, click, SEEN, button)
            first, label, rest, none = browse(running.url + "/", *steps).values
            here = ["d", "p"].index(heading[0]) * 20
            ids = [*first["ids"][here : here + 20], *rest["ids"]]
            assert sorted(ids) == sorted(texts)
            assert heading[0] == "p" or ids == ["same", *(f"d{k}" for k in range(23))]
            assert (label, none) == ("Show 4 more", None)
            assert any(each.startswith(heading) for each in first["headings"])
            assert [each.rpartition(", ")[2] for each in rest["headings"]] == ["21 to 24"]
            assert {each.rpartition(", ")[2] for each in first["headings"]} == {"1 to 20"}
        # What is made up leads nowhere, and says so.
        odd = (
            "go:for (const e of document.querySelectorAll('[name=cursor]')) e.value = 'x';"
            "document.querySelector('button.more').click()"
        )
        page = "document.querySelector('#found').textContent"
        assert "cursor" in browse(running.url + "/", paste(PASSAGE), odd, page).value


def test_find__hostile_text(visit):
    seen = visit("/", paste(DOCUMENTS[HOSTILE_ID]), SEEN)
    assert HOSTILE_ID in seen["ids"]
    assert seen["title"] == "Find what is like a text - neardup"


def test_find__with_keys_alone(visit):
    """Tab to the field, type, and send with Control and Enter; then on to side by side."""
    first = "document.getElementById('text').focus(), document.activeElement.id"
    assert visit("/", first) == "text"
    # No keys at first: a page that has just been loaded may not listen yet on a busy machine.
    steps = [*["keys:"] * 5, "keys:" + "Tab " * 6, f"type:{PASSAGE}", "press:Control+Return"]
    seen = visit("/", *steps[:-1], "document.activeElement.value.trim()")
    assert seen == PASSAGE
    marks = visit("/", *steps, SEEN)["marks"]
    assert marks


def test_find__a_dropped_file(visit):
    script = """(async () => {
      const files = new DataTransfer();
      files.items.add(new File(['text of a file'], 'a.txt'));
      const field = document.getElementById('text');
      field.dispatchEvent(new DragEvent('drop', {dataTransfer: files, cancelable: true}));
      await new Promise((done) => setTimeout(done, 200));
      return field.value;
    })()"""
    assert visit("/", script) == "text of a file"


def test_find__threshold_as_number_and_slider(visit):
    """They say the same; without a number it is what the chosen index has."""
    script = """(() => {
      const [number, slider, index] = ['threshold', 'slider', 'index'].map(
        (id) => document.getElementById(id));
      const seen = () => [number.value, number.placeholder, slider.value];
      const change = (field, value, kind) => {
        field.value = value;
        field.dispatchEvent(new Event(kind));
        return seen();
      };
      return [
        seen(),
        change(index, 'passages', 'change'),
        change(number, '0.55', 'input'),
        change(slider, '0.9', 'input'),
        change(number, '', 'input'),
        change(index, 'library', 'change'),
        change(slider, '0.1', 'input'),
      ];
    })()"""
    assert visit("/", script) == [
        ["", "0.3 to 0.8", "0.3"],
        ["", "0.8", "0.8"],
        ["0.55", "0.8", "0.55"],
        ["0.9", "0.8", "0.9"],
        ["", "0.8", "0.8"],
        ["", "0.3", "0.3"],
        # Less is not to be had.
        ["0.3", "0.3", "0.3"],
    ]


def test_add_and_remove__with_keys_alone(visit):
    """An id, a text, twice Enter; then the link to remove it, and Enter again."""
    # No keys at first, as above, on any page.
    wait = ["keys:"] * 5

    def focus(which: str) -> str:
        return f"document.querySelector('{which}').focus()"

    at = "document.querySelector('h1').textContent"
    typed = [*wait, focus("#id"), "type:new one", focus("#text"), f"type:{PASSAGE}"]
    confirmed = [*wait, focus(".first"), "press:Return", at]
    assert visit("/add?index=library", *typed, "press:Control+Return", *confirmed) == "new one"
    removed = [*wait, focus("button.danger"), "press:Return", at]
    assert visit("/remove?index=library&id=new+one", *removed) == "new one was removed"


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


def test_picture__of_the_documentation(visit, tmp_path):
    """It can be made; NEARDUP_UPDATE_DOCS=1 puts it where the page shows it."""
    folder = ROOT / "docs" if os.environ.get("NEARDUP_UPDATE_DOCS") == "1" else tmp_path
    file = folder / "serving-find.png"
    chosen = "document.querySelector('select').value = 'library'"
    # Of the form what says how similar, and what was found.
    steps = [chosen, paste(PASTED), "scrollTo(0, 398)"]
    visit("/", *steps, width=900, height=560, picture=file)
    assert 5_000 < file.stat().st_size < 40_000
