"""The page of a cut: what texts repeated, in which files, where it went, and where it stays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from neardup.passages.matches import group_overlapping
from neardup.reports.charts import Chart, bars, matrix
from neardup.reports.differences import SideBySide, around, side_by_side
from neardup.reports.page import STYLES, Report, counted, percent, render_page, shortened, written
from neardup.reports.passages.drawings import length_chart, similarity_chart
from neardup.reports.passages.model import About, how_it_was_made
from neardup.tables import Floats, Int64s

# What a page of a cut is made of: spans that went, each for one that stays.

MOST_GROUPS = 200
"""Repeated passages that a page lists."""


@dataclass(frozen=True)
class CutDocument:
    """A document that lost something, or has what stays; ``text`` as it came in, if it is known."""

    id: str
    file: str | None
    row: int | None = None
    text: str | None = None


@dataclass(frozen=True)
class Group:
    """What went for one passage that stays: rows of the table, in its order."""

    rows: Int64s
    n_documents: int
    n_characters: int
    text: str = ""


@dataclass(frozen=True)
class CutTable:
    """Spans that went, a row for each.

    ``own`` and ``kept`` are documents by number; ``kept`` is -1 where nobody has said what stays.
    ``summary`` is that of the run, with the beginnings of what was repeated most.
    """

    documents: list[CutDocument]
    own: Int64s
    starts: Int64s
    stops: Int64s
    kept: Int64s
    kept_starts: Int64s
    kept_stops: Int64s
    similarities: Floats
    summary: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.own)

    @classmethod
    def of_none(cls, summary: Mapping[str, Any]) -> CutTable:
        """Return no spans."""
        none = np.empty(0, np.int64)
        return cls([], none, none, none, none, none, none, np.empty(0, np.float64), summary)

    @cached_property
    def _numbers(self) -> Int64s:
        """What went for the same thing has the same number."""
        return group_overlapping(self.kept, self.kept_starts, self.kept_stops)

    @property
    def n_groups(self) -> int:
        """How many different passages were repeated."""
        return int(self._numbers.max(initial=-1)) + 1

    @cached_property
    def groups(self) -> list[Group]:
        """What was repeated most, by copies, then by characters."""
        if not len(self):
            return []
        numbers = self._numbers
        counts = np.bincount(numbers)
        sizes = np.bincount(numbers, self.stops - self.starts).astype(np.int64)
        first_rows = np.full(len(counts), len(self), np.int64)
        np.minimum.at(first_rows, numbers, np.arange(len(self)))
        ranked = np.lexsort((first_rows, -sizes, -counts))[:MOST_GROUPS]
        order = np.argsort(numbers, kind="stable")
        ends = np.cumsum(counts)
        listed = self.summary.get("most_repeated", [])
        found = []
        for rank, number in enumerate(ranked.tolist()):
            rows = order[ends[number] - counts[number] : ends[number]]
            said = listed[rank] if rank < len(listed) else {}
            is_same = said.get("copies") == counts[number]
            text = str(said.get("text", "")) if is_same else ""
            n_documents = len(np.unique(self.own[rows]))
            found.append(Group(rows, n_documents, int(sizes[number]), text))
        return found

    def texts(self, row: int) -> tuple[str | None, str | None]:
        """Return what went, and what stays for it, as far as texts of documents are known."""
        kept = int(self.kept[row])
        own_text = self.documents[int(self.own[row])].text
        kept_text = None if kept < 0 else self.documents[kept].text
        return (
            own_text and own_text[int(self.starts[row]) : int(self.stops[row])],
            kept_text and kept_text[int(self.kept_starts[row]) : int(self.kept_stops[row])],
        )


MOST_SHOWN = 20
"""Repeated passages that are shown with where they stood."""

# Places of a passage, files in drawings, characters of a passage and around one.
_MOST_PLACES, _MOST_FILES = 30, 16
_EXCERPT, _MOST_CHARACTERS, _AROUND = 100, 4000, 200

_OPTIONS = {
    "unit": "what goes",
    "exact": "only what is equal",
    "threshold": "least similarity",
    "min_tokens": "tokens of the shortest thing that goes",
    "min_documents": "documents that must have it",
    "keep": "whose copy stays",
    "replacement": "what is put in its place",
    "predicted_recall": "probability that something similar at the threshold is found",
    "against_documents": "documents it was cut against",
    "skipped_rows": "rows that could not be read",
}


@dataclass(frozen=True)
class Example:
    """A span that went beside what stays for it; ``before`` and ``after`` stood around it."""

    title: str
    note: str
    name_a: str
    name_b: str
    before: str
    after: str
    differences: SideBySide


@dataclass(frozen=True)
class Repeated:
    """What was repeated: how often, its text as far as it is known, where it stays and stood."""

    text: str
    note: str
    rows: Sequence[Sequence[str]]
    more: str


def wanted_rows(table: CutTable) -> list[int]:
    """Return the rows whose texts the page shows, by how much they are wanted."""
    rows = [int(group.rows[0]) for group in table.groups[:MOST_SHOWN]]
    return list(dict.fromkeys([*rows, *_least_alike(table)]))


def cut_report(table: CutTable, how_to_give_texts: str) -> Report:
    """Make the page of what was cut out of texts."""
    summary = table.summary
    about = About(summary)
    headline = "Nothing was repeated, and nothing was cut"
    if len(table):
        documents = f"{summary['documents_cut']:,} of {summary['documents_in']:,} documents"
        headline = f"{counted(len(table), 'span')} cut out of {documents}"
    groups = table.groups
    examples = _examples(table)
    is_equal = summary.get("exact") or not len(table) or np.nanmin(table.similarities) == 1
    charts = [
        None
        if is_equal
        else similarity_chart(
            table.similarities,
            about,
            "Similarities",
            "How alike what went is to what stays for it: 1 is equal, word for word.",
            "spans",
        ),
        length_chart(table.stops - table.starts),
    ]
    options = [
        (shown, written(summary[name]))
        for name, shown in _OPTIONS.items()
        if summary.get(name) not in (None, "", 0)
    ]
    html = render_page(
        "cut.html",
        title=headline,
        contents=[
            ("repeated", "Repeated most"),
            ("files", "By file"),
            ("examples", "Before and after", examples),
            ("figures", "How long", any(charts)),
            ("how", "How it was found", options),
        ],
        styles=[*STYLES, "passages.css"],
        kind="repeated text cut out",
        sentences=_sentences(table),
        facts=[
            (f"{summary['documents_in']:,}", "documents, all of which stay", "kept"),
            (f"{summary['documents_cut']:,}", "documents that lost something", "gone"),
            (f"{len(table):,}", "spans that went"),
            (f"{table.n_groups:,}", "different passages that they repeat"),
            (f"{summary['characters_removed']:,}", "characters that went"),
        ],
        listed=[_listed(table, group) for group in groups],
        n_groups=table.n_groups,
        repeated=[_repeated(table, group) for group in groups[:MOST_SHOWN]],
        files=[_by_file(table), _groups_by_file(table)],
        examples=examples,
        how_to_give_texts="" if examples or not len(table) else how_to_give_texts,
        charts=charts,
        options=options,
        foot=how_it_was_made(),
    )
    return Report(html, headline)


def _sentences(table: CutTable) -> list[str]:
    summary = table.summary
    if not len(table):
        return ["All texts came out as they went in."]
    unit = {"paragraphs": "paragraphs", "lines": "lines"}.get(str(summary.get("unit")), "passages")
    alike = "word for word" if summary.get("exact") else "word for word or nearly so"
    stays = "documents that it was cut against" if summary.get("against_documents") else "documents"
    what = (
        f"What went are {unit} that other {stays} have, {alike}: "
        f"{summary['characters_removed']:,} characters in all. One copy of each stays, in the "
        "document that the tables below name."
    )
    checked = (
        "Each span was compared with the one that stays before it went. Documents stay, with "
        "nothing but their texts changed; what is in the folder kept is the collection without the "
        "repeats."
    )
    return [what, checked]


def _text_of(table: CutTable, group: Group) -> str:
    return table.texts(int(group.rows[0]))[0] or group.text


def _listed(table: CutTable, group: Group) -> tuple[str, ...]:
    files = {table.documents[each].file for each in table.own[group.rows].tolist()}
    kept = int(table.kept[group.rows[0]])
    return (
        f"{len(group.rows):,}",
        f"{group.n_documents:,}",
        f"{len(files - {None}):,}",
        f"{group.n_characters:,}",
        "" if kept < 0 else _named(table, kept),
        _excerpt(_text_of(table, group), _EXCERPT),
    )


def _excerpt(text: str, most: int) -> str:
    """Return the beginning of a text, in one line and in quotes; nothing of an empty one."""
    line = " ".join(text[: 4 * most].split())
    if not line:
        return ""
    return f"“{line[:most]}{'…' if len(line) > most else ''}” "


def _named(table: CutTable, number: int) -> str:
    return shortened(table.documents[number].id) or '""'


def _repeated(table: CutTable, group: Group) -> Repeated:
    first = int(group.rows[0])
    text = _text_of(table, group)
    number = int(table.kept[first])
    stays = ""
    if number >= 0:
        start, stop = int(table.kept_starts[first]), int(table.kept_stops[first])
        stays = f"; stays in {_named(table, number)}, characters {start:,} to {stop:,}"
    rows = []
    for row in group.rows[:_MOST_PLACES].tolist():
        document = table.documents[int(table.own[row])]
        similarity = float(table.similarities[row])
        rows.append(
            (
                shortened(document.id),
                document.file or "",
                "" if document.row is None else f"{document.row:,}",
                f"{table.starts[row]:,} to {table.stops[row]:,}",
                "" if np.isnan(similarity) else f"{similarity:.4f}",
            )
        )
    left = len(group.rows) - len(rows)
    return Repeated(
        text[:_MOST_CHARACTERS],
        f"{_excerpt(text, 60)}{len(group.rows):,} copies in {group.n_documents:,} documents{stays}",
        rows,
        f"and {left:,} more; removed.parquet has all of them" if left else "",
    )


def _by_file(table: CutTable) -> Chart | None:
    """Draw how many characters went out of which files."""
    totals: dict[str, int] = {}
    documents: dict[str, set[int]] = {}
    lengths = (table.stops - table.starts).tolist()
    for number, length in zip(table.own.tolist(), lengths, strict=True):
        file = table.documents[number].file
        if file is not None:
            totals[file] = totals.get(file, 0) + length
            documents.setdefault(file, set()).add(number)
    if not totals:
        return None
    ranked = sorted(totals, key=lambda file: (-totals[file], file))
    all_of_them = sum(totals.values())
    more = len(ranked) - _MOST_FILES
    rest = f" {more:,} more files lost less." if more > 0 else ""
    largest = ranked[0]
    return bars(
        "by-file",
        "Characters cut, by file",
        f"Most went out of {shortened(largest, 40)}: {percent(totals[largest] / all_of_them)} "
        f"of all, from {len(documents[largest]):,} documents. Text that overlaps counts as often "
        f"as it was found.{rest}",
        ("characters",),
        [(file, (totals[file],)) for file in ranked[:_MOST_FILES]],
        kinds=("gone",),
        head="file",
    )


def _groups_by_file(table: CutTable) -> Chart | None:
    """Draw which files had what was repeated most."""
    groups = table.groups[:MOST_SHOWN]
    counts: dict[str, int] = {}
    cells: list[dict[str, int]] = []
    for group in groups:
        cell: dict[str, int] = {}
        for number in table.own[group.rows].tolist():
            file = table.documents[number].file
            if file is not None:
                cell[file] = cell.get(file, 0) + 1
                counts[file] = counts.get(file, 0) + 1
        cells.append(cell)
    if len(counts) < 2:
        return None
    files = sorted(sorted(counts, key=lambda file: (-counts[file], file))[:_MOST_FILES])
    texts = [" ".join(_text_of(table, group)[:200].split()) for group in groups]
    return matrix(
        "groups-by-file",
        "What was repeated most, by file",
        "Each row is one of the passages that were repeated most, each column a file; the darker, "
        "the more copies went out of it.",
        [f"{k}. {text[:40]}" for k, text in enumerate(texts, 1)],
        files,
        [[cell.get(file, 0) for file in files] for cell in cells],
        row_title="passage",
        column_title="file",
    )


def _least_alike(table: CutTable) -> list[int]:
    order = np.argsort(np.nan_to_num(table.similarities, nan=1.0), kind="stable")
    return [int(row) for row in order[:3] if table.similarities[row] < 1]


def _examples(table: CutTable) -> list[Example]:
    """Show the least alike, and one of each of what was repeated most, where texts are known."""
    titles = dict.fromkeys(_least_alike(table), "Among the least alike")
    for rank, group in enumerate(table.groups[:5], 1):
        titles.setdefault(int(group.rows[0]), f"Repeated most, number {rank}")
    return [
        _example(table, row, title) for row, title in titles.items() if None not in table.texts(row)
    ]


def _example(table: CutTable, row: int, title: str) -> Example:
    number, kept = int(table.own[row]), int(table.kept[row])
    start, stop = int(table.starts[row]), int(table.stops[row])
    similarity = float(table.similarities[row])
    return Example(
        title,
        "" if np.isnan(similarity) else f"similarity {similarity:.4f}",
        f"{_named(table, number)}, characters {start:,} to {stop:,}",
        f"{_named(table, kept)}, characters {table.kept_starts[row]:,} to "
        f"{table.kept_stops[row]:,}",
        *around(table.documents[number].text, start, stop, _AROUND),
        side_by_side(*((text or "")[:_MOST_CHARACTERS] for text in table.texts(row))),
    )
