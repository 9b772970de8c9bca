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
    """Return a script that types a part of an id, and returns the rows and the count."""
    return f"""(() => {{
      const box = document.getElementById('removed-1'), input = box.querySelector('input');
      input.value = {json.dumps(part)};
      input.dispatchEvent(new Event('input'));
      return {{
        count: box.querySelector('[role=status]').textContent,
        rows: [...box.querySelectorAll('tbody tr')].map(
          (row) => [...row.cells].map((cell) => cell.textContent)),
        button: box.querySelector('.about button').hidden,
      }};
    }})()"""


def many() -> str:
    """Make the page of more removed documents than are visible at once."""
    more = [(f"more {n}", ENGLISH) for n in range(30)]
    return dedup_page({**ROWS, "three.jsonl": more})


@pytest.mark.parametrize(
    ("part", "n", "count"),
    [
        ("copy two.jsonl", 1, "1 of 1 found among 33"),
        ("more three.jsonl", 12, "12 of 30 found among 33"),
        ("alert(1)", 1, "1 of 1 found among 33"),
        ("nowhere", 0, "0 of 0 found among 33"),
        ("", 12, "12 of 33"),
    ],
)
def test_look_up(browse, part, n, count):
    seen = browse(many(), look_up(part)).value
    assert (len(seen["rows"]), seen["count"]) == (n, count)
    assert seen["button"] is not count.startswith("12 of 3")
    if n == 1:
        assert seen["rows"][0][5:] == ["first", "one.jsonl"]


def test_look_up__all_are_shown_on_request_and_sorted(browse):
    click = "document.querySelector('#removed-1 .about button').click()"
    ids = """[...document.querySelectorAll('#removed-1 tbody tr')].map(
      (row) => row.cells[0].textContent)"""
    sort = "document.querySelectorAll('#removed-1 th button')[0].click()"
    first, every, ordered, falling = (
        value for value in browse(many(), ids, click, ids, sort, ids, sort, ids).values if value
    )
    assert (len(first), len(every)) == (12, 33)
    # The least similar comes first, copies last.
    assert set(first[:2]) == {"near", HOSTILE[0]}
    assert ordered == sorted(every)
    assert falling[0] == ordered[-1]


def test_figures__are_those_of_the_tables(browse, page):
    script = """({
      facts: Object.fromEntries([...document.querySelectorAll('.facts div')].map(
        (div) => [div.querySelector('dt').textContent, div.querySelector('dd').textContent])),
      files: [...document.querySelectorAll('#files-1 tbody tr')].map(
        (row) => [...row.cells].map((cell) => cell.textContent)),
      removed: [...document.querySelectorAll('del')].map((mark) => mark.textContent.trim()),
      added: [...document.querySelectorAll('ins')].map((mark) => mark.textContent.trim()),
    })"""
    seen = browse(page, script).value
    assert seen["facts"] == {
        "documents read": "5",
        "stay": "2",
        "removed as exact copies": "1",
        "removed as near-duplicates": "2",
    }
    assert seen["files"] == [
        ["two.jsonl", "3", "1", "2", "1", "66.7 %"],
        ["one.jsonl", "2", "1", "1", "0", "50.0 %"],
    ]
    assert "rainy" in seen["removed"]
    assert "dreary" in seen["added"]
