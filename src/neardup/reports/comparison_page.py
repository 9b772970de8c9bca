"""The page of two texts with linked shared passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from markupsafe import Markup

from neardup.files.encodings import language_of_file
from neardup.reports.examples import number_lines
from neardup.reports.page import Cell, Fact, Report, Section, Table
from neardup.reports.text import escape_text, excerpt, percent, shortened
from neardup.runs.progress import counted

# Colours of passages in turn, as the style sheet has them.
_N_COLOURS = 12

Range = tuple[int, int]
Ranges = tuple[Range, ...]


@dataclass(frozen=True)
class SharedPassage:
    """A passage of both texts, in characters, with exclusive ends.

    ``similarity`` is exact, of the two passages as sets of tokens. ``changes_a`` and ``changes_b``
    are the tokens outside a longest common subsequence, None for too long passages.
    """

    a: Range
    b: Range
    similarity: float
    changes_a: Ranges | None = ()
    changes_b: Ranges | None = ()


def compare_report(
    names: tuple[str, str],
    texts: tuple[str, str],
    links: Sequence[SharedPassage],
    shares: tuple[float, float],
    tables: Sequence[Table],
) -> Report:
    """Make the page of two texts.

    ``links`` are shared passages, which may overlap, ``shares`` the share of each text in passages.
    The first row of ``tables`` has the main measure.
    """
    a, b = (shortened(name) for name in names)
    headline = f"{counted(len(links), 'shared passage')} in {a} and {b}"
    facts = [Fact(f"{v}", f"{name} similarity") for t in tables[:1] for name, v, *_ in t.rows[:1]]
    facts.append(Fact(f"{len(links):,}", "shared passage" + "s" * (len(links) != 1)))
    for name, share in zip((a, b), shares, strict=True):
        facts.append(Fact(percent(share), f"of {name} is shared", "kept"))
    rows: list[Sequence[Cell]] = [
        (
            number,
            f"{link.a[0]:,} to {link.a[1]:,}",
            f"{link.b[0]:,} to {link.b[1]:,}",
            link.a[1] - link.a[0],
            link.similarity,
            excerpt(texts[0][slice(*link.a)], 80),
        )
        for number, link in enumerate(links, 1)
    ]
    rows.sort(key=lambda row: (-int(row[3] or 0), row[0]))
    head = ("passage", f"characters of {a}", "of the other", "length", "similarity", "opening")
    passages = [Table("Shared passages, the longest first", head, rows)] if rows else []
    line = int(any(map(language_of_file, names)))
    panes = [
        Markup(
            '<div><h3><bdi>{}</bdi></h3><div class="text{}" id="{}" tabindex="0" dir="auto" '
            'role="region" aria-label="Text {}">{}</div></div>'
        ).format(
            Markup(escape_text(name)),
            " code" * line,
            side,
            side.upper(),
            Markup("".join(_mark_text(text, links, side, line))),
        )
        for name, side, text in zip((a, b), "ab", texts, strict=True)
    ]
    body = Markup('<div class="sides">{}</div>').format(Markup("").join(panes))
    return Report(
        "comparison",
        headline,
        ["Coloured text is in both texts; underlined words within it are in this text only."],
        facts,
        [
            Section("texts", "Side by side", body=body),
            Section("passages", "Passages", tables=passages, nothing="The texts share no passage."),
            Section("measures", "Sizes and measures", tables=tables),
        ],
        next_step="A number in the texts leads to the same passage in the other text."
        if links
        else "A smaller `--min-tokens` finds shorter passages.",
        parts=["compare"],
    )


def _mark_text(text: str, links: Sequence[SharedPassage], side: str, line: int) -> Iterator[str]:
    """Write a text as HTML with passages linked.

    A passage starts with a mark, which links to the other text. Parts between the ends of passages
    and changes name their passages. Control characters become pictures, half surrogate pairs
    U+FFFD. ``line`` is 1 to number lines, or 0.
    """
    other = "b" if side == "a" else "a"
    starts: dict[int, list[int]] = {}
    stops: dict[int, list[int]] = {}
    changes: dict[int, list[int]] = {}
    for number, link in enumerate(links, 1):
        start, stop = getattr(link, side)
        starts.setdefault(start, []).append(number)
        stops.setdefault(stop, []).append(number)
        for place in chain.from_iterable(getattr(link, f"changes_{side}") or ()):
            changes.setdefault(place, []).append(number)
    places = sorted({0, len(text), *starts, *stops, *changes})
    # In the order of their starts; a part has the colour of the last one.
    inside: dict[int, None] = {}
    changed: set[int] = set()
    for place, following in zip(places, [*places[1:], len(text)], strict=True):
        for number in stops.get(place, ()):
            del inside[number]
        for number in starts.get(place, ()):
            inside[number] = None
            # The style sheet writes the number, which is not part of the text.
            label = f"Passage {number} of {len(links)}: go to it in text {other.upper()}"
            yield (
                f'<a class="mark {_colour(number)}" id="{side}-{number}" href="#{other}-{number}" '
                f'data-p="{number}" data-n="{number}" aria-label="{label}"></a>'
            )
        for number in changes.get(place, ()):
            changed ^= {number}
        piece = number_lines(text[place:following], line, is_line_start=not place)
        line += line and text.count("\n", place, following)
        if inside and piece:
            numbers = " ".join(map(str, inside))
            last = next(reversed(inside))
            kind = f"{_colour(last)}{' many' * (len(inside) > 1)}{' new' * (last in changed)}"
            yield f'<span class="part {kind}" data-p="{numbers}">{piece}</span>'
        else:
            yield piece


def _colour(number: int) -> str:
    return f"c{(number - 1) % _N_COLOURS}"
