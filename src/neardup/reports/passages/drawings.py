"""Passages drawn: arcs between texts, strips of each text, how alike they are, who shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from neardup.passages.matches import union_lengths
from neardup.reports.charts import (
    WIDTH,
    Chart,
    Table,
    drawing,
    element,
    histogram,
    label_of,
    matrix,
    number,
    threshold_mark,
)
from neardup.reports.page import percent
from neardup.reports.passages.model import About, Passages
from neardup.tables import Floats, Int64s

N_COLOURS = 12
"""Of pairs, texts and passages in turn; the style sheet has as many."""

MOST_ARCS = 500
"""Arcs that a drawing has."""

# Labels lean to the right, beyond the last line.
_LEFT, _RIGHT, _GAP, _LEAST = 6.0, 88.0, 8.0, 4.0
# Room for labels above or below a line, and for arcs.
_LABELS, _ARCS = 112.0, 170.0
_MOST_CHARACTERS = 16


@dataclass(frozen=True)
class _Line:
    """Where a text is drawn, and how wide a character is."""

    x: float
    y: float
    width: float
    scale: float


def arcs(
    passages: Passages,
    upper: Sequence[int],
    lower: Sequence[int],
    name: str,
    title: str,
) -> Chart:
    """Draw as arcs the longest of the passages that are between two of some texts.

    ``upper`` are the texts of the first line, ``lower`` those of a second one, where passages are
    between two collections; else none.
    """
    top = _LABELS
    if not lower:
        # As much room above the line as its arcs need.
        alone = _laid_out(passages, upper, 0.0)
        ends = [_ends(passages, alone, row) for row in _longest(passages, alone)[0].tolist()]
        reach = max((abs(start[0] - stop[0]) for start, stop, _ in ends), default=0.0)
        top = _handle(reach) * 3 / 4 + 14
    lines = _laid_out(passages, upper, top) | _laid_out(passages, lower, top + _ARCS)
    rows, n_all = _longest(passages, lines)
    parts: list[Markup] = []
    for document, line in lines.items():
        is_above = bool(lower) and line.y == top
        x, y = line.x + line.width / 2, line.y + (-10 if is_above else 18)
        shown = label_of(passages.name(document), _MOST_CHARACTERS)
        turn = f"translate({number(x)} {number(y)}) rotate({-45 if is_above else 45})"
        parts += [
            element("rect", class_="base", x=line.x, y=line.y - 3, width=line.width, height=6),
            element("text", shown, class_="tick", transform=turn),
        ]
    parts += _arcs(passages, lines, rows)
    height = top + _LABELS + (_ARCS if lower else 0.0)
    some = "" if len(rows) == n_all else f" The longest {len(rows):,} of {n_all:,} are drawn."
    description = (
        "Each line is a text, to scale; each arc joins the two places of a passage, and is at its "
        f"ends as wide as the passage is long. One colour for each pair of texts.{some}"
    )
    svg = drawing(name, title, description, height, parts)
    head = ("first text", "from", "to", "second text", "from", "to")
    return Chart(name, title, description, svg, Table(head, _cells(passages, rows)))


def _handle(reach: float) -> float:
    """Return how far the handles of a curve are above a line; the curve goes three quarters."""
    return min(reach * 0.6 + 10, (_ARCS - 12) * 4 / 3)


def _laid_out(passages: Passages, documents: Sequence[int], y: float) -> dict[int, _Line]:
    """Put texts one behind the other."""
    lengths = np.array([max(passages.documents[each].length, 1) for each in documents], np.float64)
    room = WIDTH - _LEFT - _RIGHT - _GAP * max(len(documents) - 1, 0)
    widths = np.maximum(lengths / max(lengths.sum(), 1) * room, _LEAST)
    widths *= room / max(widths.sum(), 1)
    starts = _LEFT + np.concatenate([[0], np.cumsum(widths + _GAP)])
    return {
        each: _Line(float(starts[k]), y, float(widths[k]), float(widths[k] / lengths[k]))
        for k, each in enumerate(documents)
    }


def _longest(passages: Passages, lines: Mapping[int, _Line]) -> tuple[Int64s, int]:
    """Return the rows of the longest passages between some texts, and how many there are."""
    spans = passages.spans
    drawn = np.array(list(lines), np.int64)
    rows = np.flatnonzero(np.isin(spans.queries, drawn) & np.isin(spans.docs, drawn))
    lengths = spans.query_stops[rows] - spans.query_starts[rows]
    return rows[np.sort(np.argsort(-lengths, kind="stable")[:MOST_ARCS])], len(rows)


def _ends(
    passages: Passages, lines: Mapping[int, _Line], row: int
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return the middles of both places of a passage, and how wide it is."""
    spans = passages.spans
    first, second = lines[int(spans.queries[row])], lines[int(spans.docs[row])]
    x1 = first.x + first.scale * (spans.query_starts[row] + spans.query_stops[row]) / 2
    x2 = second.x + second.scale * (spans.doc_starts[row] + spans.doc_stops[row]) / 2
    width = first.scale * (spans.query_stops[row] - spans.query_starts[row])
    return (float(x1), first.y), (float(x2), second.y), float(width)


