"""Sketches of documents, in memory and in files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import (
    InvalidInputError,
    InvalidParameterError,
    ReadError,
    SketchFormatError,
    SketchMismatchError,
)
from neardup.files.destinations import Target, is_standard_output, target_of
from neardup.files.documents import check_unique
from neardup.files.streams import is_remote, open_random
from neardup.outputs.output_tables import write_table
from neardup.results import NO_COLUMNS, Result
from neardup.runs.progress import counted
from neardup.runs.runner import release_memory
from neardup.sketches import kind as kinds
from neardup.sketches.kind import DIGEST_BYTES
from neardup.tables import Int64s

# Rows, and bytes of a column, that are read at a time.
_READ_ROWS, _READ_BYTES = 1 << 16, 1 << 20

_DAMAGED = "the file is damaged; make the sketches again, or get another copy"


def check_sketch_name(path: Target) -> None:
    """Raise unless a name ends in .parquet."""
    if is_standard_output(path):
        message = (
            "a file of sketches is binary, which standard output does not take; "
            "name a file that ends in .parquet"
        )
        raise InvalidParameterError(message)
    if path.suffix != ".parquet":
        message = f"a file of sketches must end in .parquet, got {str(path)!r}"
        raise InvalidParameterError(message)


def _read_part(path: str | Path, rows: range | None = None) -> Sketches:
    """Read and check some rows of a file, None for all."""
    damaged = SketchFormatError(_DAMAGED, path=str(path))
    with _opened(path) as file:
        n_rows = file.metadata.num_rows
        rows = range(n_rows) if rows is None else rows
        sizes = [file.metadata.row_group(each).num_rows for each in range(file.num_row_groups)]
        # Checksums of pages do not cover the row counts, which a file has several times.
        if sum(sizes) != n_rows or rows.stop > n_rows:
            raise damaged
        try:
            table = _read_rows(file, rows, np.cumsum([0, *sizes]))
        except (pa.ArrowException, OSError):
            raise damaged from None
        release_memory()
        if len(table) != len(rows):
            raise damaged
    try:
        return Sketches.from_arrow(table)
    except SketchFormatError as error:
        raise SketchFormatError(str(error), path=str(path)) from None


def _read_rows(file: pq.ParquetFile, rows: range, starts: Int64s) -> pa.Table:
    first, end = np.searchsorted(starts[1:], [rows.start, rows.stop - 1], side="right").tolist()
    groups = list(range(first, min(end + 1, file.num_row_groups))) if rows else []
    n_before, n_left = rows.start - int(starts[first]), len(rows)
    batches: list[pa.RecordBatch] = []
    # A complete row group would be in memory twice before it is one array.
    n_read = min(_READ_ROWS, max(1, len(rows)))
    for batch in file.iter_batches(n_read, row_groups=groups, use_threads=False):
        batches.append(batch[n_before:][:n_left])
        n_before = max(0, n_before - len(batch))
        n_left -= len(batches[-1])
        if not n_left:
            break
    return pa.Table.from_batches(batches, file.schema_arrow).combine_chunks()


def _opened(path: str | Path) -> pq.ParquetFile:
    location = str(path)
    if is_remote(location):
        file = open_random(location)
    else:
        try:
            # Arrow's own error omits the system's reason.
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


@dataclass(frozen=True, repr=False, eq=False)
class Sketches(Result):
    """Sketches of documents, and the scheme that defines comparable sketches.

    Parameters
    ----------
    scheme
        All parameters of a sketch, as plain values; ``kind`` is one of them.
    ids
        An Arrow array of unique strings or integers.
    rows
        A table of ``neardup.tables``, by kind.
    digests
        An Arrow array of 16 bytes each, equal for exact copies only; null if unknown.
    summary
        Kind, number of documents and scheme; for new sketches also counts and seconds.
    """

    scheme: dict[str, Any]
    ids: pa.Array
    # The type depends on the kind, which alone accesses it.
    rows: Any
    digests: pa.Array = field(default=None, compare=False)
    summary: dict[str, Any] = field(default_factory=dict, compare=False)

    def __post_init__(self) -> None:
        if self.digests is None:
            object.__setattr__(self, "digests", pa.nulls(len(self), pa.binary(DIGEST_BYTES)))
        if not self.summary:
            self.summary.update(kind=self.kind, documents=len(self), scheme=self.scheme)

    def __len__(self) -> int:
        return len(self.ids)

    def headline(self) -> str:
        """Return kind and number."""
        return f"{self.kind}: {counted(len(self), 'document')}"

    @property
    def table(self) -> pa.Table:
        """The Arrow table of ``to_arrow``."""
        return self.to_arrow()

    @property
    def kind(self) -> str:
        """``minhash``, ``weighted``, ``smallest``, ``modulo`` or ``edit``."""
        return str(self.scheme["kind"])

    def to_arrow(self) -> pa.Table:
        """Return a row per document, with the scheme as metadata."""
        return kinds.to_arrow(self.scheme, self.ids, self.rows, self.digests)

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Sketches:
        """Restore sketches from such a table.

        Raises
        ------
        InvalidInputError
            If it is not an Arrow table; a data frame has lost the scheme.
        SketchFormatError
            If it is another table.
        """
        if not isinstance(table, pa.Table):
            message = (
                f"expected an Arrow table of Sketches.to_arrow(), got {type(table).__name__}; "
                "data frames lose the scheme, which is in its metadata"
            )
            raise InvalidInputError(message)
        return cls(*kinds.from_arrow(table))

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a Parquet file that appears when complete.

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
            If ``path`` is not a path.
        ReadError
            If it cannot be read.
        SketchFormatError
            If it is damaged, not a file of sketches, or of a newer version.
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


def check_same_scheme(own: SketchParts, others: SketchParts) -> None:
    """Raise with the differing fields unless two schemes are equal."""
    # Another kind differs in nearly all fields.
    is_one_kind = own.scheme["kind"] == others.scheme["kind"]
    names = {**own.scheme, **others.scheme} if is_one_kind else ("kind",)
    pairs = {name: (own.scheme.get(name), others.scheme.get(name)) for name in names}
    differences = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if differences:
        raise SketchMismatchError(differences)


class SketchParts:
    """Sketches in memory, or in a file by parts.

    A part of a file has at most ``part_bytes``; None reads the whole file as one. Several parts are
    checked for duplicate ids. ``rows`` has the range of rows of each part; ``scheme`` is as of
    ``Sketches``.
    """

    def __init__(self, source: Sketches | str | Path, part_bytes: int | None) -> None:
        n_parts = 1 if part_bytes is None else -(-bytes_to_read(source) // part_bytes)
        if isinstance(source, Sketches) or n_parts <= 1:
            held = source if isinstance(source, Sketches) else Sketches.read(source)
            self._held: Sketches | None = held
            self.scheme = held.scheme
            self.rows = [range(len(held))]
            return
        self._held, self._path = None, source
        with _opened(source) as file:
            try:
                self.scheme = kinds.read_scheme(file.schema_arrow.metadata)
            except SketchFormatError as error:
                raise SketchFormatError(str(error), path=str(source)) from None
            n_rows = file.metadata.num_rows
        bounds = [n_rows * number // n_parts for number in range(n_parts + 1)]
        self.rows = [range(*each) for each in pairwise(bounds)]
        try:
            check_unique(_StoredIds(source), lambda row: (str(source), row), NO_COLUMNS)
        except InvalidInputError:
            raise SketchFormatError(kinds.REPEATED_ID, path=str(source)) from None

    def __len__(self) -> int:
        return self.rows[-1].stop

    def part(self, number: int) -> Sketches:
        """Return a part's sketches, raising as ``Sketches.read``."""
        if self._held is not None:
            return self._held
        return _read_part(self._path, self.rows[number])


def bytes_to_read(source: Sketches | str | Path) -> int:
    """Return the approximate bytes to read, 0 for memory."""
    if isinstance(source, Sketches):
        return 0
    _check_path(source)
    with _opened(source) as file:
        groups = map(file.metadata.row_group, range(file.num_row_groups))
        return sum(group.total_byte_size for group in groups)


class _StoredIds:
    """A file's ids in parts, for repeated iteration."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def __iter__(self) -> Iterator[pa.Array]:
        with _opened(self._path) as file:
            try:
                for batch in file.iter_batches(_READ_ROWS, columns=["id"], use_threads=False):
                    yield batch.column("id")
            except (KeyError, pa.ArrowException, OSError):
                raise SketchFormatError(_DAMAGED, path=str(self._path)) from None
