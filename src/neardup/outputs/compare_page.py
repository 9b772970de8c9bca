"""Two texts side by side as one page of HTML that needs nothing else, and shows text as text."""

from __future__ import annotations

import hashlib
import html
from base64 import b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import chain
from string import Template

from neardup.outputs.table_files import check_file, write_file
from neardup.outputs.targets import Target

PAGE_SUFFIXES = (".html", ".htm")

# Colours of passages in turn; the style sheet has them.
_N_COLOURS = 12

# What HTML cannot hold, or a reader would not see, is shown by its picture. A carriage return
# would become a newline, if it were not escaped.
_SHOWN = {code: chr(0x2400 + code) for code in range(32)} | {127: "\u2421", 13: "&#13;"}
_SHOWN |= {ord(c): c for c in "\t\n"} | {ord(c): html.escape(c) for c in "&<>\"'"}


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


def check_page_file(target: Target, *, overwrite: bool) -> None:
    """Make sure, before work starts, that a page may be written to a file."""
    check_file(target, PAGE_SUFFIXES, overwrite=overwrite)


def write_page(page: str, target: Target, *, overwrite: bool = False) -> None:
    """Write a page to a file, which appears when it is complete."""
    check_page_file(target, overwrite=overwrite)
    write_file(target, lambda new: new.write_text(page))


def render_page(page: Page) -> str:
    """Write a page; in it is no address of anything but places in itself.

    Every passage has a mark at its start in both texts, which links to the other one, and parts:
    spans between the ends of all passages and changes, which name the passages they belong to.

    Notes
    -----
    Characters that HTML cannot hold are shown by others: control characters by their pictures, half
    of a surrogate pair as U+FFFD. All others are there as they are, carriage returns included.
    """
    template, style, script = map(page_part, ("html", "css", "js"))
    text_a, text_b = mark_texts(page.texts, page.links)
    name_a, name_b = map(escape_text, page.names)
    return Template(template).substitute(
        style=style,
        style_digest=_digest(style),
        script=script,
        script_digest=_digest(script),
        title=f"{name_a} and {name_b}",
        notes="<br>".join(map(escape_text, page.notes)),
        sizes=_table(page.sizes),
        measures=_table(page.measures),
        passages="".join(_list_links(page)),
        name_a=name_a,
        name_b=name_b,
        text_a=text_a,
        text_b=text_b,
    )


def page_part(suffix: str) -> str:
    """Return the page's template (html), style sheet (css) or script (js)."""
    return files(__package__).joinpath(f"compare_page.{suffix}").read_text(encoding="utf-8")


def mark_texts(texts: tuple[str, str], links: Sequence[Link]) -> tuple[str, str]:
    """Write both texts as HTML with the marks and parts of all passages.

    Each belongs into an element of the class ``text`` whose id is ``a`` or ``b``.
    """
    a, b = ("".join(_mark_text(text, links, side)) for side, text in zip("ab", texts, strict=True))
    return a, b


def _mark_text(text: str, links: Sequence[Link], side: str) -> Iterator[str]:
    """Cut a text at the ends of all passages and changes; write marks and parts."""
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
            yield _mark(number, len(links), side)
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


def _mark(number: int, n: int, side: str) -> str:
    """Link a passage to its partner; its number is no part of the text."""
    other = "b" if side == "a" else "a"
    label = f"Passage {number} of {n}: go to it in text {other.upper()}"
    return (
        f'<a class="mark {_colour(number)}" id="{side}-{number}" href="#{other}-{number}" '
        f'data-p="{number}" data-n="{number}" aria-label="{label}"></a>'
    )


def _list_links(page: Page) -> Iterator[str]:
    """Write a table of the passages with links to both places."""
    yield "<table><thead><tr><th>passage<th>in A<th>in B<th>similarity</tr></thead><tbody>"
    for number, link in enumerate(page.links, 1):
        yield f'<tr><td><span class="part {_colour(number)}">{number}</span>'
        for side, (start, stop) in (("a", link.a), ("b", link.b)):
            yield f'<td><a href="#{side}-{number}">{start:,} to {stop:,}</a>'
        yield f"<td>{link.similarity:.4f}</tr>\n"
    yield "</tbody></table>"


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    head, *body = ([escape_text(cell) for cell in row] for row in rows)
    lines = [f"<tr><td>{'<td>'.join(row)}</tr>\n" for row in body]
    return (
        f"<table><thead><tr><th>{'<th>'.join(head)}</tr></thead><tbody>{''.join(lines)}</tbody>"
        "</table>"
    )


def _colour(number: int) -> str:
    return f"c{(number - 1) % _N_COLOURS}"


def escape_text(text: str) -> str:
    """Write text so that it is nothing but text, whatever it holds."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").translate(_SHOWN)


def _digest(content: str) -> str:
    """Name a style or a script as the page's security policy does; no other is obeyed."""
    return "sha256-" + b64encode(hashlib.sha256(content.encode()).digest()).decode()
