"""The page of a deduplication: documents are looked up, and figures are those of the tables."""

from __future__ import annotations

import json

import pytest

from tests.browser.dedup_pages import dedup_page
from tests.browser.page_cases import ENGLISH, HOSTILE

pytestmark = pytest.mark.browser

ROWS = {
    "one.jsonl": [("first", ENGLISH), (HOSTILE[0], f"{ENGLISH} And more of it.")],
    "two.jsonl": [("copy", ENGLISH), ("near", ENGLISH.replace("dreary", "rainy")), ("else", "no")],
}


@pytest.fixture(scope="module")
def page() -> str:
    return dedup_page(ROWS)


def look_up(part: str) -> str:
    """Return a script that types a part of an id, and tells what is shown."""
    return f"""(() => {{
      const input = document.getElementById('lookup-id');
      input.focus();
      input.value = {json.dumps(part)};
      const start = performance.now();
      input.dispatchEvent(new Event('input'));
      return {{
        milliseconds: performance.now() - start,
        count: document.getElementById('lookup-count').textContent,
        rows: [...document.querySelectorAll('#lookup-rows tr')].map(
          (row) => [...row.cells].map((cell) => cell.textContent)),
        hidden: document.getElementById('lookup-region').hidden,
      }};
    }})()"""


COPY = ["copy", "two.jsonl", "1", "exact copy", "first", "one.jsonl", "1"]


@pytest.mark.parametrize(
    ("part", "ids", "count"),
    [
        ("copy", ["copy"], "1 found."),
        ("first", [HOSTILE[0], "copy", "near"], "3 found."),
        ("ne", ["near"], "1 found."),
        ("alert(1)", [HOSTILE[0]], "1 found."),
        ("else", [], "No removed document that is listed here"),
        ("", [], ""),
    ],
)
def test_look_up(browse, page, part, ids, count):
    seen = browse(page, look_up(part)).value
    assert [row[0] for row in seen["rows"]] == ids
    assert seen["count"].startswith(count)
    assert seen["hidden"] is (not ids)


def test_look_up__tells_where_documents_are(browse, page):
    assert browse(page, look_up("copy")).value["rows"] == [COPY]


def test_figures__are_those_of_the_tables(browse, page):
    script = """({
      facts: Object.fromEntries([...document.querySelectorAll('.facts div')].map(
        (div) => [div.querySelector('dt').textContent, div.querySelector('dd').textContent])),
      flows: [...document.querySelectorAll('#flows tbody tr')].slice(0, 2).map(
        (row) => [...row.cells].map((cell) => cell.textContent.replace('\\u00a0', ' '))),
      removed: [...document.querySelectorAll('del')].map((mark) => mark.textContent.trim()),
      added: [...document.querySelectorAll('ins')].map((mark) => mark.textContent.trim()),
    })"""
    seen = browse(page, script).value
    assert seen["facts"] == {
        "documents came in": "5",
        "stay": "2",
        "removed as exact copies": "1",
        "removed as near-duplicates": "2",
    }
    assert seen["flows"] == [
        ["one.jsonl", "2", "1", "1", "0", "50.0 %"],
        ["two.jsonl", "3", "1", "2", "1", "66.7 %"],
    ]
    assert "rainy" in seen["removed"]
    assert "dreary" in seen["added"]
