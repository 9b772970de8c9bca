"""Text of Word documents, OpenDocument texts and e-books.

Expat reads the XML as a stream of events, so that a long document takes no more memory than a short
one. Nesting and unpacked bytes of a document have limits; a file beyond one is refused. Expat
itself refuses entities that multiply.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from urllib.parse import unquote
from xml.parsers import expat

from neardup.files.plain import UnreadableFileError
from neardup.options.groups import InputOptions

# Limits of one document: bytes of XML, and elements within each other. Expat keeps a hundred bytes
# and more of each open element.
MOST_XML_BYTES = 1 << 27
MOST_LEVELS = 1 << 20

# Expat searches a long tag from its start again with each piece.
_PIECE = 1 << 22
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
    *(ValueError, ArithmeticError, LookupError, AssertionError),
)

OLD_OFFICE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
"""First bytes of older documents of Microsoft Office, and of those with a password."""


def old_office(kind: str) -> UnreadableFileError:
    """Return the error for a file that begins with ``OLD_OFFICE``."""
    message = (
        f"not {kind} but an older one of Microsoft Office, or one with a password; save it "
        "without, in the newer format"
    )
    return UnreadableFileError(message)


_Event = tuple[str, Mapping[str, str] | None, str]
"""An element's name and attributes, None at its end; or no name, and the characters of a text."""


@lru_cache(1 << 12)
def _local(name: str) -> str:
    """Return a name without its namespace, except names of drawings."""
    space, _, local = name.rpartition(" ")
    return f"svg:{local}" if "svg" in space else local


