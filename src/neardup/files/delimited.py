r"""CSV and TSV with a header row and text values.

Fields are separated by commas (tabs in TSV). A field in double quotes may contain separators, line
ends and doubled quotes. Rows end with ``\n``, ``\r\n`` or ``\r``. Empty lines are not rows. A row
of empty fields is counted and left out. All values are text; only the order column becomes numbers,
if all its values are numbers or empty (null).

Bytes that the encoding of the file does not allow become private characters (``_PRIVATE`` plus the
byte): Arrow, which reads only UTF-8, then continues, and an error can name the row.
"""

from __future__ import annotations

import codecs
import csv
import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from logging import getLogger
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import Misread, TableBlock, filter_rows, one_array
from neardup.files.encodings import is_utf8
from neardup.files.problems import encoding_advice, not_decodable
from neardup.files.rawrows import LOOKED_AT, MAX_ROW_BYTES, check_mark, encoding_of
from neardup.files.rows import (
    ColumnNames,
    Mask,
    ParsedRows,
    Problems,
    RowBlock,
    RowWriter,
    Source,
    columns_of_order,
    order_of,
)
from neardup.files.streams import (
    Destination,
    InputStream,
    OutputStream,
    compression_of,
    file_size,
    suffix_below,
)
from neardup.options.groups import InputOptions
from neardup.runs.progress import counted
from neardup.tables import Int64s, Texts

_log = getLogger("neardup.hints")

# Arrow parses twice as fast where a block stays in the processor's cache.
_BLOCK_BYTES = 1 << 20
# The longest header row.
_HEADER_BYTES = 1 << 22

# The first line with which spreadsheets name their separator.
_NAMED_DELIMITER = re.compile(r'"?sep=(.)"?(\r\n|\r|\n)')

_PRIVATE = 0x10FF00
_UNDECODABLE = re.compile("[\U0010ff00-\U0010ffff]")
_ENCODED_UNDECODABLE = re.compile(b"\xf4\x8f[\xbc-\xbf][\x80-\xbf]")


def _keep_byte(error: UnicodeError) -> tuple[str | bytes, int]:
    """Map undecodable bytes to private characters, or back."""
    if isinstance(error, UnicodeDecodeError):
        bad = error.object[error.start : error.end]
        return "".join(chr(_PRIVATE + byte) for byte in bad), error.end
    assert isinstance(error, UnicodeEncodeError)
    characters = error.object[error.start : error.end]
    if _UNDECODABLE.fullmatch(characters[0]) is None:
        raise error
    return bytes([ord(characters[0]) - _PRIVATE]), error.start + 1


codecs.register_error("neardup.keep_byte", _keep_byte)


def _encode(text: bytes, codec: str) -> bytes:
    """Encode UTF-8 text, restoring bytes from private characters."""
    if codec != "utf-8":
        return text.decode().encode(codec, "neardup.keep_byte")
    # Few texts have a character that begins like the private ones.
    if b"\xf4" not in text:
        return text
    return _ENCODED_UNDECODABLE.sub(lambda found: bytes([ord(found[0].decode()) - _PRIVATE]), text)


def open_source(location: str, name: str, options: InputOptions) -> DelimitedSource:
    """Return the source of a file with its separator."""
    is_tsv = options.input_format == "tsv"
    if options.input_format == "auto":
        is_tsv = suffix_below(name) == ".tsv"
    delimiter = options.delimiter or ("\t" if is_tsv else None)
    return DelimitedSource(location, name, delimiter=delimiter, encoding=options.encoding)


class _Header(NamedTuple):
    """Header bytes, columns and format of a file."""

    data: bytes
    columns: list[str]
    delimiter: str
    codec: str
    line_end: str


