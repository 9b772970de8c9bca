"""A read-only view of an index, and results of changes."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, InvalidParameterError, ReadError, SketchMismatchError
from neardup.files.arrowcolumns import StoredBlock
from neardup.files.documents import as_text, check_unique, common_id_type, hash_ids, other_ids
from neardup.files.encodings import languages_of_ids
from neardup.files.rows import ColumnNames, RowBlock, RowWriter, Source
from neardup.files.streams import Destination
from neardup.files.writers import TableWriter
from neardup.index.store import Contents, Manifest
from neardup.options.choices import TokenizerChoice
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s, Uint32s, offsets_of
from neardup.text.tokenizers import file_in_name

S = TypeVar("S")
_NO_ROWS: Int64s = np.empty(0, np.int64)

# Segments: documents that are found by their ids and numbered from 0.
D = TypeVar("D", bound=Any)


@dataclass(frozen=True)
class OpenIndex(ABC, Generic[S, D]):
    """A read-only, thread-safe state of an index.

    ``removed`` holds the removed rows of each segment. Documents are numbered through all segments,
    in the order of addition, including removed ones.
    """

    contents: Contents
    scheme: S
    segments: tuple[D, ...]
    removed: tuple[Uint32s, ...]

    @property
    def manifest(self) -> Manifest:
        """Segments and files of the index."""
        return self.contents.manifest

    @abstractmethod
    def opener(self) -> Callable[[Path], Any]:
        """Return a function that opens this state in another process."""

    @cached_property
    def first_documents(self) -> Int64s:
        """First document number of each segment, then the total count."""
        sizes = [len(segment) for segment in self.segments]
        return offsets_of(sizes)

    @property
    def n_documents(self) -> int:
        """Documents that can be found."""
        return int(self.first_documents[-1]) - sum(map(len, self.removed))

    @cached_property
    def id_type(self) -> pa.DataType:
        """The type that the ids of all documents have together."""
        return common_id_type(segment.id_type for segment in self.segments if len(segment))

    def are_kept(self, segment: int, rows: Int64s) -> Bools:
        """Return a mask of rows that are not removed."""
        removed = self.removed[segment]
        if not len(removed):
            return np.ones(len(rows), np.bool_)
        places = np.minimum(np.searchsorted(removed, rows), len(removed) - 1)
        kept: Bools = removed[places] != rows
        return kept

    def live_rows(self, segment: int) -> Int64s:
        """Return the remaining rows of a segment."""
        rows = np.arange(len(self.segments[segment]), dtype=np.int64)
        live: Int64s = np.delete(rows, self.removed[segment])
        return live

    def live(self, start: int, limit: int) -> Int64s:
        """Return document numbers, skipping ``start`` documents and removed ones."""
        parts: list[Int64s] = [_NO_ROWS]
        for number, first in enumerate(self.first_documents[:-1].tolist()):
            n_live = len(self.segments[number]) - len(self.removed[number])
            if start < n_live and limit > 0:
                parts.append(self.live_rows(number)[start : start + limit] + first)
                limit -= len(parts[-1])
            start = max(start - n_live, 0)
        return np.concatenate(parts)

    def segments_of(self, documents: Int64s) -> Int64s:
        """Return the segments of some documents."""
        return np.searchsorted(self.first_documents, documents, side="right") - 1

    def by_segment(self, documents: Int64s) -> list[tuple[D, Int64s]]:
        """Return the segments of ascending documents, with their rows."""
        bounds = np.searchsorted(documents, self.first_documents)
        return [
            (segment, documents[start:stop] - first)
            for segment, first, start, stop in zip(
                self.segments, self.first_documents[:-1], bounds[:-1], bounds[1:], strict=True
            )
            if stop > start
        ]

    def documents_of_ids(self, ids: pa.Array) -> Int64s:
        """Return the document number of each id, -1 if absent."""
        documents: Int64s = np.full(len(ids), -1, np.int64)
        for first, (queries, rows) in zip(
            self.first_documents[:-1], self.rows_of_ids(ids), strict=True
        ):
            documents[queries] = rows + first
        return documents

    def has_id(self, identifier: str) -> bool:
        """Return whether a document has an id."""
        return bool(self.documents_of_ids(pa.array([identifier], pa.large_string()))[0] >= 0)

    def rows_of_ids(self, ids: pa.Array) -> list[tuple[Int64s, Int64s]]:
        """Return matching ids and rows per segment, without removed rows."""
        names = as_text(ids)
        hashes = hash_ids(names)
        found = []
        for number, segment in enumerate(self.segments):
            queries, rows = segment.rows_of_ids(names, hashes)
            kept = self.are_kept(number, rows)
            found.append((queries[kept], rows[kept]))
        return found

    def ids_of(self, documents: Int64s) -> pa.Array:
        """Return the ids of documents in any order, repeats allowed."""
        distinct, places = np.unique(documents, return_inverse=True)
        parts = [pa.array([], self.id_type)]
        parts += (
            segment.ids_of(rows).cast(self.id_type) for segment, rows in self.by_segment(distinct)
        )
        return pa.concat_arrays(parts).take(pa.array(places))

    def contents_without(self, found: Sequence[tuple[Any, Int64s]]) -> Contents:
        """Return the contents without the rows of ``rows_of_ids``."""
        n = len(self.manifest.segments)
        rows = [rows for _, rows in found]
        firsts = self.first_documents[n:] - self.first_documents[n]
        pending = [own + first for own, first in zip(rows[n:], firsts[:-1], strict=True)]
        return self.contents.without([*rows[:n], np.concatenate([_NO_ROWS, *pending])])

    @property
    def columns(self) -> Sequence[str]:
        """The user's columns that are kept."""
        return ()

    @abstractmethod
    def read_rows(self, documents: Int64s) -> pa.Table:
        """Return id, text and the user's columns of ascending documents."""

    def read_each(self, documents: Int64s) -> Iterator[dict[str, Any]]:
        """Yield id, text and the user's columns of ascending documents."""
        yield from self.read_rows(documents).to_pylist()

    @property
    @abstractmethod
    def text_bytes(self) -> int:
        """Bytes of the documents themselves in segments."""

    def check_all(self, runner: Runner) -> None:
        """Verify every byte that was not read yet."""

    @abstractmethod
    def counts(self) -> dict[str, Any]:
        """Return document counts for ``describe``."""

    def describe(self, folder: Path) -> dict[str, Any]:
        """Describe an index in plain values."""
        manifest = self.manifest
        return {
            "folder": str(folder),
            **self.counts(),
            "segments": len(manifest.segments),
            "bytes": manifest.n_bytes,
            "bytes_of_texts": self.text_bytes,
            "scheme": dict(manifest.scheme),
            "generation": manifest.generation,
            "created_with": manifest.created_with,
        }


