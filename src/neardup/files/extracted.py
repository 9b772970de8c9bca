"""Files that are one document each, whose text comes out of their bytes by a function.

Web pages and office documents are such. Offsets in results point into the extracted text; a row is
written back as the whole file, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

import msgspec
import numpy as np
import pyarrow as pa

from neardup.files.arrowcolumns import parse_arrow
from neardup.files.problems import Problems
from neardup.files.rawrows import (
    BLOCK_BYTES,
    MAX_ROW_BYTES,
    Cut,
    Cutter,
    RawBlock,
    RawRows,
    RawSource,
    cut_nothing,
)
from neardup.files.rows import ColumnNames, ParsedRows, RowBlock
from neardup.options.groups import InputOptions
from neardup.runs.disk import write_all
from neardup.runs.work import IN_MEMORY
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.files.streams import InputStream
    from neardup.runs.work import Workspace

MAX_TEXT_BYTES = 1 << 30
"""A longer text out of one file, or out of the rows of a block, is refused: it may be a bomb."""

# The name of the only column.
_COLUMN = "text"


# Extracted texts, kept for later passes of a run. A job reads its input several times, and the
# extraction of a text takes longer than all other work on it. Compressed texts are kept in memory
# while they are few, then in a file of the work folder; missing ones are extracted again.

# The share of a job's memory that texts may take.
_SHARE = 0.1
_CODEC = "zstd"


class _Piece(NamedTuple):
    """Compressed texts of some rows, in memory or at a place in the file."""

    numbers: frozenset[int]
    n_bytes: int
    size: int
    data: bytes | None
    place: int


class ExtractedTexts:
    """Texts of rows, by block; safe to use from several threads, lost when pickled.

    Parameters
    ----------
    workspace
        The memory and the folder of the run.
    """

    def __init__(self, workspace: Workspace = IN_MEMORY) -> None:
        self._workspace = workspace
        self._lock = Lock()
        self._pieces: dict[Hashable, list[_Piece]] = {}
        self._bytes_in_memory = self._bytes_in_file = 0
        self._file: BinaryIO | None = None

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Pickle as None."""
        return type(None), ()

    def add(self, block: Hashable, texts: Mapping[int, bytes]) -> None:
        """Keep the texts of some rows of a block, by row number."""
        unpacked = msgspec.msgpack.encode(texts)
        packed: bytes = pa.compress(unpacked, codec=_CODEC, asbytes=True)
        with self._lock:
            data: bytes | None = packed
            n_bytes, place = self._bytes_in_memory + len(packed), 0
            if self._file is None and self._workspace.fits(n_bytes, _SHARE):
                self._bytes_in_memory = n_bytes
            else:
                data, place = None, self._bytes_in_file
                # If the disk is full or the run has ended, texts are extracted again.
                with suppress(OSError, ValueError):
                    if self._file is None:
                        assert self._workspace.work is not None
                        self._file = self._workspace.work.passing_file("texts")
                    self._file.seek(place)
                    write_all(self._file.fileno(), packed)
                    self._bytes_in_file += len(packed)
                if self._bytes_in_file == place:
                    return
            piece = _Piece(frozenset(texts), len(unpacked), len(packed), data, place)
            self._pieces.setdefault(block, []).append(piece)

    def take(self, block: Hashable, numbers: Sequence[int]) -> dict[int, bytes]:
        """Return the texts of some rows of a block, without missing texts."""
        with self._lock:
            pieces = tuple(self._pieces.get(block, ()))
        found: dict[int, bytes] = {}
        for piece in pieces:
            if not piece.numbers.isdisjoint(numbers):
                found |= self._texts_of(piece)
        return found

    def _texts_of(self, piece: _Piece) -> dict[int, bytes]:
        """Return the texts of a piece; none if the file no longer has them."""
        packed = piece.data
        if packed is None:
            try:
                with self._lock:
                    assert self._file is not None
                    self._file.seek(piece.place)
                    packed = self._file.read(piece.size)
            except (OSError, ValueError):
                return {}
        if len(packed) < piece.size:
            return {}
        data = pa.decompress(packed, piece.n_bytes, codec=_CODEC, asbytes=True)
        return msgspec.msgpack.decode(data, type=dict[int, bytes])


class UnreadableFileError(Exception):
    """A file has no text; the message has the reason and a remedy."""


Extract = Callable[[bytes, InputOptions], str]
"""Gives the text of a file of these bytes; raises UnreadableFileError.

Called from any thread.
"""


T = TypeVar("T")


