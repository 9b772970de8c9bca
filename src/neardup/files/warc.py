"""WARC files, with a page per record, read by FastWARC.

Rows are the answers of servers that are HTML or plain text, files as such, and texts that were made
of answers (WET). Rows count all records of a file, so that numbers are places in it; records of
other kinds are in no output, but for the one at the beginning that describes the file.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from io import BytesIO
from itertools import chain, count
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError, NeardupError
from neardup.files.arrowcolumns import parse_arrow
from neardup.files.html import MAX_PAGE_BYTES, decode_page, page_text
from neardup.files.plain import ExtractedTexts, UnreadableFileError, extract_texts
from neardup.files.problems import check_columns
from neardup.files.rawrows import BLOCK_BYTES, Cutter, RawBlock, RawRows, RawSource
from neardup.files.rows import ColumnNames, ParsedRows, Problems, RowBlock, RowWriter
from neardup.files.streams import Destination, InputStream, OutputStream
from neardup.options.groups import InputOptions

if TYPE_CHECKING:
    from fastwarc.warc import WarcRecord

_KIND = "a WARC file"

# The longest header of a record, or of a server's answer, that is read.
_HEADER_BYTES = 1 << 16

# Answers of servers, files as such, and texts that were made of answers; and their contents.
_ROW_TYPES = frozenset({"response", "resource", "conversion"})
_PAGE_TYPES = frozenset({"text/html", "application/xhtml+xml", "text/plain"})

_END_OF_HEADER = _END_OF_RECORD = b"\r\n\r\n"
_END = re.compile(rb"\r?\n\r?\n")
_TYPE_OF_ANSWER = re.compile(rb"^content-type[ \t]*:[ \t]*([^\s;]+)", re.IGNORECASE | re.MULTILINE)
_STATUS = re.compile(r"HTTP/\S+\s+(\d{3})(?!\d)")
_CHARSET = re.compile(r";\s*charset\s*=\s*[\"']?([^\s\"';]+)", re.IGNORECASE)

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


def open_source(location: str, name: str, options: InputOptions) -> WarcSource:
    """Return the source of a file."""
    return WarcSource(location, name, options)


class WarcSource(RawSource):
    """A WARC file of pages, with record ids as ids."""

    extracts_text, uncuttable = True, _KIND

    def __init__(
        self, location: str, name: str, options: InputOptions, *, block_bytes: int = BLOCK_BYTES
    ) -> None:
        # Records are no text of one encoding.
        super().__init__(location, name, encoding=None, block_bytes=block_bytes)
        self._options = options

    def schema(self) -> pa.Schema:
        """Return the schema, with the record's id as ``id``."""
        return _SCHEMA

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Read the records of pages from the file's start."""
        with self.open() as stream:
            rows: list[bytes] = []
            numbers: list[int] = []
            size = 0
            for number, record in chain(self._records(stream), [(0, None)]):
                row = None if record is None else _page_record(record)
                if row is not None:
                    self._check_length(len(row), number)
                    rows.append(row)
                    numbers.append(number)
                    size += len(row)
                if rows and (record is None or size >= self.block_bytes):
                    block = self._block(RawRows.joining(rows, np.array(numbers, np.int64)))
                    block.end = stream.position
                    yield block
                    rows, numbers, size = [], [], 0

    def _records(self, stream: InputStream) -> Iterator[tuple[int, WarcRecord]]:
        """Yield all records with their numbers, counted from 1."""
        from fastwarc.warc import ArchiveIterator

        reader: Any = _Forward(stream)
        records = ArchiveIterator(reader, parse_http=False, max_header_len=_HEADER_BYTES)
        for number in count(1):
            try:
                record = next(records, None)
            except NeardupError:
                # The stream itself cannot be read.
                raise
            except OSError as error:
                message = f"not a valid WARC record ({error}); get a full copy of the file"
                raise InvalidInputError(message, path=self.location, row=number) from None
            if record is None:
                return
            length = record.headers.get("Content-Length") or ""
            if not (length.isascii() and length.isdigit()):
                message = (
                    "this WARC record has no length in Content-Length; get a full copy of the file"
                )
                raise InvalidInputError(message, path=self.location, row=number)
            yield number, record

    def _cutter(self) -> Cutter:
        raise NotImplementedError

    def _block(self, raw: RawRows) -> RowBlock:
        return _WarcBlock(self.location, raw, self._options, self.kept_texts)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer, beginning with the description record, if any.

        If the file is gzip, each record is compressed separately, so that any can be read alone.
        """
        # Read before there is an output, which nobody would close after an error.
        with self.open() as stream:
            _, first = next(self._records(stream), (0, None))
            header = [] if first is None or _kind(first) != "warcinfo" else [_written(first)]
        is_packed = self.name.lower().endswith(".gz")
        output = OutputStream(folder / self.name) if is_packed else self.output(folder)
        return _WarcWriter(output, header, is_packed=is_packed)


class _Forward:
    """A forward-only stream for FastWARC, which asks for its position."""

    def __init__(self, stream: InputStream) -> None:
        self._stream, self._position = stream, 0

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._position += len(data)
        return data

    def tell(self) -> int:
        return self._position


def _page_record(record: WarcRecord) -> bytes | None:
    """Return a page record's bytes, None for unread other records."""
    kind = _kind(record)
    if kind not in _ROW_TYPES:
        return None
    content_type = _media_type(record.headers.get("Content-Type"))
    head = b""
    if kind == "response":
        if content_type != "application/http":
            return None
        head = record.reader.read(min(_HEADER_BYTES, record.content_length))
        found = _TYPE_OF_ANSWER.search(_END.split(head, 1)[0])
        content_type = found[1].decode("latin-1").lower() if found is not None else ""
    return _written(record, head) if content_type in _PAGE_TYPES else None


