"""Pages: what goes into them is text, and their policy knows their own style and script only."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest

from neardup.errors import OutputExistsError
from neardup.reports.charts import bars_by_file
from neardup.reports.examples import Document, compare_documents
from neardup.reports.page import Fact, Report, Section, Table, data_block, prose

HOSTILE = "<script>alert(1)</script>\"'&amp;\x00\x1b</style>\u2028\ud800`"


def page_of(text: str) -> Report:
    """Make a page with every part, filled with a text."""
    documents = [Document(text, None, None, f"{side} {text}") for side in "ab"]
    rows = [(text, 3, 0.5, None)] * 30
    return Report(
        text,
        text,
        [text],
        [Fact(text, text, "gone")],
        [
            Section(
                "one",
                text,
                text,
                [bars_by_file(text, text, {text: "kept"}, [(text, (3,))])],
                [Table(text, (text, "n", "s", "x"), rows, text)],
                examples=[compare_documents(text, *documents, note=text)],
            ),
            Section("two", text, nothing=text),
            Section("three", text),
        ],
        next_step=text,
    )


def render(text: str) -> str:
    return page_of(text).html


class Scripts(HTMLParser):
    """Gathers tags, and what stands in scripts and styles."""

    def __init__(self):
        super().__init__()
        self.tags, self.inside, self.is_open = [], [], False

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.is_open = True
        self.inside.append("")

    def handle_endtag(self, tag):
        self.is_open = False

    def handle_data(self, data):
        if self.is_open:
            self.inside[-1] += data


def test_report__hostile_texts_are_text():
    html = render(HOSTILE)
    html.encode()
    parser = Scripts()
    parser.feed(html)
    plain = Scripts()
    plain.feed(render("plain"))
    assert [tag for tag, _ in parser.tags] == [tag for tag, _ in plain.tags]
    assert "\x00" not in html
    assert not any(name.startswith("on") or name == "style" for _, a in parser.tags for name in a)


def test_report__policy_names_its_style_and_its_script():
    html = render("plain")
    [policy] = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy.startswith("default-src 'none'; ")
    parser = Scripts()
    parser.feed(html)
    for (tag, attributes), content in zip(parser.tags, parser.inside, strict=True):
        if tag == "style" or (tag == "script" and "type" not in attributes):
            digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
            assert f"'sha256-{digest}'" in policy
    assert "unsafe" not in policy


def test_report__no_address_but_places_within():
    html = render("plain")
    assert set(re.findall(r'(?:href|src|action|srcset)="([^"]*)"', html)) == {
        "#content",
        "#one",
        "#two",
    }
    assert "http://" not in html.replace("http-equiv", "")
    assert "https://" not in html


def test_data_block__is_json_whatever_it_holds():
    block = data_block("data", {"id": HOSTILE, "n": [1, 2.5, None]})
    inside = re.fullmatch(r'<script type="application/json" id="data">(.*)</script>\n', block)
    assert "<" not in inside[1]
    assert json.loads(inside[1])["n"] == [1, 2.5, None]
    assert json.loads(inside[1])["id"] == HOSTILE.replace("\ud800", "\ufffd")


def test_data_block__refuses_what_is_no_json():
    with pytest.raises(ValueError, match="Out of range"):
        data_block("data", float("nan"))


def test_table__rows_as_the_script_writes_them():
    table = Table("t", ("a", "b", "c"), [("x", 1234, 1.0), ("y", 5, None)])
    assert table.kinds == ["text", "count", "share"]
    assert [table.written(cell, k) for k, cell in enumerate(table.rows[0])] == [
        "x",
        "1,234",
        "1.0000",
    ]
    assert table.written(None, 2) == ""
    assert not table.has_data
    html = render("plain")
    assert html.count("<tr><td") >= 12
    assert "12 of 30" in html
    assert "Show all 30" in html
    data = json.loads(re.search(r'id="one-1-rows">(.*?)</script>', html)[1])
    assert data["rows"] == [["plain", 3, 0.5, None], *[[True, 3, 0.5, None]] * 29]


def test_report__sections_without_content_are_left_out():
    assert [section.name for section in page_of("x").sections] == ["one", "two"]


def test_prose__commands_are_code():
    assert prose("a `--b` <c>") == "a <code class=short>--b</code> &lt;c&gt;"


def test_report__as_text_and_in_a_notebook(tmp_path):
    report = page_of("it's")
    frame = report._repr_html_()
    assert 'sandbox="allow-scripts"' in frame
    assert "<h1>" not in frame
    assert repr(report) == "Report(it's)"
    lines = report.to_text().splitlines()
    assert lines[:2] == ["it's", "it's it's"]
    assert "    {-a-} it's" in lines
    report.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == report.html
    with pytest.raises(OutputExistsError):
        report.write(tmp_path / "page.html")