_BLOCK_ROWS = 2048


class IndexSource(Source):
    """Documents of an index in order of addition, as Parquet.

    Columns are ``id``, ``text`` and those of the user's that the index keeps. Columns of other
    collections do not matter.
    """

    has_lasting_rows = False

    def __init__(self, index: OpenIndex[Any, Any], folder: Path) -> None:
        self.name, self.origin = f"{folder.name}.parquet", str(folder)
        self._index = index

    def default_ids(self, numbers: Int64s) -> pa.Array:
        """Return the ids that the documents have in the index."""
        live = self._index.live(0, self._index.n_documents)
        return as_text(self._index.ids_of(live[numbers - 1]))

    def schema(self) -> pa.Schema:
        """Return the columns of the documents."""
        return self._index.read_rows(np.empty(0, np.int64)).schema

    def _read_blocks(self) -> Iterator[RowBlock]:
        index, number = self._index, 1
        for segment in range(len(index.segments)):
            documents = index.live_rows(segment) + index.first_documents[segment]
            for start in range(0, len(documents), _BLOCK_ROWS):
                rows = index.read_rows(documents[start : start + _BLOCK_ROWS])
                languages = languages_of_ids(rows["id"].combine_chunks())
                # All rows of a block are of one language.
                edges = np.flatnonzero(np.diff(languages)) + 1
                for first, stop in pairwise([0, *edges.tolist(), len(rows)]):
                    block = StoredBlock(rows.slice(first, stop - first), number + first)
                    block.language = int(languages[first])
                    yield block
                number += len(rows)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer of Parquet."""
        schema = next((block.to_table().schema for block in self.blocks()), self.schema())
        return TableWriter(folder / self.name, schema)


@dataclass(frozen=True)
class RowPlaces:
    """Rows of documents: sources with document counts, and row numbers."""

    sources: tuple[tuple[str, int], ...]
    numbers: Int64s

    def place(self, document: int) -> tuple[str, int]:
        """Return the source and row of a document."""
        stops = np.cumsum([n_documents for _, n_documents in self.sources])
        source = int(np.searchsorted(stops, document, side="right"))
        return self.sources[source][0], int(self.numbers[document])


class Addition:
    """Count additions to an index, rejecting known and repeated ids.

    ``n_short`` documents have some tokens, but fewer than ``least``, the length of a passage or
    shingle. ``scheme`` is the scheme of the index, which had no documents if it ``was_empty``.
    ``denied`` documents were left out.

    Memory: the ids, and 16 bytes per id while ids are compared.
    """

    def __init__(self, index: OpenIndex[Any, Any], columns: ColumnNames, least: int) -> None:
        self.columns, self.scheme, self.was_empty = columns, index.scheme, not index.n_documents
        self.n_documents = self.n_tokens = self.n_empty = self.n_short = 0
        self.skipped: list[tuple[str, int, str]] = []
        self.denied: list[Any] = []
        self._index, self._least = index, least
        self._ids: list[pa.Array] = []
        self._places: list[RowPlaces] = []

    def take(
        self,
        ids: pa.Array,
        places: RowPlaces,
        n_tokens: Int64s,
        skipped: Sequence[tuple[str, int, str]],
    ) -> None:
        """Count the next documents, and raise for ids already indexed."""
        check_unknown(self._index, ids, places, self.columns)
        self._ids.append(ids)
        self._places.append(places)
        self.n_documents += len(n_tokens)
        self.n_tokens += int(n_tokens.sum())
        self.n_empty += int((n_tokens == 0).sum())
        self.n_short += int(((n_tokens > 0) & (n_tokens < self._least)).sum())
        self.skipped += skipped

    def check_repeats(self) -> None:
        """Raise if two of the documents have the same id."""
        starts = np.cumsum([0, *map(len, self._ids)])

        def place(document: int) -> tuple[str, int]:
            part = int(np.searchsorted(starts, document, side="right")) - 1
            return self._places[part].place(document - int(starts[part]))

        check_unique(self._ids, place, self.columns)


def check_unknown(
    index: OpenIndex[Any, Any], ids: pa.Array, places: RowPlaces, columns: ColumnNames
) -> None:
    """Raise if an index has any of some documents."""
    known = np.flatnonzero(index.documents_of_ids(ids) >= 0)
    if len(known):
        first = int(known[0])
        message = (
            f"id {ids[first].as_py()!r} is in the index already; ids must differ. Remove the old "
            f"document first, or choose other ids{other_ids(columns)}"
        )
        source, row = places.place(first)
        raise InvalidInputError(message, path=source, row=row, is_known_id=True)


@dataclass(frozen=True)
class CompactionResult:
    """Result of rewriting an index without removed documents.

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


