"""Sketches of documents as users hold them, and as files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from neardup.errors import (
    InvalidInputError,
    InvalidParameterError,
    ReadError,
    SketchFormatError,
    SketchMismatchError,
)
from neardup.files.rows import ColumnNames
from neardup.files.streams import is_remote, open_random
from neardup.outputs.folder import STANDARD_OUTPUT
from neardup.outputs.table_files import write_table
from neardup.outputs.targets import Target, target_of
from neardup.results import NO_COLUMNS, Result, SkippedRow, describe_ids, skipped_rows
from neardup.sketches import table_format
from neardup.sketches.kind import AnyKind, KindScheme
from neardup.sketches.registry import kind_of


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
    columns
        Where text and ids were; None for those from a file.
    """

    scheme: dict[str, Any]
    ids: pa.Array
    # Of the type that the kind says; only the kind looks into it.
    rows: Any
    skipped: tuple[SkippedRow, ...] = ()
    seconds: Mapping[str, float] | None = None
    passed_over: Mapping[str, int] = field(default_factory=dict)
    columns: ColumnNames | None = field(default=None, compare=False)
    summary: dict[str, Any] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        summary = {"kind": self.kind, "documents": len(self), "scheme": self.scheme}
        if self.seconds is not None:
            n_elements = self.kind_object.count_elements(self.rows)
            # Of a single shingle are, above all, texts that are shorter than one.
            has_shingles = self.scheme.get("ngram", 1) > 1
            summary |= {
                "empty_documents": int((n_elements == 0).sum()),
                "single_shingle_documents": int((n_elements == 1).sum()) if has_shingles else 0,
                **describe_ids(self.columns or NO_COLUMNS),
                "skipped_rows": len(self.skipped),
                **skipped_rows(self.skipped),
                "passed_over": dict(self.passed_over),
                "seconds": dict(self.seconds),
            }
        object.__setattr__(self, "summary", summary)

    def __len__(self) -> int:
        return len(self.ids)

    def headline(self) -> str:
        """Return kind and number."""
        return f"{self.kind}: {len(self):,} documents"

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
        scheme: KindScheme = self.kind_object.scheme
        return scheme

    @property
    def kind_object(self) -> AnyKind:
        """What is done with sketches of the kind."""
        return kind_of(self.scheme)

    def to_arrow(self) -> pa.Table:
        """Return a table with a row a document, and the scheme in its metadata."""
        return table_format.to_arrow(self.scheme, self.ids, self.rows)

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
        return cls(*table_format.from_arrow(table))

    def write(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a Parquet file; it appears when it is complete.

        Raises
        ------
        InvalidParameterError, OutputExistsError, WriteError
            If the name does not end in .parquet, the file exists, or cannot be written.
        """
        target = target_of(path)
        check_sketch_name(target)
        write_table(self.to_arrow(), target, overwrite=overwrite, checksums=True)

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
        if not isinstance(path, str | os.PathLike):
            remedy = "Sketches.from_arrow" if isinstance(path, pa.Table) else "neardup.sketch"
            message = (
                "expected sketches or the path of a file of sketches, got "
                f"{type(path).__name__}; make sketches of it with {remedy}"
            )
            raise InvalidInputError(message)
        table = _read(path)
        try:
            return cls.from_arrow(table)
        except SketchFormatError as error:
            raise SketchFormatError(str(error), path=str(path)) from None


def as_sketches(source: Sketches | str | Path) -> Sketches:
    """Return sketches, read if they are named by a path; errors as of ``Sketches.read``."""
    return source if isinstance(source, Sketches) else Sketches.read(source)


def check_sketch_name(path: Target) -> None:
    """Raise unless a name ends in .parquet.

    Raises
    ------
    InvalidParameterError
        If it ends otherwise.
    """
    if path == STANDARD_OUTPUT:
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
        return {
            "path": str(path),
            "documents": file.metadata.num_rows,
            "bytes": _stored_bytes(str(path)),
            **about,
        }


def check_same_scheme(sketches: Sketches, other: Sketches) -> None:
    """Raise unless two collections of sketches can be compared.

    Raises
    ------
    SketchMismatchError
        Naming the fields in which their schemes differ.
    """
    # Of another kind nearly all is different.
    is_one_kind = sketches.kind == other.kind
    names = {**sketches.scheme, **other.scheme} if is_one_kind else ("kind",)
    pairs = {name: (sketches.scheme.get(name), other.scheme.get(name)) for name in names}
    differences = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
    if differences:
        raise SketchMismatchError(differences)


_DAMAGED = "the file is damaged; make the sketches again, or get another copy"


def _read(path: str | Path) -> pa.Table:
    with _opened(path) as file:
        try:
            table = file.read()
        except (pa.ArrowException, OSError):
            raise SketchFormatError(_DAMAGED, path=str(path)) from None
        # Checksums of pages do not cover the numbers of rows, of which a file has several.
        if len(table) != file.metadata.num_rows:
            raise SketchFormatError(_DAMAGED, path=str(path))
        return table


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
        return pq.ParquetFile(file, page_checksum_verification=True)
    except (pa.ArrowException, OSError, UnicodeDecodeError):
        message = "not a Parquet file, or a damaged one; make it with neardup sketch"
        raise SketchFormatError(message, path=str(path)) from None
