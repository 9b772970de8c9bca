"""The page for judging pairs, the least similar first."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from neardup.reports.differences import CONTEXT, Run, side_by_side
from neardup.reports.page import Cell, Report, Section, Table, data_block, render
from neardup.reports.pairs_page import PairTable, describe_pairs
from neardup.reports.text import excerpt
from neardup.runs.progress import counted

# Characters of texts that are shown whole, and of texts that are compared.
_SHORT, _LONGEST = 1_000, 200_000

Rows = Mapping[str, Mapping[str, Any]]
"""Columns of documents by id."""


def review_report(
    pairs: PairTable,
    chosen: Sequence[int],
    fields: Sequence[str],
    documents: tuple[Rows, Rows] | None,
    advice: str,
) -> Report:
    """Make the page for judging some pairs in order."""
    stems = [stem for stem in pairs.stems if stem not in fields]
    names = [*stems, *fields]
    own = {"id_a", "id_b", "query_id", "doc_id", "similarity"}
    own |= {f"{stem}_{side}" for stem in pairs.stems for side in "ab"}
    facts = [name for name in pairs.rows.schema.names if name not in own]
    content: list[list[Any]] = []
    n_unknown = 0
    for pair, row in zip(chosen, pairs.take(chosen), strict=True):
        sides = []
        is_unknown = False
        for k, side in enumerate("ab"):
            found = None if documents is None else documents[k].get(row[side])
            is_unknown |= documents is not None and found is None
            sides.append({stem: row[f"{stem}_{side}"] for stem in stems} | dict(found or {}))
        n_unknown += is_unknown
        values = [_compare(*(as_shown(side.get(name)) for side in sides)) for name in names]
        about = " · ".join(
            f"{name.replace('_', ' ').replace('overlap', 'common shingles')} {as_shown(row[name])}"
            for name in facts
            if row[name] is not None
        )
        content.append([row["a"], row["b"], float(pairs.similarities[pair]), values, about])
    used = [k for k in range(len(names)) if any(pair[3][k] != "" for pair in content)]
    for pair_ in content:
        pair_[3] = [pair_[3][k] for k in used]
    sentences = [describe_pairs(pairs)]
    if left := len(pairs) - len(content):
        sentences.append(f"{left:,} of {counted(len(pairs), 'pair')} are left out by `--limit`.")
    if n_unknown:
        sentences.append(f"{counted(n_unknown, 'pair')} with an empty side.")
    body = render("review.html", n=len(content)) if content else ""
    shown = {"fields": [names[k] for k in used], "pairs": content, "is_count": pairs.is_count}
    # Judgements in the browser belong to these pairs and fields alone.
    key = hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:32]
    columns = ("id_a", "id_b", "label", "similarity", "note")
    data = {**shown, "key": f"neardup-review-{key}", "columns": columns}
    lacks = n_unknown > 0 or not used
    return Report(
        "review",
        f"{counted(len(content), 'pair')} to judge",
        sentences,
        [],
        [
            Section(
                "judge",
                "Are these two the same?",
                body=Markup(body) + (data_block("review-data", data) if content else ""),
                nothing="The table has no pair. A lower threshold finds more.",
            ),
            Section("pairs", "All pairs", tables=[_listed(pairs, content)] if content else []),
        ],
        next_step=advice if lacks else "Judge the pairs, and download the labels as CSV.",
        parts=["review"],
    )


def _listed(pairs: PairTable, content: Sequence[Sequence[Any]]) -> Table:
    rows: list[Sequence[Cell]] = []
    for a, b, value, values, _ in content:
        texts = [
            excerpt(" · ".join(filter(None, (_text_of(v, k) for v in values))), 120) for k in (0, 1)
        ]
        shown: Cell = int(value) if pairs.is_count else value
        rows.append(("", shown, texts[0] or a, texts[1] or b))
    head = ("judged", "similarity", "a", "b")
    return Table(
        "Pairs, the least similar first", head, rows, "A row opens its pair.", is_live=True
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
