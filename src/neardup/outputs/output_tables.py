"""Tables of results in four formats, and folders of rows."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import (
    InvalidInputError,
    InvalidParameterError,
    MissingExtraError,
    ReadError,
    WriteError,
)
from neardup.files.arrowcolumns import TableBlock
from neardup.files.destinations import SUMMARY, Target, check_file, is_standard_output, write_file
from neardup.files.inputs import Inputs, resolve_inputs
from neardup.files.remote import Url
from neardup.files.rows import RowBlock, RowWriter, Source
from neardup.files.streams import Destination, InputStream, path_of, read_blocks, reading
from neardup.options.choices import OutputFormat
from neardup.options.groups import InputOptions
from neardup.runs.runner import map_ordered
from neardup.tables import Bools, Int64s, Texts
from neardup.version import __version__

# Rows of a row group, which is in memory: 50 MB where a row has two ids of 150 bytes.
ROW_GROUP_ROWS = 125_000

_TABLE_SUFFIXES = (".parquet", ".csv", ".jsonl", ".xlsx")


@dataclass(frozen=True)
class TableTarget:
    """Destination and format of a table."""

    path: Target
    """A file or its URL, a pipe or a device, or standard output."""
    format: str
    is_stream: bool
    """Whether it takes rows one after the other, as all but a file does."""

    @property
    def is_standard_output(self) -> bool:
        """Whether nothing else may be written to standard output."""
        return is_standard_output(self.path)

    def __str__(self) -> str:
        """Return the name for messages."""
        return "standard output" if self.is_standard_output else str(self.path)

    def write(self, table: pa.Table | pa.RecordBatchReader, *, overwrite: bool) -> None:
        """Write the table as a complete file, or stream rows."""
        if not self.is_stream:
            write_table(table, self.path, overwrite=overwrite)
            return
        with self._open() as stream:
            _WRITERS[self.format](table, stream)

    @contextmanager
    def _open(self) -> Iterator[BinaryIO]:
        try:
            if self.is_standard_output:
                yield sys.stdout.buffer
                sys.stdout.buffer.flush()
            else:
                # It waits until somebody reads a pipe.
                with Path(self.path).open("wb") as stream:
                    yield stream
        except BrokenPipeError:
            raise
        except OSError as error:
            message = f"cannot write to {self}: {error.strerror}; the output is incomplete"
            raise WriteError(message) from None


def plan_table(target: Target, *, overwrite: bool) -> TableTarget:
    """Plan a table's file and format, JSON lines for streams."""
    if not _is_stream(target):
        check_table_file(target, overwrite=overwrite)
        return TableTarget(target, _format_of(target), is_stream=False)
    if is_standard_output(target) and sys.stdout is None:
        message = "standard output is closed; name a file"
        raise WriteError(message)
    found = _format_of(target) or "jsonl"
    if found not in ("csv", "jsonl"):
        message = f"{target} is not a file, and takes CSV or JSON lines only; .{found} needs a file"
        raise InvalidParameterError(message)
    return TableTarget(target, found, is_stream=True)


def _is_stream(target: Target) -> bool:
    if isinstance(target, Url):
        return False
    is_special = target.exists() and not (target.is_file() or target.is_dir())
    return is_special or is_standard_output(target)


def _format_of(target: Target) -> str:
    """Return the format for a file's suffix, empty if unknown."""
    return target.suffix[1:] if target.suffix in _TABLE_SUFFIXES else ""


def check_table_file(target: Target, *, overwrite: bool) -> None:
    """Check that a table may be written to a file."""
    if _format_of(target) == "xlsx" and find_spec("xlsxwriter") is None:
        raise MissingExtraError("xlsx", "a spreadsheet")
    check_file(target, _TABLE_SUFFIXES, overwrite=overwrite)


def write_table(
    table: pa.Table | pa.RecordBatchReader, target: Target, *, overwrite: bool = False
) -> None:
    """Write a table to a file that appears when complete."""
    check_table_file(target, overwrite=overwrite)
    written_as = _format_of(target)

    def write(destination: Destination) -> None:
        if written_as == "parquet":
            batches = [table] if isinstance(table, pa.Table) else table
            write_parquet(batches, table.schema, destination)
            return
        with destination.create() as file:
            _WRITERS[written_as](table, file)

    write_file(target, write)


