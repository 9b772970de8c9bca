r"""CSV and TSV: a header row, then rows, kept byte for byte.

Fields are separated by commas (tabs in TSV) and may be quoted with double quotes, then also hold
separators, line ends and doubled quotes. Rows end with ``\n``, ``\r\n`` or ``\r``; empty lines
are no rows. All values are strings; nothing is taken for a number, a date or a missing value,
except that the order column is read as numbers where all its values are, empty ones being null.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import is_utf8, one_array, parse_arrow
from neardup.files.cuts import Cuts, Splices, fill_holes
from neardup.files.problems import (
    SAMPLED_ROWS,
    Problems,
    check_columns,
    not_decodable,
)
from neardup.files.rawrows import (
    BLOCK_BYTES,
    Cut,
    Cutter,
    Positions,
    RawBlock,
    RawRows,
    RawWriter,
)
from neardup.files.rawsource import RawSource
from neardup.files.rows import (
    ColumnNames,
    Mask,
    NamesOf,
    ParsedRows,
    Place,
    RowBlock,
    RowWriter,
    TakeMemory,
    columns_of_order,
    differing,
    order_of,
)
from neardup.files.streams import suffix_below
from neardup.tables import Bools, Texts

if TYPE_CHECKING:
    from neardup.files.streams import Destination, InputStream
    from neardup.options.groups import InputOptions


# Spans cut out of fields of CSV and TSV.


def cut_fields(
    raw: RawRows, cuts: Cuts, texts: Sequence[pa.Array], columns: Sequence[str], delimiter: str
) -> RawRows:
    """Cut spans out of fields, which stay quoted if they were and are quoted if they must be.

    Parameters
    ----------
    raw
        Rows that have as many fields as there are columns.
    cuts
        What to cut.
    texts
        For each column of the text, its strings in the changed rows.
    columns
        The names of all columns.
    delimiter
        What separates fields.
    """
    # Compiled or loaded on import.
    from neardup.kernels.file.rawrows import find_fields

    n_texts = len(cuts.columns)
    numbers = np.full(len(columns), -1, np.int64)
    numbers[[columns.index(name) for name in cuts.columns]] = np.arange(n_texts)
    starts, stops = (np.empty(len(cuts.changed) * n_texts, np.int64) for _ in range(2))
    is_quoted = np.empty(len(starts), np.bool_)
    find_fields(
        np.frombuffer(raw.data, np.uint8),
        raw.starts[cuts.changed],
        raw.ends[cuts.changed],
        ord(delimiter),
        numbers,
        starts,
        stops,
        is_quoted,
    )
    fields, written = [], []
    for column, (text, holes) in enumerate(zip(texts, cuts.holes_of_texts(texts), strict=True)):
        rows = np.unique(holes.strings)
        fields.append(rows * n_texts + column)
        changed = fill_holes(text, holes, cuts.replacement).take(pa.array(rows))
        written.append(_written(changed, is_quoted[fields[-1]], delimiter, len(columns)))
    which = np.concatenate(fields)
    order = np.argsort(starts[which])
    which = which[order]
    pieces = Texts.from_arrow(pa.concat_arrays(written))
    return raw.spliced(Splices(starts[which], stops[which], pieces, order))


def _written(texts: pa.Array, is_quoted: Bools, delimiter: str, n_columns: int) -> pa.Array:
    """Write texts as fields."""
    special = pc.match_substring_regex(texts, f'["\\r\\n{re.escape(delimiter)}]')
    quotes = pc.or_(special, pa.array(is_quoted))
    if n_columns == 1:
        # A line without anything would be no row.
        quotes = pc.or_(quotes, pc.equal(texts, ""))
    doubled = pc.replace_substring(texts, '"', '""')
    return pc.if_else(quotes, pc.binary_join_element_wise('"', doubled, '"', ""), texts)


_HEADER_BYTES = 1 << 16

# Usual separators, for a hint.
_DELIMITERS = (";", "\t", "|", ",")


def open_source(location: str, name: str, options: InputOptions) -> DelimitedSource:
    """Return the source of a file, with the separator that was chosen or that is usual."""
    is_tsv = options.input_format == "tsv"
    if options.input_format == "auto":
        is_tsv = suffix_below(name) == ".tsv"
    delimiter = options.delimiter or ("\t" if is_tsv else ",")
    source = DelimitedSource(location, name, delimiter=delimiter, encoding=options.encoding)
    # The second byte of a character is never below @, but may be that of a digit.
    if source.encoding.has_ascii_bytes and (delimiter >= "@" or delimiter.isdigit()):
        codec = source.encoding.codec
        message = (
            f"delimiter {delimiter!r} cannot be told from parts of characters in {codec}; convert "
            f"the file, for example with: iconv -f {codec} -t utf-8 FILE"
        )
        raise InvalidInputError(message, path=location)
    return source


def _other_delimiter(names: Sequence[str]) -> str | None:
    """Return what parts a header that is one column; None where nothing does, or it has several."""
    header = names[0] if len(names) == 1 else ""
    return next((other for other in _DELIMITERS if other in header), None)


# There is room for a row in so many bytes, and for so many rows at least.
_SPARSE, _LEAST_ROWS = 64, 64


class DelimitedSource(RawSource):
    """A CSV or TSV file with a header row; rows count from 1 after it.

    Parameters
    ----------
    location, name, encoding, block_bytes
        As for RawSource.
    delimiter
        What separates fields, an ASCII character.
    names_of
        Returns what columns are called that have such headers.
    """

    input_options = RawSource.input_options | {"delimiter"}
    may_misfit = frozenset({"jsonl", "parquet"})

    def __init__(
        self,
        location: str,
        name: str,
        *,
        delimiter: str = ",",
        encoding: str | None = None,
        block_bytes: int = BLOCK_BYTES,
        names_of: NamesOf = list,
    ) -> None:
        super().__init__(location, name, encoding=encoding, block_bytes=block_bytes)
        self._delimiter = delimiter
        self._header: bytes | None = None
        self._columns: list[str] = []
        self._names_of = names_of

    def _start(self, stream: InputStream) -> bytes:
        """Read the header row, with a byte-order mark and empty lines before it."""
        data = b""
        cut_rows = self.encoding.in_units(lambda data, final: self._cut(data, final=final)[0])
        while True:
            wanted = max(_HEADER_BYTES, len(data))
            fresh = stream.read(wanted)
            data += fresh
            self._check_mark(data)
            mark = len(self.encoding.mark) if data.startswith(self.encoding.mark) else 0
            cut = cut_rows(data[mark:], len(fresh) < wanted)
            if len(cut.starts):
                start, end = int(cut.starts[0]) + mark, int(cut.ends[0]) + mark
                headers = self._names(data[start:end])
                self._columns = self._names_of(headers)
                self.headers = differing(self._columns, headers)
                self._header = data[:end]
                return data[end:]
            if len(fresh) < wanted:
                # Nothing but empty lines: no header, and no row that would need one.
                self._header = data
                return b""

    def _names(self, header: bytes) -> list[str]:
        try:
            text = io.StringIO(header.decode(self.encoding.codec), newline="")
            return next(csv.reader(text, delimiter=self._delimiter))
        except UnicodeDecodeError as error:
            reason = not_decodable(error, self.encoding.codec)
        except csv.Error as error:
            reason = str(error)
        message = f"the header row cannot be read: {reason}; expected the names of the columns"
        raise InvalidInputError(
            message,
            path=self.location,
        )

    def as_table(self, names_of: NamesOf) -> DelimitedSource:
        """Return the source with the separator of its header, and the names that are meant there.

        Spreadsheets may write other separators.
        """
        headers = self.column_names() or []
        found = _other_delimiter(headers)
        if found is None and names_of(headers) == headers:
            return self
        return DelimitedSource(
            self.location,
            self.name,
            delimiter=found or self._delimiter,
            encoding=self._encoding,
            block_bytes=self.block_bytes,
            names_of=names_of,
        )

    def column_names(self) -> list[str] | None:
        """Return the names in the header row, None if there is none."""
        with self.open() as stream:
            self._start(stream)
        return self._columns or None

    def arrow_schema(self) -> pa.Schema:
        """Return that all columns are text."""
        return pa.schema([(name, pa.string()) for name in self.column_names() or []])

    def _cutter(self) -> Cutter:
        row = 1

        def cut(data: bytes | memoryview, final: bool) -> Cut:
            nonlocal row
            found, is_open = self._cut(data, final=final)
            row += len(found.starts)
            if final and is_open:
                message = "a quote that opens in this row is not closed before the end of the file"
                raise InvalidInputError(
                    message,
                    path=self.location,
                    row=row - 1,
                )
            return found

        return cut

    def _cut(self, data: bytes | memoryview, *, final: bool) -> tuple[Cut, bool]:
        """Find the complete rows, and tell whether the data end inside quotes."""
        # Compiled or loaded on import.
        from neardup.kernels.file.rawrows import cut_delimited

        array = np.frombuffer(data, np.uint8)
        parts = [np.empty((2, 0), np.int64)]
        done, is_full, is_open = 0, True, False
        room = len(array) // _SPARSE + _LEAST_ROWS
        while is_full:
            starts, ends = np.empty((2, room), np.int64)
            count, consumed, is_open = cut_delimited(
                array[done:], ord(self._delimiter), int(final), starts, ends
            )
            parts.append(np.stack([starts[:count], ends[:count]]) + done)
            done, is_full = done + consumed, count == room
            # What is to come is taken to be like what there is.
            room = count * (len(array) - done) // max(1, consumed) + _LEAST_ROWS
        starts, ends = np.concatenate(parts, axis=1)
        return Cut(starts, ends, np.arange(len(starts)), len(starts), done), bool(is_open)

    def _block(self, raw: RawRows) -> RowBlock:
        return _DelimitedBlock(self.location, raw, self._columns, self._delimiter)

    def block_at(self, place: Place, numbers: Positions, take: TakeMemory) -> RowBlock:
        """Read rows again, and before them the header."""
        if self._header is None:
            self.column_names()
        return super().block_at(place, numbers, take)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer that begins with the header row as it is."""
        if self._header is None:
            self.column_names()
        return RawWriter(self.output(folder), self._header or b"", self.encoding.codec)


