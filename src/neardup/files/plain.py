"""Text files and extracted texts.

Plain text may also be one document a line. Offsets in results point into the text; a row is written
back byte for byte, the whole file if its text is extracted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import parse_arrow
from neardup.files.cuts import Cuts, fill_holes
from neardup.files.encodings import HEAD_BYTES, foreign_kind, is_utf8, language_of_file
from neardup.files.rawrows import (
    BLOCK_BYTES,
    BYTE_ORDER_MARK,
    Cut,
    Cutter,
    RawBlock,
    RawRows,
    RawSource,
    check_mark,
    cut_lines,
    cut_nothing,
    line_ends,
)
from neardup.files.rows import ColumnNames, ParsedRows, Problems, RowBlock
from neardup.files.streams import InputStream, suffix_below
from neardup.options.groups import InputOptions
from neardup.runs.work import IN_MEMORY, Workspace
from neardup.tables import Int64s

# The only column.
_TEXT = "text"

MAX_TEXT_BYTES = 1 << 30
"""A longer text out of one file, or out of the rows of a block, is refused: it may be a bomb."""

MAX_FILE_BYTES = 1 << 28
"""A longer file whose text is to be extracted is a bad row."""

_LINE_END = re.compile(r"\r\n|\r|\n")


def open_source(location: str, name: str, options: InputOptions) -> TextFileSource:
    """Return the source of a file's one or many documents."""
    is_text_by_name = suffix_below(name) == ".txt"
    source = TextLinesSource if options.document == "line" else TextFileSource
    return source(location, name, is_text_by_name=is_text_by_name, encoding=options.encoding)


class _OneColumnSource(RawSource):
    """A file with one column, which counts under any name."""

    def schema(self) -> pa.Schema:
        """Return the only column."""
        return pa.schema([(_TEXT, pa.string())])

    def _start(self, stream: InputStream) -> bytes:
        # A mark at the start of a file that is one row belongs to the row.
        return b"" if self.is_one_row else super()._start(stream)

    def _cutter(self) -> Cutter:
        return cut_nothing if self.is_one_row else cut_lines


class _OneColumnBlock(RawBlock):
    """Rows of a file with one column."""

    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        if names is not None and _TEXT not in names:
            return pa.table({})
        return pa.table({_TEXT: self._parse(raw, ColumnNames(), skip_bad=False).text})

    def _parse_texts(
        self,
        texts: pa.Array,
        numbers: Int64s,
        columns: ColumnNames,
        *,
        skip_bad: bool,
        is_decoded: bool,
    ) -> ParsedRows:
        table = pa.table({_TEXT: texts})
        own = replace(columns, text=_TEXT)
        return parse_arrow(
            table, numbers, own, path=self.path, skip_bad=skip_bad, is_decoded=is_decoded
        )


