"""The page of an alignment: its sections, and what stands where there is nothing to show."""

from __future__ import annotations

import json
import re

import pytest

from neardup.reports.passages.model import About
from neardup.reports.passages.page import passage_report

TEXTS = [
    "In the beginning was the word, and the word was there. Then came the others, one by one.",
    "Long before, in the beginning was the word, and a word was there. And that was all.",
    "One by one they came. In the beginning was the word, and the word was there.",
]
ROWS = [
    (0, 0, 53, 1, 13, 65, 0.9),
    (0, 0, 53, 2, 22, 75, 1.0),
    (1, 13, 65, 2, 22, 75, 0.9),
]


def sections(html: str) -> list[str]:
    return re.findall(r'<section id="(\w+)"', html)


def data(html: str) -> dict:
    return json.loads(re.search(r'id="listing-data">(.*?)</script>', html)[1])


def test_passage_report__sections_and_contents(make_passages):
    report = passage_report(make_passages(TEXTS, ROWS), About({"threshold": 0.5}, [3]))
    assert report.headline == "3 shared passages in 3 pairs of documents"
    named = sections(report.html)
    assert named == ["who", "passages", "examples", "figures", "how"]
    linked = re.findall(r'<a href="#(\w+)">', report.html.split("</nav>")[0])
    assert linked == named
    assert len(data(report.html)["passages"]) == 3


def test_passage_report__nothing_found(make_passages):
    report = passage_report(make_passages([], []), About({"min_tokens": 50}, [7, 9]))
    assert report.headline == "No shared passages"
    assert "No two documents share a passage of 50 tokens or more" in report.html
    assert "--min-tokens" in report.html
    assert 'id="listing-data"' not in report.html


def test_passage_report__without_texts_says_how_to_have_them(make_passages):
    passages = make_passages([None, None, None], ROWS, lengths=[90, 90, 90])
    report = passage_report(passages, About(how_to_give_texts="Name the documents."))
    assert "Name the documents." in report.html
    assert "<del>" not in report.html


def test_passage_report__has_the_texts_of_the_table(make_passages):
    found = [("The quick fox", "The slow fox")]
    rows = [(0, 5, 18, 1, 9, 21, 0.5)]
    texts = found.__getitem__
    passages = make_passages([None, None], rows, lengths=[18, 21], texts_of_row=texts)
    html = passage_report(passages, About()).html
    assert "<del>quick" in html
    assert "<ins>slow" in html


def test_passage_report__hostile_ids_and_texts_are_text(make_passages):
    hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    texts = [f"{hostile} {text}" for text in TEXTS]
    n = len(hostile) + 1
    rows = [(q, s + n, e + n, d, ds + n, de + n, x) for q, s, e, d, ds, de, x in ROWS]
    passages = make_passages(texts, rows, files=[hostile] * 3)
    html = passage_report(passages, About({"id_column": hostile})).html
    assert "<script>alert" not in html
    assert "<img" not in html
    assert data(html)["passages"][0][7] == TEXTS[0][:53]


@pytest.mark.parametrize(("n", "kind"), [(3, "text"), (60, "text"), (61, "file")])
def test_passage_report__many_texts_are_put_together_by_files(make_passages, n, kind):
    rows = [(k, 0, 10, n + k, 0, 10, 1.0) for k in range(n)]
    files = ["a.txt"] * n + ["b.txt"] * n
    passages = make_passages([None] * 2 * n, rows, files=files, lengths=[10] * 2 * n, is_one=False)
    html = passage_report(passages, About()).html
    assert f"Characters that {kind}s share" in html
    if kind == "file":
        # All pairs of 10 characters in one cell.
        assert f"<title>a.txt, b.txt: {10 * n}</title>" in html