def _kind(record: WarcRecord) -> str:
    return (record.headers.get("WARC-Type") or "").lower()


def _written(record: WarcRecord, head: bytes = b"") -> bytes:
    """Return a record's bytes, including its already read head."""
    out = BytesIO()
    record.headers.write(out)
    out.write(head)
    while data := record.reader.read(BLOCK_BYTES):
        out.write(data)
    out.write(_END_OF_RECORD)
    return out.getvalue()


def _media_type(content_type: str | None) -> str:
    return (content_type or "").partition(";")[0].strip().lower()


class _WarcWriter(RowWriter):
    """Writer of records, in one stream or each compressed separately."""

    def __init__(self, output: OutputStream, header: list[bytes], *, is_packed: bool) -> None:
        self._output, self._is_packed = output, is_packed
        self._is_empty = True
        self.append(self._packed(header))

    def prepare(self, block: RowBlock) -> list[bytes]:
        """Return the records."""
        assert isinstance(block, _WarcBlock)
        return self._packed([block.raw[index] for index in range(len(block))])

    def append(self, prepared: list[bytes]) -> None:
        """Append records to the file."""
        if prepared:
            self._output.write(*prepared)
            self._is_empty = False

    def close(self) -> None:
        """Complete the file, even an empty gzip file."""
        if self._is_empty:
            self._output.write(*self._packed([b""]))
        self._output.close()

    def _packed(self, records: list[bytes]) -> list[bytes]:
        if not self._is_packed:
            return records
        return [gzip.compress(record, 6, mtime=0) for record in records]


