"""Sketches of documents as users hold them, select from them, and keep them in files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from neardup.errors import (
    InvalidInputError,
    InvalidParameterError,
    ReadError,
    SketchFormatError,
    SketchMismatchError,
)
from neardup.files.ids import check_unique, join_ids
from neardup.files.rows import ColumnNames
from neardup.files.streams import is_remote, open_random
from neardup.outputs.table_files import write_table
from neardup.outputs.targets import Target, is_standard_output, target_of
from neardup.results import NO_COLUMNS, Result, SkippedRow, describe_ids, describe_skipped
from neardup.runs.progress import counted
from neardup.runs.runner import release_memory
from neardup.sketches import table_format
from neardup.sketches.kind import KindScheme, no_digests
from neardup.sketches.registry import kind_of
from neardup.sketches.table_format import BlockPlaces, join_places
from neardup.stages.chosen_rows import (
    check_different,
    match_ids,
    places_of_ids,
    places_of_key,
)
from neardup.tables import Bools, Int64s

if TYPE_CHECKING:
    from neardup.outputs.summary_records import SketchSummary


# Rows, and bytes of a column, that are read at a time.
_READ_ROWS, _READ_BYTES = 1 << 16, 1 << 20

_DAMAGED = "the file is damaged; make the sketches again, or get another copy"


def check_sketch_name(path: Target) -> None:
    """Raise unless a name ends in .parquet.

    Raises
    ------
    InvalidParameterError
        If it ends otherwise.
    """
    if is_standard_output(path):
        message = (
            "a file of sketches is binary, which standard output does not take; "
            "name a file that ends in .parquet"
        )
        raise InvalidParameterError(message)
    if path.suffix != ".parquet":
        message = f"a file of sketches must end in .parquet, got {str(path)!r}"
        raise InvalidParameterError(message)


def read_info(path: str | Path) -> dict[str, Any]:
    """Return what a file of sketches holds, without reading the sketches.

    Raises
    ------
    ReadError, SketchFormatError
        As ``Sketches.read``.
    """
    with _opened(path) as file:
        try:
            about = table_format.read_about(file.schema_arrow.metadata)
        except SketchFormatError as error:
            raise SketchFormatError(str(error), path=str(path)) from None
        n_rows = file.metadata.num_rows
        about.pop("digests", None)
        is_cut = "block_size" in about
        return {
            "path": str(path),
            "documents": _count_ids(file) if is_cut else n_rows,
            "blocks": n_rows if is_cut else None,
            "bytes": _stored_bytes(str(path)),
            **about,
        }


def _count_ids(file: pq.ParquetFile) -> int:
    try:
        return int(pc.count_distinct(file.read(["id"])["id"]).as_py())
    except (KeyError, pa.ArrowException, OSError):
        raise SketchFormatError(_DAMAGED) from None


def _read_tables(path: str | Path, parts: Sequence[range] | None = None) -> Iterator[pa.Table]:
    """Yield rows of a file in parts that follow each other, None for all at once.

    What the rows mean is not looked at.

    Raises
    ------
    ReadError, SketchFormatError
        As ``Sketches.read``.
    """
    with _opened(path) as file:
        n_rows = file.metadata.num_rows
        parts = [range(n_rows)] if parts is None else parts
        sizes = [file.metadata.row_group(each).num_rows for each in range(file.num_row_groups)]
        # Checksums of pages do not cover the numbers of rows, of which a file has several.
        if sum(sizes) != n_rows or parts[-1].stop > n_rows:
            raise SketchFormatError(_DAMAGED, path=str(path))
        ends = np.cumsum(sizes, dtype=np.int64)
        start, stop = parts[0].start, parts[-1].stop
        first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
        groups = list(range(first, min(last + 1, len(sizes)))) if stop > start else []
        # A row group as a whole would be in memory twice, before it is one array.
        n_read = min(_READ_ROWS, max(1, *map(len, parts)))
        read = file.iter_batches(n_read, row_groups=groups, use_threads=False)
        cut = _cut_rows(read, start - sum(sizes[:first]), map(len, parts))
        for rows in parts:
            try:
                batches = next(cut)
                table = pa.Table.from_batches(batches, file.schema_arrow).combine_chunks()
            except (pa.ArrowException, OSError):
                raise SketchFormatError(_DAMAGED, path=str(path)) from None
            del batches
            release_memory()
            if len(table) != len(rows):
                raise SketchFormatError(_DAMAGED, path=str(path))
            yield table
            # It would stay beside the next one.
            del table


def _cut_rows(
    batches: Iterable[pa.RecordBatch], start: int, sizes: Iterable[int]
) -> Iterator[list[pa.RecordBatch]]:
    """Cut rows from ``start`` on into parts of some sizes; what is behind them is not read."""
    batches = iter(batches)
    held: pa.RecordBatch | None = None
    for size in sizes:
        some: list[pa.RecordBatch] = []
        while size > 0:
            if held is None or not len(held):
                held = next(batches, None)
            if held is None:
                break
            passed = min(start, len(held))
            start -= passed
            some.append(held[passed:][:size])
            held = held[passed + len(some[-1]) :]
            size -= len(some[-1])
        yield some


def _stored_bytes(location: str) -> int:
    if not is_remote(location):
        return Path(location).stat().st_size
    with open_random(location) as file:
        return int(file.size)


def _opened(path: str | Path) -> pq.ParquetFile:
    location = str(path)
    if is_remote(location):
        file = open_random(location)
    else:
        try:
            # Arrow's own error does not tell what the system says.
            Path(path).open("rb").close()
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise ReadError(message, path=location) from None
        file = path
    try:
        return pq.ParquetFile(
            file, page_checksum_verification=True, pre_buffer=False, buffer_size=_READ_BYTES
        )
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        message = "not a Parquet file, or a damaged one; make it with neardup sketch"
        raise SketchFormatError(message, path=str(path)) from None


@dataclass
class SketchCounts:
    """How many documents were sketched, or blocks of them; ``n_blocks`` is None for documents."""

    n_blocks: int | None
    n_documents: int = 0
    n_empty: int = 0
    n_single: int = 0

    def add(self, n_documents: int, n_elements: Int64s) -> None:
        """Count some more, of which each sketch is of so many elements."""
        self.n_documents += n_documents
        self.n_empty += int((n_elements == 0).sum())
        self.n_single += int((n_elements == 1).sum())
        if self.n_blocks is not None:
            self.n_blocks += len(n_elements)


def summarise(
    scheme: dict[str, Any],
    counts: SketchCounts,
    *,
    columns: ColumnNames | None,
    skipped: Sequence[SkippedRow],
    passed_over: Mapping[str, int],
    seconds: Mapping[str, float] | None,
) -> SketchSummary:
    """Return the summary of sketches; with ``seconds``, of those that were made just now."""
    summary: dict[str, Any] = {
        "kind": scheme["kind"],
        "documents": counts.n_documents,
        "blocks": counts.n_blocks,
        "scheme": scheme,
    }
    if seconds is not None:
        # Of a single shingle are, above all, texts that are shorter than one.
        has_shingles = scheme.get("ngram", 1) > 1
        summary |= {
            "empty_documents": counts.n_empty,
            "single_shingle_documents": counts.n_single if has_shingles else 0,
            **describe_ids(columns or NO_COLUMNS),
            **describe_skipped(skipped),
            "passed_over": dict(passed_over),
            "seconds": dict(seconds),
        }
    return cast("SketchSummary", summary)


@dataclass(frozen=True, repr=False)
class Sketches(Result):
    """Sketches of documents, and the scheme that decides what they may be compared with.

    Parameters
    ----------
    scheme
        All that decides a sketch, as plain values; ``kind`` is one of them.
    ids
        An Arrow array of strings or integers, none twice.
    rows
        A table of ``neardup.tables``, by kind.
    skipped
        Bad rows that were left out: source, row and reason; none are known of a file.
    seconds
        What each stage took where sketches were made; None for those from a file.
    passed_over
        How many files of folders were not read, by ending.
    blocks
        Where the blocks lie that were sketched instead of whole documents, of which the ids come
        once for each block; None for whole documents.
    digests
        An Arrow array of 16 bytes each, equal for exact copies only; null where they are not known,
        None where none is.
    """

    scheme: dict[str, Any]
    ids: pa.Array
    # Of the type that the kind says; only the kind looks into it.
    rows: Any
    skipped: tuple[SkippedRow, ...] = ()
    seconds: Mapping[str, float] | None = None
    passed_over: Mapping[str, int] = field(default_factory=dict)
    _columns: ColumnNames | None = field(default=None, compare=False)
    digests: pa.Array | None = field(default=None, compare=False)
    blocks: BlockPlaces | None = field(default=None, compare=False)
    summary: SketchSummary = field(init=False, compare=False)

    def __post_init__(self) -> None:
        counts = SketchCounts(None if self.blocks is None else 0)
        counts.add(self.n_documents, kind_of(self.scheme).count_elements(self.rows))
        summary = summarise(
            self.scheme,
            counts,
            columns=self._columns,
            skipped=self.skipped,
            passed_over=self.passed_over,
            seconds=self.seconds,
        )
        object.__setattr__(self, "summary", summary)

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def n_documents(self) -> int:
        """Documents that were sketched, whole or in blocks."""
        return len(self) if self.blocks is None else int(pc.count_distinct(self.ids).as_py())

    def headline(self) -> str:
        """Return kind and number."""
        parts = "" if self.blocks is None else f" in {counted(len(self), 'block')}"
        return f"{self.kind}: {counted(self.n_documents, 'document')}{parts}"

    @property
    def table(self) -> pa.Table:
        """As ``to_arrow``."""
        return self.to_arrow()

    @property
    def kind(self) -> str:
        """``minhash``, ``weighted``, ``smallest``, ``modulo`` or ``edit``."""
        return str(self.scheme["kind"])

    @property
    def kind_scheme(self) -> KindScheme:
        """The scheme of the kind."""
        scheme: KindScheme = kind_of(self.scheme).scheme
        return scheme

    @classmethod
    def concat(cls, parts: Iterable[Sketches | str | Path]) -> Sketches:
        """Put sketches of one scheme one behind the other: those given, or files of them.

        Raises
        ------
        SketchMismatchError
            If schemes differ.
        InvalidInputError
            If there is nothing, or an id comes twice.
        ReadError, SketchFormatError
            As ``read``.
        """
        listed = [as_sketches(part) for part in parts]
        if not listed:
            message = "expected sketches to put together, got none; give one or more"
            raise InvalidInputError(message)
        first = listed[0]
        for other in listed[1:]:
            check_same_scheme(first, other)
        ids = join_ids([part.ids for part in listed])
        blocks = _join_blocks(listed)
        of_parts = [part.ids.unique() if part.blocks else part.ids for part in listed]
        check_different(
            join_ids(of_parts),
            "is in more than one of them; leave it out with select, or merge them",
        )
        skipped = tuple(row for part in listed for row in part.skipped)
        rows = kind_of(first.scheme).join_rows([part.rows for part in listed])
        digests = pa.concat_arrays([known_digests(part) for part in listed])
        return cls(first.scheme, ids, rows, skipped, digests=digests, blocks=blocks)

    def append(self, other: Sketches | str | Path) -> Sketches:
        """Return these sketches and others behind them; errors as of ``concat``."""
        return self.concat([self, other])

    def merge(self, other: Sketches | str | Path) -> Sketches:
        """Return a sketch for each id: of an id that both have, of the union of the two sets.

        Ids that only ``other`` has come last. For kinds ``minhash`` and ``smallest``, and
        ``modulo`` with a modulus: the sketch is the one of the shingles of both documents; without
        a modulus it has the larger of both. How many shingles a union has may not be known.

        Raises
        ------
        InvalidParameterError
            For sketches of another kind.
        SketchMismatchError, ReadError, SketchFormatError
            As ``concat``.
        """
        kind = kind_of(self.scheme)
        check_whole(self, "merge")
        if not kind.has_unions:
            message = (
                f"sketches of kind {self.kind} do not tell what a union of two documents has; make "
                "sketches of kind minhash, smallest or modulo"
            )
            raise InvalidParameterError(message, "kind")
        others = as_sketches(other)
        check_whole(others, "merge")
        check_same_scheme(self, others)
        ids = join_ids([self.ids, others.ids])
        n = len(self)
        partners = match_ids(ids[:n], ids[n:])
        shared = np.flatnonzero(partners >= 0)
        rows = kind.join_rows([self.rows, others.rows])
        members = np.column_stack([shared, n + partners[shared]]).reshape(-1)
        united = kind.unite_rows(rows, members, np.arange(0, len(members) + 1, 2))
        # Of each own id the place of its sketch among all three, then those of the new ids.
        places = np.arange(n)
        places[shared] = len(rows) + np.arange(len(shared))
        new = n + np.setdiff1d(np.arange(len(others)), partners[shared])
        rows = kind.take_rows(kind.join_rows([rows, united]), np.concatenate([places, new]))
        kept = pa.array(np.concatenate([np.arange(n), new]))
        # A union is a copy of no document.
        is_united: Bools = np.concatenate([partners >= 0, np.zeros(len(new), np.bool_)])
        both = pa.concat_arrays([known_digests(self), known_digests(others)]).take(kept)
        digests = pc.if_else(pa.array(is_united), no_digests(1)[0], both)
        skipped = self.skipped + others.skipped
        return Sketches(self.scheme, ids.take(kept), rows, skipped, digests=digests)

    def select(self, ids: Iterable[str | int]) -> Sketches:
        """Return the sketches of some documents, in the order of their ids; of each all blocks.

        Raises
        ------
        InvalidInputError
            If an id is not there, or comes twice.
        """
        if self.blocks is None:
            return self._take(places_of_ids(self.ids, ids))
        different = self.ids.unique()
        chosen = different.take(pa.array(places_of_ids(different, ids)))
        order = match_ids(self.ids, chosen)
        rows = np.argsort(order, kind="stable")
        return self._take(rows[np.searchsorted(order[rows], 0) :])

    def __getitem__(self, key: Any) -> Sketches:
        """Return some of the sketches: at a place, in a slice, at several places, or by a mask."""
        return self._take(places_of_key(key, len(self)))

    def _take(self, places: Int64s) -> Sketches:
        rows = kind_of(self.scheme).take_rows(self.rows, places)
        taken = pa.array(places)
        digests = known_digests(self).take(taken)
        blocks = None if self.blocks is None else self.blocks.take(places)
        return Sketches(self.scheme, self.ids.take(taken), rows, digests=digests, blocks=blocks)

    def to_arrow(self) -> pa.Table:
        """Return a table with a row a document or block, and the scheme in its metadata."""
        return table_format.to_arrow(
            self.scheme, self.ids, self.rows, known_digests(self), self.blocks
        )

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Sketches:
        """Read such a table back.

        Raises
        ------
        InvalidInputError
            If it is no Arrow table; a data frame has lost the scheme.
        SketchFormatError
            If it is another table.
        """
        if not isinstance(table, pa.Table):
            message = (
                f"expected an Arrow table of Sketches.to_arrow(), got {type(table).__name__}; "
                "data frames lose the scheme, which is in its metadata"
            )
            raise InvalidInputError(message)
        scheme, ids, rows, digests, blocks = table_format.from_arrow(table)
        return cls(scheme, ids, rows, digests=digests, blocks=blocks)

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a Parquet file; it appears when it is complete.

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            If the name does not end in .parquet, the file exists, or cannot be written.
        """
        target = target_of(path)
        check_sketch_name(target)
        write_table(self.to_arrow().to_reader(), target, overwrite=overwrite)

    @classmethod
    def read(cls, path: str | Path) -> Sketches:
        """Read a file of sketches, and check all of it.

        Raises
        ------
        InvalidInputError
            If ``path`` is no path.
        ReadError
            If it cannot be read.
        SketchFormatError
            If it is damaged, no file of sketches, or of a newer version.
        """
        _check_path(path)
        return _read_part(path)


