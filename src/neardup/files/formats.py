"""Formats of input files: their endings and opening functions.

The function takes a location, the name of the source, whose suffixes are format and compression,
and the options; it returns a ``Source`` and reads no row yet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from neardup.errors import MissingExtraError
from neardup.files.encodings import language_of_file
from neardup.files.streams import COMPRESSIONS, compression_of, ending_of, suffix_below
from neardup.options.choices import InputFormat
from neardup.options.groups import InputOptions
from neardup.version import pip_install

if TYPE_CHECKING:
    from neardup.files.rows import Source


@dataclass(frozen=True)
class FileFormat:
    """A format of input files, with its endings.

    ``opener`` is a module in ``neardup.files`` and a function there, ``open_source`` if none is
    named, loaded with the first file; the suffix of a compression may follow if
    ``is_compressible``. ``extra`` needs ``packages``. ``kind`` is a file in words if it is one
    document; then the function returns the text of its bytes.
    """

    name: InputFormat
    suffixes: tuple[str, ...]
    opener: str
    is_compressible: bool = True
    extra: str | None = None
    packages: tuple[str, ...] = ()
    kind: str | None = None

    @property
    def missing_extra(self) -> str | None:
        """The extra required for reading this format, if missing."""
        return self.extra if not all(map(_is_installed, self.packages)) else None

    def open(self, location: str, name: str, options: InputOptions) -> Source:
        """Return the source of a file of this format."""
        needs_more = options.main_text and self.extra == "pages"
        if self.missing_extra or (needs_more and not _is_installed("trafilatura")):
            assert self.extra is not None
            raise MissingExtraError(self.extra, f"a file of format {self.name}")
        module, _, function = self.opener.partition(":")
        loaded = import_module(f"neardup.files.{module}")
        if self.kind is None:
            source: Source = loaded.open_source(location, name, options)
            return source
        from neardup.files.plain import ExtractedFileSource

        extract = getattr(loaded, function)
        return ExtractedFileSource(location, name, extract=extract, options=options, kind=self.kind)


@cache
def _is_installed(package: str) -> bool:
    return find_spec(package) is not None


_TEXT = FileFormat("text", (".txt",), "plain")

FORMATS = (
    FileFormat("jsonl", (".jsonl", ".ndjson"), "jsonlines"),
    FileFormat("json", (".json",), "jsonarrays"),
    FileFormat("csv", (".csv",), "delimited"),
    FileFormat("tsv", (".tsv",), "delimited"),
    _TEXT,
    FileFormat("parquet", (".parquet",), "parquet", False),
    FileFormat("arrow", (".arrow", ".feather"), "arrow", False),
    FileFormat("xlsx", (".xlsx",), "sheets", False, "xlsx", ("openpyxl", "xlsxwriter")),
    FileFormat("docx", (".docx",), "office_documents:docx_text", kind="a Word document"),
    FileFormat("odt", (".odt",), "office_documents:odt_text", kind="an OpenDocument text"),
    FileFormat(
        "epub",
        (".epub",),
        "office_documents:epub_text",
        extra="documents",
        packages=("resiliparse",),
        kind="an e-book",
    ),
    FileFormat(
        "pdf",
        (".pdf",),
        "pdf:pdf_text",
        extra="documents",
        packages=("pypdfium2",),
        kind="a PDF document",
    ),
    FileFormat(
        "html",
        (".html", ".htm", ".xhtml"),
        "html:page_text",
        extra="pages",
        packages=("resiliparse",),
        kind="an HTML page",
    ),
    FileFormat(
        "warc", (".warc", ".wet"), "warc", extra="pages", packages=("fastwarc", "resiliparse")
    ),
)
"""All formats, in the order in which messages name them."""

# Endings of tar archives with their compressions; the one of other archives is .zip.
TAR_ENDINGS = {".tar": None, ".tgz": "gzip"} | {
    f".tar{suffix}": codec for suffix, codec in COMPRESSIONS.items()
}

# Formats with columns.
_TABLES = frozenset({"jsonl", "json", "csv", "tsv", "parquet", "arrow", "xlsx"})

_DEFAULTS = InputOptions()
_BY_NAME = {known.name: known for known in FORMATS}
_BY_SUFFIX = {suffix: known for known in FORMATS for suffix in known.suffixes}
_UNCOMPRESSED = [s for s, known in _BY_SUFFIX.items() if not known.is_compressible]

KNOWN_SUFFIXES = (
    f"{', '.join(_BY_SUFFIX)}; all but {', '.join(_UNCOMPRESSED)} also with"
    f" {', '.join(COMPRESSIONS)}"
)
"""The suffixes in words, for errors."""


def format_of(name: str, options: InputOptions = _DEFAULTS) -> FileFormat | None:
    """Return the chosen format, or the suffix's format, or None."""
    found = _BY_NAME.get(options.input_format) or _BY_SUFFIX.get(suffix_below(name))
    if found is None or (compression_of(name) is not None and not found.is_compressible):
        return None
    return found


def is_archive(name: str) -> bool:
    """Return whether a file is an archive."""
    return ending_of(name) in (".zip", *TAR_ENDINGS)


def is_readable(name: str, options: InputOptions = _DEFAULTS) -> bool:
    """Return whether a folder's file is a readable input.

    A chosen format counts, so that opening the file names a missing extra. Programs are texts if
    asked for; then other files are not, unless a language is named.
    """
    if options.reads_programs and (language_of_file(name) or options.by_ending):
        return language_of_file(name) > 0
    found = format_of(name, options)
    if found is None:
        return False
    return options.input_format != "auto" or found.missing_extra is None


def missing_extras(endings: Iterable[str]) -> list[str]:
    """Describe how to install the missing extras for some endings."""
    missing: dict[str, list[str]] = {}
    for ending in endings:
        found = format_of(f"a{ending}")
        if found is not None and found.missing_extra is not None:
            missing.setdefault(found.missing_extra, []).append(ending)
    return [
        f"to read {', '.join(needing)} files: {pip_install(extra)}"
        for extra, needing in missing.items()
    ]


def file_source(location: str, name: str, options: InputOptions = _DEFAULTS) -> Source:
    """Make the source of a path or URL by its suffixes."""
    return (format_of(name, options) or _TEXT).open(location, name, options)


def has_rows(name: str, options: InputOptions = _DEFAULTS) -> bool:
    """Return whether a source may have several documents."""
    found = format_of(name, options)
    return has_columns(name, options) or (found is not None and found.name == "warc")


def has_columns(name: str, options: InputOptions = _DEFAULTS) -> bool:
    """Return whether a source is a table with user columns."""
    found = format_of(name, options)
    return found is not None and found.name in _TABLES
