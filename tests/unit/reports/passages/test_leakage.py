"""The page of a search: which items are where, the least alike first."""

from __future__ import annotations

import re

from neardup.reports.passages import leakage
from neardup.reports.passages.leakage import leakage_report, wanted_texts
from neardup.reports.passages.model import About

ITEMS = ["How many rolls are left?", "How many books are there?"]
CORPUS = ["Before. How many rolls are left? After.", "How many cows are there? I say."]
ROWS = [
    (0, 0, 24, 2, 8, 32, 1.0),
    (1, 0, 25, 3, 0, 24, 0.8),
    (0, 0, 24, 3, 0, 24, 0.6),
]
FILES = ["items.jsonl", "items.jsonl", "x.jsonl", "y.jsonl"]


def rows_of(html: str) -> list[list[str]]:
    body = re.search(r"Items and where they are.*?<tbody>(.*?)</tbody>", html, re.S)[1]
    return [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in body.split("</tr>")[:-1]]


def test_leakage_report__items_and_where_they_are(make_passages):
    passages = make_passages([*ITEMS, *CORPUS], ROWS, is_one=False, files=FILES)
    report = leakage_report(passages, About({"threshold": 0.6}, [5, 2]))
    assert report.headline == "2 of 5 test items were found"
    assert rows_of(report.html) == [["d1", "0.8000", "1", "d3"], ["d0", "1.0000", "2", "d2, d3"]]
    facts = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", report.html)
    assert facts == [
        ("items found", "2"),
        ("items not found", "3"),
        ("found with all their words", "1"),
        ("documents that have one", "2"),
    ]


def test_leakage_report__what_stands_around(make_passages):
    passages = make_passages([*ITEMS, *CORPUS], ROWS, is_one=False, files=FILES)
    html = leakage_report(passages, About()).html
    assert '<span class="around">Before. </span>How many rolls' in html
    assert '<span class="around"> After.</span>' in html
    assert re.search("<del>books *</del>", html)
    assert re.search("<ins>cows *</ins>", html)


def test_leakage_report__says_what_is_left_out(make_passages, monkeypatch):
    monkeypatch.setattr(leakage, "MOST_SHOWN", 1)
    passages = make_passages([*ITEMS, *CORPUS], ROWS, is_one=False, files=FILES)
    html = leakage_report(passages, About()).html
    assert "The 1 least alike are shown with their texts, of 2." in html
    assert html.count('<details class="item"') == 1
    assert wanted_texts(passages) == [1, 3]
