"""Text of Word documents, OpenDocument texts and e-books.

Expat reads the XML as a stream of events, so that a long document takes no more memory than a short
one. Nesting, unpacked bytes and characters of a document have limits; a file beyond one is refused.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from urllib.parse import unquote
from xml.parsers import expat

from neardup.files.plain import MAX_TEXT_BYTES, ExtractedFileSource, UnreadableFileError
from neardup.options.groups import InputOptions

# Limits of one document: bytes of XML, and elements within each other. Expat keeps a hundred bytes
# and more of each open element.
MOST_XML_BYTES = 1 << 28
MOST_LEVELS = 1 << 20

# Expat searches a long tag from its start again with each piece.
_PIECE = 1 << 22
_ENCRYPTED = 1
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
    *(ValueError, ArithmeticError, LookupError, AssertionError),
)

_OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"
_PREFIXES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    f"{_OPEN_DOCUMENT}office:1.0": "office",
    f"{_OPEN_DOCUMENT}text:1.0": "text",
    f"{_OPEN_DOCUMENT}table:1.0": "table",
    f"{_OPEN_DOCUMENT}drawing:1.0": "draw",
    f"{_OPEN_DOCUMENT}svg-compatible:1.0": "svg",
    f"{_OPEN_DOCUMENT}manifest:1.0": "manifest",
    f"{_OPEN_DOCUMENT}container": "container",
    "http://www.w3.org/2001/04/xmlenc#": "enc",
    "http://www.idpf.org/2007/opf": "opf",
}


@lru_cache(1 << 12)
def _short(name: str) -> str:
    """Return a name with its namespace prefix, such as ``w:p``."""
    space, _, local = name.rpartition(" ")
    return f"{_PREFIXES.get(space, '?')}:{local}" if space else local


def _value(attributes: Mapping[str, str], name: str) -> str | None:
    return next((value for key, value in attributes.items() if _short(key) == name), None)


# Name of an element, whether it starts or ends, its attributes with their namespaces, and the
# characters of a text, which has no name.
_Event = tuple[str, bool, Mapping[str, str], str]
_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})


class _Package:
    """A zip file of XML parts, called ``kind`` in messages."""

    def __init__(self, data: bytes, kind: str) -> None:
        self.kind = kind
        self._n_bytes = 0
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGE as error:
            if data.startswith(_COMPOUND_FILE):
                message = (
                    f"not {kind} but an older one of Microsoft Office, or one with a password; "
                    "save it without, in the newer format"
                )
                raise UnreadableFileError(message) from None
            raise UnreadableFileError(f"not {kind}: {error}; get a full copy") from None

    def has(self, part: str) -> bool:
        return part in self._zip.NameToInfo

    def read(self, part: str) -> bytes:
        return b"".join(self._pieces(part))

    def related(self, part: str, kind: str) -> list[str]:
        """Return parts related to a part, empty meaning the package."""
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        targets: dict[str, str] = {}
        for name, about in self.elements(listed) if self.has(listed) else ():
            if (
                name == "rel:Relationship"
                and about.get("Type", "").rpartition("/")[2] == kind
                and about.get("TargetMode") != "External"
                and "Target" in about
            ):
                targets[about.get("Id", f"{len(targets)}.")] = _part(folder, about["Target"])
        return list(dict.fromkeys(targets.values()))

    def elements(self, part: str) -> Iterator[tuple[str, Mapping[str, str]]]:
        """Yield the name and attributes of each element in order."""
        return ((name, about) for name, is_start, about, _ in self.events(part) if is_start)

    def events(self, part: str, skipped: frozenset[str] = frozenset()) -> Iterator[_Event]:
        """Read the XML events of a part, without skipped elements."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        events: list[_Event] = []
        level = n_skipped = 0

        def start(name: str, attributes: Mapping[str, str]) -> None:
            nonlocal level, n_skipped
            level += 1
            if level > MOST_LEVELS:
                message = f"XML in it has elements {MOST_LEVELS:,} deep in others; leave it out"
                raise UnreadableFileError(message)
            name = _short(name)
            if n_skipped or name in skipped:
                n_skipped += 1
            else:
                events.append((name, True, attributes, ""))

        def end(name: str) -> None:
            nonlocal level, n_skipped
            level -= 1
            if n_skipped:
                n_skipped -= 1
            else:
                events.append((_short(name), False, _NO_ATTRIBUTES, ""))

        def characters(text: str) -> None:
            if not n_skipped:
                events.append(("", False, _NO_ATTRIBUTES, text))

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = characters
        parser.StartDoctypeDeclHandler = _refuse_declaration
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
        info = self._zip.NameToInfo.get(part)
        if info is None:
            message = f"not {self.kind}: it has no {part}; get a full copy"
            raise UnreadableFileError(message)
        if info.flag_bits & _ENCRYPTED:
            message = f"{part} in it is encrypted; save it without a password"
            raise UnreadableFileError(message)
        try:
            with self._zip.open(info) as stream:
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
            message = f"{part} in it is damaged: {error}; get a full copy"
            raise UnreadableFileError(message) from None


