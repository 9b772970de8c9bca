"""Candidate windows as a table for users: ranges of starts and of ends, in characters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.files.ids import as_text
from neardup.passages.documents import DocumentBlock
from neardup.passages.index import OpenIndex
from neardup.passages.places import character_spans
from neardup.tables import Int64s

WINDOW_SCHEMA = pa.schema(
    [
        ("query_id", pa.large_string()),
        ("doc_id", pa.large_string()),
        ("first_start", pa.int64()),
        ("last_start", pa.int64()),
        ("first_end", pa.int64()),
        ("last_end", pa.int64()),
        ("hits", pa.int64()),
    ]
)


@dataclass(frozen=True)
class Rectangles:
    """Sub-texts that share enough min-hashes with a query, in rectangles; a row for each.

    ``corners`` (n, 5) are first and last start and first and last end (the last token, inclusive),
    counted through the segment with number ``segments``, and the number of common min-hashes.
    """

    queries: Int64s
    segments: Int64s
    corners: Int64s


def window_table(found: Rectangles, queries: DocumentBlock, index: OpenIndex) -> pa.Table:
    """Spell out rectangles, ids as text; ends are exclusive, as in all tables.

    In the order of queries, documents and places.
    """
    tables, of_queries = [WINDOW_SCHEMA.empty_table()], [np.empty(0, np.int64)]
    for number, segment in enumerate(index.segments):
        rows = np.flatnonzero(found.segments == number)
        corners = found.corners[rows]
        documents = np.searchsorted(segment.offsets, corners[:, 0], side="right") - 1
        keep = index.are_kept(number, documents)
        rows, corners, documents = rows[keep], corners[keep], documents[keep]
        if not len(rows):
            continue
        places = []
        for column in range(4):
            starts, stops = segment.byte_places(np.ascontiguousarray(corners[:, column]), documents)
            characters = character_spans(segment.texts, documents, starts, stops)
            places.append(characters[column // 2])
        ids = segment.ids.take(pa.array(documents))
        query_ids = as_text(queries.ids.take(pa.array(found.queries[rows])))
        tables.append(pa.table([query_ids, ids, *places, corners[:, 4]], WINDOW_SCHEMA))
        of_queries.append(found.queries[rows])
    order = np.argsort(np.concatenate(of_queries), kind="stable")
    return pa.concat_tables(tables).take(pa.array(order))
