"""Records of WARC: which of them are pages, and the bytes and encoding of each."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import pyarrow as pa

from neardup.files.extracted import UnreadableFileError
from neardup.files.pages.visible_text import MAX_PAGE_BYTES

HEADER_BYTES = 1 << 16
"""Longest header of a record, or of an answer of a server, that is read."""

PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
"""What a record may hold to be a row."""

# Answers of servers, files as such, and texts that were made of answers.
_ROW_TYPES = frozenset({"response", "resource", "conversion"})

_END = re.compile(rb"\r?\n\r?\n")
_LINE = re.compile(rb"^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s\"';]+)", re.IGNORECASE)
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,8})[ \t]*(?:;[^\r\n]*)?\r?\n")

# Servers use one or two, each of which may make a page as long as pages may be.
_MOST_CODINGS = 4

_WINDOW = {"gzip": 31, "x-gzip": 31, "deflate": 47}


@dataclass(frozen=True)
class Payload:
    """What a record holds.

    Parameters
    ----------
    content_type
        One of ``PAGE_TYPES``, or another.
    charset
        The label of the encoding that came with it; None if there was none.
    data
        The bytes, as they were sent.
    headers
        Of the server's answer; of other records nothing.
    """

    content_type: str
    charset: str | None
    data: bytes
    headers: dict[str, str]

    @property
    def page(self) -> bytes:
        """The bytes of the page.

        Raises
        ------
        UnreadableFileError
            If they cannot be decompressed.
        """
        data = self.data
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            data = _without_chunks(data)
        codings = self.headers.get("content-encoding", "").lower().split(",")
        if len(codings) > _MOST_CODINGS:
            message = f"it was sent in more than {_MOST_CODINGS} codings; leave it out"
            raise UnreadableFileError(message)
        for coding in reversed(codings):
            data = _decompressed(data, coding.strip())
        return data


def end_of_header(data: bytes) -> int:
    """Return where a header ends that begins with the data, its empty line included; -1: later."""
    match = _END.search(data)
    return -1 if match is None else match.end()


def read_header(data: bytes) -> dict[str, str]:
    """Return the fields of a header by their names in small letters; the first of a name counts."""
    fields: dict[str, str] = {}
    for name, value in _LINE.findall(data):
        fields.setdefault(name.decode("latin-1").lower(), value.decode("utf-8", "replace"))
    return fields


def may_be_row(fields: dict[str, str]) -> bool:
    """Return whether the header of a record lets it be a page."""
    kind = fields.get("warc-type", "").lower()
    if kind not in _ROW_TYPES:
        return False
    content_type = _media_type(fields.get("content-type", ""))
    return content_type == "application/http" if kind == "response" else content_type in PAGE_TYPES


def payload_of(fields: dict[str, str], content: bytes) -> Payload:
    """Return what a record with this header holds; ``content`` may be the beginning of it."""
    if fields.get("warc-type", "").lower() != "response":
        content_type = fields.get("content-type", "")
        return Payload(_media_type(content_type), _charset(content_type), content, {})
    start = end_of_header(content[:HEADER_BYTES])
    headers = read_header(content[:start]) if start > 0 else {}
    content_type = headers.get("content-type", "")
    return Payload(
        _media_type(content_type), _charset(content_type), content[max(start, 0) :], headers
    )


def _media_type(content_type: str) -> str:
    return content_type.partition(";")[0].strip().lower()


def _charset(content_type: str) -> str | None:
    match = _CHARSET.search(content_type)
    return None if match is None else match[1]


def _without_chunks(data: bytes) -> bytes:
    """Join the chunks of an answer; data that is not in chunks was stored without them."""
    parts: list[bytes] = []
    place = 0
    while (match := _CHUNK.match(data, place)) is not None:
        size = int(match[1], 16)
        if not size:
            return b"".join(parts)
        parts.append(data[match.end() : match.end() + size])
        place = match.end() + size
        if data.startswith(b"\r\n", place):
            place += 2
    if not parts:
        return data
    if place < len(data):
        message = "the chunks in which the page was sent are damaged; fetch it again"
        raise UnreadableFileError(message)
    return b"".join(parts)


def _decompressed(data: bytes, coding: str) -> bytes:
    """Decompress what was sent so; what does not look like it was stored decompressed."""
    if coding in ("", "identity", "none") or not data:
        return data
    if coding in ("gzip", "x-gzip") and not data.startswith(b"\x1f\x8b"):
        return data
    try:
        if coding in _WINDOW:
            found = _inflated(data, _WINDOW[coding])
        elif coding in ("br", "zstd"):
            codec = "brotli" if coding == "br" else "zstd"
            with pa.CompressedInputStream(pa.BufferReader(data), codec) as stream:
                found = stream.read(MAX_PAGE_BYTES + 1)
        else:
            message = f"it was sent in the coding {coding[:20]!r}, which is not known; leave it out"
            raise UnreadableFileError(message)
    except (zlib.error, OSError, pa.ArrowException) as error:
        message = f"sent compressed with {coding}, but not valid such data: {error}; fetch it again"
        raise UnreadableFileError(message) from None
    return found


def _inflated(data: bytes, window: int) -> bytes:
    """Decompress gzip or zlib data, or bare deflate, which some servers send as such."""
    if window != _WINDOW["deflate"] or data[0] & 15 == 8:
        try:
            return zlib.decompressobj(window).decompress(data, MAX_PAGE_BYTES + 1)
        except zlib.error:
            if window != _WINDOW["deflate"]:
                raise
    return zlib.decompressobj(-15).decompress(data, MAX_PAGE_BYTES + 1)