def _arcs(passages: Passages, lines: Mapping[int, _Line], rows: Int64s) -> Iterator[Markup]:
    colours = passages.pair_numbers[2] % N_COLOURS
    for row, cells in zip(rows.tolist(), _cells(passages, rows), strict=True):
        (x1, y1), (x2, y2), width = _ends(passages, lines, row)
        if y1 == y2:
            handles = (y1 - _handle(abs(x2 - x1)),) * 2
        else:
            handles = y1 + _ARCS / 2, y2 - _ARCS / 2
        path = (
            f"M{number(x1)},{number(y1)}C{number(x1)},{number(handles[0])},"
            f"{number(x2)},{number(handles[1])},{number(x2)},{number(y2)}"
        )
        yield element(
            "path",
            element("title", "{}, {} to {} - {}, {} to {}".format(*cells)),
            class_=f"arc c{colours[row]}",
            d=path,
            stroke_width=min(max(width, 1.5), 18.0),
        )


def _cells(passages: Passages, rows: Int64s) -> list[tuple[str, ...]]:
    spans = passages.spans
    cells = []
    for row in rows.tolist():
        of_query, of_doc = ([f"{place:,}" for place in places] for places in spans.places(row))
        query, doc = (passages.name(int(side[row])) for side in (spans.queries, spans.docs))
        cells.append((query, *of_query, doc, *of_doc))
    return cells


# What of each text is in some passage, and who has it, too.

_ROW = 36.0
_MOST_OF_LABEL = 52

# Parts of a text that are told apart.
_MOST_BITS = 400


def strips(passages: Passages, documents: Sequence[int], name: str, title: str) -> Chart:
    """Draw some texts as bars, with what other texts have in the colours of these."""
    longest = max((passages.documents[each].length for each in documents), default=1)
    scale = (WIDTH - 4) / max(longest, 1)
    shares = covered_shares(passages, documents)
    parts: list[Markup] = []
    any_joined = False
    for k, (each, share) in enumerate(zip(documents, shares, strict=True)):
        y, label = 4 + _ROW * k, passages.name(each)
        shown = label_of(label, _MOST_OF_LABEL)
        width = max(passages.documents[each].length * scale, 0.5)
        bits, is_joined = _bits(passages, each, y + 16, scale)
        any_joined |= is_joined
        parts += [
            element("text", shown, class_="tick", x=2, y=y + 11),
            element("text", f"{100 * share:.0f} %", class_="tick end", x=WIDTH - 2, y=y + 11),
            element("rect", class_="base", x=2, y=y + 16, width=width, height=10),
            *bits,
        ]
    description = (
        "The texts that share most, to scale. Coloured is what another text has as well, a colour "
        "for each other text (point at it for its name); at the right, the part of the text that "
        "is in some passage."
    )
    if any_joined:
        said = f"Of a text with more than {_MOST_BITS} such parts those that touch have one colour."
        description += f" {said}"
    rows = [
        (passages.name(each), f"{passages.documents[each].length:,}", f"{100 * share:.1f} %")
        for each, share in zip(documents, shares, strict=True)
    ]
    svg = drawing(name, title, description, 8 + _ROW * max(len(documents), 1), parts)
    table = Table(("text", "characters", "part in a passage"), rows)
    return Chart(name, title, description, svg, table)


