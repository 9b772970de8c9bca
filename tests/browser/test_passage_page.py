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


BOX = "document.getElementById('passages-1')"
LISTED = f"""[...{BOX}.querySelectorAll('tbody tr')].map((row) =>
  [...row.cells].map((cell) => cell.textContent))"""
COUNT = f"{BOX}.querySelector('[role=status]').textContent"


@pytest.fixture(scope="module")
def page() -> str:
    # Three times the passages, so that more are there than are visible at once.
    return passage_page(TEXTS, ROWS * 3, ["a", "b", "c"])


def enter(words: str) -> str:
    change = f"input.value = '{words}'; input.dispatchEvent(new Event('input'))"
    return f"((input) => {{ {change} }})({BOX}.querySelector('input'))"


def test_listing__has_the_longest_passages_first(browse, page):
    rows, count = browse(page, LISTED, COUNT).values
    assert count == "12 of 18"
    expected = sorted(ROWS * 3, key=lambda row: row[1] - row[2])[:12]
    for found, row in zip(rows, expected, strict=True):
        assert found[0] == f"{'abc'[row[0]]}, characters {row[1]:,} to {row[2]:,}"
        assert found[2] == f"{'abc'[row[3]]}, characters {row[4]:,} to {row[5]:,}"
        for k, text, start in ((1, row[0], row[1]), (3, row[3], row[4])):
            assert found[k] == f"{TEXTS[text][start : start + 300]} …"
        assert found[4] == f"{row[2] - row[1]:,}"


def test_listing__is_filtered_and_sorted(browse, page):
    word = TEXTS[2].split()[3]
    has_it = [row for row in ROWS * 3 if word in TEXTS[row[0]][row[1] : row[1] + 300]]
    show = f"{BOX}.querySelector('.about button').click()"
    lengths = f"{BOX}.querySelectorAll('th button')[4].click()"
    seen = browse(
        page,
        *(show, enter(word.upper()), LISTED, enter("c, characters"), LISTED),
        *(enter("nowhere"), COUNT, enter(""), lengths, LISTED, lengths, LISTED),
    ).values
    of_words, of_document, none, falling, rising = (each for each in seen if each is not None)
    assert len(of_words) == len(has_it) > 0
    assert {row[2][0] for row in of_document} == {"c"}
    assert none == "0 of 0 found among 18"
    numbers = [int(row[4].replace(",", "")) for row in falling]
    assert numbers == sorted(numbers, reverse=True)
    assert [int(row[4].replace(",", "")) for row in rising] == sorted(numbers)


def test_places__as_they_are_cited(browse):
    cited = [(f"page {k}", f"Gen {k}:1 {HOSTILE[1]}") for k in range(18)]
    page = passage_page(TEXTS, ROWS * 3, ["a", "b", "c"], cited)
    seen = browse(page, enter("gen 9:1"), LISTED).values
    [row] = seen[-1]
    start, stop = ROWS[3][1:3]
    assert row[0] == f"a, page 9, characters {start:,} to {stop:,}"
    assert row[2].startswith(f"b, {cited[9][1]}, characters")
