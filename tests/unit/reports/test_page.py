"""Pages: what goes into them is text, and their policy knows their own style and script only."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from jinja2 import ChoiceLoader, DictLoader

from neardup.reports import page as pages
from neardup.reports.page import Report, data_block, render_page

TEMPLATE = """{% extends "base.html" %}{% import "parts.html" as parts %}
{% block head %}{{ parts.head("test", title, [text], [(text, text, "gone")]) }}{% endblock %}
{% block content %}{% call parts.section("one", text) %}{{ parts.note(text) }}{% endcall %}
{{ parts.table([text], [[text, 3]], text) }}{% endblock %}
{% block data %}{{ data }}{% endblock %}"""

HOSTILE = "<script>alert(1)</script>\"'&amp;\x00\x1b</style>\u2028\ud800"


@pytest.fixture
def render(monkeypatch):
    environment = pages.templates_of("neardup.reports")
    templates = ChoiceLoader([environment.loader, DictLoader({"test.html": TEMPLATE})])
    monkeypatch.setattr(environment, "loader", templates)

    def rendered(text):
        data = data_block("data", {"text": text})
        contents = [("one", text)]
        return render_page("test.html", title=text, contents=contents, text=text, data=data)

    return rendered


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


def test_render_page__hostile_texts_are_text(render):
    html = render(HOSTILE)
    html.encode()
    parser = Scripts()
    parser.feed(html)
    plain = Scripts()
    plain.feed(render("plain"))
    assert [tag for tag, _ in parser.tags] == [tag for tag, _ in plain.tags]
    assert "\x00" not in html
    assert not any(name.startswith("on") or name == "style" for _, a in parser.tags for name in a)


def test_render_page__policy_names_its_style_and_its_script(render):
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


def test_render_page__no_address_but_places_within(render):
    html = render("plain")
    assert set(re.findall(r'(?:href|src|action|srcset)="([^"]*)"', html)) == {"#content", "#one"}
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


def test_report__in_a_notebook_is_a_frame_of_its_own(tmp_path):
    report = Report("<p title='x'>page</p>", "all & nothing")
    frame = report._repr_html_()
    assert 'srcdoc="&lt;p title=&#x27;x&#x27;&gt;page&lt;/p&gt;"' in frame
    assert 'sandbox="allow-scripts"' in frame
    assert repr(report) == "Report(all & nothing)"
    report.write(tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text() == report.html
