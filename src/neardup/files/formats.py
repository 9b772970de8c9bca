"""Which suffix means which format, and the source that reads it."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from neardup.errors import InvalidInputError
from neardup.files.streams import COMPRESSIONS, InputStream, compression_of

if TYPE_CHECKING:
    from neardup.files.rows import Source

FORMATS = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".txt", ".parquet")
"""Suffixes of formats; all but Parquet may be followed by one of a compression."""

KNOWN_SUFFIXES = ", ".join(FORMATS) + "; all but .parquet also with " + ", ".join(COMPRESSIONS)
"""The same in words, for errors."""

_PEEK = 4096


def format_of(name: str) -> str | None:
    """Give the suffix of the format that a file name ends in, None if it is not known."""
    path = PurePosixPath(name.lower())
    suffix = path.suffix
    if suffix in COMPRESSIONS:
        suffix = PurePosixPath(path.stem).suffix
        return suffix if suffix in FORMATS and suffix != ".parquet" else None
    return suffix if suffix in FORMATS else None


def file_source(location: str, name: str, *, lines: bool = False) -> Source:
    """Make the source of a file of a known format.

    Parameters
    ----------
    location
        Local path or URL.
    name
        Name of the source; its suffixes tell format and compression.
    lines
        Whether a ``.txt`` file holds one document a line.

    Raises
    ------
    ReadError, InvalidInputError
        A ``.json`` file is opened to see whether it holds an array or lines.
    """
    # Each format loads its own readers; a job needs one or two of them.
    match format_of(name):
        case ".json":
            return _json_source(location, name)
        case ".csv" | ".tsv":
            from neardup.files.delimited import DelimitedSource

            return DelimitedSource(location, name)
        case ".parquet":
            from neardup.files.parquet import ParquetSource

            return ParquetSource(location, name)
        case ".txt":
            from neardup.files.plain import TextFileSource, TextLinesSource

            return TextLinesSource(location, name) if lines else TextFileSource(location, name)
        case ".jsonl" | ".ndjson":
            from neardup.files.jsonlines import JsonLinesSource

            return JsonLinesSource(location, name)
        case _:
            message = f"unknown file format; a name ends in one of {KNOWN_SUFFIXES}"
            raise InvalidInputError(message, path=location)


def _json_source(location: str, name: str) -> Source:
    """Look at the first byte of a ``.json`` file: an array, or JSON lines under another name."""
    from neardup.files.jsonarray import JsonArraySource
    from neardup.files.jsonlines import JsonLinesSource

    with InputStream(location, compression_of(name)) as stream:
        head = stream.read(_PEEK).removeprefix(b"\xef\xbb\xbf").lstrip()
        while not head and (more := stream.read(_PEEK)):
            head = more.lstrip()
    if head.startswith(b"["):
        return JsonArraySource(location, name)
    advice = "; a .json file holds one array of objects, or one object a line"
    return JsonLinesSource(location, name, advice=advice)
