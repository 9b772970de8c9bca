"""Which pairs a page shows beside each other, and how."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.reports.charts.chart import shortened
from neardup.reports.differences import side_by_side
from neardup.reports.example import Example
from neardup.reports.page import MOST_OF_NAME
from neardup.reports.pairs.table import PairsTable
from neardup.tables import Int64s

MOST_EXAMPLES = 4
"""Of each group."""

MOST_CHARACTERS = 200_000
"""Of a text that is compared for the page."""

# Text and place of a document, None where it is not known: by side and id.
FindText = Callable[[str, str], tuple[str, str] | None]


@dataclass(frozen=True)
class Chosen:
    """Pairs that are shown under one heading, as rows of the table; or as ids, with no row."""

    name: str
    title: str
    lead: str
    rows: Sequence[int]
    ids: Sequence[tuple[str, str]] = ()
    n_in_all: int | None = None


@dataclass(frozen=True)
class Group:
    """Examples under one heading, and pairs whose texts are not known, as lines."""

    name: str
    title: str
    lead: str
    examples: Sequence[Example]
    lines: Sequence[tuple[str, ...]]


def choose_rows(pairs: PairsTable) -> list[Chosen]:
    """Choose examples: the most similar that differ, in the middle, and the least similar."""
    order = np.argsort(-pairs.values, kind="stable")
    values = pairs.values[order]
    best = float(values[0]) if len(values) else 0.0
    is_same = 0.0 if pairs.by_distance else 1.0
    n_equal = int((values == is_same).sum()) if not pairs.is_count and best == is_same else 0
    differing = order[n_equal:]
    if not len(differing):
        parts = [("equal", "All are equal by this measure", "", order)]
    else:
        parts = [("closest", "The most similar that differ", "", differing)]
    if len(differing) > 3 * MOST_EXAMPLES:
        middle = differing[len(differing) // 2 :]
        parts.append(
            ("middle", "In the middle", "Half of those that differ are less similar.", middle)
        )
    if len(differing) > MOST_EXAMPLES:
        lead = "If these are not what you want, the threshold is too low."
        least = differing[MOST_EXAMPLES:][::-1]
        parts.append(("least", "The least similar", lead, least))
    return [
        Chosen(name, title, lead, few_of(pairs, rows, MOST_EXAMPLES))
        for name, title, lead, rows in parts
    ]


def few_of(pairs: PairsTable, rows: Int64s, most: int) -> list[int]:
    """Return some rows, the first ones, but each document once as far as there are others."""
    a, b = pairs.numbered
    chosen: list[int] = []
    others: list[int] = []
    seen: set[tuple[str, int]] = set()
    # In a large group of documents that are alike many rows are of the same few documents.
    for place, row in enumerate(rows[: 1000 * most].tolist()):
        documents = {("a", int(a[row])), ("b" if pairs.two_sided else "a", int(b[row]))}
        (others if documents & seen else chosen).append(place)
        seen |= documents
        if len(chosen) == most:
            break
    places = sorted([*chosen, *others][:most])
    return [int(rows[place]) for place in places]


def ids_shown(pairs: PairsTable, chosen: Sequence[Chosen]) -> tuple[set[str], set[str]]:
    """Return the ids of the documents a and b of all pairs that are shown."""
    rows = [row for group in chosen for row in group.rows]
    others = [pair for group in chosen for pair in group.ids]
    return (
        {pairs.ids_a[row].as_py() for row in rows} | {a for a, _ in others},
        {pairs.ids_b[row].as_py() for row in rows} | {b for _, b in others},
    )


def make_groups(pairs: PairsTable, chosen: Sequence[Chosen], find_text: FindText) -> list[Group]:
    """Put the pairs beside each other whose texts are known, and list the others."""
    groups = []
    for group in chosen:
        examples: list[Example] = []
        lines: list[tuple[str, ...]] = []
        listed = [(pairs.ids_a[r].as_py(), pairs.ids_b[r].as_py(), r) for r in group.rows]
        for id_a, id_b, row in [*listed, *((a, b, None) for a, b in group.ids)]:
            note = "not in the table" if row is None else describe(pairs, row)
            found_a, found_b = find_text("a", id_a), find_text("b", id_b)
            if found_a is None or found_b is None:
                found_a, found_b = _columns_as_texts(pairs, row)
            name_a, name_b = (shortened(each, MOST_OF_NAME) for each in (id_a, id_b))
            if found_a is None or found_b is None:
                lines.append((name_a, name_b, note))
                continue
            (text_a, place_a), (text_b, place_b) = found_a, found_b
            differences = side_by_side(text_a[:MOST_CHARACTERS], text_b[:MOST_CHARACTERS])
            title = note if row is None else _title(pairs, row)
            examples.append(
                Example(
                    title, _values_of(pairs, row), name_a, name_b, place_a, place_b, differences
                )
            )
        lead = group.lead
        n_shown = len(examples) + len(lines)
        if group.n_in_all is not None and group.n_in_all > n_shown:
            lead += f" {n_shown:,} of {group.n_in_all:,} are shown."
        groups.append(Group(group.name, group.title, lead.strip(), examples, lines))
    return groups


def _title(pairs: PairsTable, row: int) -> str:
    if pairs.by_distance and pairs.scores is not None:
        return f"distance {pairs.scores[row]:,}"
    if pairs.is_count:
        return f"{pairs.similarities[row]:g} shingles in common"
    return f"similarity {pairs.similarities[row]:.4f}"


def describe(pairs: PairsTable, row: int) -> str:
    """Say how similar a pair is, in all that is known of it."""
    parts = [_title(pairs, row)]
    if pairs.intervals is not None:
        low, high = (bounds[row] for bounds in pairs.intervals)
        parts.append(f"between {low:.4f} and {high:.4f}")
    if pairs.scores is not None and pairs.score_name == "overlap" and not pairs.is_count:
        parts.append(f"{pairs.scores[row]:,} shingles in common")
    return ", ".join(parts)


def _values_of(pairs: PairsTable, row: int | None) -> str:
    """Say what is known of a pair beside its title, columns of both documents among it."""
    if row is None:
        return ""
    _, *rest = describe(pairs, row).split(", ", 1)
    parts = list(rest)
    for name, (a, b) in pairs.shown.items():
        values = [_short(column[row].as_py()) for column in (a, b)]
        parts.append(f"{name}: {' | '.join(values)}")
    return "; ".join(parts)


def _short(value: object) -> str:
    text = "none" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:59]}…"


def _columns_as_texts(
    pairs: PairsTable, row: int | None
) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
    """Return the columns of both documents as two texts; none if the table has none."""
    if row is None or not pairs.shown:
        return None, None
    texts = []
    for side in (0, 1):
        lines = (
            f"{name}: {'' if value is None else value}"
            for name, columns in pairs.shown.items()
            for value in (columns[side][row].as_py(),)
        )
        texts.append(("\n".join(lines), ""))
    return texts[0], texts[1]
