from __future__ import annotations

import pytest

from neardup.files.office_documents import epub_text
from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions
from tests.archives import zip_of
from tests.documents import epub_of
from tests.each import each_of

PAGES = {
    "text/one.xhtml": "<h1>One</h1><p>It was a <b>dark</b> night.</p>",
    "text/two%20b.xhtml": "<p>Second<br/>page &amp; last&nbsp;one</p><script>no</script>",
}
TEXT = "One\n\nIt was a dark night.\nSecond\npage & last\N{NO-BREAK SPACE}one"


def text_of(data: bytes, **options) -> str:
    return epub_text(data, InputOptions(**options))


def words(text: str) -> list[str]:
    return text.replace("\N{NO-BREAK SPACE}", " ").split()


def test_extract__pages_in_the_order_of_reading():
    assert words(text_of(epub_of(PAGES))) == words(TEXT)
    backwards = dict(reversed(PAGES.items()))
    assert words(text_of(epub_of(backwards)))[:1] == ["Second"]


def test_extract__what_is_no_page():
    """Pictures, styles and pages that no one is to read are no text; a page counts once."""
    pages = {**PAGES, "p.svg": "<svg/>"}
    data = epub_of(pages, order=["text/one.xhtml", "p.svg", "none", "text/one.xhtml"])
    assert words(text_of(data)) == words("One It was a dark night.")


def test_extract__document_types():
    """Pages have the type of XHTML, and entities of HTML; those of their own stay as they are."""
    kind = '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" "http://www.w3.org/TR/xhtml11.dtd">'
    assert words(text_of(epub_of(PAGES, prolog=kind))) == words(TEXT)
    lines = ['<!DOCTYPE html [<!ENTITY a0 "ha">']
    lines += [f'<!ENTITY a{i} "{f"&a{i - 1};" * 10}">' for i in range(1, 10)]
    bomb = epub_of({"a.xhtml": "<p>x &a9;</p>"}, prolog="".join([*lines, "]>"]))
    assert len(text_of(bomb)) < 5_000


def test_extract__instructions_are_nothing():
    """No chapter ends at one, and none begins hidden because of one in its head."""
    around = "<?xml-model href='a.rng'?><!-- <?b --><?dp n='5' folio=\"v\"?>"
    pages = {
        name: body.replace("<p>", "<div hidden=''><?a x > 1?></div><p><?php a(); ?>")
        for name, body in PAGES.items()
    }
    assert words(text_of(epub_of(pages, prolog=around))) == words(TEXT)


@each_of(
    ("data", "facts"),
    [
        (b"text", "e-book: .*zip file"),
        (zip_of([("a", b"")]), r"e-book: .*META-INF/container\.xml"),
        (
            zip_of([("META-INF/container.xml", b"<container/>")]),
            "e-book: .*what its pages",
        ),
        (epub_of({"a.xhtml": "<p></p>"}), "no text"),
        (epub_of(PAGES, missing="text/one.xhtml"), r"e-book: .*OPS/text/one\.xhtml"),
    ],
)
def test_extract__what_cannot_be_read(data, facts):
    with pytest.raises(UnreadableFileError, match=facts):
        text_of(data)
