"""Passages to judge by: the least alike, the longest, one in the middle, one that has moved."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neardup.reports.differences import side_by_side
from neardup.reports.example import Example
from neardup.reports.passages.model import Passages

# Characters of a passage that are compared.
_MOST_CHARACTERS = 20_000


def choose_examples(passages: Passages) -> list[Example]:
    """Choose passages whose texts are known; each comes once."""
    known = np.array([passages.has_texts(row) for row in range(len(passages.spans))], np.bool_)
    rows = np.flatnonzero(known)
    if not len(rows):
        return []
    spans = passages.spans
    similarities = np.nan_to_num(spans.similarities[rows], nan=1.0)
    lengths = spans.query_stops[rows] - spans.query_starts[rows]
    ranked = rows[np.argsort(similarities, kind="stable")]
    chosen: dict[int, str] = {}
    chosen.setdefault(int(ranked[0]), "The least alike")
    if len(ranked) > 1:
        chosen.setdefault(int(ranked[1]), "The second least alike")
    chosen.setdefault(int(ranked[len(ranked) // 2]), "One from the middle")
    moved = _longest_moved(passages, known)
    if moved is not None:
        chosen.setdefault(moved, "The longest that has moved")
    chosen.setdefault(int(rows[int(np.argmax(lengths))]), "The longest")
    return [_example(passages, row, title) for row, title in chosen.items()]


def _longest_moved(passages: Passages, known: np.ndarray) -> int | None:
    spans = passages.spans
    found = [
        (int(spans.query_starts[row] - spans.query_stops[row]), row)
        for row in _moved_rows(passages)
        if known[row]
    ]
    return min(found)[1] if found else None


def _moved_rows(passages: Passages) -> Iterator[int]:
    # Pairs further down share little.
    for number in passages.ranking[:100].tolist():
        pair = passages.pair(number)
        yield from pair.rows[pair.moved].tolist()


def _example(passages: Passages, row: int, title: str) -> Example:
    spans = passages.spans
    text_a, text_b = (text[:_MOST_CHARACTERS] for text in passages.texts_of(row))
    differences = side_by_side(text_a, text_b)
    similarity = float(spans.similarities[row])
    note = "" if np.isnan(similarity) else f"similarity {similarity:.4f}, "
    common = differences.n_common
    note += f"{common:,} {'word' if common == 1 else 'words'} in both"
    return Example(
        title,
        note,
        passages.name(int(spans.queries[row])),
        passages.name(int(spans.docs[row])),
        f"characters {spans.query_starts[row]:,} to {spans.query_stops[row]:,}",
        f"characters {spans.doc_starts[row]:,} to {spans.doc_stops[row]:,}",
        differences,
    )