def covered_shares(passages: Passages, documents: Sequence[int]) -> list[float]:
    """Return which part of some texts is in a passage."""
    spans, chosen = passages.spans, np.unique(np.array(documents, np.int64))
    parts = []
    for own, *places in (
        (spans.queries, spans.query_starts, spans.query_stops),
        (spans.docs, spans.doc_starts, spans.doc_stops),
    ):
        rows = np.flatnonzero(np.isin(own, chosen))
        parts.append((*(column[rows] for column in places), np.searchsorted(chosen, own[rows])))
    starts, stops, groups = (np.concatenate(each) for each in zip(*parts, strict=True))
    lengths = union_lengths(starts, stops, groups, len(chosen))
    found = lengths[np.searchsorted(chosen, documents)].tolist()
    return [
        length / (passages.documents[each].length or 1)
        for length, each in zip(found, documents, strict=True)
    ]


def _bits(passages: Passages, document: int, y: float, scale: float) -> tuple[list[Markup], bool]:
    """Draw what other texts have; what would look the same is drawn once.

    Returns whether these are too many to be told apart; what touches is then drawn as one.
    """
    spans = passages.spans
    drawn: dict[tuple[float, float, int], Markup] = {}
    parts: list[tuple[int, int, int]] = []
    for own, *columns in (
        (spans.queries, spans.query_starts, spans.query_stops, spans.docs),
        (spans.docs, spans.doc_starts, spans.doc_stops, spans.queries),
    ):
        rows = np.flatnonzero(own == document)
        parts += zip(*(column[rows].tolist() for column in columns), strict=True)
    for start, stop, other in parts:
        place = *_place(start, stop, scale), other
        if place not in drawn:
            drawn[place] = _bit(passages, start, stop, {other}, y, scale)
            if len(drawn) > _MOST_BITS:
                return _joined(passages, parts, y, scale), True
    return list(drawn.values()), False


def _joined(
    passages: Passages, parts: Sequence[tuple[int, int, int]], y: float, scale: float
) -> list[Markup]:
    """Draw what is closer than can be seen as one, in the colour of the first text that has it."""
    runs: list[tuple[int, int, set[int]]] = []
    for start, stop, other in sorted(parts):
        if runs and (start - runs[-1][1]) * scale < 1:
            first, last, others = runs[-1]
            others.add(other)
            runs[-1] = first, max(last, stop), others
        else:
            runs.append((start, stop, {other}))
    return [_bit(passages, *run, y, scale) for run in runs]


def _place(start: int, stop: int, scale: float) -> tuple[float, float]:
    """Return where a part of a text begins in the drawing, and its width."""
    return round(2 + start * scale, 1), round(max((stop - start) * scale, 0.8), 1)


def _bit(
    passages: Passages, start: int, stop: int, others: set[int], y: float, scale: float
) -> Markup:
    x, width = _place(start, stop, scale)
    also = f"parts of it also in {len(others):,} other texts"
    if len(others) == 1:
        also = f"also in {passages.name(*others)}"
    title = element("title", f"{start:,} to {stop:,}: {also}")
    colour = f"bit c{min(others) % N_COLOURS}"
    return element("rect", title, class_=colour, x=x, y=y, width=width, height=10)


# How alike passages are, and how long.


def similarity_chart(
    similarities: Iterable[Floats], about: About, title: str, description: str, what: str
) -> Chart | None:
    """Draw how many have which similarity, given some at a time; None where fewer than two do."""
    edges = np.linspace(0, 1, 21)
    counts, n_known = np.zeros(20, np.int64), 0
    for some in similarities:
        known = some[~np.isnan(some)]
        n_known += len(known)
        counts += np.histogram(known, edges)[0]
    if n_known < 2:
        return None
    return histogram(
        "similarities",
        title,
        description,
        [round(float(edge), 2) for edge in edges],
        counts.tolist(),
        x_title="similarity",
        y_title=what,
        marked=threshold_mark(about.summary.get("threshold")),
    )


def length_chart(lengths: Iterable[Int64s]) -> Chart | None:
    """Draw how many passages have how many characters, given some at a time.

    None where there are fewer than two.
    """
    of_powers = np.zeros(64, np.int64)
    for some in lengths:
        logarithms = np.log2(np.maximum(some, 1)).astype(np.int64)
        of_powers += np.bincount(logarithms, minlength=len(of_powers))
    if of_powers.sum() < 2:
        return None
    there = np.flatnonzero(of_powers)
    powers = np.arange(there[0], there[-1] + 2)
    counts = of_powers[powers[:-1]]
    return histogram(
        "lengths",
        "Lengths of passages",
        "How many passages have so many characters in the first text; each bar goes up to twice "
        "where it begins.",
        powers.astype(float).tolist(),
        counts.tolist(),
        x_title="characters, from",
        y_title="passages",
        labels=[f"{2**k:,}" for k in powers[:-1].tolist()],
    )


