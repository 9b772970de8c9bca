"""E-books (.epub): the visible text of their pages, in reading order."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from urllib.parse import unquote

from neardup.files.extracted import ExtractedFileSource, UnreadableFileError
from neardup.files.office.package import Events, Package, TextWriter
from neardup.options.groups import InputOptions

_KIND = "an e-book"
_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"

_ROOT_FILE = "urn:oasis:names:tc:opendocument:xmlns:container rootfile"
_REFERENCE = "http://www.w3.org/2001/04/xmlenc# CipherReference"
_OPF = "http://www.idpf.org/2007/opf "
_PAGES = frozenset({"application/xhtml+xml", "text/html", "text/x-oeb1-document"})


def open_source(location: str, name: str, options: InputOptions) -> ExtractedFileSource:
    """Return the source of an e-book."""
    return ExtractedFileSource(
        location,
        name,
        extract=extract,
        options=options,
        kind=_KIND,
    )


def extract(data: bytes, _: InputOptions) -> str:
    """Return the text of an e-book."""
    # The parser of pages is loaded only by runs that meet one.
    from neardup.files.pages.html import page_text

    package = Package(data, _KIND)
    pages = _pages(package)
    _check_not_encrypted(package, pages)
    writer = TextWriter()
    for page in pages:
        writer.add(page_text(package.read(page), InputOptions(), is_xml=True))
        writer.end_line()
    text = str(writer)
    if not text:
        message = "no text in it; its pages may be images, whose text has to be recognised first"
        raise UnreadableFileError(message)
    return text


def _pages(package: Package) -> list[str]:
    """Return the parts that are pages, in the order of reading, each once."""
    container = _Container()
    package.parse(_CONTAINER, container)
    if container.path is None:
        message = f"not {_KIND}: it does not say what its pages are; get a full copy"
        raise UnreadableFileError(message)
    contents = _Contents()
    package.parse(container.path, contents)
    folder = posixpath.dirname(container.path)
    wanted = [contents.pages[name] for name in contents.order if name in contents.pages]
    return list(dict.fromkeys(_part(folder, address) for address in wanted))


def _part(folder: str, address: str) -> str:
    """Return the name of the part that an address leads to."""
    path = posixpath.join("/", folder, unquote(address.partition("#")[0]))
    return posixpath.normpath(path).lstrip("/")


def _check_not_encrypted(package: Package, pages: list[str]) -> None:
    """Raise if a page is encrypted; fonts often are, for other reasons."""
    if not package.has(_ENCRYPTION):
        return
    encrypted = _Encrypted()
    package.parse(_ENCRYPTION, encrypted)
    if not encrypted.parts.isdisjoint(pages):
        message = "the book is encrypted, to be read with one program only; leave it out"
        raise UnreadableFileError(message)


class _Container(Events):
    """The part that lists the others."""

    path: str | None = None

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == _ROOT_FILE and self.path is None:
            self.path = attributes.get("full-path")

    def end(self, name: str) -> None:
        pass


class _Contents(Events):
    """Pages by their names in the list of parts, and names in the order of reading."""

    def __init__(self) -> None:
        self.pages: dict[str, str] = {}
        self.order: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == f"{_OPF}item" and attributes.get("media-type") in _PAGES:
            self.pages[attributes.get("id", "")] = attributes.get("href", "")
        elif name == f"{_OPF}itemref":
            self.order.append(attributes.get("idref", ""))

    def end(self, name: str) -> None:
        pass


class _Encrypted(Events):
    """The parts that are encrypted."""

    def __init__(self) -> None:
        self.parts: set[str] = set()

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == _REFERENCE and "URI" in attributes:
            self.parts.add(_part("", attributes["URI"]))

    def end(self, name: str) -> None:
        pass
