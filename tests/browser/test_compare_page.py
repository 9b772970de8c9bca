"""The page of ``neardup compare --report``, opened in a real browser."""

from __future__ import annotations

import random

import pytest

from neardup.jobs.compare import compare
from neardup.reports.comparison_page import SharedPassage, compare_report

pytestmark = pytest.mark.browser

HOSTILE = (
    '<script>alert(1); document.title = "ran"</script>',
    '<img src="http://example.invalid/x.png" onerror="alert(2)">',
    "</div></section><style>* { display: none }</style><!-- ",
    "&lt;b&gt; &amp;amp; \"quoted\" 'single' ]]> -->",
    '"><svg onload=alert(3)><a href="javascript:alert(4)">here</a>',
    "<link rel=stylesheet href=//example.invalid/x.css><base href=//example.invalid/>",
)
NAMES = ("<b>a</b>.txt", '"b" & c.txt')


def hostile_pair() -> tuple[str, str]:
    """Make two texts with passages in common, and markup in and between them."""
    words = random.Random(3).choices([f"word{i}" for i in range(500)], k=240)
    shared = [" ".join(words[i : i + 40]) for i in range(0, 120, 40)]
    own = [" ".join(words[i : i + 20]) for i in range(120, 240, 20)]
    a = "\n\n".join([HOSTILE[0], shared[0], HOSTILE[1], own[0], shared[1], *HOSTILE[2:4], own[1]])
    b = "\r\n".join([own[2], shared[1], HOSTILE[4], own[3] + "🙂 שלום", shared[0], HOSTILE[5]])
    return f"\n {a}  \n\n", f"{b}\t\r{HOSTILE[0]}"


@pytest.fixture(scope="module")
def hostile() -> tuple[tuple[str, str], list[SharedPassage], str]:
    texts = hostile_pair()
    result = compare(*texts)
    links = [SharedPassage(passage.a, passage.b, passage.similarity) for passage in result.passages]
    assert len(links) >= 2
    return texts, links, result.report().html


def plain_page(texts: tuple[str, str], links: list[SharedPassage]) -> str:
    return compare_report(NAMES, texts, links, (0.5, 0.5), []).html


TEXTS = "[...document.querySelectorAll('.text')].map((text) => text.textContent)"


def test_page__both_texts_are_shown(browse, hostile):
    texts, _, html = hostile
    assert tuple(browse(html, TEXTS).value) == texts
    # What is laid out, with white space as it is.
    visible = "[...document.querySelectorAll('.text')].map((text) => text.innerText)"
    found = browse(html, visible).value
    assert tuple(found) == texts


def test_page__hostile_text_is_text(browse, hostile):
    texts, _, html = hostile
    script = """({
      title: document.title,
      tags: [...new Set([...document.querySelectorAll('.sides *')].map((e) => e.localName))].sort(),
      styles: document.querySelectorAll('style').length,
      links: document.querySelectorAll('[src], link, base, iframe, object, embed').length,
      targets: [...document.querySelectorAll('[href]')].map((e) => e.getAttribute('href')),
      handlers: [...document.querySelectorAll('*')].flatMap(
        (e) => e.getAttributeNames()).filter((name) => name.startsWith('on')),
      shown: document.getElementById('a').checkVisibility(),
    })"""
    value = browse(html, script).value
    assert "in a and b" in value["title"]
    assert value["tags"] == ["a", "bdi", "div", "h3", "span"]
    assert (value["styles"], value["links"]) == (1, 0)
    assert value["handlers"] == []
    assert value["targets"]
    assert all(target.startswith("#") for target in value["targets"])
    assert value["shown"]
    value = browse(plain_page(texts, []), "[document.title, document.querySelectorAll('b').length]")
    assert value.value == [f"0 shared passages in {' and '.join(NAMES)}", 0]


def test_page__security_policy_stops_other_scripts(browse, hostile):
    """Even if markup got through, no script in it would run, and nothing would be loaded."""
    _, _, html = hostile
    bad = (
        "<script>document.title = 'ran'</script><img src='http://example.invalid/x.png'>"
        "<p onclick=\"document.title = 'ran'\" id=bad style='color: red'>bad</p>"
    )
    script = """(() => {
      const bad = document.getElementById('bad');
      bad.click();
      return [document.title, getComputedStyle(bad).color];
    })()"""
    seen = browse(html.replace("<main", f"{bad}<main"), script, quiet=False)
    title, colour = seen.value
    assert "in a and b" in title
    assert colour != "rgb(255, 0, 0)"
    assert len(seen.console) >= 4
    assert all("Content Security Policy" in line for line in seen.console)


