"""The page of a comparison, read by the standard library; tests/browser opens it."""

from __future__ import annotations

import hashlib
import random
import re
from base64 import b64encode
from html.parser import HTMLParser

from neardup.reports.comparison_page import SharedPassage, compare_report
from neardup.reports.page import Table
from tests.each import each_of


class Reader(HTMLParser):
    """Collects what is in the two texts, and all attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.parts: dict[str, list[tuple[list[str], list[str], str]]] = {}
        self.marks: dict[str, dict[str, str]] = {}
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.raw: dict[str, str] = {}
        self._side, self._part, self._tag = "", None, ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        own = dict(attrs)
        self.tags.append((tag, own))
        self._tag = tag
        if own.get("class") == "text" and "id" in own:
            self._side = own["id"]
            self.texts[self._side], self.parts[self._side] = "", []
        elif self._side and tag == "span":
            self._part = (own["class"].split(), own["data-p"].split())
        elif self._side and tag == "a":
            self.marks[own["id"]] = own

    def handle_endtag(self, tag):
        self._part, self._tag = None, ""
        if tag == "div":
            self._side = ""

    def handle_data(self, data):
        if self._side:
            self.texts[self._side] += data
            if self._part:
                self.parts[self._side].append((*self._part, data))
        elif self._tag in ("style", "script"):
            self.raw[self._tag] = self.raw.get(self._tag, "") + data


def page_of(
    texts: tuple[str, str], links: list[SharedPassage], names: tuple[str, str] = ("a", "b")
) -> str:
    table = Table("<i>", ("<i>", "&"), [("1", "<script>")])
    return compare_report(names, texts, links, (0.5, 0.25), [table]).html


def random_links(rng: random.Random, size: int) -> list[SharedPassage]:
    links = []
    for _ in range(rng.randrange(8)):
        places = [sorted(rng.sample(range(size + 1), 2)) for _ in "ab"]
        changes = [
            [(start, start + 1) for start in range(*place) if rng.random() < 0.2]
            for place in places
        ]
        # Ranges that touch are one.
        changes = [[c for c in own if (c[1], c[1] + 1) not in own] for own in changes]
        links.append(SharedPassage(tuple(places[0]), tuple(places[1]), rng.random(), *changes))
    return links


@each_of("seed", range(40))
def test_compare_report__parts_are_the_passages(seed):
    rng = random.Random(seed)
    texts = tuple("".join(rng.choices("ab<>&\"'\n \té🙂", k=40)) for _ in "ab")
    links = random_links(rng, 40)
    read = Reader(page_of(texts, links))
    assert (read.texts["a"], read.texts["b"]) == texts
    for side, text in zip("ab", texts, strict=True):
        other = "b" if side == "a" else "a"
        for number, link in enumerate(links, 1):
            start, stop = getattr(link, side)
            own = [part for part in read.parts[side] if str(number) in part[1]]
            assert "".join(piece for *_, piece in own) == text[start:stop]
            mark = read.marks[f"{side}-{number}"]
            assert mark["href"] == f"#{other}-{number}"
            assert f"{other}-{number}" in read.marks
            assert mark["class"].split()[1] == f"c{(number - 1) % 12}"
            if all(len(numbers) == 1 for _, numbers, _ in own):
                changed = [piece for kinds, _, piece in own if "new" in kinds]
                expected = [text[slice(*place)] for place in getattr(link, f"changes_{side}")]
                assert changed == expected
        for kinds, numbers, _ in read.parts[side]:
            assert kinds[:2] == ["part", f"c{(int(numbers[-1]) - 1) % 12}"]
            assert ("many" in kinds) == (len(numbers) > 1)


def test_compare_report__loads_nothing():
    hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
    read = Reader(
        page_of((hostile, hostile), [SharedPassage((0, 9), (2, 9), 1.0)], (hostile, hostile))
    )
    assert read.texts == {"a": hostile, "b": hostile}
    for tag, own in read.tags:
        assert tag not in ("img", "iframe", "link", "object", "base", "form")
        assert own.get("href", "#").startswith("#")
        assert "src" not in own
        assert not any(name.startswith("on") for name in own)
    assert [own for tag, own in read.tags if tag == "script"] == [{}]
    [policy] = [own["content"] for _, own in read.tags if "http-equiv" in own]
    for tag in ("style", "script"):
        digest = b64encode(hashlib.sha256(read.raw[tag].encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert not re.search(r"https?:|url\(|@import|unsafe", policy + read.raw["style"])


def test_compare_report__what_html_cannot_hold():
    read = Reader(page_of(("a\0b\x1b\rc\r\n\ud83d", "\ufeff\udc00"), []))
    assert read.texts == {"a": "a␀b␛\rc\r\n\ufffd", "b": "\ufeff\ufffd"}
    assert "&#13;\n" in page_of(("c\r\n", ""), [])
    page_of(("\ud800", "b"), [], ("\udcff.txt", "b")).encode()
