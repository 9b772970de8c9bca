"""WARC: the pages of a crawl, one record each, kept byte for byte.

Rows are the answers of servers that are HTML or plain text, files as such, and texts that were made
of answers (WET). Rows count all records of a file, so that numbers are places in it; records of
other kinds are in no output, but for the one at the beginning that says what the file is.
"""

from __future__ import annotations

import gzip
import re
import zlib
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import parse_arrow
from neardup.files.extracted import UnreadableFileError, extract_texts, uncuttable
from neardup.files.pages.encoding import page_in_utf8
from neardup.files.pages.html import OPTIONS, page_text
from neardup.files.pages.visible_text import MAX_PAGE_BYTES, need_parser
from neardup.files.problems import Problems, check_columns
from neardup.files.rawrows import BLOCK_BYTES, BYTE_ORDER_MARK, Cut, Cutter, RawBlock, RawRows
from neardup.files.rawsource import RawSource
from neardup.files.rows import ColumnNames, Mask, ParsedRows, RowBlock, RowWriter
from neardup.files.streams import OutputStream

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.files.cuts import Cuts
    from neardup.files.kept import SourceTexts
    from neardup.files.streams import Destination, InputStream
    from neardup.options.groups import InputOptions

# Records of WARC: which of them are pages, and the bytes and encoding of each.

HEADER_BYTES = 1 << 16
"""Longest header of a record, or of an answer of a server, that is read."""

PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain"})
"""What a record may hold to be a row."""

# Answers of servers, files as such, and texts that were made of answers.
_ROW_TYPES = frozenset({"response", "resource", "conversion"})

