"""Passages drawn: arcs between texts, strips of each text, how alike they are, who shares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from neardup.reports.charts import (
    OTHERS,
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
    told_apart,
)
from neardup.reports.page import percent
from neardup.reports.passages.model import About, Pairs, Passages, Spans
from neardup.reports.passages.reading import Reading
from neardup.runs.totals import Totals
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
    spans, n_all = _longest(passages, [*upper, *lower])
    top = _LABELS
    if not lower:
        # As much room above the line as its arcs need.
        alone = _laid_out(passages, upper, 0.0)
        ends = [_ends(spans, alone, row) for row in range(len(spans))]
        reach = max((abs(start[0] - stop[0]) for start, stop, _ in ends), default=0.0)
        top = _handle(reach) * 3 / 4 + 14
    lines = _laid_out(passages, upper, top) | _laid_out(passages, lower, top + _ARCS)
    parts: list[Markup] = []
    names = [passages.name(document) for document in lines]
    shown_names = told_apart(names, _MOST_CHARACTERS)
    for line, name_of, own in zip(lines.values(), names, shown_names, strict=True):
        is_above = bool(lower) and line.y == top
        x, y = line.x + line.width / 2, line.y + (-10 if is_above else 18)
        shown = label_of(name_of, _MOST_CHARACTERS, own)
        turn = f"translate({number(x)} {number(y)}) rotate({-45 if is_above else 45})"
        parts += [
            element("rect", class_="base", x=line.x, y=line.y - 3, width=line.width, height=6),
            element("text", shown, class_="tick", transform=turn),
        ]
    parts += _arcs(passages, lines, spans)
    height = top + _LABELS + (_ARCS if lower else 0.0)
    some = "" if len(spans) == n_all else f" The longest {len(spans):,} of {n_all:,} are drawn."
    description = (
        "Each line is a text, to scale; each arc joins the two places of a passage, and is at its "
        f"ends as wide as the passage is long. One colour for each pair of texts.{some}"
    )
    svg = drawing(name, title, description, height, parts)
    head = ("first text", "from", "to", "second text", "from", "to")
    return Chart(name, title, description, svg, Table(head, _cells(passages, spans)))


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


def _longest(passages: Passages, documents: Sequence[int]) -> tuple[Spans, int]:
    """Return the longest passages between some texts, and how many there are."""
    found, n_all = Spans.of_none(), 0
    for spans in passages.batches():
        is_it = np.isin(spans.queries, documents) & np.isin(spans.docs, documents)
        n_all += int(is_it.sum())
        found = Spans.joined([found, spans.take(is_it)])
        longest = np.argsort(-found.lengths, kind="stable")[:MOST_ARCS]
        found = found.take(np.sort(longest))
    return found, n_all


def _ends(
    spans: Spans, lines: Mapping[int, _Line], row: int
) -> tuple[tuple[float, float], tuple[float, float], float]:
    """Return the middles of both places of a passage, and how wide it is."""
    first, second = lines[int(spans.queries[row])], lines[int(spans.docs[row])]
    x1 = first.x + first.scale * (spans.query_starts[row] + spans.query_stops[row]) / 2
    x2 = second.x + second.scale * (spans.doc_starts[row] + spans.doc_stops[row]) / 2
    width = first.scale * (spans.query_stops[row] - spans.query_starts[row])
    return (float(x1), first.y), (float(x2), second.y), float(width)


def _arcs(passages: Passages, lines: Mapping[int, _Line], spans: Spans) -> Iterator[Markup]:
    colours = passages.numbers_of(passages.keys(spans)) % N_COLOURS
    for row, cells in enumerate(_cells(passages, spans)):
        (x1, y1), (x2, y2), width = _ends(spans, lines, row)
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


def _cells(passages: Passages, spans: Spans) -> list[tuple[str, ...]]:
    cells = []
    for row in range(len(spans)):
        of_query, of_doc = ([f"{place:,}" for place in places] for places in spans.places(row))
        query, doc = (passages.name(int(side[row])) for side in (spans.queries, spans.docs))
        cells.append((query, *of_query, doc, *of_doc))
    return cells


# What of each text is in some passage, and who has it, too.

_ROW = 36.0
_MOST_OF_LABEL = 52

# Parts of a text that are told apart.
_MOST_BITS = 400


def strips(
    passages: Passages,
    documents: Sequence[int],
    name: str,
    title: str,
    reading: Reading | None = None,
) -> Chart:
    """Draw some texts as bars, with what other texts have in the colours of these.

    What one other text has leads to where both are side by side, if ``reading`` has them.
    """
    longest = max((passages.documents[each].length for each in documents), default=1)
    scale = (WIDTH - 4) / max(longest, 1)
    all_parts = _parts_of(passages, documents, scale)
    many = [each for each in documents if all_parts[each].are_many]
    others_of = _others_of_runs(passages, many, all_parts)
    parts: list[Markup] = []
    shares = []
    for k, each in enumerate(documents):
        y, label, found = 4 + _ROW * k, passages.name(each), all_parts[each]
        _, share = passages.measure(each, found.covered.starts, found.covered.stops)
        shares.append("" if share is None else f"{100 * share:.1f} %")
        rounded = "" if share is None else f"{100 * share:.0f} %"
        shown = label_of(label, _MOST_OF_LABEL)
        width = max(passages.documents[each].length * scale, 0.5)
        bits = others_of[each] if found.are_many else [(*p, 1) for p in found.drawn.values()]
        parts += [
            element("text", shown, class_="tick", x=2, y=y + 11),
            element("text", rounded, class_="tick end", x=WIDTH - 2, y=y + 11),
            element("rect", class_="base", x=2, y=y + 16, width=width, height=10),
            *(_bit(passages, each, *bit, y + 16, scale, reading) for bit in bits),
        ]
    description = (
        "The texts that share most, to scale. Coloured is what another text has as well, a colour "
        "for each other text (point at it for its name); at the right, the part of the text, from "
        "its first word to its last, that is in some passage."
    )
    if passages.hidden.runs.hashes:
        description += " What was ignored is not part of it."
    if reading is not None:
        description += " Click a part to read it beside the other text, if that is on this page."
    if many:
        said = f"Of a text with more than {_MOST_BITS} such parts those that touch have one colour."
        description += f" {said}"
    rows = [
        (passages.name(each), f"{passages.documents[each].length:,}", share)
        for each, share in zip(documents, shares, strict=True)
    ]
    svg = drawing(name, title, description, 8 + _ROW * max(len(documents), 1), parts)
    table = Table(("text", "characters", "part in a passage"), rows)
    return Chart(name, title, description, svg, table)


class _Union:
    """Stretches of a text, those together that overlap or are less than ``gap`` apart."""

    def __init__(self, gap: float) -> None:
        self._gap = gap
        self.starts = self.stops = np.empty(0, np.int64)

    def add(self, starts: Int64s, stops: Int64s) -> None:
        """Add some more stretches."""
        order = np.argsort(starts := np.concatenate([self.starts, starts]), kind="stable")
        starts, stops = starts[order], np.concatenate([self.stops, stops])[order]
        reached = np.maximum.accumulate(stops)
        is_new = np.ones(len(starts), np.bool_)
        is_new[1:] = starts[1:] - reached[:-1] >= self._gap
        firsts = np.flatnonzero(is_new)
        self.starts, self.stops = starts[firsts], np.maximum.reduceat(stops, firsts)


class _Parts:
    """What other texts have of one: ``drawn`` has what looks different, by its place.

    There are too many to be told apart where ``are_many``; ``runs`` are then those that touch.
    """

    def __init__(self, scale: float) -> None:
        self.covered, self.runs = _Union(1), _Union(1 / scale)
        self.drawn: dict[tuple[float, float, int], tuple[int, int, int]] = {}
        self.are_many = False
        self._scale = scale

    def add(self, starts: Int64s, stops: Int64s, others: Int64s) -> None:
        """Add some passages: where they are, and in which other texts."""
        self.covered.add(starts, stops)
        self.runs.add(starts, stops)
        if self.are_many:
            return
        different = np.unique(np.stack([starts, stops, others]), axis=1, return_index=True)[1]
        rows = np.sort(different)
        columns = (column[rows].tolist() for column in (starts, stops, others))
        for start, stop, other in zip(*columns, strict=True):
            self.drawn.setdefault((*_place(start, stop, self._scale), other), (start, stop, other))
            if len(self.drawn) > _MOST_BITS:
                self.are_many = True
                return


def _sides_of(
    passages: Passages, documents: Sequence[int]
) -> Iterator[tuple[int, Int64s, Int64s, Int64s]]:
    """Yield the passages of some texts, some of one text at a time: places, and other texts."""
    for is_query in (True, False):
        for spans in passages.batches():
            own, other = spans.queries, spans.docs
            starts, stops = spans.query_starts, spans.query_stops
            if not is_query:
                own, other, starts, stops = other, own, spans.doc_starts, spans.doc_stops
            for document in np.intersect1d(own, documents).tolist():
                rows = np.flatnonzero(own == document)
                yield document, starts[rows], stops[rows], other[rows]


def _parts_of(passages: Passages, documents: Sequence[int], scale: float) -> dict[int, _Parts]:
    found = {each: _Parts(scale) for each in documents}
    for document, starts, stops, others in _sides_of(passages, documents):
        found[document].add(starts, stops, others)
    return found


def _others_of_runs(
    passages: Passages, documents: Sequence[int], parts: Mapping[int, _Parts]
) -> dict[int, list[tuple[int, int, int, int]]]:
    """Return the runs of some texts: from, to, the first other text that has it, how many do."""
    first = {"n": np.add}
    n_rows = 2 * len(passages) if documents else 0
    found: dict[int, dict[int, tuple[int, int]]] = {each: {} for each in documents}
    with Totals("runs", passages.stored.workspace, 3, first, n_rows=n_rows) as totals:
        for document, starts, _, others in _sides_of(passages, documents):
            runs = np.searchsorted(parts[document].runs.starts, starts, side="right") - 1
            keys = [np.full(len(runs), document), runs, others]
            totals.add([key.astype(np.uint64) for key in keys], n=np.ones(len(runs), np.int64))
    for of_runs, _ in totals.read():
        order = np.lexsort(of_runs[::-1])
        own, runs, others = (key[order].astype(np.int64) for key in of_runs)
        is_new = np.ones(len(own), np.bool_)
        is_new[1:] = (own[1:] != own[:-1]) | (runs[1:] != runs[:-1])
        firsts = np.flatnonzero(is_new)
        counts = np.diff(firsts, append=len(own)).tolist()
        for k, n in zip(firsts.tolist(), counts, strict=True):
            of_run = found[int(own[k])]
            least, n_before = of_run.get(int(runs[k]), (int(others[k]), 0))
            of_run[int(runs[k])] = min(least, int(others[k])), n_before + n
    return {
        each: [
            (start, stop, *found[each][run])
            for run, (start, stop) in enumerate(
                zip(parts[each].runs.starts.tolist(), parts[each].runs.stops.tolist(), strict=True)
            )
        ]
        for each in documents
    }


def _place(start: int, stop: int, scale: float) -> tuple[float, float]:
    """Return where a part of a text begins in the drawing, and its width."""
    return round(2 + start * scale, 1), round(max((stop - start) * scale, 0.8), 1)


def _bit(
    passages: Passages,
    document: int,
    start: int,
    stop: int,
    other: int,
    n_others: int,
    y: float,
    scale: float,
    reading: Reading | None,
) -> Markup:
    """Draw a part of a text, in the colour of the first other text that has it.

    It says, if both can be read, as which pair, on which side, and at which share of the text.
    """
    x, width = _place(start, stop, scale)
    also = f"parts of it also in {n_others:,} other texts"
    if n_others == 1:
        also = f"also in {passages.name(other)}"
    title = element("title", f"{start:,} to {stop:,}: {also}")
    where: dict[str, object] = {}
    for side, pair in enumerate([(document, other), (other, document)]):
        number_of_pair = None if reading is None else reading.place_of(*pair)
        if n_others == 1 and number_of_pair is not None:
            share = start / max(passages.documents[document].length, 1)
            where = {"data_pair": number_of_pair, "data_side": side, "data_at": f"{share:.6f}"}
            break
    kind = f"bit c{other % N_COLOURS}"
    return element("rect", title, class_=kind, x=x, y=y, width=width, height=10, **where)


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
_MOST_ROWS = _MOST_COLUMNS = 60
MOST_LISTED = 200


def who_with_whom(passages: Passages, name: str) -> Chart | None:
    """Draw how many characters texts share; where these are many, how many files do.

    None where there is but one pair.
    """
    if passages.n_pairs < 2:
        return None
    documents, is_one = passages.documents, passages.is_one
    of_labels = np.arange(len(documents))
    n_labels, label_of = len(documents), passages.name
    kind = "text"
    rows, columns = _weights(passages, of_labels, n_labels)
    numbers, firsts, of_documents = np.unique(
        documents.files, return_index=True, return_inverse=True
    )
    is_large = len(rows[0]) > _MOST_ROWS or len(columns[0]) > _MOST_COLUMNS
    if is_large and len(numbers) > 1:
        kind = "file"
        # In the order in which documents have them.
        order = np.argsort(firsts)
        names = ["" if n < 0 else documents.file_names[n] for n in numbers[order].tolist()]
        n_labels, label_of = len(names), lambda number: names[number]
        of_labels = np.argsort(order)[of_documents.reshape(-1)]
        rows, columns = _weights(passages, of_labels, n_labels)
    most = _MOST_COLUMNS if is_one else _MOST_ROWS
    row_ids, row_labels = _most(*rows, n_labels, label_of, most)
    column_ids, column_labels = _most(*columns, n_labels, label_of, _MOST_COLUMNS)
    counts = np.zeros((len(row_labels), len(column_labels)), np.int64)
    for row_cells, column_cells, shared in _cells_of(passages, of_labels):
        np.add.at(counts, (row_ids[row_cells], column_ids[column_cells]), shared)
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


def _cells_of(passages: Passages, of_labels: Int64s) -> Iterator[tuple[Int64s, Int64s, Int64s]]:
    """Yield rows and columns that pairs are in, and what they share, some pairs at a time."""
    for pairs in passages.pairs():
        a, b, shared = of_labels[pairs.queries], of_labels[pairs.docs], pairs.shared
        if passages.is_one:
            # A pair stands on both sides of the diagonal.
            off = a != b
            a, b = np.concatenate([a, b[off]]), np.concatenate([b, a[off]])
            shared = np.concatenate([shared, shared[off]])
        yield a, b, shared


def _weights(
    passages: Passages, of_labels: Int64s, n_labels: int
) -> tuple[tuple[Int64s, Int64s], tuple[Int64s, Int64s]]:
    """Return which rows there are and how much they share, and the same of columns."""
    weights = np.zeros((2, n_labels), np.int64)
    are_there = np.zeros((2, n_labels), np.bool_)
    for *sides, shared in _cells_of(passages, of_labels):
        for k, side in enumerate(sides):
            np.add.at(weights[k], side, shared)
            are_there[k, side] = True
    rows, columns = (np.flatnonzero(each) for each in are_there)
    return (rows, weights[0, rows]), (columns, weights[1, columns])


def _most(
    present: Int64s, weights: Int64s, n_labels: int, label_of: Callable[[int], str], most: int
) -> tuple[Int64s, list[str]]:
    """Choose what is shown by its weight; returns the place of each number, and the labels.

    What is left has a place together, at the end.
    """
    chosen = present
    if len(present) > most:
        chosen = np.sort(present[np.argsort(-weights, kind="stable")[: most - 1]])
    places: Int64s = np.full(n_labels, len(chosen), np.int64)
    places[chosen] = np.arange(len(chosen))
    shown = [label_of(each) for each in chosen.tolist()]
    return places, shown if len(present) <= most else [*shown, OTHERS]


@dataclass(frozen=True)
class Looked:
    """What is listed of a pair: how many passages it has, and how many of them have moved.

    ``shared`` is for either text what ``Passages.measure`` returns.
    """

    n_passages: int
    n_moved: int
    shared: tuple[tuple[int, float | None], tuple[int, float | None]]


def pair_rows(passages: Passages, pairs: Pairs, looked_at: Sequence[Looked]) -> Table:
    """List the first of some pairs with what they share."""
    rows = []
    for query, doc, looked in zip(
        pairs.queries.tolist(), pairs.docs.tolist(), looked_at, strict=False
    ):
        shares = ["" if share is None else percent(share) for _, share in looked.shared]
        counts = looked.n_passages, looked.n_moved, max(n for n, _ in looked.shared)
        names = passages.name(query), passages.name(doc)
        rows.append((*names, *(f"{n:,}" for n in counts), *shares))
    head = "first text,second text,passages,moved,characters,of the first,of the second"
    return Table(head.split(","), rows)
