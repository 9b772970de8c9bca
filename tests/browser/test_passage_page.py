"""The page of an alignment: its list of passages has, finds and sorts what the table has."""

from __future__ import annotations

import random

import pytest

from tests.browser.page_cases import HOSTILE
from tests.browser.passage_pages import passage_page

pytestmark = pytest.mark.browser

RNG = random.Random(11)
WORDS = [f"word{i}🙂" if i % 50 == 0 else f"word{i}" for i in range(400)]


def own(n: int) -> str:
    return " ".join(RNG.choices(WORDS, k=n)) + "\r\n"


def put(text: list[str], passage: str) -> tuple[int, int]:
    """Add a passage to a text, and something behind it; tell where the passage is."""
    start = len("".join(text))
    text += [passage, f"\n{own(400)}{HOSTILE[0]}"]
    return start, start + len(passage)


def made_up() -> tuple[list[str], list[tuple[int, ...]]]:
    """Make three texts; a and b share five passages, of which the last of a is the first of b."""
    shared = [" ".join(RNG.choices(WORDS, k=120)) for _ in range(5)]
    a, b = [own(300)], [own(30)]
    in_a = {k: put(a, shared[k]) for k in (0, 1, 2, 3, 4)}
    in_b = {k: put(b, shared[k]) for k in (4, 0, 1, 2, 3)}
    rows = [(0, *in_a[k], 1, *in_b[k]) for k in range(5)]
    return ["".join(a), "".join(b), shared[0]], [*rows, (0, *in_a[0], 2, 0, len(shared[0]))]


TEXTS, ROWS = made_up()


@pytest.fixture(scope="module")
def page() -> str:
    return passage_page(TEXTS, ROWS, ["a", "b", "c"])


LISTED = """[...document.querySelectorAll('#listing-rows tbody tr')].map((row) =>
  [...row.children].map((cell) => cell.textContent))"""
COUNT = "document.getElementById('listing-count').textContent"


def enter(name: str, value: object, event: str = "input") -> str:
    change = f"control.value = '{value}'; control.dispatchEvent(new Event('{event}'))"
    return f"((control) => {{ {change} }})(document.getElementById('listing-{name}'))"


def test_listing__has_all_passages(browse, page):
    rows, count = browse(page, LISTED, COUNT).values
    assert count == "6 passages"
    expected = sorted(ROWS, key=lambda row: (row[0], row[1], row[3]))
    for found, row in zip(rows, expected, strict=True):
        assert found[0] == f"{'abc'[row[0]]} {row[1]:,}–{row[2]:,}"
        assert found[2] == f"{'abc'[row[3]]} {row[4]:,}–{row[5]:,}"
        for k, text, start in ((1, row[0], row[1]), (3, row[3], row[4])):
            assert found[k] == f"{TEXTS[text][start : start + 300]} …"
        assert found[4] == f"{max(row[2] - row[1], row[5] - row[4]):,}"


def test_listing__is_filtered_and_sorted(browse, page):
    word = TEXTS[2].split()[3]
    has_it = [row for row in ROWS if word in TEXTS[row[0]][row[1] : row[1] + 300]]
    lengths = "document.querySelectorAll('#listing-rows [data-by]')[2].click()"
    seen = browse(
        page,
        *(enter("words", word.upper()), LISTED, enter("words", "")),
        *(enter("document", 2, "change"), LISTED, enter("document", "", "change")),
        *(enter("least", 1 << 20), COUNT, enter("least", 0)),
        *(lengths, LISTED, lengths, LISTED),
    ).values
    of_words, of_document, none, falling, rising = (each for each in seen if each is not None)
    assert len(of_words) == len(has_it) > 0
    assert [row[2][0] for row in of_document] == ["c"]
    assert none == "0 of 6 passages"
    numbers = [int(row[4].replace(",", "")) for row in falling]
    assert numbers == sorted(numbers, reverse=True)
    assert [int(row[4].replace(",", "")) for row in rising] == sorted(numbers)


def test_places__as_they_are_cited(browse):
    cited = [(f"page {k}", f"Gen {k}:1 {HOSTILE[1]}") for k in range(6)]
    page = passage_page(TEXTS, ROWS, ["a", "b", "c"], cited)
    title = "document.querySelector('#listing-rows .place').title"
    seen = browse(page, LISTED, title, enter("words", "gen 3:1"), LISTED).values
    listed, shown, found = (each for each in seen if each is not None)
    expected = sorted(range(6), key=lambda k: (ROWS[k][0], ROWS[k][1], ROWS[k][3]))
    names = ["abc"[ROWS[k][3]] for k in expected]
    assert [row[0] for row in listed] == [f"a {cited[k][0]}" for k in expected]
    assert [row[2] for row in listed] == [
        f"{name} {cited[k][1]}" for name, k in zip(names, expected, strict=True)
    ]
    assert shown == f"characters {ROWS[0][1]:,}–{ROWS[0][2]:,}"
    assert [row[0] for row in found] == ["a page 3"]