def _check_path(path: Any) -> None:
    if not isinstance(path, str | os.PathLike):
        remedy = "Sketches.from_arrow" if isinstance(path, pa.Table) else "neardup.sketch"
        message = (
            "expected sketches or the path of a file of sketches, got "
            f"{type(path).__name__}; make sketches of it with {remedy}"
        )
        raise InvalidInputError(message)


def _read_parts(path: str | Path, parts: Sequence[range] | None = None) -> Iterator[Sketches]:
    for table in _read_tables(path, parts):
        try:
            sketches = Sketches.from_arrow(table)
        except SketchFormatError as error:
            raise SketchFormatError(str(error), path=str(path)) from None
        # Neither would stay beside the next one.
        del table
        yield sketches
        del sketches


def _read_part(path: str | Path, rows: range | None = None) -> Sketches:
    [sketches] = _read_parts(path, None if rows is None else [rows])
    return sketches


def known_digests(sketches: Sketches) -> pa.Array:
    """Return digests, null where they are not known."""
    return no_digests(len(sketches)) if sketches.digests is None else sketches.digests


def check_whole(sketches: Sketches, what: str) -> None:
    """Raise unless whole documents were sketched.

    Raises
    ------
    InvalidParameterError
        Naming what needs that.
    """
    if sketches.blocks is not None:
        message = (
            f"{what} needs sketches of whole documents, got some of blocks of "
            f"{sketches.blocks.size:,} characters; sketch without blocks"
        )
        raise InvalidParameterError(message, what, "blocks")