class _Package:
    """A zip file of XML parts, called ``kind`` in messages."""

    def __init__(self, data: bytes, kind: str) -> None:
        self.kind = kind
        self._n_bytes = 0
        if data.startswith(OLD_OFFICE):
            raise old_office(kind)
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            raise UnreadableFileError(f"not {kind}: {error}; get a full copy") from None

    def read(self, part: str) -> bytes:
        return b"".join(self._pieces(part))

    def related(self, part: str, kind: str) -> list[str]:
        """Return parts related to a part, empty meaning the package."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        targets = [
            _part(folder, about["Target"])
            for name, about in (self.elements(listed) if listed in self._zip.NameToInfo else ())
            if name == "Relationship"
            and about.get("Type", "").rpartition("/")[2] == kind
            and about.get("TargetMode") != "External"
            and "Target" in about
        ]
        return list(dict.fromkeys(targets))

    def elements(self, part: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the name and attributes of each element in order."""
        for name, about, _ in self.events(part):
            if about is not None:
                yield name, about

    def events(self, part: str, skipped: frozenset[str] = frozenset()) -> Iterator[_Event]:
        """Read the XML events of a part, without skipped elements."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        events: list[_Event] = []
        # The level of a skipped element around, or 0.
        level = skipped_from = 0

        def start(name: str, attributes: Mapping[str, str]) -> None:
            nonlocal level, skipped_from
            level += 1
            if level > MOST_LEVELS:
                message = f"XML in it has elements {MOST_LEVELS:,} deep in others; leave it out"
                raise UnreadableFileError(message)
            if not skipped_from and _local(name) in skipped:
                skipped_from = level
            if not skipped_from:
                events.append((_local(name), attributes, ""))

        def end(name: str) -> None:
            nonlocal level, skipped_from
            if not skipped_from:
                events.append((_local(name), None, ""))
            elif skipped_from == level:
                skipped_from = 0
            level -= 1

        def characters(text: str) -> None:
            if not skipped_from:
                events.append(("", None, text))

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = characters
        try:
            for piece in self._pieces(part):
                parser.Parse(piece)
                yield from events
                events.clear()
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            message = f"{part} in it is no valid XML: {error}; get a full copy"
            raise UnreadableFileError(message) from None
        yield from events

    def _pieces(self, part: str) -> Iterator[bytes]:
        if part not in self._zip.NameToInfo:
            message = f"not {self.kind}: it has no {part}; get a full copy"
            raise UnreadableFileError(message)
        try:
            with self._zip.open(part) as stream:
                while piece := stream.read(_PIECE):
                    self._n_bytes += len(piece)
                    if self._n_bytes > MOST_XML_BYTES:
                        message = (
                            f"it has more than {MOST_XML_BYTES >> 20:,} MB of XML, as files made "
                            "to fill the memory have; leave it out"
                        )
                        raise UnreadableFileError(message)
                    yield piece
        except _DAMAGE as error:
            message = f"{part} in it cannot be read: {error}; get a full copy"
            raise UnreadableFileError(message) from None


def _part(folder: str, address: str) -> str:
    """Return the part at an address relative to a folder."""
    return posixpath.normpath(posixpath.join("/", folder, address)).lstrip("/")


# Characters that XML cannot hold stand for ends of lines and cells, which count between texts only,
# for the start of a paragraph, and for white space that is not collapsed.
_LINE, _CELL, _START = "\x1e", "\x1f", "\x01"
_ENDS = re.compile(f"[{_LINE}{_CELL}]+")
_KEPT_SPACES = str.maketrans("\x02\x03\x04", " \t\n")


def _laid_out(parts: list[str]) -> str:
    """Return texts joined by one line feed or tab."""
    text = "".join(parts).strip(_LINE + _CELL)
    return _ENDS.sub(lambda ends: "\t" if ends[0][-1] == _CELL else "\n", text)


# Word documents: the body and the notes as the office program shows them, with tracked insertions
# and text boxes, without tracked deletions, headers, footers, comments, field codes and hidden
# text. ``mc:Fallback`` repeats earlier content for older programs.

_WORD_SKIPPED = frozenset({"del", "moveFrom", "Fallback"})
_WORD_CHARACTERS = {
    "tab": "\t",
    "ptab": "\t",
    "br": "\n",
    "cr": "\n",
    "noBreakHyphen": "\N{NON-BREAKING HYPHEN}",
}
_WORD_ENDS = {"p": _LINE, "tr": _LINE, "tc": _CELL}


def docx_text(data: bytes, _: InputOptions) -> str:
    """Return the visible text of a Word document, notes last."""
    package = _Package(data, "a Word document")
    main = next(iter(package.related("", "officeDocument")), None)
    if main is None:
        message = f"not {package.kind}: it does not say what its text is; get a full copy"
        raise UnreadableFileError(message)
    parts: list[str] = []
    for part in (main, *package.related(main, "footnotes"), *package.related(main, "endnotes")):
        parts += [*_word_part(package.events(part, _WORD_SKIPPED)), _LINE]
    return _laid_out(parts)


def _word_part(events: Iterator[_Event]) -> Iterator[str]:
    """Yield the texts and ends of a part."""
    is_text = is_hidden = False
    # In properties of a paragraph, tabs are stops and not characters.
    n_properties = 0
    for name, attributes, text in events:
        is_start = attributes is not None
        if not name:
            if is_text and not is_hidden:
                yield text
        elif name == "t":
            is_text = is_start
        elif name == "r":
            is_hidden = False
        elif name == "pPr":
            n_properties += 1 if is_start else -1
        elif attributes is None:
            yield _WORD_ENDS.get(name, "")
        elif name == "vanish":
            # At a paragraph's end it does not concern the runs, which follow it.
            is_hidden = _value(attributes, "val") not in ("0", "false", "off")
        elif name in _WORD_CHARACTERS and not n_properties and not is_hidden:
            yield _WORD_CHARACTERS[name]
        elif name == "txbxContent":
            yield _LINE


def _value(attributes: Mapping[str, str], name: str) -> str | None:
    return next((value for key, value in attributes.items() if _local(key) == name), None)


# OpenDocument texts: paragraphs, headings, lists, tables, text boxes and notes, with white space as
# the format defines it; no headers, footers, comments, deleted text and sources of indexes.

_INDEXES = ("table-of-content", "illustration-index", "table-index", "object-index", "user-index")
_ODT_SKIPPED = frozenset(
    {
        *("tracked-changes", "note-citation", "annotation", "forms", "svg:title", "svg:desc"),
        *("alphabetical-index-source", "bibliography-source"),
        *(f"{index}-source" for index in _INDEXES),
    }
)
_ODT_CHARACTERS = {"tab": "\x03", "line-break": "\x04", "text-box": _LINE}
_ODT_ENDS = {"table-row": _LINE, "table-cell": _CELL, "covered-table-cell": _CELL}
_MOST_SPACES = 100
# Any number of these is one space, and none at the start of a paragraph.
_BLANK = re.compile(r"[ \t\r\n]+")


def odt_text(data: bytes, _: InputOptions) -> str:
    """Return the visible text of an OpenDocument text, notes last."""
    package = _Package(data, "an OpenDocument text")
    main: list[str] = []
    notes: list[str] = []
    parts, is_text_document, n_paragraphs = main, False, 0
    for name, attributes, text in package.events("content.xml", _ODT_SKIPPED):
        is_start = attributes is not None
        is_text_document |= name == "text"
        if not name:
            parts.append(text if n_paragraphs else "")
        elif name == "note-body":
            parts = notes if is_start else main
        elif name in ("p", "h"):
            n_paragraphs += 1 if is_start else -1
            parts.append(_START if is_start else _LINE)
        elif attributes is None:
            parts.append(_ODT_ENDS.get(name, ""))
        elif name == "s":
            count = _value(attributes, "c") or "1"
            parts.append("\x02" * (min(int(count), _MOST_SPACES) if count.isdecimal() else 1))
        else:
            parts.append(_ODT_CHARACTERS.get(name, ""))
    if not is_text_document:
        message = f"not {package.kind}, but another OpenDocument; save it as .odt"
        raise UnreadableFileError(message)
    text = _BLANK.sub(" ", "".join([*main, _LINE, *notes]))
    text = text.replace(f"{_START} ", "").replace(_START, "")
    return _laid_out([text.translate(_KEPT_SPACES)])


# E-books: the visible text of their pages, in reading order.

_CONTAINER = "META-INF/container.xml"
# Elements of XML that end with their start tag, but would hide the rest of a page of HTML.
_EMPTY_ELEMENT = re.compile(rb"<(script|style|title|textarea|iframe)\b[^<>]*/>")
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})


def epub_text(data: bytes, _: InputOptions) -> str:
    """Return the visible text of an e-book."""
    # The parser of pages is loaded only by runs that meet one.
    from neardup.files.html import page_text

    package = _Package(data, "an e-book")
    texts = []
    for page in _epub_pages(package):
        content = _EMPTY_ELEMENT.sub(rb"<\1></\1>", package.read(page))
        texts.append(page_text(content, InputOptions()))
    text = "\n".join(filter(None, texts))
    if not text:
        message = "no text in it; its pages may be images, whose text has to be recognised first"
        raise UnreadableFileError(message)
    return text


def _epub_pages(package: _Package) -> list[str]:
    """Return the page parts in reading order, each once."""
    elements = package.elements(_CONTAINER)
    roots = (about.get("full-path") for name, about in elements if name == "rootfile")
    root = next(filter(None, roots), None)
    if root is None:
        message = f"not {package.kind}: it does not say what its pages are; get a full copy"
        raise UnreadableFileError(message)
    addresses, order = {}, []
    for name, about in package.elements(root):
        if name == "item" and about.get("media-type") in _PAGES:
            addresses[about.get("id", "")] = unquote(about.get("href", "").partition("#")[0])
        elif name == "itemref":
            order.append(about.get("idref", ""))
    folder = posixpath.dirname(root)
    return list(dict.fromkeys(_part(folder, addresses[n]) for n in order if n in addresses))