class _WarcBlock(RawBlock):
    """Records that are pages."""

    def __init__(
        self, path: str, raw: RawRows, options: InputOptions, kept: ExtractedTexts | None
    ) -> None:
        super().__init__(path, raw)
        self._options, self._kept = options, kept
        # The same for any choice of its rows.
        self._key = path, *raw.numbers[:1].tolist()

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        check_columns(columns, _SCHEMA, path=self.path)
        problems = Problems(raw.numbers, self.path, skip_bad)
        pages = [_Page(raw[index]) for index in range(len(raw))]
        texts = extract_texts(
            pages, lambda page: page.text(self._options), problems, kept=self._kept, block=self._key
        )
        good = ~problems.bad
        values = [page.values for page, is_good in zip(pages, good, strict=True) if is_good]
        table = _columns_of(values, columns.names, texts)
        rows = parse_arrow(table, raw.numbers[good], columns, path=self.path, skip_bad=skip_bad)
        return problems.insert_bad_rows(rows)

    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        """Return some columns, extracting texts only if requested."""
        wanted = [name for name in dict.fromkeys(names or _SCHEMA.names) if name in _SCHEMA.names]
        texts = self._parse(raw, ColumnNames(), skip_bad=False).text if "text" in wanted else None
        values = [_Page(raw[index]).values for index in range(len(raw))]
        return _columns_of(values, wanted, texts)


def _columns_of(
    values: list[dict[str, Any]], names: Sequence[str], texts: pa.Array | None
) -> pa.Table:
    """Return some columns of pages, with given texts if requested."""
    table = pa.Table.from_pylist(values, pa.schema([_SCHEMA.field(name) for name in names]))
    if texts is None or "text" not in names:
        return table
    return table.set_column(names.index("text"), "text", texts)


class _Page:
    """A page's record, with its columns except the text."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._fault: OSError | None = None
        try:
            self._record = _parsed(data, "all")
        except OSError as error:
            self._record, self._fault = _parsed(data, "none"), error
        headers, answer = self._record.headers, self._record.http_headers
        content_type = (headers if answer is None else answer).get("Content-Type") or ""
        charset = _CHARSET.search(content_type)
        self._charset = None if charset is None else charset[1]
        language = headers.get("WARC-Identified-Content-Language")
        status = None
        if answer is not None:
            language = answer.get("Content-Language") or language
            status = _STATUS.match(answer.status_line or "")
        # Writers of the first version put addresses in angle brackets.
        address = (headers.get("WARC-Target-URI") or "").strip("<>") or None
        record_id = (headers.get("WARC-Record-ID") or "").strip("<>") or None
        host = None
        with suppress(ValueError):
            host = urlsplit(address or "").hostname or None
        self.values = {
            # A page that was fetched twice has one address and two records.
            "id": record_id or address,
            "url": address,
            "host": host,
            "status": None if status is None else int(status[1]),
            "content_type": _media_type(content_type) or None,
            "language": language or None,
            "date": headers.get("WARC-Date"),
            "record_id": record_id,
        }

    def text(self, options: InputOptions) -> str:
        """Return the text of the page."""
        _, _, content = self._data.partition(_END_OF_HEADER)
        if len(content) - len(_END_OF_RECORD) != int(self._record.headers["Content-Length"] or 0):
            message = "the file ends within this record; get a full copy"
            raise UnreadableFileError(message)
        try:
            if self._fault is not None:
                raise self._fault
            page = self._record.reader.read(MAX_PAGE_BYTES + 1)
        except OSError as error:
            # Some crawlers store a page decoded, below the header with which it was sent.
            page = _parsed(self._data, "none").reader.read(MAX_PAGE_BYTES + 1)
            if not page.lstrip().startswith(b"<"):
                message = f"the page cannot be decoded ({error}); leave it out"
                raise UnreadableFileError(message) from None
        if self.values["content_type"] == "text/plain":
            return decode_page(page, options.encoding, header=self._charset, is_html=False)
        return page_text(page, options, self._charset)


def _parsed(data: bytes, decode: Literal["none", "all"]) -> WarcRecord:
    """Return a record with headers, removing ``decode`` content codings."""
    from fastwarc.warc import ArchiveIterator

    record = next(ArchiveIterator(BytesIO(data), parse_http=False))
    if _kind(record) == "response":
        record.parse_http(auto_decode=decode, quirks_mode=True, max_header_len=_HEADER_BYTES)
    return record
