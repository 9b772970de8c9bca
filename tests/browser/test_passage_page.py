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


def test_reading__with_keys(browse, page):
    focus = "document.getElementById('reading-b').focus()"
    seen = browse(page, focus, "keys:N N N P", after("0"), SEEN).value
    assert (seen["number"], seen["inView"]) == (["2", "2"], [True, True])


def test_reading__a_mark_leads_to_its_partner(browse, page):
    click = after("document.querySelector('#reading-a .mark.moved').click()")
    focus = "[document.activeElement.id, document.querySelectorAll('#reading-b .part.on').length]"
    identifier, n_lit = browse(page, click, focus).value
    assert identifier == "b-5"
    assert n_lit > 0


def test_reading__a_pair_of_the_list(browse, page):
    click = "[...document.querySelectorAll('a[data-pair]')].at(-1).click()"
    script = (
        "['a', 'b'].map((side) => document.getElementById('reading-title-' + side).textContent)"
    )
    values = browse(page, click, script, PARTS).values
    assert values[-2] == ["a (a.jsonl)", "c (c.jsonl)"]
    assert [row["texts"] for row in values[-1]] == [[TEXTS[2], TEXTS[2]]]


def test_reading__the_other_text_goes_along(browse, page):
    script = """(async () => {
      const a = document.getElementById('reading-a'), b = document.getElementById('reading-b');
      const rest = () => new Promise((done) => setTimeout(done, 600));
      a.dispatchEvent(new WheelEvent('wheel'));
      const target = document.getElementById('a-3');
      a.scrollTop += target.getBoundingClientRect().top - a.getBoundingClientRect().top - 20;
      await rest();
      const seen = document.getElementById('b-3').getBoundingClientRect().top
        - b.getBoundingClientRect().top;
      return [seen, b.clientHeight];
    })()"""
    place, height = browse(page, script).value
    assert -height < place < height


def test_reading__what_is_out_of_view_is_not_laid_out(browse, page):
    script = "getComputedStyle(document.querySelector('#reading-a .block')).contentVisibility"
    assert browse(page, script).value == "auto"
