"""The formats in which the rows of any source can be written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, get_args

from neardup.errors import InvalidParameterError
from neardup.files.compression import COMPRESSIONS, compression_of
from neardup.files.destinations import Destination
from neardup.files.fitting import FittingTableWriter, check_types
from neardup.files.jsonwriter import TableLinesWriter
from neardup.files.rows import Mask, RowWriter, Source
from neardup.files.streams import OutputStream
from neardup.options.choices import OutputFormat

if TYPE_CHECKING:
    from collections.abc import Sequence

OUTPUT_FORMATS: tuple[OutputFormat, ...] = get_args(OutputFormat)


@dataclass(frozen=True)
class _Conversion:
    """Another format than the source's own: ``writer`` opens a writer of a source's rows there."""

    suffix: str
    stays_compressed: bool
    writer: Callable[[Source, Destination, Mask | None], RowWriter]


def converted_writer(
    source: Source,
    folder: Destination,
    output_format: OutputFormat,
    documents: Mask | None = None,
) -> RowWriter:
    """Open a writer of rows of ``source`` in another format.

    JSON objects become JSON lines with their values byte for byte; other rows are written by the
    standard library, dates as text, NaN and infinities as null. Parquet has the schema of the
    documents of the first block of the source that has any.

    Parameters
    ----------
    source
        Where the rows come from.
    folder
        Where to write ``converted_name(source.name, output_format)``.
    output_format
        The format; ``same`` is the source's own.
    documents
        Which of the source's rows are documents; None for all.

    Raises
    ------
    InvalidInputError
        While writing, for a row that does not fit the format.
    """
    conversion = _CONVERSIONS[output_format]
    if conversion is None:
        return source.writer(folder)
    destination = folder / converted_name(source.name, output_format)
    return conversion.writer(source, destination, documents)


def converted_name(name: str, output_format: OutputFormat) -> str:
    """Return the name of a source with the suffix of a format; JSON lines stay compressed."""
    conversion = _CONVERSIONS[output_format]
    if conversion is None:
        return name
    path = PurePosixPath(name)
    compression = path.suffix if path.suffix.lower() in COMPRESSIONS else ""
    path = path.with_name(path.name.removesuffix(compression))
    return str(
        path.with_suffix(conversion.suffix + (compression if conversion.stays_compressed else ""))
    )


def check_conversion(sources: Sequence[Source], output_format: OutputFormat) -> None:
    """Check, before any work, what can be known then of writing sources in another format.

    Raises
    ------
    InvalidParameterError
        If two sources get the same name.
    InvalidInputError
        If the format cannot hold the type of a column.
    """
    seen: dict[str, str] = {}
    for source in sources:
        check_types(source, output_format)
        name = converted_name(source.name, output_format)
        if name in seen:
            message = (
                f"{seen[name]!r} and {source.name!r} would both be written as {name!r};"
                " rename one, or write the inputs' formats with format='same' (--format same)"
            )
            raise InvalidParameterError(message)
        seen[name] = source.name


def _json_lines_writer(source: Source, destination: Destination, _: Mask | None) -> RowWriter:
    output = OutputStream(destination, compression_of(str(destination)))
    return source.json_lines_writer(output) or TableLinesWriter(
        output, source.origin or source.name
    )


_CONVERSIONS: dict[OutputFormat, _Conversion | None] = {
    "same": None,
    "jsonl": _Conversion(".jsonl", stays_compressed=True, writer=_json_lines_writer),
    "parquet": _Conversion(".parquet", stays_compressed=False, writer=FittingTableWriter),
}
