"""The page for judging pairs, least certain pair first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup

from neardup.reports.differences import CONTEXT, Run, side_by_side
from neardup.reports.judgements import LABEL, NO, NOTE, UNJUDGED, UNSURE, YES, Judgements
from neardup.reports.labels import Labelled
from neardup.reports.page import Cell, Report, Section, Table, data_block, render
from neardup.reports.pairs import PairTable, describe_pairs
from neardup.reports.text import excerpt
from neardup.runs.progress import counted
from neardup.tables import Int64s

# Judgements by their numbers on the page.
_WORDS = (UNJUDGED, YES, NO, UNSURE)
# Characters of texts that are shown whole, and of texts that are compared.
_SHORT, _LONGEST = 1_000, 200_000
# Bars of the histogram of Otsu's method.
_BARS = 512

FindFields = Callable[[str, str], Mapping[str, Any] | None]
"""Returns the fields of a document by its side, a or b, and its id."""


@dataclass(frozen=True)
class Fields:
    """Field names in order, with values unless documents are missing."""

    names: Sequence[str]
    find: FindFields | None


def earlier_judgements(pairs: PairTable, judged: Judgements | None) -> dict[int, tuple[str, str]]:
    """Return word and note of each pair judged before.

    In a table of one collection a and b may be exchanged.
    """
    if judged is None:
        return {}
    known: dict[tuple[str, str], tuple[str, str]] = {}
    listed = list(
        zip(judged.pairs(), judged.words or [YES] * len(judged.ids_a), judged.notes, strict=True)
    )
    # Of several rows of one pair the last counts that has a word and names it this way round.
    for is_judged in (False, True):
        for (a, b), word, note in listed:
            if (word != UNJUDGED) == is_judged and not pairs.is_two_sided:
                known[b, a] = word, note
        for pair, word, note in listed:
            if (word != UNJUDGED) == is_judged:
                known[pair] = word, note
    ids = zip(pairs.ids_of(0).to_pylist(), pairs.ids_of(1).to_pylist(), strict=True)
    return {k: known[pair] for k, pair in enumerate(ids) if pair in known and any(known[pair])}


def find_pivot(pairs: PairTable, labelled: Labelled | None) -> float:
    """Return the value of the least certain pairs.

    With labels it is their best threshold. Without labels it parts the values into the two groups
    that differ most for their sizes (Otsu 1979, A threshold selection method from gray-level
    histograms).
    """
    if labelled is not None and labelled.best is not None:
        return labelled.best_rank
    values = pairs.values
    if not len(values) or values.min() == values.max():
        return float(values[0]) if len(values) else 0.0
    # Counted from the least value: near 1 the values may be finer than the bars.
    least = float(values.min())
    counts, edges = np.histogram(values - least, _BARS)
    middles = (edges[:-1] + edges[1:]) / 2
    below, sums = np.cumsum(counts)[:-1], np.cumsum(counts * middles)[:-1]
    above = counts.sum() - below
    apart = sums / below - (np.sum(counts * middles) - sums) / above
    spread = below * above * apart**2
    # Between two groups with nothing between them every value is as good: the middle one.
    best = np.flatnonzero(spread >= spread.max() * (1 - 1e-12))
    return least + float((edges[best[0] + 1] + edges[best[-1] + 1]) / 2)


def choose_to_judge(
    pairs: PairTable, pivot: float, earlier: Mapping[int, Any], limit: int
) -> Int64s:
    """Return open pairs nearest to the pivot, then judged pairs."""
    is_judged = np.zeros(len(pairs), np.bool_)
    is_judged[list(earlier)] = True
    order = np.lexsort((np.abs(pairs.values - pivot), is_judged))
    n_open = max(0, min(limit - len(earlier), len(pairs) - len(earlier)))
    return np.concatenate([order[:n_open], order[len(pairs) - len(earlier) :]])


def review_report(
    pairs: PairTable,
    chosen: Int64s,
    fields: Fields,
    pivot: tuple[float, bool],
    earlier: Mapping[int, tuple[str, str]],
    advice: str,
    notes: Sequence[str] = (),
) -> Report:
    """Make the page for judging pairs.

    ``chosen`` are the page's pairs in order. ``pivot`` is the least certain value, and whether
    labels chose it. ``earlier`` has words and notes of judged pairs. ``advice`` is the next step if
    documents are missing, and ``notes`` are lines for the person who makes the page.
    """
    stems = [stem for stem in pairs.stems if stem not in fields.names]
    names = [*stems, *fields.names]
    own = {"id_a", "id_b", "query_id", "doc_id", "similarity"}
    own |= {f"{stem}_{side}" for stem in pairs.stems for side in "ab"}
    facts = [name for name in pairs.rows.schema.names if name not in own]
    content: list[list[Any]] = []
    n_unknown = 0
    for pair, row in zip(chosen.tolist(), pairs.take(chosen.tolist()), strict=True):
        sides = []
        is_unknown = False
        for side in "ab":
            found = None if fields.find is None else fields.find(side, row[side])
            is_unknown |= fields.find is not None and found is None
            sides.append({stem: row[f"{stem}_{side}"] for stem in stems} | dict(found or {}))
        n_unknown += is_unknown
        values = [_compare(*(as_shown(side.get(name)) for side in sides)) for name in names]
        word, note = earlier.get(pair, (UNJUDGED, ""))
        about = " · ".join(
            f"{name.replace('_', ' ')} {as_shown(row[name])}"
            for name in facts
            if row[name] is not None
        )
        value = float(pairs.similarities[pair])
        content.append([row["a"], row["b"], value, values, about, _WORDS.index(word), note])
    used = [k for k in range(len(names)) if any(pair[3][k] != "" for pair in content)]
    for pair_ in content:
        pair_[3] = [pair_[3][k] for k in used]
    n_judged, n = len(earlier), len(content)
    headline = f"{counted(n - n_judged, 'pair')} to judge"
    if n_judged:
        headline = f"{counted(n_judged, 'pair')} judged, {n - n_judged:,} to judge"
    if n_unknown:
        notes = [*notes, f"hint: {counted(n_unknown, 'pair')} with an empty side. {advice}"]
    body = render("review.html", n=n) if n else ""
    shown = {"fields": [names[k] for k in used], "pairs": content, "is_count": pairs.is_count}
    # Judgements in the browser belong to these pairs and fields alone.
    key = hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:32]
    columns = ("id_a", "id_b", LABEL, "similarity", NOTE)
    data = {**shown, "key": f"neardup-review-{key}", "columns": columns}
    step = "Download the labels, and give them to `neardup report --labels` or `neardup choose`."
    lacks = n_unknown > 0 or not used
    return Report(
        "review",
        headline,
        [describe_pairs(pairs), *_order(pairs, n, pivot)],
        [],
        [
            Section(
                "judge",
                "Are these two the same?",
                body=Markup(body) + (data_block("review-data", data) if n else ""),
                nothing="The table has no pair. A lower threshold finds more.",
            ),
            Section("pairs", "All pairs", tables=[_listed(pairs, content)] if n else []),
        ],
        next_step=advice if lacks else step,
        notes=notes,
        parts=["review"],
    )


def _order(pairs: PairTable, n: int, pivot: tuple[float, bool]) -> list[str]:
    kind = "distance" if pairs.is_by_distance else "similarity"
    reason = "the best threshold by the labels" if pivot[1] else "which parts them into two groups"
    found = f"Least certain first: pairs near the {kind} {abs(pivot[0]):.3g}, {reason}."
    left = len(pairs) - n
    more = f"{left:,} of {counted(len(pairs), 'pair')} are left out; `--limit` sets their number."
    return [found, more] if left else [found] if n else []


def _listed(pairs: PairTable, content: Sequence[Sequence[Any]]) -> Table:
    rows: list[Sequence[Cell]] = []
    for a, b, value, values, _, label, _ in content:
        texts = [
            excerpt(" · ".join(filter(None, (_text_of(v, k) for v in values))), 120) for k in (0, 1)
        ]
        shown: Cell = int(value) if pairs.is_count else value
        rows.append((_WORDS[label], shown, texts[0] or a, texts[1] or b))
    head = ("judged", "similarity", "a", "b")
    return Table(
        "Pairs, the least certain first", head, rows, "A row opens its pair.", is_live=True
    )


def _text_of(value: Any, side: int) -> str:
    if isinstance(value, str):
        return value
    return "".join(
        " … " if isinstance(run, int) else run if isinstance(run, str) else run[0]
        for run in value[side]
    )


def as_shown(value: Any) -> str:
    """Return the value of a field as text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value[:_LONGEST]
    if isinstance(value, list | dict | bool):
        return json.dumps(value, ensure_ascii=False, default=str)[:_LONGEST]
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _compare(a: str, b: str) -> str | list[list[str | list[str] | int]]:
    """Return the common value of both sides, or their runs.

    A run is a string in both, a list of one string in one side, or a number of omitted words.
    """
    is_short = max(len(a), len(b)) <= _SHORT
    if a == b and is_short:
        return a
    if not (a and b):
        return [[[text]] if text else [] for text in (a, b)]
    found = side_by_side(a, b, context=None if is_short else CONTEXT)
    return [[_run(run) for run in runs] for runs in (found.a, found.b)]


def _run(run: Run) -> str | list[str] | int:
    if run.kind == "omitted":
        return run.n_words
    return [run.text] if run.kind == "changed" else run.text