@dataclass(frozen=True)
class RemovalResult:
    """Result of a removal: numbers of removed and remaining documents.

    For an index of documents, ``orphans`` lists documents that were left out in favour of a removed
    document: ``id``, ``kept_id`` and ``similarity``. Add them again unless denied: later additions
    leave out the tokens of ``n_denied`` documents.
    """

    n_removed: int
    n_documents: int
    seconds: float = 0.0
    orphans: pa.Table | None = field(default=None, repr=False)
    n_denied: int = 0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, orphans and seconds, as plain values."""
        summary = {
            "removed": self.n_removed,
            "documents": self.n_documents,
            "seconds": round(self.seconds, 3),
        }
        if self.orphans is not None:
            summary |= {"denied": self.n_denied, "orphans": self.orphans.to_pylist()}
        return summary


def wanted_ids(ids: Iterable[str | int]) -> pa.Array:
    """Return ids as large strings, each once."""
    return pa.array(sorted(set(map(str, ids))), pa.large_string())


def check_all_found(wanted: pa.Array, found: Sequence[tuple[Int64s, Int64s]]) -> None:
    """Raise for ids without a document in ``OpenIndex.rows_of_ids``."""
    is_missing = np.ones(len(wanted), np.bool_)
    for queries, _ in found:
        is_missing[queries] = False
    missing = wanted.filter(pa.array(is_missing))
    if len(missing):
        others = f" and {len(missing) - 1:,} more" if len(missing) > 1 else ""
        message = f"the index has no document {missing[0].as_py()!r}{others}; nothing was removed"
        raise InvalidInputError(message)


# The scheme of an index, as it was described.


def described_tokenizer(
    description: Mapping[str, Any], tokenizer: TokenizerChoice | None
) -> TokenizerChoice:
    """Return the given tokenizer, else the described one by name."""
    name = str(description.get("tokenizer"))
    file = file_in_name(name)
    if tokenizer is None and file is not None:
        message = f"tokenizer must be given: this index was made with the file {file}"
        raise InvalidParameterError(message)
    return name if tokenizer is None else tokenizer


def check_restored(found: Mapping[str, Any], description: Mapping[str, Any]) -> None:
    """Raise if a scheme differs from its description."""
    differing = [key for key in {**found, **description} if found.get(key) != description.get(key)]
    if differing:
        raise SketchMismatchError(
            {key: (description.get(key), found.get(key)) for key in sorted(differing)}
        )


# An index in other processes.


IndexT = TypeVar("IndexT", bound=OpenIndex[Any, Any])


class SharedFolder(Protocol):
    """Index folder that can be sent to other processes."""

    def open(self) -> AbstractContextManager[Path]:
        """Open the folder for a block, keeping mapped files readable."""
        ...


class SeenFolder:
    """A folder that all processes reach under the same path."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()

    @contextmanager
    def open(self) -> Iterator[Path]:
        """Give the folder, if this process sees it."""
        if not self.path.is_dir():
            message = "the executors do not see the index; put it where all of them reach it"
            raise ReadError(message, path=str(self.path))
        yield self.path


# The last index that this process received and opened, for consecutive tasks.
_opened: dict[str, OpenIndex[Any, Any]] = {}


class SharedIndex(Generic[IndexT]):
    """An open index, which other processes open on first use."""

    def __init__(self, index: IndexT, folder: SharedFolder) -> None:
        self._index: IndexT | None = index
        self._state = index.opener(), folder, secrets.token_hex(8)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_index": None}

    @property
    def opened(self) -> IndexT:
        """The index in this process."""
        if self._index is None:
            open_index, shared, key = self._state
            if key not in _opened:
                _opened.clear()
                with shared.open() as folder:
                    _opened[key] = open_index(folder)
            self._index = cast("IndexT", _opened[key])
        return self._index
