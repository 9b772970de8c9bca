"""The formats of input files: which endings of a name mean which, and how each is opened.

A format is a module that reads its rows and writes them back: it has a ``Source``, whose blocks
give the rows, and ``open_source``, which makes one. This table is all that knows the modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from neardup.errors import InvalidInputError
from neardup.files.compression import COMPRESSIONS, compression_of, suffix_below
from neardup.files.input_options import InputOptions

if TYPE_CHECKING:
    from neardup.files.rows import Source


class OpenSource(Protocol):
    """What the module of a format has under the name ``open_source``.

    ``location`` is a local path or URL; ``name`` becomes the name of the source, and its suffixes
    say format and compression.
    """

    def __call__(self, location: str, name: str, options: InputOptions) -> Source:
        """Return the source of a file; no row is read yet."""
        ...


@dataclass(frozen=True)
class FileFormat:
    """A format of input files.

    Parameters
    ----------
    suffixes
        Endings of file names, in lower case.
    module
        Where its ``open_source`` is. Loaded when a file is opened, because a job needs one or two
        formats, and each loads readers of its own.
    is_compressible
        Whether the suffix of a compression may follow.
    """

    suffixes: tuple[str, ...]
    module: str
    is_compressible: bool = True

    def open(self, location: str, name: str, options: InputOptions) -> Source:
        """Return the source of a file of this format."""
        open_source: OpenSource = import_module(self.module).open_source
        return open_source(location, name, options)


FORMATS = (
    FileFormat((".jsonl", ".ndjson"), "neardup.files.jsonlines"),
    FileFormat((".json",), "neardup.files.jsonarray"),
    FileFormat((".csv", ".tsv"), "neardup.files.delimited"),
    FileFormat((".txt",), "neardup.files.plain"),
    FileFormat((".parquet",), "neardup.files.parquet", is_compressible=False),
)
"""All formats, in the order in which messages name them."""

_DEFAULTS = InputOptions()
_BY_SUFFIX = {suffix: known for known in FORMATS for suffix in known.suffixes}
_UNCOMPRESSED = [s for s, known in _BY_SUFFIX.items() if not known.is_compressible]

KNOWN_SUFFIXES = (
    f"{', '.join(_BY_SUFFIX)}; all but {', '.join(_UNCOMPRESSED)} also with"
    f" {', '.join(COMPRESSIONS)}"
)
"""The suffixes in words, for errors."""


def format_of(name: str) -> FileFormat | None:
    """Return the format that the suffixes of a file name mean, None if it is not known."""
    found = _BY_SUFFIX.get(suffix_below(name))
    if found is None or (compression_of(name) is not None and not found.is_compressible):
        return None
    return found


def known_format(name: str, location: str) -> FileFormat:
    """Return the format of a file name; ``location`` is the file as the user knows it.

    Raises
    ------
    InvalidInputError
        If the format is not known.
    """
    found = format_of(name)
    if found is None:
        message = f"unknown file format; a name ends in one of {KNOWN_SUFFIXES}"
        raise InvalidInputError(message, path=location)
    return found


def file_source(location: str, name: str, options: InputOptions = _DEFAULTS) -> Source:
    """Make the source of a file of a known format.

    Parameters
    ----------
    location
        Local path or URL.
    name
        Name of the source; its suffixes tell format and compression.
    options
        What files hold.

    Raises
    ------
    ReadError, InvalidInputError
        If the format is not known, or the file cannot be opened where its content tells more of
        the format.
    """
    return known_format(name, location).open(location, name, options)
