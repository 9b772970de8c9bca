"""Documents that are zip files of XML, as office programs and e-book makers write them.

XML is read as a stream of events by expat, which needs no more memory for a long document than for
another, and is stopped where elements are too deep in others, or where a document type is declared
in the file itself: entities are declared there, and with them bombs made of a few lines. Other
files are never looked at.
"""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from xml.parsers import expat

from neardup.files.extracted import MAX_TEXT_BYTES, UnreadableFileError

MOST_XML_BYTES = 1 << 28
"""XML of one document, unpacked."""

MOST_LEVELS = 1 << 20
"""Elements within each other; of each that is open expat keeps a hundred bytes and more."""

# Of a long tag expat looks through all that it has each time there is another piece of it.
_PIECE = 1 << 22
_ENCRYPTED = 1
_RELATIONSHIP = "http://schemas.openxmlformats.org/package/2006/relationships Relationship"
_COMPOUND_FILE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError),
    *(ValueError, ArithmeticError, LookupError, AssertionError),
)


class Events(ABC):
    """Takes the events of an XML file; elements are called by namespace, a space, and name."""

    @abstractmethod
    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element."""

    @abstractmethod
    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:  # noqa: B027 - not all need it
        """Take some of the characters between two elements."""


class Package:
    """A zip file of XML parts.

    Parameters
    ----------
    data
        The file.
    kind
        The kind of document, for messages, such as ``a Word document``.
    """

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
        """Return whether there is a part of this name."""
        return part in self._zip.NameToInfo

    def read(self, part: str) -> bytes:
        """Return a part that is wanted as a whole; it counts as XML."""
        return b"".join(self._pieces(part))

    def relationships(self, part: str, kind: str) -> dict[str, str]:
        """Return the parts that stand to another one, or to the package, in a relationship.

        Parameters
        ----------
        part
            The other one; empty for the package.
        kind
            The last part of the name of the relationship.

        Returns
        -------
        Names of parts by their names in the other one.
        """
        folder, name = posixpath.split(part)
        listed = posixpath.join(folder, "_rels", f"{name}.rels")
        if not self.has(listed):
            return {}
        found = _Relationships(kind)
        self.parse(listed, found)
        return {
            key: posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            for key, target in found.targets.items()
        }

    def parse(self, part: str, events: Events) -> None:
        """Read a part as XML."""
        parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        level = 0

        def start(name: str, attributes: Mapping[str, str]) -> None:
            nonlocal level
            level += 1
            if level > MOST_LEVELS:
                message = f"XML in it has elements {MOST_LEVELS:,} deep in others; leave it out"
                raise UnreadableFileError(message)
            events.start(name, attributes)

        def end(name: str) -> None:
            nonlocal level
            level -= 1
            events.end(name)

        parser.StartElementHandler, parser.EndElementHandler = start, end
        parser.CharacterDataHandler = events.text
        parser.StartDoctypeDeclHandler = self._refuse_declaration
        try:
            for piece in self._pieces(part):
                parser.Parse(piece)
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            message = f"{part} in it is no valid XML: {error}; get a full copy"
            raise UnreadableFileError(message) from None
        except _DAMAGE as error:
            raise self._damaged(part, error) from None

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
            raise self._damaged(part, error) from None

    @staticmethod
    def _damaged(part: str, error: Exception) -> UnreadableFileError:
        return UnreadableFileError(f"{part} in it is damaged: {error}; get a full copy")

    def _refuse_declaration(self, _: object, __: object, ___: object, is_inside: int) -> None:
        if not is_inside:
            return
        message = (
            "XML in it declares a document type, which may be a bomb of entities and is not read; "
            "leave the file out"
        )
        raise UnreadableFileError(message)


class _Relationships(Events):
    """The targets of all relationships of a kind, by their names."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self.targets: dict[str, str] = {}

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        kind = attributes.get("Type", "").rpartition("/")[2]
        is_inside = attributes.get("TargetMode") != "External"
        if name == _RELATIONSHIP and kind == self._kind and is_inside and "Target" in attributes:
            self.targets[attributes.get("Id", f"{len(self.targets)}.")] = attributes["Target"]

    def end(self, name: str) -> None:
        pass


class TextWriter:
    """Puts a text together: paragraphs on lines, cells of a row with tabs between them."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._break = ""
        self._n_characters = 0

    def add(self, text: str) -> None:
        """Append characters."""
        if not text:
            return
        if self._break and self._parts:
            self._parts.append(self._break)
            self._n_characters += len(self._break)
        self._break = ""
        self._parts.append(text)
        self._n_characters += len(text)
        if self._n_characters > MAX_TEXT_BYTES:
            message = f"its text is longer than {MAX_TEXT_BYTES >> 20} MB; leave it out"
            raise UnreadableFileError(message)

    def end_line(self) -> None:
        """End a paragraph or a row, if anything follows."""
        self._break = "\n"

    def end_cell(self) -> None:
        """End a cell, if anything follows."""
        self._break = "\t"

    def __str__(self) -> str:
        return "".join(self._parts)
