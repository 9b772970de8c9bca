"""Files that are one document each, whose text comes out of their bytes by a function.

Web pages and office documents are such. Offsets in results point into the extracted text; a row is
written back as the whole file, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from threading import Lock
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, TypeVar

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidInputError
from neardup.files.arrowcolumns import parse_arrow
from neardup.files.problems import Problems
from neardup.files.rawrows import BLOCK_BYTES, Cut, Cutter, RawBlock, RawRows, cut_nothing
from neardup.files.rawsource import MAX_ROW_BYTES, RawSource
from neardup.files.rows import ColumnNames, KeptTexts, Mask, ParsedRows, RowBlock, RowWriter
from neardup.files.streams import read_blocks
from neardup.options.groups import InputOptions
from neardup.runs.disk import write_all
from neardup.runs.work import IN_MEMORY
from neardup.tables import Int64s

if TYPE_CHECKING:
    from neardup.files.cuts import Cuts
    from neardup.files.streams import Destination, InputStream
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

# Texts that are compressed together: so many bytes that little is lost, so few that a row whose
# neighbours are not wanted is cheap.
_PIECE_BYTES = 1 << 16
_CODEC = "zstd"


class _Piece(NamedTuple):
    """Texts of some rows: numbers, and where each text ends; compressed, or where that stands."""

    numbers: Int64s
    ends: Int64s
    size: int
    data: bytes | None
    place: int


class ExtractedTexts:
    """Texts of rows of several sources, by the block that they are of; threads may use one.

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
        self._is_full = False

    def add(self, block: Hashable, numbers: Int64s, texts: Sequence[bytes]) -> None:
        """Keep the texts of some rows of a block; numbers ascend."""
        ends: Int64s = np.cumsum([len(text) for text in texts], dtype=np.int64)
        for start, stop in _runs(ends):
            data = b"".join(texts[start:stop])
            packed = pa.compress(data, codec=_CODEC, asbytes=True)
            with self._lock:
                held, place = self._put(packed)
                if held is None and place < 0:
                    return
                own_ends = ends[start:stop] - (ends[stop - 1] - len(data))
                piece = _Piece(numbers[start:stop], own_ends, len(packed), held, place)
                self._pieces.setdefault(block, []).append(piece)

    def take(self, block: Hashable, numbers: Int64s) -> list[bytes | None]:
        """Return the texts of some rows of a block; None for each that is not there."""
        found: list[bytes | None] = [None] * len(numbers)
        with self._lock:
            pieces = tuple(self._pieces.get(block, ()))
        for piece in pieces:
            places = np.minimum(np.searchsorted(piece.numbers, numbers), len(piece.numbers) - 1)
            rows = np.flatnonzero(piece.numbers[places] == numbers)
            data = self._unpacked(piece) if len(rows) else None
            if data is None:
                continue
            starts = np.concatenate([[0], piece.ends[:-1]])[places[rows]].tolist()
            stops = piece.ends[places[rows]].tolist()
            for row, start, stop in zip(rows.tolist(), starts, stops, strict=True):
                found[row] = data[start:stop]
        return found

    def _put(self, packed: bytes) -> tuple[bytes | None, int]:
        """Return the bytes to be held in memory, or where they now are in the file, or -1."""
        n_bytes = self._bytes_in_memory + len(packed)
        if self._file is None and self._workspace.fits(n_bytes, _SHARE):
            self._bytes_in_memory = n_bytes
            return packed, -1
        if self._is_full:
            return None, -1
        try:
            if self._file is None:
                assert self._workspace.work is not None
                self._file = self._workspace.work.passing_file("texts")
            place = self._bytes_in_file
            self._file.seek(place)
            write_all(self._file.fileno(), packed)
        except (OSError, ValueError):
            # The disk is full, or the run has ended; the run does without.
            self._is_full = True
            return None, -1
        self._bytes_in_file += len(packed)
        return None, place

    def _unpacked(self, piece: _Piece) -> bytes | None:
        """Return texts as they were added; None where they cannot be had any more."""
        n_bytes = int(piece.ends[-1])
        packed = piece.data
        if packed is None:
            try:
                with self._lock:
                    assert self._file is not None
                    self._file.seek(piece.place)
                    packed = self._file.read(piece.size)
            except (OSError, ValueError):
                return None
        if len(packed) < piece.size:
            return None
        data: bytes = pa.decompress(packed, n_bytes, codec=_CODEC, asbytes=True) if n_bytes else b""
        return data


def _runs(ends: Int64s) -> Iterator[tuple[int, int]]:
    """Yield ranges of texts that are compressed together."""
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + _PIECE_BYTES)) + 1
        yield start, min(stop, len(ends))
        start = stop