def _refuse_declaration(_: object, __: object, ___: object, is_inside: int) -> None:
    if is_inside:
        message = (
            "XML in it declares a document type, which may be a bomb of entities and is not read; "
            "leave the file out"
        )
        raise UnreadableFileError(message)


def _part(folder: str, address: str) -> str:
    """Return the part at an address relative to a folder."""
    return posixpath.normpath(posixpath.join("/", folder, address)).lstrip("/")


class _TextWriter:
    """Text builder with line feeds and tabs only between texts."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._break = ""
        self._n_characters = 0

    def add(self, text: str) -> None:
        """Append text after a pending break."""
        if not text:
            return
        if self._break and self._parts:
            text = self._break + text
        self._break = ""
        self._parts.append(text)
        self._n_characters += len(text)
        if self._n_characters > MAX_TEXT_BYTES:
            message = f"its text is longer than {MAX_TEXT_BYTES >> 20} MB; leave it out"
            raise UnreadableFileError(message)

    def end_line(self) -> None:
        self._break = "\n"

    def end_cell(self) -> None:
        self._break = "\t"

    def __str__(self) -> str:
        return "".join(self._parts)


# Word documents: the body and the notes as the office program shows them, with tracked insertions
# and text boxes, without tracked deletions, headers, footers, comments, field codes and hidden
# text. ``mc:Fallback`` repeats earlier content for older programs.

_WORD_SKIPPED = frozenset({"w:del", "w:moveFrom", "mc:Fallback"})
_WORD_CHARACTERS = {
    "w:tab": "\t",
    "w:ptab": "\t",
    "w:br": "\n",
    "w:cr": "\n",
    "w:noBreakHyphen": "\N{NON-BREAKING HYPHEN}",
}


def docx_text(data: bytes, _: InputOptions) -> str:
    """Return the visible text of a Word document, notes last."""
    package = _Package(data, "a Word document")
    main = next(iter(package.related("", "officeDocument")), None)
    if main is None:
        message = f"not {package.kind}: it does not say what its text is; get a full copy"
        raise UnreadableFileError(message)
    writer = _TextWriter()
    for part in (main, *package.related(main, "footnotes"), *package.related(main, "endnotes")):
        _write_word_part(package.events(part, _WORD_SKIPPED), writer)
        writer.end_line()
    return str(writer)


def _write_word_part(events: Iterator[_Event], writer: _TextWriter) -> None:
    is_text = is_hidden = False
    # In properties of a paragraph, tabs are stops and not characters.
    n_properties = 0
    for name, is_start, attributes, text in events:
        if not name:
            if is_text and not is_hidden:
                writer.add(text)
        elif name in ("w:t", "m:t"):
            is_text = is_start
        elif name == "w:r":
            is_hidden = False
        elif name == "w:pPr":
            n_properties += 1 if is_start else -1
        elif is_start:
            if name == "w:vanish":
                # At a paragraph's end it does not concern the runs, which follow it.
                is_hidden = _value(attributes, "w:val") not in ("0", "false", "off")
            elif name in _WORD_CHARACTERS and not n_properties and not is_hidden:
                writer.add(_WORD_CHARACTERS[name])
            elif name == "w:txbxContent":
                writer.end_line()
        elif name in ("w:p", "w:tr"):
            writer.end_line()
        elif name == "w:tc":
            writer.end_cell()


# OpenDocument texts: paragraphs, headings, lists, tables, text boxes and notes, with white space as
# the format defines it; no headers, footers, comments, deleted text and sources of indexes.

_MANIFEST = "META-INF/manifest.xml"
_INDEXES = ("table-of-content", "illustration-index", "table-index", "object-index", "user-index")
_ODT_SKIPPED = frozenset(
    {
        *("text:tracked-changes", "text:note-citation", "office:annotation", "office:forms"),
        *("svg:title", "svg:desc", "text:alphabetical-index-source", "text:bibliography-source"),
        *(f"text:{index}-source" for index in _INDEXES),
    }
)
_ODT_CHARACTERS = {"text:tab": "\t", "text:line-break": "\n"}
_MOST_SPACES = 10_000
# Any number of these is one space.
_BLANK = re.compile(r"[ \t\r\n]+")


def odt_text(data: bytes, _: InputOptions) -> str:
    """Return the visible text of an OpenDocument text, notes last."""
    package = _Package(data, "an OpenDocument text")
    if package.has(_MANIFEST):
        for name, __ in package.elements(_MANIFEST):
            if name == "manifest:encryption-data":
                message = "the document is encrypted; save it without a password"
                raise UnreadableFileError(message)
    main, notes = _TextWriter(), _TextWriter()
    writer, is_text_document, n_bodies = main, False, 0
    # White space at the start of a paragraph, and after other white space, does not count.
    is_blank = True
    outer: list[bool] = []
    for name, is_start, attributes, text in package.events("content.xml", _ODT_SKIPPED):
        if name == "office:text":
            is_text_document = True
            n_bodies += 1 if is_start else -1
        elif not n_bodies:
            continue
        elif not name:
            text = _BLANK.sub(" ", text) if outer else ""
            text = text.lstrip(" ") if is_blank else text
            if text:
                writer.add(text)
                is_blank = text.endswith(" ")
        elif name in ("text:p", "text:h"):
            if is_start:
                outer.append(is_blank)
                is_blank = True
            else:
                is_blank = outer.pop()
                writer.end_line()
        elif name == "text:note-body":
            writer = notes if is_start else main
        elif is_start:
            if name == "text:s":
                count = _value(attributes, "text:c") or "1"
                writer.add(" " * (min(int(count), _MOST_SPACES) if count.isdecimal() else 1))
                is_blank = False
            elif name in _ODT_CHARACTERS:
                writer.add(_ODT_CHARACTERS[name])
                is_blank = False
            elif name == "draw:text-box":
                writer.end_line()
        elif name in ("table:table-cell", "table:covered-table-cell"):
            writer.end_cell()
        elif name == "table:table-row":
            writer.end_line()
    if not is_text_document:
        message = f"not {package.kind}, but another OpenDocument; save it as .odt"
        raise UnreadableFileError(message)
    return "\n".join(filter(None, map(str, (main, notes))))


# E-books: the visible text of their pages, in reading order.

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
# Elements of XML that end with their start tag, but would hide the rest of a page of HTML.
_EMPTY_ELEMENT = re.compile(rb"<(script|style|title|textarea|iframe)\b[^<>]*/>")
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})


def epub_text(data: bytes, _: InputOptions) -> str:
    """Return the visible text of an e-book."""
    # The parser of pages is loaded only by runs that meet one.
    from neardup.files.html import page_text

    package = _Package(data, "an e-book")
    pages = _epub_pages(package)
    for name, about in package.elements(_ENCRYPTION) if package.has(_ENCRYPTION) else ():
        # Fonts are often encrypted, for other reasons.
        if name == "enc:CipherReference" and _epub_part("", about.get("URI", "")) in pages:
            message = "the book is encrypted, to be read with one program only; leave it out"
            raise UnreadableFileError(message)
    writer = _TextWriter()
    for page in pages:
        data = _EMPTY_ELEMENT.sub(rb"<\1></\1>", package.read(page))
        writer.add(page_text(data, InputOptions()))
        writer.end_line()
    text = str(writer)
    if not text:
        message = "no text in it; its pages may be images, whose text has to be recognised first"
        raise UnreadableFileError(message)
    return text


def _epub_pages(package: _Package) -> list[str]:
    """Return the page parts in reading order, each once."""
    roots = (
        about.get("full-path")
        for name, about in package.elements(_CONTAINER)
        if name == "container:rootfile"
    )
    root = next(filter(None, roots), None)
    if root is None:
        message = f"not {package.kind}: it does not say what its pages are; get a full copy"
        raise UnreadableFileError(message)
    addresses, order = {}, []
    for name, about in package.elements(root):
        if name == "opf:item" and about.get("media-type") in _PAGES:
            addresses[about.get("id", "")] = about.get("href", "")
        elif name == "opf:itemref":
            order.append(about.get("idref", ""))
    folder = posixpath.dirname(root)
    pages = (_epub_part(folder, addresses[name]) for name in order if name in addresses)
    return list(dict.fromkeys(pages))


def _epub_part(folder: str, address: str) -> str:
    return _part(folder, unquote(address.partition("#")[0]))


def _opener(
    extract: Callable[[bytes, InputOptions], str], kind: str
) -> Callable[[str, str, InputOptions], ExtractedFileSource]:
    def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
        return ExtractedFileSource(location, name, extract=extract, options=options, kind=kind)

    return open_source


open_docx = _opener(docx_text, "a Word document")
open_odt = _opener(odt_text, "an OpenDocument text")
open_epub = _opener(epub_text, "an e-book")
