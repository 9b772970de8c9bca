"""What every page keeps to, on a desktop and on a phone, light, dark and on paper."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.browser import scripts
from tests.browser.browse import Seen

# Width of the window, and whether the system is dark. 320 is what WCAG asks for (1.4.10).
WINDOWS = [
    pytest.param(1200, False, id="desktop"),
    pytest.param(390, True, id="phone-dark"),
    pytest.param(320, False, id="small-phone"),
]


def check_page(look: Callable[..., Seen], *, width: int, dark: bool, off: tuple[str, ...] = ()):
    """Open a page by ``look``, which takes more steps and the window, and hold it to the rules.

    It breaks no rule of axe-core (but for those that are ``off``), does not scroll sideways, cuts
    off no label of a chart, has nothing too small to touch, and letters that stand out from the
    page.
    """
    asked = (scripts.WIDTHS, scripts.COLOURS, scripts.violations(*off))
    check_seen(*look(*asked, width=width, dark=dark).values[-3:], width=width, dark=dark)


def check_file(look: Callable[..., Seen], *, width: int, dark: bool):
    """Hold a page that is a file to the same rules, to being closed, and to being printed."""
    seen = scripts.WIDTHS, scripts.COLOURS, scripts.violations()
    paper = scripts.AS_PRINTED, scripts.COLOURS, scripts.violations(), scripts.OVERLAPS
    *first, closed, sheets, colours, violations, overlaps = look(
        *seen, scripts.CLOSED, *paper, width=width, dark=dark
    ).values
    check_seen(*first, width=width, dark=dark)
    assert closed.pop("policies") == 1
    assert not any(closed.values()), closed
    assert sheets
    assert violations == []
    assert overlaps == []
    # The system's colours count for nothing on paper: it is not asked for them.
    if not dark:
        check_colours(colours, dark=False)


def check_seen(widths: dict, colours: dict, violations: list, *, width: int, dark: bool):
    assert violations == []
    assert widths["width"] == width
    assert widths["scroll"] <= width
    assert (widths["wide"], widths["cut"], widths["small"]) == ([], [], [])
    check_colours(colours, dark=dark)


def check_colours(colours: dict, *, dark: bool):
    assert colours["dark"] is dark
    ink, page = (sum(map(int, colours[name][4:-1].split(","))) for name in ("ink", "page"))
    assert (ink > page) == dark
    assert abs(ink - page) > 400


# Presses of the key that are tried.
_MOST_STEPS = 15
_STOPS = """[...document.querySelectorAll(
  'a[href], button, select, input, summary, [tabindex="0"]')]
  .filter((e) => e.checkVisibility() && !e.disabled).length"""


def check_keyboard(look: Callable[..., Seen]):
    """Go from one thing to the next by the tabulator: each is in the window, and framed."""
    steps = min(look(_STOPS).value, _MOST_STEPS)
    asked = [step for _ in range(steps) for step in ("keys:Tab", scripts.FOCUS)]
    focused = look(*asked).values if asked else []
    for each in focused:
        assert each["tag"] != "body"
        assert each["seen"], each
        assert each["outline"], each
    # No two steps end at the same place.
    assert len({each["place"] for each in focused}) == len(focused)