class DelimitedSource(Source):
    """A CSV or TSV file, rows counted after the header.

    Without a ``delimiter`` it is that of a first line such as ``sep=;``, else a comma.
    """

    def __init__(
        self,
        location: str,
        name: str,
        *,
        delimiter: str | None = None,
        encoding: str | None = None,
        block_bytes: int = _BLOCK_BYTES,
    ) -> None:
        self.location = self.origin = location
        self.name = name
        self.size = file_size(location)
        self.block_bytes = block_bytes
        self._delimiter, self.encoding = delimiter, encoding
        self._has_counted_empty = False

    def open(self) -> InputStream:
        """Open the file at its start."""
        return InputStream(self.location, compression_of(self.name))

    @cached_property
    def header(self) -> _Header:
        """The header row, preceding bytes and format of the file."""
        with self.open() as stream:
            data = stream.read(_HEADER_BYTES)
        check_mark(data[:LOOKED_AT], self.encoding, self.location)
        encoding = encoding_of(self.encoding, lambda: data)
        mark = encoding.mark if data.startswith(encoding.mark) else b""
        is_whole = len(data) < _HEADER_BYTES
        decoder = codecs.getincrementaldecoder(encoding.codec)("neardup.keep_byte")
        text = decoder.decode(data[len(mark) :], is_whole)
        named = _NAMED_DELIMITER.match(text)
        delimiter = self._delimiter or (named[1] if named else ",")
        try:
            columns, stop = _first_row(text, named.end() if named else 0, delimiter)
        except csv.Error as error:
            raise self._bad_header(str(error)) from None
        # A field that ends here may continue.
        if not is_whole and (not columns or stop >= len(text) - 1):
            raise self._bad_header(f"it is longer than {_HEADER_BYTES:,} bytes")
        header = _encode(text[:stop].encode(), encoding.codec)
        try:
            header.decode(encoding.codec)
        except UnicodeDecodeError as error:
            raise self._bad_header(not_decodable(error, encoding.codec)) from None
        ending = text[:stop][-2:]
        line_end = "\r\n" if ending == "\r\n" else "\r" if ending[-1:] == "\r" else "\n"
        return _Header(mark + header, columns, delimiter, encoding.codec, line_end)

    def _bad_header(self, reason: str) -> InvalidInputError:
        message = f"the header row cannot be read: {reason}; expected the names of the columns"
        return InvalidInputError(message, path=self.location)

    def schema(self) -> pa.Schema | None:
        """Return the header row's columns, None without a header."""
        columns = self.header.columns
        return pa.schema([(name, pa.string()) for name in columns]) if columns else None

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Read the file from its start, enlarging blocks if necessary."""
        # Arrow goes wrong in blocks of one byte.
        n_done, size, is_read = 0, max(self.block_bytes, 16), False
        while not is_read:
            try:
                for block in self._blocks_of(size, n_done):
                    n_done = int(block.numbers[-1])
                    yield block
                is_read = True
            except pa.ArrowInvalid as error:
                if "straddl" not in str(error) or size > MAX_ROW_BYTES:
                    row = n_done + 1
                    message = f"this row or one soon after it cannot be read as CSV: {error}"
                    if "straddl" in str(error):
                        message = (
                            f"a row longer than {MAX_ROW_BYTES >> 20} MB, or a quote that opens "
                            "in it is not closed"
                        )
                    raise InvalidInputError(message, path=self.location, row=row) from None
                size *= 4

    def _blocks_of(self, size: int, n_done: int) -> Iterator[_DelimitedBlock]:
        """Read blocks of ``size`` bytes, skipping rows read before.

        Misfits are rows with another number of fields than the header. Arrow leaves them out and
        calls ``note_misfit`` instead. A misfit is appended to the file: if it is missing at the
        end, it is in quotes that are not closed.
        """
        misfits: dict[int, tuple[int, str]] = {}

        def note_misfit(row: Any) -> str:
            misfits[row.number] = row.actual_columns, row.text
            return "skip"

        header = self.header
        if not header.columns:
            return
        with self.open() as stream:
            stream.read(len(header.data))
            appended = header.delimiter * len(header.columns)
            utf8 = _Utf8Stream(stream, header.codec, f"\n{appended}\n".encode())
            # Two columns may have the same name, so Arrow gets their places instead.
            places = [str(place) for place in range(len(header.columns))]
            kinds = dict.fromkeys(places, pa.string())
            reader = pacsv.open_csv(
                utf8,
                pacsv.ReadOptions(use_threads=False, block_size=size, column_names=places),
                pacsv.ParseOptions(
                    delimiter=header.delimiter,
                    newlines_in_values=True,
                    invalid_row_handler=note_misfit,
                ),
                pacsv.ConvertOptions(
                    check_utf8=False, strings_can_be_null=False, column_types=kinds
                ),
            )
            # There may be misfits after the last batch of rows.
            at_end = pa.record_batch([pa.array([], pa.string())] * len(places), names=places)
            number, n_empty = 0, 0
            for n_blocks, batch in enumerate(itertools.chain(reader, [at_end]), 1):
                numbers = _numbers_behind(number, len(batch), misfits)
                number = int(numbers[-1]) if len(numbers) else number
                if batch is at_end:
                    last = max(misfits, default=0)
                    _, text = misfits.pop(last, (0, ""))
                    if text != appended:
                        message = (
                            "a quote that opens in this row is not closed before the end of the "
                            "file; close it, or double it inside a field"
                        )
                        raise InvalidInputError(message, path=self.location, row=max(last, number))
                before = [n for n in sorted(misfits) if n < number or batch is at_end]
                own = {n: misfits.pop(n) for n in before}
                is_empty, is_new = _are_empty(batch), numbers > n_done
                n_empty += int((is_empty & is_new).sum())
                is_row = is_new & ~is_empty
                table = filter_rows(pa.table(batch.columns, names=header.columns), is_row)
                block = _DelimitedBlock(
                    self.location,
                    table,
                    numbers[is_row],
                    {n: misfit for n, misfit in own.items() if n > n_done},
                    header.delimiter,
                    header.codec if utf8.has_undecodable else None,
                )
                block.end = utf8.positions[min(n_blocks, len(utf8.positions) - 1)]
                if len(block):
                    yield block
            if n_empty and not self._has_counted_empty:
                self._has_counted_empty = True
                left_out = counted(n_empty, "row")
                _log.info("%s: %s of empty fields left out", self.location, left_out)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer that copies the header first."""
        # Read before there is an output, which nobody would close after an error.
        header = self.header
        output = OutputStream(folder / self.name, compression_of(self.name))
        return _DelimitedWriter(self.location, output, header)