# Parquet. Rows come in batches of any size, and are regrouped: a file's bytes depend on its rows
# alone.


def write_parquet(
    batches: Iterable[pa.Table | pa.RecordBatch], schema: pa.Schema, destination: Destination
) -> str:
    """Write rows to a new file, and return its SHA-256."""
    # Tables as text do not load the Parquet writer.
    from neardup.files.writers import TableWriter

    digest = hashlib.sha256()
    with TableWriter(destination, _without_dictionaries(schema), digest=digest) as writer:
        for group in _row_groups(batches, schema):
            writer.write_group(group)
    return digest.hexdigest()


def _row_groups(
    batches: Iterable[pa.Table | pa.RecordBatch], schema: pa.Schema
) -> Iterator[pa.Table]:
    """Yield the rows in groups, at least one even without rows."""
    waiting = [schema.empty_table()]
    n_waiting, is_first = 0, True
    for batch in batches:
        rows = pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch
        while len(rows):
            waiting.append(rows[: ROW_GROUP_ROWS - n_waiting])
            rows = rows[len(waiting[-1]) :]
            n_waiting += len(waiting[-1])
            if n_waiting == ROW_GROUP_ROWS:
                yield _join(waiting, schema)
                waiting, n_waiting, is_first = waiting[:1], 0, False
    if n_waiting or is_first:
        yield _join(waiting, schema)


def _join(tables: list[pa.Table], schema: pa.Schema) -> pa.Table:
    """Concatenate tables, with each column in one piece."""
    return pa.concat_tables(tables).cast(_without_dictionaries(schema)).combine_chunks()


def _without_dictionaries(schema: pa.Schema) -> pa.Schema:
    """Return a schema with dictionaries as their value types."""
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    return pa.schema(fields, schema.metadata)


# CSV and JSON lines, some rows at a time.

_TEXT_ROWS = 1 << 13


