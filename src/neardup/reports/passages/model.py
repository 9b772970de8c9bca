"""What a page of passages is made of: documents, and passages of which each is in two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.files.id_table import hash_id, hash_ids
from neardup.passages.matches import union_lengths
from neardup.reports.differences import find_moved
from neardup.reports.page import shortened, written
from neardup.tables import Bools, Floats, Int64s, Uint64s
from neardup.version import __version__

# How passages were found, as pages say it.

# Of a job's summary, as pages call them.
_OPTIONS = {
    "threshold": "least similarity",
    "min_tokens": "tokens of the shortest passage",
    "gap": "tokens between two parts",
    "max_documents": "most documents that have a passage",
    "window_tokens": "tokens of the windows that are looked up",
    "window_threshold": "least similarity of a window",
    "certain_tokens": "tokens of a passage that holds a whole window",
    "predicted_recall": "probability that a shortest passage at the threshold is found",
    "predicted_recall_moved": "the same if words were moved in their sentences",
    "windows": "windows looked up",
    "frequent_windows": "windows left out, because too many documents have them",
    "ignored_tokens": "tokens taken for not written",
    "empty_documents": "documents without tokens",
    "short_documents": "documents shorter than the shortest passage",
    "empty_queries": "items without tokens",
    "short_queries": "items shorter than a passage of the index",
    "id_column": "column of the ids",
}


@dataclass(frozen=True)
class About:
    """What is known of a run beside its table.

    ``summary`` is the job's, empty where nobody has given it; ``n_documents`` how many documents
    the first collection has and, if there is one, the second; empty where they were not read.
    ``how_to_give_texts`` is what a page without texts says of them.
    """

    summary: Mapping[str, Any] = field(default_factory=dict)
    n_documents: Sequence[int] = ()
    how_to_give_texts: str = ""


def list_options(about: About) -> list[tuple[str, str]]:
    """Return what is known of a run, as names and values."""
    return [
        (shown, written(about.summary[name]))
        for name, shown in _OPTIONS.items()
        if about.summary.get(name) is not None
    ]


def notes_of(about: About) -> list[str]:
    """Say what is sure of what was found, and what may be missing."""
    recall = about.summary.get("predicted_recall")
    if recall is None:
        return []
    return [
        "Passages are found by looking up windows of one text among those of the others, so one "
        "that is just similar enough can be missed: a shortest one at the threshold is found with "
        f"probability {recall:.4f}, a longer or more similar one with a greater. Everything that "
        "is shown was verified: its similarity is the true one of the two whole passages."
    ]


def how_it_was_made() -> str:
    """Return what stands at the end of a page."""
    return f"Made by neardup {__version__}. This page is complete in itself; it loads nothing."


@dataclass(frozen=True)
class Document:
    """A document with its file, as far as that is known, and its number of characters.

    ``text`` is None where nobody has given it, or there is no room for it; ``length`` is then, at
    worst, where the last passage ends. ``place`` ascends in the order of the input.
    """

    id: str
    file: str | None
    length: int
    text: str | None = None
    place: int = 0


class Documents(Sequence[Document]):
    """Documents as columns, of which few are ever looked at alone.

    Parameters
    ----------
    ids
        Large strings.
    files
        Places in ``file_names``, -1 where a file is not known.
    file_names
        The names of files.
    lengths, places
        As of ``Document``.
    texts
        Those that are known, by the document's number.

    Notes
    -----
    Memory: 24 bytes a document, and its id.
    """

    def __init__(
        self,
        ids: pa.Array,
        files: Int64s,
        file_names: Sequence[str],
        lengths: Int64s,
        places: Int64s,
        texts: Mapping[int, str],
    ) -> None:
        self.ids, self.files, self.file_names = ids, files, file_names
        self.lengths, self.places, self.texts = lengths, places, texts
        self.are_known: Bools = np.zeros(len(ids), np.bool_)
        self.are_known[list(texts)] = True

    @classmethod
    def of(cls, documents: Sequence[Document]) -> Documents:
        """Take documents that are there one by one."""
        names = list(dict.fromkeys(each.file for each in documents if each.file is not None))
        return cls(
            pa.array([each.id for each in documents], pa.large_string()),
            np.array([-1 if d.file is None else names.index(d.file) for d in documents], np.int64),
            names,
            np.array([each.length for each in documents], np.int64),
            np.array([each.place for each in documents], np.int64),
            {n: each.text for n, each in enumerate(documents) if each.text is not None},
        )

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, number: Any) -> Any:
        """Return a document."""
        file = int(self.files[number])
        return Document(
            self.ids[number].as_py(),
            None if file < 0 else self.file_names[file],
            int(self.lengths[number]),
            self.texts.get(number),
            int(self.places[number]),
        )

    def take(self, order: Int64s) -> Documents:
        """Return the documents in another order."""
        numbers = np.empty_like(order)
        numbers[order] = np.arange(len(order))
        return Documents(
            self.ids.take(pa.array(order)),
            self.files[order],
            self.file_names,
            self.lengths[order],
            self.places[order],
            {int(numbers[number]): text for number, text in self.texts.items()},
        )

    @cached_property
    def _twice(self) -> Uint64s:
        """Hashes that several ids have."""
        hashes = np.sort(hash_ids(self.ids))
        twice: Uint64s = hashes[1:][hashes[1:] == hashes[:-1]]
        return twice

    def is_twice(self, identifier: str) -> bool:
        """Return whether several documents have an id."""
        one = np.uint64(hash_id(identifier))
        place = int(np.searchsorted(self._twice, one))
        if place == len(self._twice) or self._twice[place] != one:
            return False
        return int(pc.sum(pc.equal(self.ids, identifier)).as_py()) > 1


class RowTexts(Sequence[tuple[str, str]]):
    """The texts of passages as a table has them, on both sides; nothing where one is missing."""

    def __init__(self, queries: pa.ChunkedArray, docs: pa.ChunkedArray) -> None:
        self._queries, self._docs = queries, docs

    def __len__(self) -> int:
        return len(self._queries)

    def __getitem__(self, row: Any) -> Any:
        """Return the texts of a row."""
        return self._queries[row].as_py() or "", self._docs[row].as_py() or ""


@dataclass(frozen=True)
class Spans:
    """Passages, a row for each: two documents by number, and places in them, ends exclusive."""

    queries: Int64s
    query_starts: Int64s
    query_stops: Int64s
    docs: Int64s
    doc_starts: Int64s
    doc_stops: Int64s
    similarities: Floats

    def __len__(self) -> int:
        return len(self.queries)

    def places(self, row: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """Return where a passage begins and ends in its query and its document."""
        return (
            (int(self.query_starts[row]), int(self.query_stops[row])),
            (int(self.doc_starts[row]), int(self.doc_stops[row])),
        )


@dataclass(frozen=True)
class DocumentPair:
    """Two documents and what they share.

    ``rows`` are their passages in the order of places in the first; ``moved`` says which of these
    stand in another order in the second. ``shared`` are the characters of either one that are in a
    passage.
    """

    query: int
    doc: int
    rows: Int64s
    moved: Bools
    shared: tuple[int, int]


@dataclass(frozen=True)
class Passages:
    """Documents that share passages, and these.

    Parameters
    ----------
    documents
        All that are in a passage, those of the first collection first.
    spans
        The passages.
    is_one
        Whether both sides are of one collection.
    texts_of_rows
        Of each passage on both sides, where the documents have none; else nothing.
    """

    documents: Documents
    spans: Spans
    is_one: bool
    texts_of_rows: Sequence[tuple[str, str]] = field(default=())

    @cached_property
    def pair_numbers(self) -> tuple[Int64s, Int64s, Int64s]:
        """Number the pairs: the first document of each, its second, the pair of each passage."""
        n = max(len(self.documents), 1)
        keys, of_rows = np.unique(self.spans.queries * n + self.spans.docs, return_inverse=True)
        return keys // n, keys % n, of_rows.reshape(-1)

    @cached_property
    def shared(self) -> tuple[Int64s, Int64s]:
        """How many characters of both documents of each pair are in a passage of the pair."""
        spans = self.spans
        queries, _, pairs = self.pair_numbers
        of_query = union_lengths(spans.query_starts, spans.query_stops, pairs, len(queries))
        return of_query, union_lengths(spans.doc_starts, spans.doc_stops, pairs, len(queries))

    @cached_property
    def ranking(self) -> Int64s:
        """The pairs by what they share, those with most first."""
        return np.argsort(-np.maximum(*self.shared), kind="stable")

    @cached_property
    def _rows_of_pairs(self) -> tuple[Int64s, Int64s]:
        """The rows of all passages, pair by pair, and where those of each pair begin and end."""
        queries, _, pairs = self.pair_numbers
        counts = np.bincount(pairs, minlength=len(queries))
        return np.argsort(pairs, kind="stable"), np.concatenate([[0], np.cumsum(counts)])

    def pair(self, number: int) -> DocumentPair:
        """Describe a pair."""
        spans = self.spans
        queries, docs, _ = self.pair_numbers
        order, ends = self._rows_of_pairs
        rows = order[ends[number] : ends[number + 1]]
        rows = rows[np.lexsort((spans.doc_starts[rows], spans.query_starts[rows]))]
        columns = spans.query_starts, spans.query_stops, spans.doc_starts, spans.doc_stops
        moved = find_moved(*(column[rows] for column in columns))
        of_query, of_doc = self.shared
        shared = int(of_query[number]), int(of_doc[number])
        return DocumentPair(int(queries[number]), int(docs[number]), rows, moved, shared)

    @cached_property
    def have_texts(self) -> Bools:
        """Of which passages the text is known on both sides."""
        if self.texts_of_rows:
            return np.ones(len(self.spans), np.bool_)
        known = self.documents.are_known
        both: Bools = known[self.spans.queries] & known[self.spans.docs]
        return both

    def texts_of(self, row: int) -> tuple[str, str]:
        """Return a passage as it is in both texts, which are known."""
        texts = self.documents.texts
        of_query = texts.get(int(self.spans.queries[row]))
        of_doc = texts.get(int(self.spans.docs[row]))
        if of_query is None or of_doc is None:
            # Those of a table may be shortened.
            return self.texts_of_rows[row]
        in_query, in_doc = self.spans.places(row)
        return of_query[slice(*in_query)], of_doc[slice(*in_doc)]

    def name(self, number: int) -> str:
        """Return the id of a document, with its file where ids alone do not tell it apart.

        A long one without its middle.
        """
        document = self.documents[number]
        if not document.id:
            return '""'
        shown = shortened(document.id)
        if document.file and self.documents.is_twice(document.id):
            return f"{shown} in {shortened(document.file)}"
        return shown
