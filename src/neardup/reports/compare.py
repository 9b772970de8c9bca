"""Two texts side by side as one page of HTML that needs nothing else, and shows text as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from markupsafe import Markup

from neardup.reports.page import escape_text, render_page

# Colours of passages in turn; the style sheet has them.
_N_COLOURS = 12


@dataclass(frozen=True)
class Link:
    """A passage of both texts: characters, ends exclusive, at least one each.

    ``changes_a`` and ``changes_b`` are ranges within, ascending, that the other one lacks.
    """

    a: tuple[int, int]
    b: tuple[int, int]
    similarity: float
    changes_a: Sequence[tuple[int, int]] = ()
    changes_b: Sequence[tuple[int, int]] = ()


@dataclass(frozen=True)
class Page:
    """What a page shows.

    Parameters
    ----------
    names, texts
        Of both sides.
    links
        Shared passages; they may overlap.
    measures, sizes
        Tables of cells; the first row is the head.
    notes
        Lines about all of it.
    """

    names: tuple[str, str]
    texts: tuple[str, str]
    links: Sequence[Link]
    measures: Sequence[tuple[str, ...]]
    sizes: Sequence[tuple[str, ...]]
    notes: Sequence[str]


def render_comparison(page: Page) -> str:
    """Write a page; in it is no address of anything but places in itself.

    Every passage has a mark at its start in both texts, which links to the other one, and parts:
    spans between the ends of all passages and changes, which name the passages they belong to.

    Notes
    -----
    Characters that HTML cannot hold are shown by others: control characters by their pictures, half
    of a surrogate pair as U+FFFD. All others are there as they are, carriage returns included.
    """
    html = render_page(
        "compare.html",
        title=" and ".join(page.names),
        styles=["compare.css"],
        scripts=["compare.js"],
        page=page,
        marked=mark_texts(page.texts, page.links),
        colour=_colour,
    )
    return f"{html}\n"


def mark_texts(texts: tuple[str, str], links: Sequence[Link]) -> tuple[Markup, Markup]:
    """Write both texts as HTML with the marks and parts of all passages.

    Each belongs into an element of the class ``text`` whose id is ``a`` or ``b``.
    """
    text_a, text_b = texts
    a, b = ("".join(_mark_text(text, links, side)) for side, text in (("a", text_a), ("b", text_b)))
    return Markup(a), Markup(b)


def _mark_text(text: str, links: Sequence[Link], side: str) -> Iterator[str]:
    """Cut a text at the ends of all passages and changes; write marks and parts."""
    other = "b" if side == "a" else "a"
    starts: dict[int, list[int]] = {}
    stops: dict[int, list[int]] = {}
    changes: dict[int, list[int]] = {}
    for number, link in enumerate(links, 1):
        start, stop = getattr(link, side)
        starts.setdefault(start, []).append(number)
        stops.setdefault(stop, []).append(number)
        for place in chain.from_iterable(getattr(link, f"changes_{side}")):
            changes.setdefault(place, []).append(number)
    places = sorted({0, len(text), *starts, *stops, *changes})
    # In the order of their beginnings; a part looks as the last one says.
    inside: dict[int, None] = {}
    changed: set[int] = set()
    for place, following in zip(places, [*places[1:], len(text)], strict=True):
        for number in stops.get(place, ()):
            del inside[number]
        for number in starts.get(place, ()):
            inside[number] = None
            # Its number is no part of the text.
            label = f"Passage {number} of {len(links)}: go to it in text {other.upper()}"
            yield (
                f'<a class="mark {_colour(number)}" id="{side}-{number}" href="#{other}-{number}" '
                f'data-p="{number}" data-n="{number}" aria-label="{label}"></a>'
            )
        for number in changes.get(place, ()):
            changed ^= {number}
        piece = escape_text(text[place:following])
        if inside and piece:
            numbers = " ".join(map(str, inside))
            last = next(reversed(inside))
            kind = f"{_colour(last)}{' many' * (len(inside) > 1)}{' new' * (last in changed)}"
            yield f'<span class="part {kind}" data-p="{numbers}">{piece}</span>'
        else:
            yield piece


def _colour(number: int) -> str:
    return f"c{(number - 1) % _N_COLOURS}"
