"""Word documents (.docx): the text that a reader sees, then its notes.

The text is the body and the notes, as the office program shows them: with tracked insertions,
without tracked deletions; text boxes, once; no headers, footers, comments, field codes or hidden
text.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from neardup.files.extracted import ExtractedFileSource, UnreadableFileError
from neardup.files.office.package import Events, Package, TextWriter

if TYPE_CHECKING:
    from neardup.options.groups import InputOptions

_KIND = "a Word document"

# Namespaces as nearly all programs write them, and as the strict variant has them.
_WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_MATH = (
    "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "http://purl.oclc.org/ooxml/officeDocument/math",
)
_COMPATIBILITY = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def _word(*names: str) -> frozenset[str]:
    return frozenset(f"{space} {name}" for space in _WORD for name in names)


_TEXTS = _word("t") | {f"{space} t" for space in _MATH}
_LINES = _word("p", "tr")
_CELLS = _word("tc")
_BOXES = _word("txbxContent")
_RUNS = _word("r")
_HIDDEN = _word("vanish")
_VALUE = _word("val")
# Deleted or moved text, and alternatives of earlier content.
_SKIPPED = _word("del", "moveFrom") | {f"{_COMPATIBILITY} Fallback"}
_CHARACTERS = {
    **dict.fromkeys(_word("tab", "ptab"), "\t"),
    **dict.fromkeys(_word("br", "cr"), "\n"),
    **dict.fromkeys(_word("noBreakHyphen"), "\N{NON-BREAKING HYPHEN}"),
}
# In properties of a paragraph these are stops, not characters.
_PROPERTIES = _word("pPr")


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of a Word document."""
    return ExtractedFileSource(location, name, extract=extract, options=options, kind=_KIND)


def extract(data: bytes, options: InputOptions) -> str:
    """Return the text of a Word document."""
    package = Package(data, _KIND)
    main = next(iter(package.relationships("", "officeDocument").values()), None)
    if main is None:
        message = f"not {_KIND}: it does not say what its text is; get a full copy"
        raise UnreadableFileError(message)
    writer = TextWriter()
    notes = [
        part
        for kind in ("footnotes", "endnotes")
        for part in dict.fromkeys(package.relationships(main, kind).values())
    ]
    for part in (main, *notes):
        package.parse(part, _Body(writer))
        writer.end_line()
    return str(writer)


class _Body(Events):
    """The text of a part."""

    def __init__(self, writer: TextWriter) -> None:
        self._writer = writer
        # The depth within elements that are not read, and within properties.
        self._n_skipped = self._n_properties = 0
        self._is_text = self._is_hidden = False

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if self._n_skipped or name in _SKIPPED:
            self._n_skipped += 1
        elif name in _TEXTS:
            self._is_text = True
        elif name in _RUNS:
            self._is_hidden = False
        elif name in _HIDDEN:
            value = next((attributes[key] for key in _VALUE if key in attributes), "1")
            # The mark at a paragraph's end does not concern the runs, which follow it.
            self._is_hidden = value not in ("0", "false", "off")
        elif name in _PROPERTIES:
            self._n_properties += 1
        elif name in _CHARACTERS and not self._n_properties:
            self._add(_CHARACTERS[name])
        elif name in _BOXES:
            self._writer.end_line()

    def end(self, name: str) -> None:
        if self._n_skipped:
            self._n_skipped -= 1
        elif name in _TEXTS:
            self._is_text = False
        elif name in _RUNS:
            self._is_hidden = False
        elif name in _PROPERTIES:
            self._n_properties -= 1
        elif name in _LINES:
            self._writer.end_line()
        elif name in _CELLS:
            self._writer.end_cell()

    def text(self, text: str) -> None:
        if self._is_text and not self._n_skipped:
            self._add(text)

    def _add(self, text: str) -> None:
        if not self._is_hidden:
            self._writer.add(text)
