"""The service's page in a browser: its forms, hostile text, keys, a phone."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

import neardup
from neardup.service.requests import read_tokens
from tests.browser.rules import WINDOWS, check_keyboard, check_page
from tests.service.conftest import TOKEN, start_service

pytestmark = pytest.mark.browser

PASSAGE = (
    "Once upon a midnight dreary, while I pondered, weak and weary, over many a quaint and curious "
    "volume of forgotten lore, while I nodded, nearly napping, suddenly there came a tapping"
)
HOSTILE = (
    "</textarea><script>alert(1)</script><img src=http://example.invalid/x onerror=alert(2)>"
    "<base href=//example.invalid/>\u202egnp \U0001f600 \u2066"
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
PASTED = f"I remember it well \U0001f600: {PASSAGE.lower()}, and so on, as my teacher used to say."


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("indexes")
    documents = neardup.DocumentIndex.create(
        folder / "poems", threshold="0.3", text=neardup.TextOptions(ngram=2)
    )
    passages = neardup.PassageIndex.create(folder / "passages", min_tokens=10, num_perm=32)
    for index in (documents, passages):
        index.add([{"id": key, "text": text} for key, text in DOCUMENTS.items()])
    for running in start_service([str(folder / "poems"), str(folder / "passages")]):
        yield running.url


def waiting(condition: str) -> str:
    """Return a step that waits until something is on the page."""
    return (
        "new Promise((done) => { const look = () => "
        f"({condition}) ? done(true) : setTimeout(look, 20); look(); }})"
    )


READY = waiting("document.querySelectorAll('#index option').length")
RESULT = waiting("document.querySelector('#result *')")


def submit(form: str, index: str = "poems", **fields: str) -> list[str]:
    """Return the steps that fill in a form and send it."""
    values = "".join(
        f"$('{form}').elements['{name}'].value = {json.dumps(value)};"
        for name, value in fields.items()
    )
    return [
        f"(location.hash = '{form}', $('index').value = '{index}', 1)",
        f"(() => {{ view(); {values} $('{form}').requestSubmit("
        f"$('{form}').querySelector('button')); }})()",
        RESULT,
    ]


SEEN = """({
  heading: document.querySelector('#result').textContent,
  ids: [...document.querySelectorAll('#result .id')].map((e) => e.textContent),
  texts: [...document.querySelectorAll('#result .text')].map((e) => e.textContent),
  marks: [...document.querySelectorAll('#result mark')].map((e) => e.textContent),
  changes: [...document.querySelectorAll('#result mark b')].map((e) => e.textContent),
  scripts: document.querySelectorAll('script, img, base').length,
  focus: document.activeElement.id,
})"""


@pytest.fixture
def visit(browse, url):
    """Open the page, take steps, and return the value of the last one."""
    return lambda *steps, **window: browse(f"{url}/", READY, *steps, **window).value


def test_look_up__documents(visit):
    done = waiting("document.querySelectorAll('#result article').length > 2")
    seen = visit(*submit("look-up", text=PASTED), done, SEEN)
    assert seen["heading"].startswith("3 similar documents")
    assert set(seen["ids"]) == {"The Raven", "A school edition", HOSTILE_ID}
    # Who cannot see is taken to the result.
    assert (seen["focus"], seen["scripts"]) == ("result", 1)
    nothing = visit(*submit("look-up", text="quite other words"), SEEN)
    assert nothing["heading"].startswith("Nothing similar")


def test_look_up__passages(visit):
    seen = visit(*submit("look-up", "passages", text=PASTED), SEEN)
    assert seen["heading"].startswith("3 similar passages")
    # Offsets count code points.
    assert seen["marks"][0].startswith("once upon a midnight dreary")
    assert seen["marks"][0].endswith("there came a tapping")
    assert any(mark.startswith("Once upon a midnight") for mark in seen["marks"])


@pytest.mark.parametrize("identifier", ["A school edition", HOSTILE_ID])
def test_compare__side_by_side(visit, identifier):
    seen = visit(*submit("compare", a=PASTED, b=DOCUMENTS[identifier]), SEEN)
    assert "shared passage" in seen["heading"]
    assert seen["texts"] == [PASTED, DOCUMENTS[identifier]]
    assert "midnight dreary" in "".join(seen["marks"])
    assert seen["scripts"] == 1
    if identifier == "A school edition":
        assert "forgoten" in "".join(seen["changes"])


def test_browse(visit):
    seen = visit(*submit("browse"), SEEN)
    assert seen["ids"] == list(DOCUMENTS)
    seen = visit(*submit("browse", id=HOSTILE_ID), SEEN)
    assert seen["texts"] == [DOCUMENTS[HOSTILE_ID]]
    assert "no document 'nobody'" in visit(*submit("browse", id="nobody"), SEEN)["heading"]


def test_insert_and_remove(visit):
    seen = visit(*submit("insert", id="copy", text=DOCUMENTS["Other"]), SEEN)
    assert (seen["heading"][:12], seen["ids"]) == ("Not inserted", ["Other"])
    new = {"id": "new", "text": "a text of new words"}
    assert visit(*submit("insert", **new), SEEN)["ids"] == ["new"]
    removed = waiting("$('result').textContent.includes('was removed')")
    steps = ["(window.confirm = () => true, run(() => remove('new')), 1)", removed, SEEN]
    assert visit(*steps)["heading"] == "new was removed. 4 documents left."


def test_token(browse, tmp_path):
    path = tmp_path / "tokens"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    neardup.DocumentIndex.create(tmp_path / "docs").add([{"id": "a", "text": "some text"}])
    for running in start_service([str(tmp_path / "docs")], tokens=read_tokens(path)):
        asked = waiting("!$('sign-in').hidden")
        enter = f"($('token').value = '{TOKEN}', $('sign-in').requestSubmit(), 1)"
        seen = browse(f"{running.url}/", asked, enter, READY, *submit("browse"), SEEN)
        assert seen.value["ids"] == ["a"]


# All is there, and the tabulator starts at the top.
FROM_THE_TOP = [
    waiting("document.querySelectorAll('#result article').length === 3"),
    "(document.querySelector('nav a').focus(), 1)",
]


@pytest.mark.parametrize(
    "steps", [[], [*submit("look-up", text=PASTED), *FROM_THE_TOP]], ids=["form", "result"]
)
def test_page__by_the_tabulator(browse, url, steps):
    def look(*more, **window):
        seen = browse(f"{url}/", READY, *steps, *more, **window)
        return replace(seen, values=seen.values[1 + len(steps) :])

    check_keyboard(look)


@pytest.mark.parametrize(("width", "dark"), WINDOWS)
@pytest.mark.parametrize(
    "steps",
    [
        submit("look-up", text=DOCUMENTS[HOSTILE_ID] + "x" * 300),
        submit("look-up", "passages", text=PASTED),
        submit("browse"),
        submit("browse", id=HOSTILE_ID),
        submit("compare", a=PASTED, b=DOCUMENTS["A school edition"]),
        submit("insert", id="x" * 300, text=DOCUMENTS["Other"]),
    ],
    ids=["documents", "passages", "browse", "document", "compare", "insert"],
)
def test_page__keeps_the_rules(browse, url, steps, width, dark):
    def look(*asked, **window):
        return browse(f"{url}/", READY, *steps, *asked, **window)

    check_page(look, width=width, dark=dark)