LINKS = """[...document.querySelectorAll('#a .mark')].map((mark) => {
  const other = document.getElementById(mark.getAttribute('href').slice(1));
  const parts = (side) => [...document.querySelectorAll(`#${side} .part`)].filter(
    (part) => part.dataset.p.split(' ').includes(mark.dataset.p));
  const colour = (element) => getComputedStyle(element).backgroundColor;
  return {
    number: Number(mark.dataset.p),
    back: document.getElementById(other.getAttribute('href').slice(1)) === mark,
    sides: [mark.closest('.text').id, other.closest('.text').id],
    same: mark.dataset.p === other.dataset.p,
    texts: ['a', 'b'].map((side) => parts(side).map((part) => part.textContent).join('')),
    colours: [...new Set([mark, other, ...parts('a'), ...parts('b')].map(colour))],
    labels: [mark, other].map((element) => element.getAttribute('aria-label')),
    after: mark.nextElementSibling.dataset.p.split(' ').includes(mark.dataset.p),
  };
})"""


def check_links(found: list[dict], texts: tuple[str, str], links: list[SharedPassage]) -> None:
    assert sorted(row["number"] for row in found) == list(range(1, len(links) + 1))
    for row in found:
        link = links[row["number"] - 1]
        assert row["back"]
        assert row["same"]
        assert row["sides"] == ["a", "b"]
        places = (link.a, link.b)
        expected = [text[slice(*place)] for text, place in zip(texts, places, strict=True)]
        assert row["texts"] == expected
        assert all(f"assage {row['number']} of {len(links)}" in label for label in row["labels"])


def test_page__passages_are_linked(browse, hostile):
    texts, links, html = hostile
    found = browse(html, LINKS).value
    check_links(found, texts, links)
    for row in found:
        assert row["after"]
        assert len(row["colours"]) == 1
    assert len({row["colours"][0] for row in found}) == len(links)


OVERLAPPING = [
    SharedPassage((0, 50), (100, 150), 0.5),
    SharedPassage((10, 20), (120, 170), 0.6),
    SharedPassage((10, 60), (0, 40), 0.7),
    SharedPassage((60, 80), (30, 60), 0.8),
    SharedPassage((60, 80), (120, 170), 0.9),
]


def test_page__overlapping_passages(browse):
    rng = random.Random(5)
    texts = tuple("".join(rng.choices("ab <&>\n\r", k=200)) for _ in range(2))
    html = plain_page(texts, OVERLAPPING)
    check_links(browse(html, LINKS).value, texts, OVERLAPPING)
    assert tuple(browse(html, TEXTS).value) == texts
    script = "[...document.querySelectorAll('.part.many')].every((e) => e.dataset.p.includes(' '))"
    assert browse(html, script).value is True


def long_page() -> str:
    filler = [f"{side} {i} lorem ipsum dolor" for side in "ab" for i in range(2000)]
    shared = "the passage that both texts have"
    a = "\n".join([shared, *filler[:2000]])
    b = "\n".join([*filler[2000:], shared])
    place = (len(b) - len(shared), len(b))
    return plain_page((a, b), [SharedPassage((0, len(shared)), place, 1.0)])


# Whether the passage can be seen in b, and is lit up there.
STATE = """(() => {
  const part = document.querySelector('#b .part'), box = part.getBoundingClientRect();
  const pane = document.getElementById('b').getBoundingClientRect();
  return [box.top >= pane.top && box.bottom <= pane.bottom + 1, part.classList.contains('on')];
})()"""


def test_page__going_to_the_partner(browse):
    html = long_page()
    # The last line of b is in view already, beside the first of a.
    scroll = "document.getElementById('b').scrollTop = 0"
    assert browse(html, scroll, STATE).value == [False, False]
    for click in ("document.querySelector('#a .mark')", "document.querySelector('#a .part')"):
        script = (
            f"(async () => {{ {click}.click(); "
            f"await new Promise((done) => setTimeout(done, 300)); return {STATE}; }})()"
        )
        assert browse(html, script).value == [True, True], click
    # Without its script the page has its links still.
    start, _, rest = html.partition("<script>")
    bare = start + rest.partition("</script>")[2]
    script = (
        "(async () => { document.querySelector('#a .mark').click(); "
        "await new Promise((done) => setTimeout(done, 300)); "
        f"return [location.hash, ...{STATE}]; }})()"
    )
    assert browse(bare, script).value == ["#b-1", True, False]


def test_page__characters_that_html_lacks(browse):
    odd = "\x00\x01\x1b[31m\x7f\x0b\x0c\x85\ufeff\ufffe\u202eabc\u2028\ud800x\udfff\U0010ffff"
    shown = odd.translate({code: 0x2400 + code for code in range(32)} | {127: 0x2421})
    shown = shown.replace("\ud800", "\ufffd").replace("\udfff", "\ufffd")
    html = plain_page((odd, odd[::-1]), [])
    assert browse(html, TEXTS).value[0] == shown
    assert browse(html, TEXTS).value[1] == shown[::-1]
