"""OpenDocument texts (.odt): the text that a reader sees, then its notes.

Read is the body: paragraphs, headings, lists, tables, text boxes and notes, white space as the
format defines it; no headers, footers, comments, deleted text nor sources of indexes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from neardup.files.extracted import ExtractedFileSource, UnreadableFileError
from neardup.files.office.package import Events, Package, TextWriter

if TYPE_CHECKING:
    from neardup.options.groups import InputOptions

_KIND = "an OpenDocument text"
_CONTENT, _MANIFEST = "content.xml", "META-INF/manifest.xml"

_SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_TEXT, _TABLE = f"{_SPACE}text:1.0 ", f"{_SPACE}table:1.0 "
_ENCRYPTION = f"{_SPACE}manifest:1.0 encryption-data"
_BODY = f"{_SPACE}office:1.0 text"
_PARAGRAPHS = frozenset({f"{_TEXT}p", f"{_TEXT}h"})
_CELLS = frozenset({f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"})
_ROW = f"{_TABLE}table-row"
_NOTE = f"{_TEXT}note-body"
_SPACES, _COUNT = f"{_TEXT}s", f"{_TEXT}c"
_CHARACTERS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_BOX = f"{_SPACE}drawing:1.0 text-box"
_SKIPPED = frozenset(
    {
        f"{_TEXT}tracked-changes",
        f"{_TEXT}note-citation",
        f"{_SPACE}office:1.0 annotation",
        f"{_SPACE}office:1.0 forms",
        *(f"{_SPACE}svg-compatible:1.0 {name}" for name in ("title", "desc")),
    }
)
_MOST_SPACES = 10_000

# Any number of these is one space.
_BLANK = re.compile(r"[ \t\r\n]+")


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of an OpenDocument text."""
    return ExtractedFileSource(location, name, extract=extract, options=options, kind=_KIND)


def extract(data: bytes, options: InputOptions) -> str:
    """Return the text of an OpenDocument text."""
    package = Package(data, _KIND)
    if package.has(_MANIFEST):
        package.parse(_MANIFEST, _Manifest())
    body = _Body()
    package.parse(_CONTENT, body)
    if not body.is_found:
        message = f"not {_KIND}, but another OpenDocument; save it as .odt"
        raise UnreadableFileError(message)
    # Notes come after the text.
    return "\n".join(filter(None, map(str, (body.main, body.notes))))


class _Manifest(Events):
    """The list of parts, which marks encrypted ones."""

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == _ENCRYPTION:
            message = "the document is encrypted; save it without a password"
            raise UnreadableFileError(message)

    def end(self, name: str) -> None:
        pass


class _Body(Events):
    """The text of the paragraphs of a document, and that of its notes."""

    def __init__(self) -> None:
        self.is_found = False
        self.main, self.notes = TextWriter(), TextWriter()
        self._writer = self.main
        self._n_bodies = self._n_skipped = self._n_paragraphs = 0
        # White space at the start of a paragraph, and after other white space, does not count.
        self._is_blank = True
        self._outer: list[bool] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == _BODY:
            self.is_found = True
            self._n_bodies += 1
        elif not self._n_bodies:
            return
        elif self._n_skipped or name in _SKIPPED or name.endswith("-source"):
            self._n_skipped += 1
        elif name in _PARAGRAPHS:
            self._n_paragraphs += 1
            self._outer.append(self._is_blank)
            self._is_blank = True
        elif name == _SPACES:
            self._add(" " * _count(attributes))
        elif name in _CHARACTERS:
            self._add(_CHARACTERS[name])
        elif name == _NOTE:
            self._writer = self.notes
        elif name == _BOX:
            self._writer.end_line()

    def end(self, name: str) -> None:
        if name == _BODY:
            self._n_bodies -= 1
        elif not self._n_bodies:
            return
        elif self._n_skipped:
            self._n_skipped -= 1
        elif name in _PARAGRAPHS:
            self._n_paragraphs -= 1
            self._is_blank = self._outer.pop()
            self._writer.end_line()
        elif name in _CELLS:
            self._writer.end_cell()
        elif name == _ROW:
            self._writer.end_line()
        elif name == _NOTE:
            self._writer = self.main

    def text(self, text: str) -> None:
        if self._n_skipped or not self._n_paragraphs:
            return
        text = _BLANK.sub(" ", text)
        if self._is_blank:
            text = text.lstrip(" ")
        if text:
            self._add(text)
            self._is_blank = text.endswith(" ")

    def _add(self, text: str) -> None:
        self._writer.add(text)
        self._is_blank = False


def _count(attributes: Mapping[str, str]) -> int:
    """Return how many spaces an element stands for."""
    count = attributes.get(_COUNT, "1")
    return min(int(count), _MOST_SPACES) if count.isdecimal() else 1