class SourceTexts:
    """The texts of one source; another process does not have them."""

    def __init__(self, texts: ExtractedTexts, source: int) -> None:
        self._texts, self._source = texts, source

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        """Be copied as None."""
        return type(None), ()

    def add(self, block: Hashable, numbers: Int64s, texts: Sequence[bytes]) -> None:
        """Keep the texts of some rows of a block; numbers ascend."""
        self._texts.add((self._source, block), numbers, texts)

    def take(self, block: Hashable, numbers: Int64s) -> list[bytes | None]:
        """Return the texts of some rows of a block; None for each that is not there."""
        return self._texts.take((self._source, block), numbers)


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
    kept: KeptTexts | None = None,
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
        Key of the block within its source.
    """
    indexes = np.arange(len(problems.numbers)) if indexes is None else indexes
    numbers = problems.numbers[indexes]
    known = kept.take(block, numbers) if kept is not None else [None] * len(numbers)
    texts: list[bytes] = []
    new: list[bytes] = []
    are_new = np.zeros(len(numbers), np.bool_)
    n_bytes = 0
    for place, (index, row) in enumerate(zip(indexes.tolist(), rows, strict=True)):
        text = known[place]
        is_new = text is None
        if text is None:
            try:
                text = extract(row).encode()
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
            continue
        texts.append(text)
        if is_new:
            new.append(text)
            are_new[place] = True
    if kept is not None and new:
        kept.add(block, numbers[are_new], new)
    return pa.array(texts, pa.string())


def uncuttable(kind: str, path: str | None) -> InvalidInputError:
    """Return the error for a source of this kind that is to lose some of its text."""
    message = (
        f"text cannot be cut out of {kind}, which is written back byte for byte; cut it out of its "
        "text, which dedup writes with format='jsonl' (--format jsonl)"
    )
    return InvalidInputError(message, path=path)


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
        # The bytes are no text, so they are not decoded before they are extracted from.
        super().__init__(location, name, encoding=None, block_bytes=block_bytes)
        self.input_options = used | {"input_format"}
        self._extract, self._options, self._kind = extract, options, kind
        self._max_bytes = min(max_bytes, MAX_ROW_BYTES)

    def column_names(self) -> list[str]:
        """Return the name of the column."""
        return [_COLUMN]

    def cut_refusal(self) -> InvalidInputError:
        """Return an error: such files are written back as they are."""
        return uncuttable(self._kind, self.location)

    def blocks(self) -> Iterator[RowBlock]:
        """Read the file, but no more of one that is too long than shows it."""
        return islice(super().blocks(), 1)

    def _start(self, _: InputStream) -> bytes:
        return b""

    def _cutter(self) -> Cutter:
        def cut(data: bytes | memoryview, final: bool) -> Cut:
            return cut_nothing(data, final or len(data) > self._max_bytes)

        return cut

    def _block(self, raw: RawRows) -> RowBlock:
        return ExtractedBlock(
            self.location, raw, self._read_row, self._options, self._kind, self.kept_texts
        )

    def _read_row(self, row: bytes, options: InputOptions) -> str:
        if len(row) > self._max_bytes:
            message = f"the file is longer than {self._max_bytes >> 20} MB; leave it out"
            raise UnreadableFileError(message)
        return self._extract(row, options)

    def writer(self, folder: Destination) -> RowWriter:
        """Open a writer that copies the file if its row is selected."""
        return _CopyingWriter(self, folder)


class _CopyingWriter(RowWriter):
    """Copies a file of one document; a block may have only its beginning."""

    def __init__(self, source: RawSource, folder: Destination) -> None:
        self._source, self._folder = source, folder

    def prepare(self, _: RowBlock, select: Mask) -> bool:
        """Return whether the row is selected."""
        return bool(select.any())

    def append(self, prepared: bool) -> None:
        """Write the file if its row is selected."""
        if not prepared:
            return
        with self._source.open() as stream, self._source.output(self._folder) as output:
            for piece in read_blocks(stream, BLOCK_BYTES):
                output.write(piece)

    def close(self) -> None:
        """Do nothing; the file was complete when it was written."""


class ExtractedBlock(RawBlock):
    """Rows whose texts come out of their bytes by a function."""

    def __init__(
        self,
        path: str,
        raw: RawRows,
        extract: Extract,
        options: InputOptions,
        kind: str,
        kept: KeptTexts | None,
    ) -> None:
        super().__init__(path, raw)
        self._extract, self._options, self._kind, self._kept = extract, options, kind, kept

    def parse(
        self, columns: ColumnNames, *, select: Mask | None = None, skip_bad: bool = False
    ) -> ParsedRows:
        """Return the texts for any column name; there are no other columns."""
        raw = self.raw.select(select)
        problems = Problems(raw.numbers, self.path, skip_bad)
        rows = (raw[index] for index in range(len(raw)))
        texts = extract_texts(
            rows, lambda row: self._extract(row, self._options), problems, kept=self._kept
        )
        good = ~problems.bad
        parsed = parse_arrow(
            pa.table({_COLUMN: texts}),
            raw.numbers[good],
            replace(columns, text=_COLUMN),
            path=self.path,
            skip_bad=skip_bad,
        )
        return problems.with_bad_rows(parsed)

    def to_table(self, select: Mask | None = None) -> pa.Table:
        """Give the texts as the column ``text``."""
        text = self.parse(ColumnNames(), select=select).text
        return pa.table({_COLUMN: text.cast(pa.string())})

    def with_cuts(self, cuts: Cuts) -> RawBlock:
        """Return the block itself if nothing is to be cut, else raise."""
        if len(cuts):
            raise uncuttable(self._kind, self.path)
        return self
