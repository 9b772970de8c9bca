"""Every kind of page that is one file, made of plain, hostile and odd input.

``test_pages.py`` holds all of them to the same rules.
"""

from __future__ import annotations

from collections.abc import Callable

from neardup.jobs.compare import compare
from neardup.reports.comparison_page import SharedPassage, compare_report
from tests.browser.cut_pages import cut_cases
from tests.browser.dedup_pages import dedup_cases
from tests.browser.made_up import made_up_page
from tests.browser.pairs_cases import pages_of_pairs
from tests.browser.passage_pages import passage_cases
from tests.browser.review_pages import review_cases

HOSTILE = (
    '<script>alert(1); document.title = "ran"</script>',
    '<img src="http://example.invalid/x.png" onerror="alert(2)">',
    "</div></section><style>* { display: none }</style><!-- ",
    "&lt;b&gt; &amp;amp; \"quoted\" 'single' ]]> --></script></textarea></title></pre>",
    '"><svg onload=alert(3)><a href="javascript:alert(4)">here</a>',
    "<link rel=stylesheet href=//example.invalid/x.css><base href=//example.invalid/>",
    "\x00\x01\x1b[31m\x7f\x85\ufeff\u202egnp.exe\u2066 {{ 7 * 7 }} {% raw %} ${alert(5)} `",
)
ENGLISH = (
    "It was on a dreary night of November, that I beheld the accomplishment of my toils. With an "
    "anxiety that almost amounted to agony, I collected the instruments of life around me, that I "
    "might infuse a spark of being into the lifeless thing that lay at my feet."
)
CHINESE = (
    "床前明月光，疑是地上霜。舉頭望明月，低頭思故鄉。"
    "春眠不覺曉，處處聞啼鳥。夜來風雨聲，花落知多少。"
)
HEBREW = (
    "בראשית ברא אלהים את השמים ואת הארץ והארץ היתה תהו ובהו "
    "וחשך על פני תהום ורוח אלהים מרחפת על פני המים"
)
# Words that no line can be broken in.
LONG = "x" * 600

TEXTS = {
    "plain": (ENGLISH, ENGLISH.replace("dreary", "stormy").replace("lifeless ", "")),
    "hostile": ("\n".join([*HOSTILE, ENGLISH]), "\n".join([ENGLISH, *HOSTILE[::-1]])),
    "chinese": (CHINESE, CHINESE.replace("明月", "山月", 1)),
    "hebrew": (HEBREW, HEBREW.replace("אלהים", "אדני", 1)),
    "long words": (f"{LONG} {ENGLISH}", f"{ENGLISH} {LONG}y"),
    "nothing in common": (ENGLISH, "Nothing of it is in here."),
    "empty": ("", ""),
}


def _side_by_side(name_a: str, name_b: str) -> str:
    texts = TEXTS["plain"]
    links = [SharedPassage((0, 40), (0, 40), 0.9)]
    return compare_report((name_a, name_b), texts, links, (0.1, 0.2), []).html


CASES: dict[str, Callable[[], str]] = {
    f"compare {name}": lambda texts=texts: compare(*texts).report().html
    for name, texts in TEXTS.items()
}
CASES["every part"] = lambda: made_up_page(tuple(TEXTS.values()))
CASES["compare hostile names"] = lambda: _side_by_side(HOSTILE[0], LONG)
CASES |= passage_cases(TEXTS, HOSTILE[0], LONG)
CASES |= dedup_cases(TEXTS, HOSTILE[0], LONG)
CASES |= pages_of_pairs(TEXTS, HOSTILE)
CASES |= cut_cases(TEXTS, HOSTILE[0], LONG)
CASES |= review_cases(TEXTS, HOSTILE)
