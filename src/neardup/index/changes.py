"""What changes of an index have in common: ids that must be new, documents that are taken out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.ids import FIRST_LOOK, check_unique, other_ids
from neardup.files.rows import ColumnNames
from neardup.index.index import OpenIndex
from neardup.index.store import Database, Manifest
from neardup.runs.progress import counted
from neardup.tables import Int64s, Uint32s


@dataclass(frozen=True)
class RowPlaces:
    """The rows of some documents: their sources, with how many are of each, and row numbers."""

    sources: tuple[tuple[str, int], ...]
    numbers: Int64s

    def place(self, document: int) -> tuple[str, int]:
        """Return the source of a document, and its row there."""
        stops = np.cumsum([n_documents for _, n_documents in self.sources])
        source = int(np.searchsorted(stops, document, side="right"))
        return self.sources[source][0], int(self.numbers[document])


class Addition:
    """Count what is added to an index, and refuse ids that it has or that come twice.

    Of the documents ``n_short`` have some tokens and fewer than ``least``, which are those of a
    passage that is found, or of a shingle; ``n_ignored`` tokens were taken out of texts before they
    were counted. ``scheme`` is that of the index, of which they are the first documents if it
    ``was_empty``. ``denied`` documents were left out.

    Memory: the ids, and while they are compared with each other 16 bytes for each.
    """

    def __init__(self, index: OpenIndex[Any, Any], columns: ColumnNames, least: int) -> None:
        self.columns, self.scheme, self.was_empty = columns, index.scheme, not index.n_documents
        self.n_documents = self.n_tokens = self.n_empty = self.n_short = self.n_ignored = 0
        self.skipped: list[tuple[str, int, str]] = []
        self.denied: list[Any] = []
        self._index, self._least, self._next_look = index, least, FIRST_LOOK
        self._ids: list[pa.Array] = []
        self._places: list[RowPlaces] = []

    def take(
        self,
        ids: pa.Array,
        places: RowPlaces,
        n_tokens: Int64s,
        skipped: Sequence[tuple[str, int, str]],
        n_ignored: int = 0,
    ) -> None:
        """Count the next documents, which have so many tokens each and are not in the index.

        They are compared with each other when their number has doubled.
        """
        check_unknown(self._index, ids, places, self.columns)
        self._ids.append(ids)
        self._places.append(places)
        self.n_documents += len(n_tokens)
        self.n_tokens += int(n_tokens.sum())
        self.n_empty += int((n_tokens == 0).sum())
        self.n_short += int(((n_tokens > 0) & (n_tokens < self._least)).sum())
        self.n_ignored += n_ignored
        self.skipped += skipped
        if self.n_documents >= self._next_look:
            self._next_look = 2 * self.n_documents
            self.check_repeats()

    def check_repeats(self) -> None:
        """Make sure that no two of the documents have one id."""
        starts = np.cumsum([0, *map(len, self._ids)])

        def place(document: int) -> tuple[str, int]:
            part = int(np.searchsorted(starts, document, side="right")) - 1
            return self._places[part].place(document - int(starts[part]))

        check_unique(self._ids, place, self.columns)


def check_unknown(
    index: OpenIndex[Any, Any], ids: pa.Array, places: RowPlaces, columns: ColumnNames
) -> None:
    """Make sure that an index has none of some documents."""
    known = np.flatnonzero(index.documents_of_ids(ids) >= 0)
    if len(known):
        first = int(known[0])
        message = (
            f"id {ids[first].as_py()!r} is in the index already; ids must differ. Remove the old "
            f"document first, or choose other ids{other_ids(columns)}"
        )
        source, row = places.place(first)
        raise InvalidInputError(message, path=source, row=row, is_known_id=True)


@dataclass(frozen=True, repr=False)
class CompactionResult:
    """What an index is once it was written anew.

    It has ``n_segments`` segments with ``n_documents`` documents, and takes ``n_freed_bytes`` bytes
    less than before.
    """

    n_segments: int
    n_documents: int
    n_freed_bytes: int
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and seconds, as plain values."""
        return {
            "segments": self.n_segments,
            "documents": self.n_documents,
            "freed_bytes": self.n_freed_bytes,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return (
            f"CompactionResult({counted(self.n_documents, 'document')}: "
            f"{counted(self.n_segments, 'segment')}, "
            f"{self.n_freed_bytes:,} bytes freed)"
        )


@dataclass(frozen=True, repr=False)
class RemovalResult:
    """What was taken out of an index: ``n_removed`` documents, so that ``n_documents`` are left."""

    n_removed: int
    n_documents: int
    seconds: float = 0.0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts and seconds, as plain values."""
        return {
            "removed": self.n_removed,
            "documents": self.n_documents,
            "seconds": round(self.seconds, 3),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        removed = counted(self.n_removed, "document")
        return f"{type(self).__name__}({removed} removed: {self.n_documents:,} left)"


def wanted_ids(ids: Iterable[str | int]) -> pa.Array:
    """Return ids as large strings, each once."""
    return pa.array(sorted(set(map(str, ids))), pa.large_string())


def without(
    removed: Sequence[Uint32s], found: Sequence[tuple[Int64s, Int64s]]
) -> tuple[Uint32s, ...]:
    """Return the removed rows of each segment with some more."""
    more = [rows for _, rows in found]
    # Pending documents are the last, and may be none.
    more += [np.empty(0, np.int64)] * (len(removed) - len(more))
    return tuple(
        np.union1d(before, rows).astype(np.uint32) if len(rows) else before
        for before, rows in zip(removed, more, strict=True)
    )


def check_all_found(wanted: pa.Array, found: Sequence[tuple[Int64s, Int64s]]) -> None:
    """Raise for ids that no document has; ``found`` is as for ``OpenIndex.rows_of_ids``."""
    is_missing = np.ones(len(wanted), np.bool_)
    for queries, _ in found:
        is_missing[queries] = False
    missing = wanted.filter(pa.array(is_missing))
    if len(missing):
        others = {1: "", 2: " and another one"}.get(
            len(missing), f" and {len(missing) - 1:,} others"
        )
        message = f"the index has no document {missing[0].as_py()!r}{others}; nothing was removed"
        raise InvalidInputError(message)


def store_next(
    database: Database,
    manifest: Manifest,
    removed: Sequence[Uint32s] | None,
    packed: Sequence[bytes] = (),
    denied: Sequence[bytes] = (),
) -> None:
    """Commit the manifest that follows another one, within ``Database.writing``.

    ``packed`` are the last rows of pending documents, ``denied`` more rows of denied documents;
    without ``removed`` all else stays as it is.
    """
    if removed is None:
        manifest = replace(manifest, generation=manifest.generation + 1)
        database.commit(manifest, packed=packed)
        return
    counts = [len(each) for each in removed]
    segments = tuple(
        replace(record, n_removed=n) for record, n in zip(manifest.segments, counts, strict=False)
    )
    manifest = replace(
        manifest,
        generation=manifest.generation + 1,
        segments=segments,
        pending=replace(manifest.pending, n_removed=counts[-1]),
    )
    database.commit(manifest, removed=removed, packed=packed, denied=denied)
