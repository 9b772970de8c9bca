"""What a page says to be its encoding, step by step as the HTML standard has it.

See "prescan a byte stream to determine its encoding", "get an attribute", "extracting a character
encoding from a meta element" and "get an XML encoding" there.
"""

from __future__ import annotations

from collections.abc import Callable

SPACES = b"\t\n\x0c\r "
LETTERS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
Known = Callable[[bytes], str | None]


class _RanOutError(Exception):
    """The position is beyond the last byte."""


class _Scan:
    def __init__(self, data: bytes) -> None:
        self.data = data
        self.position = 0

    @property
    def byte(self) -> int:
        if self.position >= len(self.data):
            raise _RanOutError
        return self.data[self.position]

    def is_at(self, begin: bytes) -> bool:
        return self.data[self.position :].lower().startswith(begin)

    def go_to_end(self, last: bytes, start: int) -> None:
        """Go to the last byte of the first such bytes from a place on."""
        found = self.data.find(last, start)
        if found < 0:
            raise _RanOutError
        self.position = found + len(last) - 1

    def skip(self, some: bytes) -> None:
        while self.byte in some:
            self.position += 1

    def attribute(self) -> tuple[bytes, bytes] | None:
        self.skip(SPACES + b"/")
        if self.byte == ord(">"):
            return None
        name = value = b""
        while True:
            if self.byte == ord("=") and name:
                self.position += 1
                break
            if self.byte in SPACES:
                self.skip(SPACES)
                if self.byte != ord("="):
                    return name, b""
                self.position += 1
                break
            if self.byte in b"/>":
                return name, b""
            name += bytes([self.byte]).lower()
            self.position += 1
        self.skip(SPACES)
        if self.byte in b"\"'":
            quote = self.byte
            while True:
                self.position += 1
                if self.byte == quote:
                    self.position += 1
                    return name, value
                value += bytes([self.byte]).lower()
        if self.byte == ord(">"):
            return name, b""
        while self.byte not in SPACES + b">":
            value += bytes([self.byte]).lower()
            self.position += 1
        return name, value


def _in_content(content: bytes, known: Known) -> str | None:
    at = 0
    while True:
        at = content.find(b"charset", at)
        if at < 0:
            return None
        at += len(b"charset")
        rest = content[at:].lstrip(SPACES)
        if rest.startswith(b"="):
            break
    rest = rest[1:].lstrip(SPACES)
    if not rest:
        return None
    if rest[:1] in (b'"', b"'"):
        stop = rest.find(rest[:1], 1)
        return None if stop < 0 else known(rest[1:stop])
    stop = min(place for place, byte in enumerate(rest + b";") if byte in SPACES + b";")
    return known(rest[:stop])


def _of_meta(scan: _Scan, known: Known) -> str | None:
    names: set[bytes] = set()
    has_pragma = False
    needs_pragma: bool | None = None
    charset: str | bool | None = None
    while (attribute := scan.attribute()) is not None:
        name, value = attribute
        if name in names:
            continue
        names.add(name)
        if name == b"http-equiv":
            has_pragma |= value == b"content-type"
        elif name == b"content":
            found = _in_content(value, known)
            if found is not None and charset is None:
                charset, needs_pragma = found, True
        elif name == b"charset":
            charset, needs_pragma = known(value) or False, False
    if needs_pragma is None or (needs_pragma and not has_pragma):
        return None
    return charset if isinstance(charset, str) else None


def _xml_encoding(data: bytes, known: Known) -> str | None:
    if not data.startswith(b"<?xml"):
        return None
    declaration, end, _ = data.partition(b">")
    at = declaration.find(b"encoding")
    if not end or at < 0:
        return None
    below = bytes(range(33))
    rest = declaration[at + len(b"encoding") :].lstrip(below)
    if not rest.startswith(b"="):
        return None
    rest = rest[1:].lstrip(below)
    if rest[:1] not in (b'"', b"'"):
        return None
    stop = rest.find(rest[:1], 1)
    if stop < 0 or any(byte in below for byte in rest[1:stop]):
        return None
    return known(rest[1:stop])


def said_encoding(data: bytes, known: Known) -> str | None:
    """Return the encoding that a page names, of those that are known by their labels."""
    scan = _Scan(data)
    try:
        while True:
            _ = scan.byte
            if scan.is_at(b"<!--"):
                scan.go_to_end(b"-->", scan.position + 2)
            elif scan.is_at(b"<meta") and scan.data[scan.position + 5 :][:1] in (
                *(bytes([space]) for space in SPACES),
                b"/",
            ):
                scan.position += 5
                found = _of_meta(scan, known)
                if found is not None:
                    return found
            elif scan.byte == ord("<") and scan.data[scan.position + 1 :].removeprefix(b"/")[
                :1
            ] in {bytes([letter]) for letter in LETTERS}:
                while scan.byte not in SPACES + b">":
                    scan.position += 1
                while scan.attribute() is not None:
                    pass
            elif any(scan.is_at(begin) for begin in (b"<!", b"</", b"<?")):
                scan.go_to_end(b">", scan.position)
            scan.position += 1
    except _RanOutError:
        return _xml_encoding(data, known)