def _first_row(text: str, start: int, delimiter: str) -> tuple[list[str], int]:
    """Return the fields and end of the first non-empty row."""
    stop = start

    def lines() -> Iterator[str]:
        nonlocal stop
        for line in io.StringIO(text[start:], newline=""):
            stop += len(line)
            yield line

    rows = csv.reader(lines(), delimiter=delimiter)
    return next((row for row in rows if row), []), stop


def _numbers_behind(number: int, n_rows: int, misfits: Mapping[int, Any]) -> Int64s:
    """Return the numbers of the next rows, without misfits."""
    between = [each for each in misfits if each > number]
    numbers = np.arange(number + 1, number + 1 + n_rows + len(between))
    return np.setdiff1d(numbers, between, assume_unique=True)[:n_rows]


def _are_empty(batch: pa.RecordBatch) -> Mask:
    """Return a mask of empty rows, false for single columns."""
    found: Mask = np.full(len(batch), batch.num_columns > 1)
    for column in batch.columns:
        if not found.any():
            break
        offsets = np.frombuffer(column.buffers()[1], np.int32)[column.offset :][: len(column) + 1]
        found &= np.diff(offsets) == 0
    return found


class _Utf8Stream(io.RawIOBase):
    """A file after its header as UTF-8 with ``last``. Undecodable bytes are private characters."""

    def __init__(self, stream: InputStream, codec: str, last: bytes) -> None:
        self._stream, self._last = stream, last
        self._is_utf8 = codec == "utf-8"
        self._decoder = codecs.getincrementaldecoder(codec)("neardup.keep_byte")
        self._ready = b""
        self._is_done = False
        self.has_undecodable = False
        # Positions in the file after each block, because Arrow reads many blocks ahead.
        self.positions = [stream.position]

    def readable(self) -> bool:
        """Return True, as the stream can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return at most ``size`` bytes, uncopied from a file in UTF-8."""
        while not self._ready and not self._is_done:
            data = self._stream.read(size)
            self._is_done = len(data) < size
            self._ready = self._in_utf8(data) + (self._last if self._is_done else b"")
        part, self._ready = self._ready[:size], self._ready[size:]
        self.positions.append(self._stream.position)
        return part

    def _in_utf8(self, data: bytes) -> bytes:
        # The decoder holds back an incomplete character.
        if self._is_utf8 and not self._decoder.getstate()[0] and is_utf8(data):
            return data
        text = self._decoder.decode(data, self._is_done)
        self.has_undecodable |= _UNDECODABLE.search(text) is not None
        return text.encode()


