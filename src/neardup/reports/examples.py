"""Examples of a page, with documents side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from neardup.files.encodings import language_of_file
from neardup.reports.differences import Run, SideBySide, side_by_side
from neardup.reports.text import escape_text, shortened
from neardup.runs.progress import counted
from neardup.tables import Floats, Int32s, Int64s

MOST_CHARACTERS = 200_000
"""Characters of a text that an example shows."""

# Rows that are searched for different documents.
_MOST_SEARCHED = 1_000


@dataclass(frozen=True)
class Document:
    """A document of an example, with its text if available."""

    id: str
    file: str | None
    row: int | None
    text: str | None

    @property
    def place(self) -> str:
        """Return the file and the row."""
        if self.file is None:
            return ""
        return shortened(self.file) + ("" if self.row is None else f", row {self.row:,}")


@dataclass(frozen=True)
class Example:
    """Two texts side by side.

    ``title`` and ``names`` are headings of the example and its sides; ``note`` and ``places`` are
    lines below them, which may be empty. With ``are_equals``, neither text replaces the other, so
    that differences are marked alike.
    """

    title: str
    note: str
    names: tuple[str, str]
    places: tuple[str, str]
    differences: SideBySide
    are_equals: bool = False

    @property
    def is_code(self) -> bool:
        """Return whether the texts have numbered lines."""
        return any(run.line for runs in (self.differences.a, self.differences.b) for run in runs)

    def marked(self, side: int) -> Markup:
        """Return a text as HTML, with its differences marked."""
        tag = "mark" if self.are_equals else ("del", "ins")[side]
        return mark_runs((self.differences.a, self.differences.b)[side], tag)


def compare_documents(
    title: str,
    a: Document,
    b: Document,
    *,
    roles: tuple[str, str] = ("", ""),
    sides: tuple[str, str] = ("the first text", "the second text"),
    note: str = "",
    is_code: bool = False,
) -> Example:
    """Compare two documents word by word for an example.

    A text that is not available leaves the other one unmarked. ``roles`` are words before the
    ids, such as "removed", and the note calls the texts ``sides``. Lines are numbered if the texts
    are code, also by an ending.
    """
    names = [
        f"{role}: {shortened(each.id)}" if role else shortened(each.id)
        for role, each in zip(roles, (a, b), strict=True)
    ]
    names_of_files = [name for each in (a, b) for name in (each.file, each.id) if name]
    has_lines = is_code or any(map(language_of_file, names_of_files))
    texts = [None if each.text is None else each.text[:MOST_CHARACTERS] for each in (a, b)]
    if texts[0] is not None and texts[1] is not None:
        found = side_by_side(texts[0], texts[1], has_lines=has_lines)
        only = ", ".join(f"{n:,} only in {s}" for n, s in zip(found.n_only, sides, strict=True))
        words = f"{counted(found.n_common, 'word')} in both; {only}"
        note = f"{note}; {words}" if note else words
    else:
        runs = [
            [] if text is None else side_by_side(text, text, has_lines=has_lines).a
            for text in texts
        ]
        found = SideBySide(runs[0], runs[1], 0, (0, 0), is_whole=True)
    return Example(title, note, (names[0], names[1]), (a.place, b.place), found)


def cite(start: int, stop: int, cited: str | None = None) -> str:
    """Write a passage's place, with its citation if known."""
    characters = f"characters {start:,} to {stop:,}"
    return f"{cited}, {characters}" if cited else characters


def with_context(example: Example, side: int, text: str, span: tuple[int, int]) -> Example:
    """Add surrounding text to one side of an example."""
    start, stop = span
    before, after = text[max(start - 200, 0) : start], text[stop : stop + 200]
    found = example.differences
    runs = [Run("around", before, 0), *(found.a, found.b)[side], Run("around", after, 0)]
    changed = replace(found, b=runs) if side else replace(found, a=runs)
    return replace(example, differences=changed)