class TextFileSource(_OneColumnSource):
    """A text file as one document, row 1, perhaps empty.

    A byte-order mark is not part of the text but is written again. A binary file is a bad row.
    Unless ``is_text_by_name``, the first bytes decide whether this is a text.
    """

    is_one_row = True

    def __init__(
        self,
        location: str,
        name: str,
        *,
        is_text_by_name: bool = True,
        encoding: str | None = None,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        super().__init__(location, name, encoding=encoding, block_bytes=block_bytes)
        self._is_text_by_name = is_text_by_name

    @property
    def is_binary(self) -> bool:
        """Whether the first bytes are binary in every encoding."""
        with self.open() as stream:
            found = None if self.encoding.is_wide else foreign_kind(stream.read(HEAD_BYTES))
        return found is not None and not found.startswith("this is text")

    def _block(self, raw: RawRows) -> RowBlock:
        return _TextBlock(self, raw)

    def foreign_kind_of(self, data: bytes | memoryview) -> str | None:
        """Describe a file by its beginning if it is not text."""
        foreign = foreign_kind(bytes(data[:HEAD_BYTES]))
        return foreign if foreign and not (self._is_text_by_name and is_utf8(data)) else None


class TextLinesSource(TextFileSource):
    """A text file with one document per non-blank line."""

    is_one_row = False

    def _start(self, stream: InputStream) -> bytes:
        head = stream.read(HEAD_BYTES)
        check_mark(head, self._encoding, self.location, can_be_decoded=False)
        foreign = self.foreign_kind_of(head) if self.encoding.codec == "utf-8" else None
        if foreign:
            raise InvalidInputError(foreign, path=self.location)
        return head.removeprefix(self.encoding.mark)


class _TextBlock(_OneColumnBlock):
    """Rows that are files or lines, perhaps programs."""

    def __init__(self, source: TextFileSource, raw: RawRows) -> None:
        super().__init__(source.location, raw, source.encoding.codec)
        self._source = source
        self.language = language_of_file(self.path)

    def _ranges(self, raw: RawRows) -> tuple[Int64s, Int64s]:
        """Return the start and end of each text."""
        if not self._source.is_one_row:
            return raw.starts, line_ends(raw)
        head = bytes(raw.data[: len(BYTE_ORDER_MARK)])
        return raw.starts + len(head) * (head == BYTE_ORDER_MARK), raw.ends

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        problems = Problems(raw.numbers, self.path, skip_bad)
        is_file = self._source.is_one_row and len(raw) > 0
        foreign = self._source.foreign_kind_of(raw.data) if is_file else None
        if foreign:
            problems.add(0, foreign)
            raw = raw.select(~problems.bad)
        texts = self._texts(raw)
        rows = self._parse_texts(texts, raw.numbers, columns, skip_bad=skip_bad, is_decoded=False)
        return problems.insert_bad_rows(rows)

    def _cut(self, raw: RawRows, cuts: Cuts) -> list[bytes]:
        """Cut spans; in lines, line ends in the replacement become spaces."""
        starts, ends = self._ranges(raw)
        are_lines = not self._source.is_one_row
        replacement = _LINE_END.sub(" ", cuts.replacement) if are_lines else cuts.replacement
        texts = fill_holes(self._texts(raw), cuts.holes(), replacement)
        if are_lines:
            # A return before the newline would be a part of the line's end.
            grows = pc.and_(pc.ends_with(texts, "\r"), pa.array(raw.ends - ends == 1))
            texts = pc.if_else(grows, pc.binary_join_element_wise(texts, "\r", ""), texts)
        heads = raw.starts.tolist(), starts.tolist()
        tails = ends.tolist(), raw.ends.tolist()
        edges = zip(*heads, texts.cast(pa.binary()).to_pylist(), *tails, strict=True)
        return [b"".join([raw.data[a:b], text, raw.data[c:d]]) for a, b, text, c, d in edges]

    def _texts(self, raw: RawRows) -> pa.Array:
        """Copy the texts out of the block.

        The block is read as an Arrow array of texts and separators in turn, so that one Arrow call
        takes every other element.
        """
        if not len(raw):
            return pa.array([], pa.string())
        offsets = np.empty(2 * len(raw), np.int32)
        offsets[0::2], offsets[1::2] = self._ranges(raw)
        buffers = [None, pa.py_buffer(offsets), pa.py_buffer(raw.data)]
        both = pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)
        return both.take(pa.array(np.arange(0, len(offsets), 2)))


# Extracted texts, kept for later passes of a run. A job reads its input several times, and the
# extraction of a text takes longer than all other work on it. Compressed texts are kept in memory
# while they fit; missing ones are extracted again.

# The share of a job's memory that texts may take.
_SHARE = 0.1
_CODEC = "zstd"


class ExtractedTexts:
    """Texts of rows by block, thread-safe and dropped by pickle."""

    def __init__(self, workspace: Workspace = IN_MEMORY) -> None:
        self._workspace, self._lock = workspace, Lock()
        self._n_bytes = 0
        # Compressed texts of parts of a block, with their sizes.
        self._parts: dict[Hashable, list[tuple[bytes, int]]] = {}

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Pickle the object as None."""
        return type(None), ()

    def add(self, block: Hashable, texts: Mapping[int, bytes]) -> None:
        """Store texts of a block by row number, if they fit."""
        # Loaded with the first text that is extracted.
        import msgspec

        data = msgspec.msgpack.encode(texts)
        packed: bytes = pa.compress(data, codec=_CODEC, asbytes=True)
        with self._lock:
            if self._workspace.fits(self._n_bytes + len(packed), _SHARE):
                self._n_bytes += len(packed)
                self._parts.setdefault(block, []).append((packed, len(data)))

    def take(self, block: Hashable, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the existing texts of some rows of a block."""
        import msgspec

        found: dict[int, bytes] = {}
        for packed, n_bytes in tuple(self._parts.get(block, ())):
            data = pa.decompress(packed, n_bytes, codec=_CODEC, asbytes=True)
            found |= msgspec.msgpack.decode(data, type=dict[int, bytes])
        return {number: found[number] for number in numbers if number in found}


