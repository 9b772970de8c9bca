"""Headers in words, for tables that people look at: written, and turned back when they are read.

A name has a word only in a table of ours, which is known by the ids that it has: a column called
``id`` of another table is left alone. What a user's input has, and what has no word here, keeps its
name. Where columns could not be told from their headers again, as where the user has one that is
called like a word, all keep their names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class _Table:
    """A kind of table: the columns by which it is known, and the words for columns by names.

    No word has a comma, or what else separates fields: a table is saved as CSV, too.
    """

    known_by: tuple[str, ...]
    words: Mapping[str, str]


_BOUNDS = {"error": "standard error", "low": "lower bound", "high": "upper bound"}
_CONTAINMENT = {
    f"containment_{side}": f"share of the {which} document that the {other} has"
    for side, which, other in (("a", "first", "second"), ("b", "second", "first"))
}

_TABLES = (
    _Table(
        ("id_a", "id_b"),
        {
            "id_a": "first document",
            "id_b": "second document",
            "overlap": "shingles in common",
            **_BOUNDS,
            **_CONTAINMENT,
            **{
                f"{name}_{bound}": f"{word}: {of_bound}"
                for name, word in _CONTAINMENT.items()
                for bound, of_bound in _BOUNDS.items()
            },
            "exact_copy": "exact copy",
            "super_shingles": "super-shingles in common",
            "start_a": "start of the part of the first document (characters)",
            "end_a": "end of the part of the first document (characters)",
            "start_b": "start of the part of the second document (characters)",
            "end_b": "end of the part of the second document (characters)",
        },
    ),
    _Table(
        ("query_id", "doc_id"),
        {
            "query_id": "query document",
            "doc_id": "document",
            **_BOUNDS,
            "query_start": "start in query (characters)",
            "query_end": "end in query (characters)",
            "doc_start": "start in document (characters)",
            "doc_end": "end in document (characters)",
            "query_text": "text of query",
            "doc_text": "text of document",
            "query_place": "place in query",
            "doc_place": "place in document",
            "passages": "passages in common",
            "longest": "longest passage (characters)",
            "query_shared": "shared of query (characters)",
            "doc_shared": "shared of document (characters)",
            "query_share": "shared of query (part of its text)",
            "doc_share": "shared of document (part of its text)",
            "first_start": "first start (characters)",
            "last_start": "last start (characters)",
            "first_end": "first end (characters)",
            "last_end": "last end (characters)",
            "hits": "min-hashes in common",
        },
    ),
    _Table(
        ("id", "cluster_id", "representative_id"),
        {
            "id": "document",
            "cluster_id": "cluster",
            "cluster_size": "documents in the cluster",
            "representative_id": "representative document",
        },
    ),
)


def headers_of(names: Sequence[str]) -> list[str]:
    """Return the headers for people of a table's columns; the names, where it is none of ours."""
    table = _named(names)
    if table is None:
        return list(names)
    headers = [table.words.get(name, name) for name in names]
    return headers if names_of(headers) == list(names) else list(names)


def names_of(headers: Sequence[str]) -> list[str]:
    """Return the names of the columns of a table; its headers, unless they are a table's of ours.

    Columns may have been added, left out or moved, but for those by which a table is known.
    """
    if _named(headers) is None:
        for table in _TABLES:
            if {table.words[name] for name in table.known_by} <= set(headers):
                names = {word: name for name, word in table.words.items()}
                return [names.get(header, header) for header in headers]
    return list(headers)


def _named(names: Sequence[str]) -> _Table | None:
    return next((table for table in _TABLES if set(table.known_by) <= set(names)), None)