class _DelimitedBlock(TableBlock):
    """Rows of CSV or TSV.

    ``table`` and ``numbers`` are the rows with as many fields as the header; ``misfits`` are number
    of fields and text of the other rows, by number. ``codec`` is the encoding to check, or None.
    """

    def __init__(
        self,
        path: str,
        table: pa.Table,
        numbers: Int64s,
        misfits: Mapping[int, tuple[int, str]],
        delimiter: str,
        codec: str | None,
    ) -> None:
        misread: Misread = {
            number: [(None, f"expected {table.num_columns} fields as in the header, got {n}")]
            for number, (n, _) in misfits.items()
        }
        if codec is not None:
            for name, column in zip(table.column_names, table.columns, strict=True):
                found = pc.match_substring_regex(column, _UNDECODABLE.pattern)
                for index in np.flatnonzero(found.to_numpy()).tolist():
                    reason = _why_undecodable(column[index].as_py(), name, codec)
                    misread.setdefault(int(numbers[index]), [(None, reason)])
        if misfits:
            # Put rows of nulls in the places of misfits.
            every = np.sort(np.concatenate([numbers, [*misfits]]))
            rows = pa.array(np.searchsorted(numbers, every), mask=np.isin(every, [*misfits]))
            table, numbers = table.take(rows), every
        super().__init__(table, 1, path, misread)
        self.numbers, self._delimiter = numbers, delimiter
        self._misfits = {number: text for number, (_, text) in misfits.items()}

    def _read_columns(self, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Parse the named columns, treating wrong field counts as bad."""
        rows = super()._read_columns(columns, skip_bad=skip_bad)
        orders = columns_of_order(rows.order, len(columns.orders))
        rows.order = order_of(list(map(_numbers_if_all_are, orders)))
        return rows

    def _read_table(self, names: Sequence[str] | None) -> pa.Table:
        """Return columns as strings, raising InvalidInputError for bad rows."""
        numbers = self.numbers
        for index in np.flatnonzero(np.isin(numbers, [*self._misread])).tolist():
            _, reason = self._misread[int(numbers[index])][0]
            Problems(numbers, self._path, skip_bad=False).add(index, reason)
        return super()._read_table(names)

    def readable_columns(self, names: Sequence[str]) -> tuple[list[pa.Table], Mask]:
        """Return columns of the readable rows, with empty fields null."""
        tables, are_bad = super().readable_columns(names)
        null = pa.scalar(None, pa.string())
        for number, table in enumerate(tables):
            columns = [pc.if_else(pc.equal(column, ""), null, column) for column in table.columns]
            tables[number] = pa.table(columns, names=table.column_names)
        return tables, are_bad

    def lines(self, line_end: str) -> bytes:
        """Return rows as they are written, in UTF-8."""
        parts: list[Any] = []
        delimiter = pa.scalar(self._delimiter, pa.large_string())
        for column in self._columns(None).columns:
            # Together they may be too long for 32-bit offsets.
            values = one_array(column).cast(pa.large_string())
            data = _bytes_of(values)
            is_plain = not any(each.encode() in data for each in f'"\r\n{self._delimiter}')
            if is_plain and self._table.num_columns > 1:
                parts += [values, delimiter]
                continue
            special = pc.match_substring_regex(values, f'["\\r\\n{re.escape(self._delimiter)}]')
            if self._table.num_columns == 1:
                # A line without anything would be no row.
                special = pc.or_(special, pc.equal(values, ""))
            quote = pc.if_else(special, *pa.array(['"', ""], pa.large_string()))
            doubled = pc.replace_substring(values, '"', '""')
            parts += [quote, doubled, quote, delimiter]
        parts[-1] = pa.scalar(line_end, pa.large_string())
        lines = pc.binary_join_element_wise(*parts, pa.scalar("", pa.large_string()))
        numbers = self.numbers
        are_misfits = np.isin(numbers, [*self._misfits]) if self._misfits else np.False_
        if are_misfits.any():
            texts = [self._misfits[number] + line_end for number in numbers[are_misfits].tolist()]
            replaced = pa.array(texts, pa.large_string())
            lines = pc.replace_with_mask(lines, pa.array(are_misfits), replaced)
        return _bytes_of(lines)


def _bytes_of(values: pa.Array) -> bytes:
    """Return strings without anything between them."""
    texts = Texts.from_arrow(values)
    written: bytes = texts.data[texts.offsets[0] : texts.offsets[-1]].tobytes()
    return written


def _why_undecodable(text: str, name: str, codec: str) -> str:
    """Describe the first byte of a field outside its encoding."""
    good = _UNDECODABLE.split(text, 1)[0].encode(codec)
    kind = "UTF-8" if codec == "utf-8" else codec
    reason = f"not valid {kind} at byte {len(good) + 1} of column {name!r}"
    if codec == "utf-8":
        reason += encoding_advice(_encode(text.encode(), codec))
    return reason


class _DelimitedWriter(RowWriter):
    """Writer of rows in the encoding of their file."""

    def __init__(self, location: str, output: OutputStream, header: _Header) -> None:
        self._location, self._output, self._header = location, output, header
        self._line_end = _encode(header.line_end.encode(), header.codec)
        output.write(header.data)
        # A header at the end of a file may lack its line end.
        self._is_open = bool(header.data) and not header.data.endswith(self._line_end)

    def prepare(self, block: RowBlock) -> bytes:
        """Return the lines of the rows."""
        assert isinstance(block, _DelimitedBlock)
        try:
            lines = block.lines(self._header.line_end)
            return _encode(lines, self._header.codec)
        except UnicodeEncodeError as error:
            message = (
                f"{error.object[error.start]!r} cannot be written in {self._header.codec}; choose "
                "another replacement (--replacement)"
            )
            raise InvalidInputError(message, path=self._location) from None

    def append(self, prepared: bytes) -> None:
        """Append lines to the file."""
        if prepared and self._is_open:
            self._output.write(self._line_end)
            self._is_open = False
        self._output.write(prepared)

    def close(self) -> None:
        """Complete the output file."""
        self._output.close()


def _numbers_if_all_are(values: pa.Array) -> pa.Array:
    """Cast strings to numbers if possible, empty strings to null."""
    filled = pc.if_else(pc.equal(values, ""), pa.scalar(None, values.type), values)
    for kind in (pa.int64(), pa.float64()):
        try:
            return filled.cast(kind)
        except pa.ArrowInvalid:
            continue
    return filled