class UnreadableFileError(Exception):
    """Error for a file without text, with reason and remedy."""


Extract = Callable[[bytes, InputOptions], str]
"""Gives the text of a file of these bytes; raises UnreadableFileError.

Called from any thread.
"""


T = TypeVar("T")


def extract_texts(
    rows: Iterable[T],
    extract: Callable[[T], str],
    problems: Problems,
    *,
    kept: ExtractedTexts | None = None,
    block: Hashable = None,
) -> pa.StringArray:
    """Extract rows' texts, unless ``kept`` by an earlier pass."""
    numbers = problems.numbers.tolist()
    known = {} if kept is None else kept.take(block, numbers)
    texts: list[bytes] = []
    new: dict[int, bytes] = {}
    n_bytes = 0
    for index, (number, row) in enumerate(zip(numbers, rows, strict=True)):
        text = known.get(number)
        if text is None:
            try:
                text = new[number] = extract(row).encode()
            except UnreadableFileError as error:
                problems.add(index, str(error))
                continue
            except UnicodeEncodeError:
                message = "its text has surrogates, which are no characters; repair the file"
                problems.add(index, message)
                continue
        n_bytes += len(text)
        if n_bytes > MAX_TEXT_BYTES:
            limit = f"longer than {MAX_TEXT_BYTES >> 20} MB"
            problems.add(index, f"its text, alone or with the rows before it, is {limit}")
            new.pop(number, None)
            continue
        texts.append(text)
    if kept is not None and new:
        kept.add(block, new)
    return pa.array(texts, pa.string())


class ExtractedFileSource(_OneColumnSource):
    """Extracted text of one file, row 1. An unreadable file is a bad row."""

    is_one_row = extracts_text = True

    def __init__(
        self,
        location: str,
        name: str,
        *,
        extract: Extract,
        options: InputOptions,
        kind: str,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        # The bytes are not text, so they are not decoded before the extraction.
        super().__init__(location, name, encoding=None, block_bytes=block_bytes)
        self._extract, self._options, self.uncuttable = extract, options, kind

    def _read_blocks(self) -> Iterator[RowBlock]:
        """Read the file up to the size limit."""
        return islice(super()._read_blocks(), 1)

    def _cutter(self) -> Cutter:
        def cut(data: bytes | memoryview, final: bool) -> Cut:
            return cut_nothing(data, final or len(data) > MAX_FILE_BYTES)

        return cut

    def _block(self, raw: RawRows) -> RowBlock:
        return _ExtractedBlock(self.location, raw, self._text_of, self.kept_texts)

    def _text_of(self, row: bytes) -> str:
        if len(row) > MAX_FILE_BYTES:
            message = f"the file is longer than {MAX_FILE_BYTES >> 20} MB; leave it out"
            raise UnreadableFileError(message)
        return self._extract(row, self._options)


class _ExtractedBlock(_OneColumnBlock):
    """The row of a file, with its text extraction."""

    def __init__(
        self, path: str, raw: RawRows, extract: Callable[[bytes], str], kept: ExtractedTexts | None
    ) -> None:
        super().__init__(path, raw)
        self._extract, self._kept = extract, kept

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        problems = Problems(raw.numbers, self.path, skip_bad)
        rows = (raw[index] for index in range(len(raw)))
        texts = extract_texts(rows, self._extract, problems, kept=self._kept, block=self.path)
        numbers = raw.numbers[~problems.bad]
        parsed = self._parse_texts(texts, numbers, columns, skip_bad=skip_bad, is_decoded=True)
        return problems.insert_bad_rows(parsed)
