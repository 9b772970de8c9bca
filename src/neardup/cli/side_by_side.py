"""Two texts on a terminal, side by side or one below the other, with their differences marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neardup.cli.call import print_output
from neardup.cli.wording import printable
from neardup.runs.progress import counted

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from neardup.reports.differences import Run

# Columns of a terminal on which two texts go side by side.
_WIDE = 100

# Of each side the colour of words that the other has not, and the marks where there are no colours.
_SIDES = (("red", "{-", "-}"), ("green", "{+", "+}"))


def console_of_output() -> Console:
    """Return what standard output is: a terminal of some width, or a file of 80 columns.

    NO_COLOR, FORCE_COLOR and COLUMNS are obeyed.
    """
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False)


def print_texts(
    console: Console, headings: Sequence[str], texts: Sequence[str | None], lacking: str
) -> None:
    """Print two texts with their headings, and what is ``lacking`` for one that is not there."""
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    has_colours = console.color_system is not None and not console.no_color
    marked = _marked(texts, has_colours, lacking)
    if not console.is_terminal:
        # Lines are as long as they are, for whoever reads them next.
        for heading, text in zip(headings, marked, strict=True):
            print_output(
                "\n".join([heading, *(f"  {line}".rstrip() for line in text.plain.split("\n"))])
            )
        return
    titles = [Text(heading, "bold") for heading in headings]
    if console.width >= _WIDE:
        grid = Table.grid(padding=(0, 3), expand=True)
        for _ in titles:
            grid.add_column(ratio=1, overflow="fold")
        grid.add_row(*titles)
        grid.add_row(*marked)
        console.print(grid)
        return
    for title, text in zip(titles, marked, strict=True):
        console.print(title)
        console.print(Padding(text, (0, 0, 0, 2)))


def _marked(texts: Sequence[str | None], colours: bool, lacking: str) -> list[Text]:
    """Return both texts, marked where they differ."""
    from rich.text import Text

    from neardup.reports.differences import say_same_words, side_by_side

    first, second = texts
    if first is None or second is None:
        # A text alone, of a long one the beginning.
        return [
            Text(f"({lacking})", "dim")
            if text is None
            else _runs(side_by_side(text, text).a, 0, colours=False)
            for text in texts
        ]
    found = side_by_side(first, second)
    marked = [_runs(runs, side, colours) for side, runs in enumerate((found.a, found.b))]
    if not any(found.n_only):
        for each in marked:
            each.append(f" ({say_same_words(first, second)})", "dim")
    if not found.is_whole:
        for each in marked:
            each.append(" (both go on)", "dim")
    return marked


def _runs(runs: Sequence[Run], side: int, colours: bool) -> Text:
    from rich.text import Text

    colour, opening, closing = _SIDES[side]
    shown = Text()
    for run in runs:
        text = _lines(run.text)
        if run.kind == "omitted":
            shown.append(f" [… {counted(run.n_words, 'word')} …] ", "dim")
        elif run.kind == "same":
            shown.append(text)
        elif colours:
            shown.append(text, colour)
        else:
            words = text.rstrip()
            shown.append(f"{opening}{words}{closing}{text[len(words) :]}")
    shown.rstrip()
    return shown


def _lines(text: str) -> str:
    """Return text as a terminal may have it, with its lines."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(map(printable, lines))