class _DelimitedBlock(RawBlock):
    """Rows of CSV or TSV."""

    def __init__(self, path: str, raw: RawRows, columns: list[str], delimiter: str) -> None:
        super().__init__(path, raw)
        self._columns, self._delimiter = columns, delimiter

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Parse the named columns; a row with too few or too many fields is a bad row."""
        self._check_delimiter(columns)
        schema = pa.schema([(name, pa.string()) for name in self._columns])
        wanted = check_columns(columns, schema, path=self.path, sample=self._first_values)
        raw = self.raw.select(select)
        problems = Problems(raw.numbers, self.path, skip_bad)
        table = self._read(raw, [self._columns.index(name) for name in wanted], problems)
        good = ~problems.bad
        rows = parse_arrow(
            table,
            raw.numbers[good],
            columns,
            path=self.path,
            skip_bad=skip_bad,
            is_decoded=False,
        )
        orders = columns_of_order(rows.order, len(columns.orders))
        rows.order = order_of(list(map(_numbers_if_all_are, orders)))
        return problems.with_bad_rows(rows)

    def _check_delimiter(self, columns: ColumnNames) -> None:
        """Raise if the header is one column that another separator would part."""
        header, found = ", ".join(self._columns), _other_delimiter(self._columns)
        if found is not None and columns.texts[0] not in self._columns:
            shown = "tab" if found == "\t" else found
            message = (
                f"no column {columns.texts[0]!r}; the header has one column, {header!r}; if "
                f"{shown!r} separates columns, give delimiter {shown!r} (--delimiter {shown!r})"
            )
            raise InvalidInputError(message, path=self.path)

    def _first_values(self) -> dict[str, list[str]]:
        """Read the first rows with the standard library, which takes also those that are bad."""
        raw = self.raw.select(np.arange(len(self.raw)) < SAMPLED_ROWS)
        text = io.StringIO(bytes(raw.joined()).decode(errors="replace"), newline="")
        rows: list[list[str]] = []
        with contextlib.suppress(csv.Error):
            rows.extend(csv.reader(text, delimiter=self._delimiter))
        return {
            name: [row[place] for row in rows if place < len(row)]
            for place, name in enumerate(self._columns)
        }

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give all columns as strings."""
        return self._to_table(range(len(self._columns)), select)

    def some_columns(self, names: Sequence[str], select: Mask | None = None) -> pa.Table:
        """Read the named columns alone."""
        there = [name for name in dict.fromkeys(names) if name in self._columns]
        # Arrow takes no column for all of them.
        if not there:
            return pa.table({})
        return self._to_table([self._columns.index(name) for name in there], select)

    def readable_columns(self, names: Sequence[str]) -> tuple[list[pa.Table], Mask]:
        """Return columns of the rows that can be read, in parts; an empty field is null."""
        tables, are_bad = super().readable_columns(names)
        return [_without_empty(table) for table in tables], are_bad

    def _to_table(self, indexes: Sequence[int], select: Mask | None) -> pa.Table:
        raw = self.raw.select(select)
        problems = Problems(raw.numbers, self.path, skip_bad=False)
        table = self._read(raw, indexes, problems)
        for name, column in zip(table.column_names, table.columns, strict=True):
            one = pa.table({name: column})
            parse_arrow(
                one,
                raw.numbers,
                ColumnNames(name),
                path=self.path,
                skip_bad=False,
                is_decoded=False,
            )
        return table

    def with_cuts(self, cuts: Cuts) -> RawBlock:
        """Cut spans out of the fields of the texts, quoted as they were or as they must be."""
        if not len(cuts):
            return self
        changed = np.zeros(len(self), np.bool_)
        changed[cuts.changed] = True
        indexes = [self._columns.index(name) for name in cuts.columns]
        chosen = self.raw.select(changed)
        table = self._read(chosen, indexes, Problems(chosen.numbers, self.path, skip_bad=False))
        texts = [one_array(column) for column in table.columns]
        raw = cut_fields(self.raw, cuts, texts, self._columns, self._delimiter)
        return _DelimitedBlock(self.path, raw, self._columns, self._delimiter)

    def _read(self, raw: RawRows, indexes: Sequence[int], problems: Problems) -> pa.Table:
        """Read some columns of all rows but those with a wrong number of fields."""
        names = [self._columns[index] for index in indexes]
        if not len(raw):
            return pa.table([pa.array([], pa.string()) for _ in names], names=names)
        wrong = self._undecodable_misfits(raw)
        fit = np.ones(len(raw), np.bool_)
        fit[list(wrong)] = False
        rows = np.flatnonzero(fit)
        table, misfits = self._read_with_arrow(raw.select(fit).joined(), indexes)
        if len(table) + len(misfits) != len(rows):
            message = "quotes that do not pair up in this row or one soon after it"
            raise InvalidInputError(
                message,
                path=self.path,
                row=int(raw.numbers[0]),
            )
        wrong.update((int(rows[index]), fields) for index, fields in misfits.items())
        for index, fields in sorted(wrong.items()):
            expected = f"expected {len(self._columns)} fields as in the header"
            problems.add(index, f"{expected}, got {fields}")
        return table.rename_columns(names)

    def _undecodable_misfits(self, raw: RawRows) -> dict[int, int]:
        """Find the rows that are not UTF-8 and have a wrong number of fields, and that number.

        Arrow decodes such a row to report it, and fails. So their fields are counted with every
        byte taken for a character.
        """
        if is_utf8(raw.joined()):
            return {}
        doubtful = [index for index in range(len(raw)) if not is_utf8(raw[index])]
        data = b"".join(raw[index].decode("latin-1").encode() for index in doubtful)
        _, misfits = self._read_with_arrow(data, [])
        return {doubtful[index]: fields for index, fields in misfits.items()}

    def _read_with_arrow(
        self, data: bytes | memoryview, indexes: Sequence[int]
    ) -> tuple[pa.Table, dict[int, int]]:
        """Read some columns; return them, and the rows of a wrong number of fields with these."""

        def skip(row: Any) -> str:
            misfits[row.number - 1] = row.actual_columns
            return "skip"

        misfits: dict[int, int] = {}
        # Two columns may have the same name, so Arrow gets their places instead.
        places = [str(index) for index in range(len(self._columns))]
        if not len(data):
            return pa.table({str(index): pa.array([], pa.string()) for index in indexes}), misfits
        table = pacsv.read_csv(
            pa.BufferReader(pa.py_buffer(data)),
            pacsv.ReadOptions(use_threads=False, block_size=len(data) + 1, column_names=places),
            pacsv.ParseOptions(
                delimiter=self._delimiter, newlines_in_values=True, invalid_row_handler=skip
            ),
            pacsv.ConvertOptions(
                check_utf8=False,
                strings_can_be_null=False,
                include_columns=[str(index) for index in indexes],
                column_types={place: pa.string() for place in places},
            ),
        )
        return table, misfits


def _numbers_if_all_are(values: pa.Array) -> pa.Array:
    """Read strings as integers or floats if all are such; empty ones are then null."""
    empty = np.array(pc.equal(values, "").fill_null(True))
    filled = pc.if_else(pa.array(empty), pa.scalar(None, values.type), values)
    for kind in (pa.int64(), pa.float64()):
        try:
            return filled.cast(kind)
        except pa.ArrowInvalid:
            continue
    return values


def _without_empty(table: pa.Table) -> pa.Table:
    """Return a table of strings with null in the place of empty ones."""
    null = pa.scalar(None, pa.large_string())
    texts = [column.cast(pa.large_string()) for column in table.columns]
    columns = [pc.if_else(pc.equal(text, ""), null, text) for text in texts]
    return pa.table(columns, names=table.column_names)
