"""Examples of two texts as plain text, with marks around the words that only one of them has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from neardup.reports.differences import Example, Run
from neardup.runs.progress import counted


def printable(text: str) -> str:
    """Return text without characters that a terminal would obey, or nobody would see."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def example_lines(example: Example) -> Iterator[str]:
    """Yield the title of an example, and both texts with their names and places.

    Words that only the first text has are in ``{-...-}``, those of the second in ``{+...+}``.
    """
    found = example.differences
    yield printable(example.title)
    for name, place, runs, mark in (
        (example.name_a, example.place_a, found.a, "-"),
        (example.name_b, example.place_b, found.b, "+"),
    ):
        yield printable(f"  {name} ({place})" if place else f"  {name}")
        if runs:
            goes_on = "" if found.is_whole else " (goes on)"
            yield f"    {_marked(runs, mark)}{goes_on}"
    if example.note:
        yield printable(f"  {example.note}")


def _marked(runs: Sequence[Run], mark: str) -> str:
    """Return a text in one line, with marks around the words that the other one lacks."""
    parts = []
    for run in runs:
        text = "".join(c if c.isprintable() else " " for c in run.text)
        if run.kind == "omitted":
            text = f" […{counted(run.n_words, 'word')}…] "
        elif run.kind == "changed":
            text = f"{{{mark}{text.rstrip()}{mark}}}{' ' if text.endswith(' ') else ''}"
        parts.append(text)
    return " ".join("".join(parts).split())