_END = re.compile(rb"\r?\n\r?\n")
_LINE = re.compile(rb"^([!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_STATUS = re.compile(rb"HTTP/[0-9.]{1,7}[ \t]+([0-9]{3})(?![0-9])")
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
    status
        Of the server's answer, such as 200; None of other records, and where it has none.
    """

    content_type: str
    charset: str | None
    data: bytes
    headers: dict[str, str]
    status: int | None = None

    @property
    def page(self) -> bytes:
        """The bytes of the page."""
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
    status = _STATUS.match(content)
    return Payload(
        _media_type(content_type),
        _charset(content_type),
        content[max(start, 0) :],
        headers,
        None if status is None else int(status[1]),
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


_KIND = "a WARC file"
_SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("text", pa.string()),
        ("url", pa.string()),
        ("host", pa.string()),
        ("status", pa.int64()),
        ("content_type", pa.string()),
        ("language", pa.string()),
        ("date", pa.string()),
        ("record_id", pa.string()),
    ]
)
_VERSION = b"WARC/"
_AFTER = 4


def open_source(location: str, name: str, options: InputOptions) -> WarcSource:
    """Return the source of a file."""
    need_parser(main_text=options.main_text)
    return WarcSource(location, name, options)


class WarcSource(RawSource):
    """A WARC file: its pages by the ids of their records.

    Parameters
    ----------
    location, name, block_bytes
        As for RawSource.
    options
        Which text of the pages is wanted, and their encoding if one was chosen.
    """

    input_options = OPTIONS | {"input_format"}
    extracts_text = True

    def __init__(
        self, location: str, name: str, options: InputOptions, *, block_bytes: int = BLOCK_BYTES
    ) -> None:
        # Records are no text of one encoding.
        super().__init__(location, name, encoding=None, block_bytes=block_bytes)
        self._options = options

    def column_names(self) -> list[str]:
        """Return the names of the columns; ``id`` is that of the record of a page."""
        names: list[str] = _SCHEMA.names
        return names

    def cut_refusal(self) -> InvalidInputError:
        """Return an error: text is not cut out of pages."""
        return uncuttable(_KIND, self.location)

    def _start(self, stream: InputStream) -> bytes:
        return stream.read(len(BYTE_ORDER_MARK)).removeprefix(BYTE_ORDER_MARK)

    def _cutter(self) -> Cutter:
        return _RecordCutter(self.location).cut

    def _block(self, raw: RawRows) -> RowBlock:
        return _WarcBlock(self.location, raw, self._options, self.kept_texts)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer that begins with the record that says what the file is, if there is one.

        Where the file is compressed with gzip each record is so by itself, so that any can be read
        without the others.
        """
        is_packed = self.name.lower().endswith(".gz")
        output = OutputStream(folder / self.name) if is_packed else self.output(folder)
        return _WarcWriter(output, self._first_record(), is_packed=is_packed)

    def _first_record(self) -> bytes:
        with self.open() as stream:
            head = stream.read(HEADER_BYTES)
            end = end_of_header(head)
            fields = read_header(head[:end]) if end > 0 else {}
            if fields.get("warc-type", "").lower() != "warcinfo":
                return b""
            size = end + _length(fields) + _AFTER
            return (head + stream.read(max(0, min(size, MAX_PAGE_BYTES) - len(head))))[:size]


class _WarcWriter(RowWriter):
    """Writes records one after the other, byte for byte, or each compressed by itself."""

    def __init__(self, output: OutputStream, header: bytes, *, is_packed: bool) -> None:
        self._output, self._is_packed = output, is_packed
        self._is_empty = True
        self.append([self._packed(header)] if header else [])

    def prepare(self, block: RowBlock, select: Mask) -> list[bytes]:
        """Return the selected records."""
        assert isinstance(block, _WarcBlock)
        raw = block.raw.select(select)
        return [self._packed(raw[index]) for index in range(len(raw))]

    def append(self, prepared: list[bytes]) -> None:
        """Append records."""
        if prepared:
            self._output.write(*prepared)
            self._is_empty = False

    def close(self) -> None:
        """Complete the file; a compressed one without records has an empty piece."""
        if self._is_empty:
            self._output.write(self._packed(b""))
        self._output.close()

    def _packed(self, record: bytes) -> bytes:
        return gzip.compress(record, 6, mtime=0) if self._is_packed else record


def _length(fields: dict[str, str]) -> int:
    """Return the bytes that follow the header of a record; -1 if it does not say."""
    value = fields.get("content-length", "")
    return int(value) if value.isascii() and value.isdigit() and len(value) < 16 else -1


class _RecordCutter:
    """Cuts a file into its records, for one pass; those that are no rows are never held whole."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._n_records = 0
        self._n_skipped = 0

    def cut(self, data: bytes | memoryview, final: bool) -> Cut:
        """Find the complete records."""
        starts, ends, numbers = [], [], []
        first = self._n_records
        place = min(self._n_skipped, len(data))
        self._n_skipped -= place
        while place < len(data):
            head = bytes(data[place : place + HEADER_BYTES])
            is_all = final or len(head) == HEADER_BYTES
            blank = len(head) - len(head.lstrip(b"\r\n"))
            if blank:
                place += blank
                continue
            header = end_of_header(head)
            if header < 0 and not is_all and head[: len(_VERSION)] == _VERSION[: len(head)]:
                break
            fields, length = self._checked(head, header)
            end = place + header + length
            is_row = may_be_row(fields)
            if is_row:
                content = bytes(data[place + header : min(end, place + header + HEADER_BYTES)])
                if len(content) < min(length, HEADER_BYTES) and not final:
                    break
                is_row = payload_of(fields, content).content_type in PAGE_TYPES
            if is_row:
                if end + _AFTER > len(data) and not final:
                    break
                starts.append(place)
                ends.append(min(end + _AFTER, len(data)))
                numbers.append(self._n_records - first)
            self._n_records += 1
            self._n_skipped = max(0, end - len(data))
            place = min(end + _AFTER if is_row else end, len(data))
        rows = np.array([starts, ends, numbers], np.int64)
        return Cut(rows[0], rows[1], rows[2], self._n_records - first, place)

    def _checked(self, head: bytes, header: int) -> tuple[dict[str, str], int]:
        """Return the fields of a record's header, and the length of its content."""
        row = self._n_records + 1
        if not head.startswith(_VERSION):
            message = "expected a WARC record, which begins with WARC/; is this file damaged?"
            raise InvalidInputError(message, path=self._path, row=row)
        if header < 0:
            message = "the header of this WARC record has no end; is this file complete?"
            raise InvalidInputError(message, path=self._path, row=row)
        fields = read_header(head[:header])
        length = _length(fields)
        if length < 0:
            message = "this WARC record does not say its length in Content-Length"
            raise InvalidInputError(message, path=self._path, row=row)
        return fields, length


class _WarcBlock(RawBlock):
    """Records that are pages."""

    def __init__(
        self, path: str, raw: RawRows, options: InputOptions, kept: SourceTexts | None
    ) -> None:
        super().__init__(path, raw)
        self._options, self._kept = options, kept

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Give the named columns."""
        check_columns(columns, _SCHEMA, path=self.path, sample=dict)
        raw = self.raw.select(select)
        problems = Problems(raw.numbers, self.path, skip_bad)
        records = self._records(select)
        texts = extract_texts(
            records,
            lambda record: record.text(self._options),
            problems,
            kept=self._kept,
            block=tuple(self.numbers[:1].tolist()),
        )
        good = ~problems.bad
        others = [record for record, is_good in zip(records, good, strict=True) if is_good]
        rows = parse_arrow(
            _table(others, columns.names, texts),
            raw.numbers[good],
            columns,
            path=self.path,
            skip_bad=skip_bad,
        )
        return problems.with_bad_rows(rows)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give the text of the records, and what their headers say."""
        return self.some_columns(_SCHEMA.names, select)

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Give some columns; texts are taken out of the pages only if they are among them."""
        there = [name for name in dict.fromkeys(names) if name in _SCHEMA.names]
        texts = self.parse(ColumnNames(), select=select).text if "text" in there else None
        return _table(self._records(select), there, texts)

    def _records(self, select: Mask | None) -> list[_Record]:
        raw = self.raw.select(select)
        return [_Record(raw[index]) for index in range(len(raw))]

    def with_cuts(self, cuts: Cuts) -> RawBlock:
        """Return the block itself if nothing is to be cut, else raise."""
        if len(cuts):
            raise uncuttable(_KIND, self.path)
        return self


class _Record:
    """A record with its header."""

    def __init__(self, data: bytes) -> None:
        start = end_of_header(data[:HEADER_BYTES])
        self.fields = read_header(data[:start])
        self._length = _length(self.fields)
        self._content = data[start : start + self._length]

    @cached_property
    def payload(self) -> Payload:
        """What it holds."""
        return payload_of(self.fields, self._content)

    def value(self, name: str) -> str | int | None:
        """Return what its headers say in a column."""
        match name:
            case "id":
                # A page that was fetched twice has one address and two records.
                return self.record_id or self.address
            case "url":
                return self.address
            case "host":
                return _host(self.address)
            case "status":
                return self.payload.status
            case "content_type":
                return self.payload.content_type or None
            case "language":
                found = self.fields.get("warc-identified-content-language")
                return self.payload.headers.get("content-language") or found or None
            case "date":
                return self.fields.get("warc-date")
        return self.record_id

    @property
    def record_id(self) -> str | None:
        """What the writer calls the record, which is its own."""
        return self.fields.get("warc-record-id", "").strip("<>") or None

    @property
    def address(self) -> str | None:
        """Where the page was; writers of the first version put it in angle brackets."""
        return self.fields.get("warc-target-uri", "").strip("<>") or None

    def text(self, options: InputOptions) -> str:
        """Return the text of the page."""
        if len(self._content) < self._length:
            message = (
                f"the file ends within this record: it has {len(self._content):,} of "
                f"{self._length:,} bytes; get a full copy"
            )
            raise UnreadableFileError(message)
        payload = self.payload
        page = payload.page
        if payload.content_type == "text/plain":
            return page_in_utf8(
                page, chosen=options.encoding, header=payload.charset, is_html=False
            ).decode()
        is_xml = payload.content_type == "application/xhtml+xml"
        return page_text(page, options, header=payload.charset, is_xml=is_xml)


def _table(records: list[_Record], names: Sequence[str], texts: pa.Array | None) -> pa.Table:
    """Return some columns of records, whose texts are given if they are among them."""
    columns = {
        name: texts
        if name == "text"
        else pa.array([record.value(name) for record in records], _SCHEMA.field(name).type)
        for name in names
    }
    return pa.table(columns)


def _host(address: str | None) -> str | None:
    """Return the host of an address in small letters, without port; None where there is none."""
    try:
        return urlsplit(address or "").hostname or None
    except ValueError:
        return None