def as_sketches(source: Sketches | str | Path) -> Sketches:
    """Return sketches, read if they are named by a path; errors as of ``Sketches.read``."""
    return source if isinstance(source, Sketches) else Sketches.read(source)


def _join_blocks(parts: Sequence[Sketches]) -> BlockPlaces | None:
    """Put the places of blocks together.

    Raises
    ------
    SketchMismatchError
        If sizes differ, or some sketches are of whole documents.
    """
    sizes = [None if part.blocks is None else part.blocks.size for part in parts]
    for size in sizes:
        if size != sizes[0]:
            raise SketchMismatchError({"blocks": (sizes[0], size)})
    places = [part.blocks for part in parts if part.blocks is not None]
    return None if sizes[0] is None else join_places(sizes[0], places)


class HasScheme(Protocol):
    """Sketches, in memory or in a file."""

    @property
    def scheme(self) -> dict[str, Any]:
        """All that decides a sketch, as plain values; ``kind`` is one of them."""


def check_same_scheme(sketches: HasScheme, other: HasScheme) -> None:
    """Raise unless two collections of sketches can be compared.

    Raises
    ------
    SketchMismatchError
        Naming the fields in which their schemes differ.
    """
    # Of another kind nearly all is different.
    is_one_kind = sketches.scheme["kind"] == other.scheme["kind"]
    names = {**sketches.scheme, **other.scheme} if is_one_kind else ("kind",)
    pairs = {name: (sketches.scheme.get(name), other.scheme.get(name)) for name in names}
    differences = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if differences:
        raise SketchMismatchError(differences)