# Who shares with whom: a matrix of texts or files, and a list of pairs.

# Rows and columns of a matrix that can be read, and pairs that are listed.
_MOST_ROWS, _MOST_COLUMNS = 24, 16
MOST_LISTED = 200

_REST = "others"


def who_with_whom(passages: Passages, name: str) -> Chart | None:
    """Draw how many characters texts share; where these are many, how many files do.

    None where there is but one pair.
    """
    queries, docs, _ = passages.pair_numbers
    if len(queries) < 2:
        return None
    shared = np.maximum(*passages.shared)
    rows, columns = np.unique(queries), np.unique(docs)
    if passages.is_one:
        rows = columns = np.union1d(rows, columns)
    documents = passages.documents
    n_labels, label_of = len(documents), passages.name
    of_rows = of_columns = np.arange(n_labels)
    kind = "text"
    numbers, firsts, of_documents = np.unique(
        documents.files, return_index=True, return_inverse=True
    )
    if (len(rows) > _MOST_ROWS or len(columns) > _MOST_COLUMNS) and len(numbers) > 1:
        kind = "file"
        # In the order in which documents have them.
        order = np.argsort(firsts)
        names = ["" if n < 0 else documents.file_names[n] for n in numbers[order].tolist()]
        n_labels, label_of = len(names), lambda number: names[number]
        of_rows = of_columns = np.argsort(order)[of_documents.reshape(-1)]
    cells = of_rows[queries], of_columns[docs]
    if passages.is_one:
        # A pair stands on both sides of the diagonal.
        off = cells[0] != cells[1]
        a, b = cells
        cells = np.concatenate([a, b[off]]), np.concatenate([b, a[off]])
        shared = np.concatenate([shared, shared[off]])
    most = _MOST_COLUMNS if passages.is_one else _MOST_ROWS
    row_ids, row_labels = _most(cells[0], shared, n_labels, label_of, most)
    column_ids, column_labels = _most(cells[1], shared, n_labels, label_of, _MOST_COLUMNS)
    counts = np.zeros((len(row_labels), len(column_labels)), np.int64)
    np.add.at(counts, (row_ids[cells[0]], column_ids[cells[1]]), shared)
    sides = (kind, f"other {kind}") if passages.is_one else (f"first {kind}", f"second {kind}")
    return matrix(
        name,
        f"Characters that {kind}s share",
        f"Each cell is a pair of {kind}s; the darker, the more characters are in passages of both.",
        row_labels,
        column_labels,
        counts.tolist(),
        row_title=sides[0],
        column_title=sides[1],
    )


def _most(
    numbers: Int64s, weights: Int64s, n_labels: int, label_of: Callable[[int], str], most: int
) -> tuple[Int64s, list[str]]:
    """Choose what is shown by its weight; returns the place of each number, and the labels.

    What is left has a place together, at the end.
    """
    totals = np.bincount(numbers, weights, n_labels)
    present = np.flatnonzero(np.bincount(numbers, minlength=n_labels))
    chosen = present
    if len(present) > most:
        chosen = np.sort(present[np.argsort(-totals[present], kind="stable")[: most - 1]])
    places: Int64s = np.full(n_labels, len(chosen), np.int64)
    places[chosen] = np.arange(len(chosen))
    shown = [label_of(each) for each in chosen.tolist()]
    return places, shown if len(present) <= most else [*shown, _REST]


def pair_rows(passages: Passages, numbers: Sequence[int]) -> Table:
    """List some pairs with what they share."""
    rows = []
    for pair in map(passages.pair, numbers):
        sides = pair.query, pair.doc
        lengths = [passages.documents[each].length for each in sides]
        shares = [
            percent(min(shared / length, 1.0)) if length else ""
            for shared, length in zip(pair.shared, lengths, strict=True)
        ]
        counts = len(pair.rows), int(pair.moved.sum()), max(pair.shared)
        rows.append((*map(passages.name, sides), *(f"{n:,}" for n in counts), *shares))
    head = "first text,second text,passages,moved,characters,of the first,of the second"
    return Table(head.split(","), rows)
