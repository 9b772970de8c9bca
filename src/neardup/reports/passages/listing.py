"""Every passage of a page in one table, which a script sorts and filters as it is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from neardup.reports.passages.model import Passages, Spans
from neardup.tables import Int64s

MOST_PASSAGES = 20_000
"""Passages of the table: the longest."""

# Characters of all texts of the table, and of one of them at most and at least.
_MOST_CHARACTERS, _MOST_OF_ONE, _LEAST_OF_ONE = 6_000_000, 300, 80

# A character that HTML cannot show is shown by its picture; one character stays one.
_PICTURES = {code: chr(0x2400 + code) for code in range(32) if chr(code) not in "\t\n\r"}
_PICTURES |= {127: "\u2421"} | dict.fromkeys(range(0xD800, 0xE000), "\ufffd")


@dataclass(frozen=True)
class Listing:
    """What the table needs.

    ``data`` has ``names`` of documents and ``passages``, of which each is a list: both documents by
    number, where it starts and stops in either, the similarity or None, and its texts, None where
    they are not known; and where it begins as people cite it, if the table has that. ``note``
    describes what is left out.
    """

    data: dict[str, Any]
    note: str


def make_listing(passages: Passages) -> Listing | None:
    """List the passages, in the order of documents and places; None if there are none.

    Of very many they are the longest, and of their texts the beginnings.
    """
    spans = _longest(passages)
    if not len(spans):
        return None
    order = np.lexsort((spans.doc_starts, spans.docs, spans.query_starts, spans.queries))
    spans = spans.take(order)
    shown: dict[int, int] = {}
    for number in np.stack([spans.queries, spans.docs], axis=1).ravel().tolist():
        shown.setdefault(number, len(shown))
    most = min(_MOST_OF_ONE, max(_LEAST_OF_ONE, _MOST_CHARACTERS // (2 * len(spans))))
    rows = list(_rows(passages, spans, shown, most))
    note = f"Of longer texts the first {most} characters are here."
    if len(spans) < len(passages):
        note += f" These are the {len(spans):,} longest of {len(passages):,} passages."
    names = [passages.name(number) for number in shown]
    return Listing({"names": names, "passages": rows}, note)


def _longest(passages: Passages) -> Spans:
    """Return the longest passages; of equally long ones the first of the table."""
    found = Spans.of_none()
    for spans in passages.batches():
        found = Spans.joined([found, spans])
        if len(found) > 2 * MOST_PASSAGES:
            found = found.take(_first(found))
    return found.take(_first(found))


def _first(spans: Spans) -> Int64s:
    return np.lexsort((spans.rows, -spans.lengths))[:MOST_PASSAGES]


def _rows(
    passages: Passages, spans: Spans, shown: dict[int, int], most: int
) -> Iterator[list[Any]]:
    have_texts = passages.have_texts(spans).tolist()
    cited = passages.cited(spans)
    for k, (query, doc) in enumerate(zip(spans.queries.tolist(), spans.docs.tolist(), strict=True)):
        (start_a, stop_a), (start_b, stop_b) = spans.places(k)
        texts: list[str | None] = [None, None]
        if have_texts[k]:
            texts = [
                (text if len(text) <= most else f"{text[:most]} …").translate(_PICTURES)
                for text in passages.texts_of(spans, k)
            ]
        similarity = float(spans.similarities[k])
        yield [
            *(shown[query], start_a, stop_a, shown[doc], start_b, stop_b),
            None if np.isnan(similarity) else round(similarity, 4),
            *texts,
            *(() if cited is None else cited[k]),
        ]