class SketchParts:
    """Sketches in memory, or parts of a file of which some are read at a time.

    Parameters
    ----------
    source
        Sketches, or the path of a file.
    part_bytes
        Of a file, the most bytes of a part; None: all of it is one. A file of several parts is
        looked through for ids that come twice.

    Attributes
    ----------
    scheme
        As of ``Sketches``.
    n_documents
        How many were sketched, whole or in blocks.
    block_size
        Characters of a block, None for whole documents.
    rows
        Those of each part.
    part
        Returns the sketches of the part of a number; errors as of ``Sketches.read``.
    parts_from
        Returns those of that part and of all behind it, one after another.
    ids
        Returns all ids.

    Raises
    ------
    ReadError, SketchFormatError, InvalidInputError
        As ``Sketches.read``.
    """

    def __init__(self, source: Sketches | str | Path, part_bytes: int | None) -> None:
        n_parts = 1 if part_bytes is None else -(-bytes_to_read(source) // part_bytes)
        if isinstance(source, Sketches) or n_parts <= 1:
            held = as_sketches(source)
            self.part: Callable[[int], Sketches] = lambda _: held
            self.parts_from: Callable[[int], Iterator[Sketches]] = lambda _: iter([held])
            self.scheme, self.n_documents = held.scheme, held.n_documents
            self.block_size = None if held.blocks is None else held.blocks.size
            self.rows = [range(len(held))]
            self.ids: Callable[[], pa.Array] = lambda: held.ids
            return
        info = read_info(source)
        self.scheme, self.n_documents = info["scheme"], info["documents"]
        self.block_size = info.get("block_size")
        n_rows = self.n_documents if self.block_size is None else info["blocks"]
        bounds = [n_rows * number // n_parts for number in range(n_parts + 1)]
        self.rows = [range(*each) for each in pairwise(bounds)]
        self.part = lambda number: _read_part(source, self.rows[number])
        self.parts_from = lambda number: _read_parts(source, self.rows[number:])
        self.ids = lambda: pa.concat_arrays([*_StoredIds(source)])
        if self.block_size is None:
            _check_different_ids(source)

    def __len__(self) -> int:
        return self.rows[-1].stop


def bytes_to_read(source: Sketches | str | Path) -> int:
    """Return about how many bytes the sketches of a file are; those that are there are none.

    Raises
    ------
    ReadError, SketchFormatError, InvalidInputError
        As ``Sketches.read``.
    """
    if isinstance(source, Sketches):
        return 0
    _check_path(source)
    with _opened(source) as file:
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        return sum(group.total_byte_size for group in groups)


class _StoredIds:
    """The ids of a file, some at a time; it may be gone through several times."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[pa.Array]:
        with _opened(self._path) as file:
            try:
                for batch in file.iter_batches(_READ_ROWS, columns=["id"], use_threads=False):
                    yield batch.column("id")
            except (KeyError, pa.ArrowException, OSError):
                raise SketchFormatError(_DAMAGED, path=str(self._path)) from None


def _check_different_ids(path: str | Path) -> None:
    try:
        check_unique(_StoredIds(path), lambda row: (str(path), row), NO_COLUMNS)
    except InvalidInputError:
        raise SketchFormatError(table_format.REPEATED_ID, path=str(path)) from None