def mark_runs(runs: Sequence[Run], tag: str) -> Markup:
    """Return runs as HTML, with changes marked by ``tag``."""
    parts: list[Markup] = []
    is_line_start = True
    for run in runs:
        if run.kind == "omitted":
            words = counted(run.n_words, "word")
            parts.append(Markup('<span class="omitted"> … {} … </span>').format(words))
            is_line_start = True
            continue
        text = run.text.rstrip() if run.kind == "changed" else run.text
        piece = number_lines(text, run.line, is_line_start)
        if run.kind == "changed":
            piece = Markup(f"<{tag}>{piece}</{tag}>")
            # The space after the last word is no difference.
            line = run.line and run.line + text.count("\n")
            piece += number_lines(run.text[len(text) :], line, is_line_start=False)
        elif run.kind == "around":
            piece = Markup(f'<span class="around">{piece}</span>')
        is_line_start = False
        parts.append(piece)
    return Markup("").join(parts)


def number_lines(text: str, line: int, is_line_start: bool) -> Markup:
    """Write text with line numbers from ``line``, unless 0."""
    if not line:
        return Markup(escape_text(text))
    piece = Markup()
    for k, content in enumerate(text.split("\n")):
        piece += "\n" if k else ""
        if k or is_line_start:
            piece += Markup('<span class="line" data-n="{}"></span>').format(line + k)
        piece += Markup(escape_text(content))
    return piece


def example_lines(example: Example) -> Iterator[str]:
    """Yield an example as lines of plain text.

    Words that only the first text has are in ``{-...-}``, words of the second in ``{+...+}``.
    """
    yield printable(example.title)
    sides = (example.differences.a, "-"), (example.differences.b, "+")
    for (runs, mark), name, place in zip(sides, example.names, example.places, strict=True):
        yield printable(f"  {name} ({place})" if place else f"  {name}")
        if runs:
            goes_on = "" if example.differences.is_whole else " (goes on)"
            yield f"    {_marked_text(runs, mark)}{goes_on}"
    if example.note:
        yield printable(f"  {example.note}")


def printable(text: str) -> str:
    """Return text without characters unsafe for a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _marked_text(runs: Sequence[Run], mark: str) -> str:
    parts = []
    for run in runs:
        text = "".join(c if c.isprintable() else " " for c in run.text)
        if run.kind == "omitted":
            text = f" […{counted(run.n_words, 'word')}…] "
        elif run.kind == "changed":
            text = f"{{{mark}{text.rstrip()}{mark}}}{' ' if text.endswith(' ') else ''}"
        parts.append(text)
    return " ".join("".join(parts).split())


def choose_rows(
    values: Floats, documents: Sequence[Int64s | Int32s], n: int = 3, exact: float = 1.0
) -> dict[int, str]:
    """Choose titled rows from the threshold to certainty.

    Larger ``values`` are more similar, and NaN is skipped. ``documents`` has numbers of documents
    per row, an array per side; a document comes once in a group if there are others. Groups of
    ``n`` rows are the least similar, the middle, and the most similar that differ. One row without
    a difference is shown, of value ``exact``.
    """
    order = np.argsort(values, kind="stable")
    order = order[: len(order) - int(np.isnan(values).sum())]
    n_below = int(np.searchsorted(values[order], exact))
    near, equal = order[:n_below], order[n_below:]
    middle = near[n_below // 2 :]
    chosen: dict[int, str] = {}
    for title, rows in (
        ("Least similar", near),
        ("Most similar that differ", near[::-1]),
        ("In the middle", middle),
        ("Most similar", equal[:1]),
    ):
        seen: set[tuple[int, int]] = set()
        first, others = list[int](), list[int]()
        for row in rows[:_MOST_SEARCHED].tolist():
            if row in chosen:
                continue
            own = {(side, int(numbers[row])) for side, numbers in enumerate(documents)}
            (others if own & seen else first).append(row)
            seen |= own
            if len(first) == n:
                break
        chosen |= dict.fromkeys([*first, *others][:n], title)
    return dict(sorted(chosen.items(), key=lambda each: values[each[0]]))
