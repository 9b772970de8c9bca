"""The page of an alignment: what is marked is what the table says, and one gets around in it."""

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


PARTS = """(() => {
  const marks = [...document.querySelectorAll('#reading-a .mark')];
  const parts = (side, p) => [...document.querySelectorAll(`#reading-${side} .part`)].filter(
    (part) => part.dataset.p.split(' ').includes(p)).map((part) => part.textContent).join('');
  return marks.map((mark) => ({
    texts: ['a', 'b'].map((side) => parts(side, mark.dataset.p)),
    back: document.querySelector(document.querySelector(mark.getAttribute('href'))
      .getAttribute('href')) === mark,
    moved: mark.classList.contains('moved'),
    label: mark.getAttribute('aria-label'),
  }));
})()"""


def test_reading__marks_what_the_table_says(browse, page):
    found = browse(page, PARTS).value
    expected = [
        [TEXTS[row[0]][row[1] : row[2]], TEXTS[row[3]][row[4] : row[5]]] for row in ROWS[:5]
    ]
    assert [row["texts"] for row in found] == expected
    assert [row["moved"] for row in found] == [False] * 4 + [True]
    assert all(row["back"] for row in found)
    assert found[4]["label"] == "Passage 5 of 5, moved: go to it in B"


def test_reading__texts_are_whole(browse, page):
    script = "['a', 'b'].map((side) => document.getElementById('reading-' + side).textContent)"
    assert browse(page, script).value == TEXTS[:2]


SEEN = """(() => {
  const number = [...document.querySelectorAll('.mark.on')].map((mark) => mark.dataset.p);
  const inView = ['a', 'b'].map((side) => {
    const pane = document.getElementById('reading-' + side).getBoundingClientRect();
    const mark = document.querySelector(`#reading-${side} .mark.on`)?.getBoundingClientRect();
    return mark && mark.top >= pane.top && mark.bottom <= pane.bottom;
  });
  return { number, inView, where: document.getElementById('reading-where').textContent };
})()"""


def after(click: str) -> str:
    """Click, and wait until the panes have come to rest."""
    return f"(async () => {{ {click}; await new Promise((done) => setTimeout(done, 600)); }})()"


@pytest.mark.parametrize("width", [1200, 390])
def test_reading__next_and_previous_passage(browse, page, width):
    steps = [after("document.getElementById('reading-next').click()"), SEEN] * 2
    back = [after("document.getElementById('reading-previous').click()"), SEEN] * 2
    seen = [each for each in browse(page, *steps, *back, width=width).values if each]
    assert [each["number"] for each in seen] == [["1"] * 2, ["2"] * 2, ["1"] * 2, ["5"] * 2]
    assert all(each["inView"] == [True, True] for each in seen)
    assert seen[-1]["where"].startswith("Passage 5 of 5, similarity")
    assert "moved" in seen[-1]["where"]


def test_reading__a_mark_leads_to_its_partner(browse, page):
    click = after("document.querySelector('#reading-a .mark.moved').click()")
    focus = "[document.activeElement.id, document.querySelectorAll('#reading-b .part.on').length]"
    identifier, n_lit = browse(page, click, focus).value
    assert identifier == "b-5"
    assert n_lit > 0


def test_reading__a_pair_of_the_list(browse, page):
    click = "[...document.querySelectorAll('#who a[data-pair]')].at(-1).click()"
    script = (
        "['a', 'b'].map((side) => document.getElementById('reading-title-' + side).textContent)"
    )
    values = browse(page, click, script, PARTS).values
    assert values[-2] == ["a (a.jsonl)", "c (c.jsonl)"]
    assert [row["texts"] for row in values[-1]] == [[TEXTS[2], TEXTS[2]]]


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
        assert found[6] == "read both"


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


def test_listing__leads_to_a_passage(browse, page):
    click = after("document.querySelectorAll('#listing-rows tbody a')[3].click()")
    seen = [each for each in browse(page, click, SEEN).values if each][-1]
    assert seen["number"] == ["3", "3"]
    assert seen["inView"] == [True, True]


CASE = """(() => {
  window.print = () => {};
  document.getElementById('reading-print').click();
  return [document.body.className,
    [...document.querySelectorAll('#reading-case th')].map((cell) => cell.textContent),
    [...document.querySelectorAll('#reading-case tbody tr')].map((row) =>
      [...row.querySelectorAll('td')].map((cell) => cell.textContent))];
})()"""


def test_case_file__has_both_texts_of_each_passage(browse, page):
    kind, heads, rows = browse(page, CASE).value
    assert kind == "as-case"
    assert heads[:3] == ["", "a (a.jsonl)", "b (b.jsonl)"]
    assert heads[3].startswith(f"1characters {ROWS[0][1]:,}–")
    assert "moved" in heads[7]
    assert rows == [
        [TEXTS[row[0]][row[1] : row[2]], TEXTS[row[3]][row[4] : row[5]]] for row in ROWS[:5]
    ]


def test_places__as_they_are_cited(browse):
    """In the table, where one looks for them, too; above the texts; and in a case file."""
    cited = [(f"page {k}", f"Gen {k}:1 {HOSTILE[1]}") for k in range(6)]
    page = passage_page(TEXTS, ROWS, ["a", "b", "c"], cited)
    step = after("document.getElementById('reading-next').click()")
    title = "document.querySelector('#listing-rows .place').title"
    seen = browse(page, LISTED, title, enter("words", "gen 3:1"), LISTED, step, SEEN, CASE).values
    listed, shown, found, read, (_, heads, _) = (each for each in seen if each is not None)
    expected = sorted(range(6), key=lambda k: (ROWS[k][0], ROWS[k][1], ROWS[k][3]))
    names = ["abc"[ROWS[k][3]] for k in expected]
    assert [row[0] for row in listed] == [f"a {cited[k][0]}" for k in expected]
    assert [row[2] for row in listed] == [
        f"{name} {cited[k][1]}" for name, k in zip(names, expected, strict=True)
    ]
    assert shown == f"characters {ROWS[0][1]:,}–{ROWS[0][2]:,}"
    assert [row[0] for row in found] == ["a page 3"]
    assert read["where"].startswith(f"Passage 1 of 5, page 0 and {cited[0][1]}, similarity")
    assert heads[3].startswith(f"1page 0, {ROWS[0][1]:,}–{ROWS[0][2]:,}and {cited[0][1]}, ")