def write_csv(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write a header and rows: quoted strings, nothing for null.

    A float always has a point, an exponent, or letters: ``1.0``. Readers that infer a column's type
    from its first rows then infer floats.
    """
    names = ['"' + name.replace('"', '""') + '"' for name in table.schema.names]
    _put(stream, ",".join(names) + "\n")
    for batch in _batches_of(table):
        line: list[pa.Array | str] = []
        for column in batch.columns:
            line += [*_spelled(column), ","]
        _put(stream, _joined(*line[:-1], "\n"))


def write_json_lines(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write an object a row."""
    for batch in _batches_of(table):
        values = _with_dates_as_text(batch).to_pylist()
        rows = (json.dumps(row, ensure_ascii=False) for row in values)
        _put(stream, "".join(f"{row}\n" for row in rows))


def _batches_of(table: pa.Table | pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """Yield a table's rows in batches for text output."""
    for field in table.schema:
        if "binary" in str(field.type):
            message = (
                f"column {field.name!r} holds {field.type} values, which only Parquet holds; name "
                "an output that ends in .parquet, or leave the column out"
            )
            raise InvalidInputError(message)
    for batch in table.to_batches() if isinstance(table, pa.Table) else table:
        for start in range(0, len(batch), _TEXT_ROWS):
            yield batch.slice(start, _TEXT_ROWS)


def _with_dates_as_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return dates, times and decimals as the text of CSV."""
    columns = [
        column.cast(pa.large_string())
        if pa.types.is_temporal(column.type) or pa.types.is_decimal(column.type)
        else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _put(stream: BinaryIO, text: str | pa.Array) -> None:
    """Write texts completely, also where a call may write only a part."""
    if isinstance(text, str):
        rest = memoryview(text.encode())
    else:
        texts = Texts.from_arrow(text)
        rest = texts.data[texts.offsets[0] : texts.offsets[-1]].data
    while rest:
        rest = rest[stream.write(rest) :]


def _spelled(column: pa.Array) -> list[pa.Array | str]:
    """Return a column's values as CSV text, in consecutive pieces."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    text = column.cast(pa.large_string())
    if pa.types.is_floating(column.type):
        # The pattern takes long, and in most columns no value is whole.
        if pc.any(pc.equal(pc.floor(column), column)).as_py():
            is_whole = pc.match_substring_regex(text, "^-?[0-9]+$")
            text = pc.if_else(is_whole, _joined(text, ".0"), text)
    elif pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        pieces = ['"', pc.replace_substring(text, '"', '""'), '"']
        return [pc.if_else(text.is_valid(), _joined(*pieces), "")] if text.null_count else pieces
    return [text]


def _joined(*parts: pa.Array | str) -> pa.Array:
    """Concatenate strings and string columns by row, null as empty."""
    typed = [
        pa.scalar(part, pa.large_string()) if isinstance(part, str) else part for part in parts
    ]
    nothing = pa.scalar("", pa.large_string())
    return pc.binary_join_element_wise(
        *typed, nothing, null_handling="replace", null_replacement=""
    )


# Spreadsheets, whose cells are texts and numbers and never formulas.


def write_xlsx(table: pa.Table | pa.RecordBatchReader, stream: BinaryIO) -> None:
    """Write a header and rows, noting where a text is cut."""
    from neardup.files.spreadsheet import CELL_UNITS, Spreadsheet, start_of, units_of

    def cell(value: object) -> object:
        if value is None or isinstance(value, bool | int | float):
            return value
        text = str(value)
        if units_of(text) <= CELL_UNITS:
            return text
        note = f"… [cut: {len(text):,} characters]"
        return start_of(text, CELL_UNITS - len(note)) + note

    with Spreadsheet(table.schema.names) as spreadsheet:
        for batch in _batches_of(table):
            columns = _with_dates_as_text(batch).columns
            for row in zip(*(column.to_pylist() for column in columns), strict=True):
                spreadsheet.append(list(map(cell, row)))
        spreadsheet.copy_to(stream)


_WRITERS: dict[str, Callable[[Any, BinaryIO], None]] = {
    "csv": write_csv,
    "jsonl": write_json_lines,
    "xlsx": write_xlsx,
}


_BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class TableRows:
    """The rows of a table, only partly in memory.

    ``blocks`` gives all rows in order, in blocks that read their columns when they are asked.
    ``finish`` changes or checks some columns of rows, given the place of the first row.
    """

    schema: pa.Schema
    n_rows: int
    blocks: Callable[[], Iterator[RowBlock]]
    finish: Callable[[pa.Table, int], pa.Table] | None = None

    @classmethod
    def of_table(cls, table: pa.Table, *, block_rows: int = _BLOCK_ROWS) -> TableRows:
        """Take a table in memory, without copying its data."""
        return cls.of_reader(lambda: table.to_reader(block_rows), len(table))

    @classmethod
    def of_reader(cls, read: Callable[[], pa.RecordBatchReader], n_rows: int) -> TableRows:
        """Take rows that ``read`` makes again for each call."""

        def blocks() -> Iterator[RowBlock]:
            first = 1
            for batch in read():
                yield TableBlock(pa.Table.from_batches([batch]), first)
                first += len(batch)

        return cls(read().schema, n_rows, blocks)

    def __len__(self) -> int:
        return self.n_rows

    def batches(self, *names: str) -> Iterator[pa.Table]:
        """Yield blocks of the named columns, by default all."""
        start = 0
        for block in self.blocks():
            yield self.read(block, names, start)
            start += len(block)

    def to_table(self, *names: str) -> pa.Table:
        """Return the named columns as one table, by default all."""
        empty = self.schema.empty_table().select(names or self.schema.names)
        return pa.concat_tables([empty, *self.batches(*names)]).combine_chunks()

    def take(self, places: Int64s, *names: str) -> pa.Table:
        """Return rows by their places, in any order, reading only their blocks."""
        wanted, inverse = np.unique(np.asarray(places, np.int64), return_inverse=True)
        schema = pa.schema([self.schema.field(name) for name in names or self.schema.names])
        parts, start = [schema.empty_table()], 0
        for block in self.blocks() if len(wanted) else ():
            stop = start + len(block)
            here = wanted[(wanted >= start) & (wanted < stop)]
            if len(here):
                parts.append(self.read(block, names, start).take(pa.array(here - start)))
            start = stop
            if start > wanted[-1]:
                break
        return pa.concat_tables(parts).take(pa.array(inverse))

    def read(self, block: RowBlock, names: tuple[str, ...], start: int) -> pa.Table:
        """Read the named columns of a block, by default all."""
        table = block.some_columns(names or self.schema.names)
        return table if self.finish is None else self.finish(table, start)


T = TypeVar("T")

SKIPPED = "skipped"
"""The folder of bad rows."""


def write_rows(
    source: Source,
    blocks: Iterator[tuple[T, slice]],
    read: Callable[[T, slice], RowBlock],
    sides: Mapping[str, Bools],
    folder: Destination,
    output_format: OutputFormat,
    report: Callable[[int], None],
) -> None:
    """Write one source's rows to folders in ``folder``.

    ``sides`` maps the name of a folder to a mask of the rows that it gets. Rows of ``skipped`` are
    written unchanged in any format, and get a file only if there are some. ``blocks`` yields the
    arguments of ``read`` with the range of their rows; ``report`` is called with the number of rows
    of each block. Idle threads of a map may help; the files are the same without them.
    """
    # Loads all writers, which results that are tables do not need.
    from neardup.files.writers import Conversion

    documents = ~sides[SKIPPED]
    converted = Conversion(source, output_format, documents)
    with ExitStack() as opened:
        writers: dict[str, RowWriter] = {}
        for side, rows in sides.items():
            if side != SKIPPED or rows.any():
                place = folder / side
                place.make_folder()
                conversion = Conversion(source, "same") if side == SKIPPED else converted
                writers[side] = opened.enter_context(conversion.writer(place))

        def prepare(item: tuple[T, slice]) -> tuple[list[Any], int]:
            found, rows = item
            block = read(found, rows)
            prepared = [
                writer.prepare(block.select(sides[side][rows])) for side, writer in writers.items()
            ]
            return prepared, len(block)

        for prepared, n_rows in map_ordered(prepare, blocks, 1):
            for writer, parts in zip(writers.values(), prepared, strict=True):
                writer.append(parts)
            report(n_rows)


# Description of a table of pairs in the metadata of its schema.

METADATA_KEY = b"neardup.pairs"

FORMAT_VERSION = 1

# Keys of the summary that go into the table, if the run has them.
_KEYS = (
    *("measure", "threshold", "max_distance", "top", "per_document", "method", "recall"),
    *("predicted_recall", "bands", "rows", "documents", "pairs", "scheme"),
    *("one_to_one", "similar_pairs", "blocking", "unblocked"),
)


def metadata_of(summary: Mapping[str, Any]) -> dict[bytes, bytes]:
    """Return schema metadata from the summary of a pair search."""
    found = {name: summary[name] for name in _KEYS if name in summary}
    return {METADATA_KEY: json.dumps({"format": FORMAT_VERSION, **found}).encode()}


Job = Literal["dedup", "cut", "drop"]

# Keys of the digests: one of the tables by name, one of the summary.
_OF_TABLES, _OF_SUMMARY = "tables", "digest"

_A_DOCUMENT = "a file of this kind is a document, and no table that neardup has written"

_BLOCK_BYTES = 1 << 20

# Summaries have some hundred rows; a larger file is not a summary.
_MOST_BYTES = 64 << 20


def write_summary(folder: Destination, summary: dict[str, Any], tables: Mapping[str, str]) -> None:
    """Write a folder's summary with digests of tables and itself."""
    summary[_OF_TABLES] = {name: f"sha256:{digest}" for name, digest in tables.items()}
    summary[_OF_SUMMARY] = _digest_of(summary)
    text = json.dumps(summary, indent=2, ensure_ascii=False)
    (folder / SUMMARY).write_text(text + "\n")


def read_summary(folder: str) -> tuple[Job, dict[str, Any]]:
    """Return job and values of a folder's or URL's summary.

    A digest that fits, and the same minor version, stand for the keys and types of the values.
    """
    summary = _load(folder)
    keys: dict[Job, set[str]] = {
        "cut": {"spans"},
        "drop": {"named_documents"},
        "dedup": {"documents_removed", "keep"},
    }
    job = next((job for job, needed in keys.items() if needed <= summary.keys()), None)
    if job is None:
        message = "its summary.json is of no `neardup dedup`, `cut` or `drop`; name another folder"
        raise InvalidInputError(message, path=folder)
    _check_unchanged(folder, summary)
    written_by = str(summary["versions"]["neardup"])
    if written_by.split(".")[:2] != __version__.split(".")[:2]:
        message = (
            f"neardup {written_by} has written it, this is neardup {__version__}; install that "
            "version, or write the folder again"
        )
        raise InvalidInputError(message, path=folder)
    return job, summary


def _load(folder: str) -> dict[str, Any]:
    path = f"{folder}/{SUMMARY}"
    with reading(path), InputStream(path) as stream:
        content = stream.read(_MOST_BYTES)
    try:
        summary = json.loads(content.decode())
        # Half of a surrogate pair may be escaped.
        json.dumps(summary, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        summary = None
    if not isinstance(summary, dict):
        message = (
            f"its {SUMMARY} is no JSON object; name a folder that `neardup dedup`, `cut` or `drop` "
            "has written"
        )
        raise InvalidInputError(message, path=folder)
    return summary


def resolve_tables(data: Any, *, options: InputOptions | None = None) -> Inputs:
    """Find the sources of tables, checking those of output folders by digest."""
    try:
        inputs = resolve_inputs(data, options or InputOptions())
    except MissingExtraError as error:
        if not error.reads_documents:
            raise
        raise InvalidInputError(_A_DOCUMENT, path=str(data)) from None
    for source in inputs:
        if source.extracts_text:
            raise InvalidInputError(_A_DOCUMENT, path=source.origin)
        names = source.column_names() or ()
        twice = [name for name in dict.fromkeys(names) if list(names).count(name) > 1]
        if twice:
            message = f"the table has several columns {twice[0]!r}; leave one of them"
            raise InvalidInputError(message, path=source.origin)
        if source.origin is not None and path_of(source.origin).endswith(".parquet"):
            _check_table(path_of(source.origin))
    return inputs


def _check_table(path: str) -> None:
    """Raise if a table does not match its digest."""
    folder, _, name = path.rpartition("/")
    folder = folder or os.curdir
    try:
        summary = _load(folder)
    except (ReadError, InvalidInputError):
        # Other programs have files of this name, too.
        return
    tables = summary.get(_OF_TABLES)
    if not isinstance(tables, dict) or "versions" not in summary:
        return
    _check_unchanged(folder, summary)
    if name not in tables:
        return
    digest = hashlib.sha256()
    with InputStream(path) as stream:
        for block in read_blocks(stream, _BLOCK_BYTES):
            digest.update(block)
    if tables[name] != f"sha256:{digest.hexdigest()}":
        message = (
            f"{name} is not the table that was written there: its digest is not the one in "
            f"{SUMMARY}; write the folder again, or, if you have changed the table on purpose, "
            "move it to another folder"
        )
        raise InvalidInputError(message, path=folder)


def _check_unchanged(folder: str, summary: Mapping[str, Any]) -> None:
    """Raise if a summary's values do not match its digest."""
    if summary.get(_OF_SUMMARY) != _digest_of(summary):
        message = (
            f"its {SUMMARY} is not as it was written: its digest is that of other values; write "
            "the folder again"
        )
        raise InvalidInputError(message, path=folder)


def _digest_of(summary: Mapping[str, Any]) -> str:
    """Return the digest of a summary without its own digest."""
    # Keys that are no strings become some.
    values = json.loads(json.dumps({k: v for k, v in summary.items() if k != _OF_SUMMARY}))
    spelled = json.dumps(values, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(spelled.encode()).hexdigest()}"