def extract_texts(
    rows: Iterable[T],
    extract: Callable[[T], str],
    problems: Problems,
    indexes: Int64s | None = None,
    *,
    kept: ExtractedTexts | None = None,
    block: Hashable = None,
) -> pa.StringArray:
    """Return the texts of rows without bad ones.

    Parameters
    ----------
    rows, extract
        The rows, and the function from a row to its text.
    problems
        Records bad rows.
    indexes
        Numbers of the rows in ``problems``; None for all.
    kept
        Texts that an earlier pass has read; new ones are added.
    block
        Key of the block among all sources.
    """
    indexes = np.arange(len(problems.numbers)) if indexes is None else indexes
    numbers = problems.numbers[indexes].tolist()
    known = {} if kept is None else kept.take(block, numbers)
    texts: list[bytes] = []
    new: dict[int, bytes] = {}
    n_bytes = 0
    for index, number, row in zip(indexes.tolist(), numbers, rows, strict=True):
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
            problems.add(index, f"its text, or with those of the rows before it, is {limit}")
            new.pop(number, None)
            continue
        texts.append(text)
    if kept is not None and new:
        kept.add(block, new)
    return pa.array(texts, pa.string())


class ExtractedFileSource(RawSource):
    """A file that is one document, its row 1, whose text is extracted; also if it is empty.

    A file that cannot be read is a bad row.

    Parameters
    ----------
    location, name, block_bytes
        As for RawSource.
    extract
        Returns the text.
    options
        Arguments of ``extract``.
    kind
        Kind of file in words, such as ``an HTML page``.
    used
        Names of the options that ``extract`` uses, without ``input_format``.
    max_bytes
        A longer file is a bad row; no more of it is read. At most the limit of all rows.
    """

    is_one_row = extracts_text = True

    def __init__(
        self,
        location: str,
        name: str,
        *,
        extract: Extract,
        options: InputOptions,
        kind: str,
        used: frozenset[str] = frozenset(),
        max_bytes: int = MAX_ROW_BYTES,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        # The bytes are not text, so they are not decoded before the extraction.
        super().__init__(location, name, encoding=None, block_bytes=block_bytes)
        self.input_options = used | {"input_format"}
        self._extract, self._options, self.uncuttable = extract, options, kind
        self._max_bytes = min(max_bytes, MAX_ROW_BYTES)

    def schema(self) -> pa.Schema:
        """Return the column of the text."""
        return pa.schema([(_COLUMN, pa.string())])

    def blocks(self) -> Iterator[RowBlock]:
        """Read the file, or so much of it that it is too long."""
        return islice(super().blocks(), 1)

    def _start(self, _: InputStream) -> bytes:
        return b""

    def _cutter(self) -> Cutter:
        def cut(data: bytes | memoryview, final: bool) -> Cut:
            return cut_nothing(data, final or len(data) > self._max_bytes)

        return cut

    def _block(self, raw: RawRows) -> RowBlock:
        return _ExtractedBlock(self.location, raw, self._text_of, self.kept_texts)

    def _text_of(self, row: bytes) -> str:
        if len(row) > self._max_bytes:
            message = f"the file is longer than {self._max_bytes >> 20} MB; leave it out"
            raise UnreadableFileError(message)
        return self._extract(row, self._options)


class _ExtractedBlock(RawBlock):
    """The one row of a file, whose text a function extracts."""

    def __init__(
        self, path: str, raw: RawRows, extract: Callable[[bytes], str], kept: ExtractedTexts | None
    ) -> None:
        super().__init__(path, raw)
        self._extract, self._kept = extract, kept

    def _parse(self, raw: RawRows, columns: ColumnNames, *, skip_bad: bool) -> ParsedRows:
        """Return the text for any column name; there are no other columns."""
        problems = Problems(raw.numbers, self.path, skip_bad)
        rows = (raw[index] for index in range(len(raw)))
        texts = extract_texts(rows, self._extract, problems, kept=self._kept, block=self.path)
        parsed = parse_arrow(
            pa.table({_COLUMN: texts}),
            raw.numbers[~problems.bad],
            replace(columns, text=_COLUMN),
            path=self.path,
            skip_bad=skip_bad,
        )
        return problems.with_bad_rows(parsed)

    def _table(self, raw: RawRows, names: Sequence[str] | None) -> pa.Table:
        if names is not None and _COLUMN not in names:
            return pa.table({})
        text = self._parse(raw, ColumnNames(), skip_bad=False).text
        return pa.table({_COLUMN: text.cast(pa.string())})
