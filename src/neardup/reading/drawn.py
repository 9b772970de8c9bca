"""Blocks that stand for a collection: evenly spread, of files that allow no less all rows."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from neardup.errors import InvalidInputError
from neardup.files.ids import choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, SomeRows, Source, WrappedSource
from neardup.reading.sign import ReadingPlan
from neardup.reading.signed_batches import block_frequencies, with_frequencies
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s, Texts, Uint64s
from neardup.text.tokenizers import Tokenizer
from neardup.text.weighting import count_documents

if TYPE_CHECKING:
    import pyarrow as pa


# Blocks that are parsed and signed, of a large collection half of these or more. They are spread
# evenly: documents that are alike may stand anywhere.
_MOST_BLOCKS = 32

# Files, in the mean, that a place is to have at most where they are smaller than a block.
_FILES_OF_PLACE = 8


@dataclass(frozen=True)
class DrawnRows:
    """Blocks that stand for so many documents, and the seconds in which all files are read."""

    drawn: list[tuple[Source, RowBlock]]
    n_documents: int
    is_counted: bool
    reading: float

    @property
    def share(self) -> float:
        """The share of the documents that was drawn."""
        return sum(len(block) for _, block in self.drawn) / max(1, self.n_documents)

    def part(self, share: float) -> list[Source]:
        """Return sources of the first rows of all blocks, so that they have a share of the rows.

        They are read as others are, but for rows that are read a second time.
        """
        return self.runs(share, 1)[0]

    def runs(self, share: float, of_block: int) -> tuple[list[Source], Int64s]:
        """Return sources of so many runs of rows of each block, evenly spread, and their lengths.

        These are in the order in which the sources are read. Blocks that are shorter than the mean
        have fewer, so that runs of a smaller share lie within those of a larger one.
        """
        found: dict[int, list[tuple[RowBlock, Int64s]]] = {}
        sources = {id(source): source for source, _ in self.drawn}
        mean = sum(len(block) for _, block in self.drawn) / max(1, len(self.drawn))
        for source, block in self.drawn:
            n = min(len(block), max(1, round(len(block) * share)))
            n_runs = max(1, min(of_block, int(of_block * len(block) / mean)))
            bounds = np.arange(n_runs + 1)
            starts = len(block) * bounds[:-1] // n_runs
            # No run is longer than what there is until the next one.
            lengths: Int64s = np.minimum(
                np.diff(n * bounds // n_runs), np.diff([*starts, len(block)])
            )
            is_in = np.zeros(len(block) + 1, np.int64)
            np.add.at(is_in, starts, 1)
            np.add.at(is_in, starts + lengths, -1)
            part = SomeRows(block, np.cumsum(is_in)[:-1] > 0)
            # The block is there, and need not be read again from a place in the file.
            part.place = None
            found.setdefault(id(source), []).append((part, lengths))
        parts = [_Part(sources[key], [part for part, _ in rows]) for key, rows in found.items()]
        of_all = [lengths for rows in found.values() for _, lengths in rows]
        return list(parts), np.concatenate([np.empty(0, np.int64), *of_all])

    def thinned(self, share: float) -> list[tuple[Source, RowBlock]]:
        """Return as many of the blocks, evenly spread, as are about a share of the documents."""
        n = len(self.drawn)
        n_kept = min(n, max(1, round(n * share / self.share))) if self.share else n
        return [self.drawn[i * n // n_kept] for i in range(n_kept)]


class _Part(WrappedSource):
    """Some blocks of a source."""

    def __init__(self, source: Source, blocks: Sequence[RowBlock]) -> None:
        super().__init__(source)
        self._own = blocks

    def blocks(self) -> Iterator[RowBlock]:
        """Give the blocks."""
        return iter(self._own)


def some_rows(sources: Sequence[Source], chosen: Bools) -> list[Source]:
    """Return sources of those rows alone that are chosen, of some whose blocks are there."""
    found: list[Source] = []
    done = 0
    for source in sources:
        blocks = []
        for block in source.blocks():
            blocks.append(SomeRows(block, chosen[done : done + len(block)]))
            done += len(block)
        found.append(_Part(source, blocks))
    return found


def draw_rows(sources: Sequence[Source], runner: Runner) -> DrawnRows:
    """Read what is needed of files that are larger, and all others as a whole."""
    apart = [source for source in sources if source.piece_bytes is not None]
    most = max((source.piece_bytes or 0 for source in apart), default=0)
    if sum(source.size or 0 for source in apart) <= _MOST_BLOCKS * most:
        return _read_all(sources, runner)
    places = _read_places(apart, most, runner)
    if not places.drawn:
        return _read_all(sources, runner)
    others = _read_all([source for source in sources if source.piece_bytes is None], runner)
    share = min(part.share for part in (places, others) if part.n_documents)
    return DrawnRows(
        drawn=places.thinned(share) + others.thinned(share),
        n_documents=places.n_documents + others.n_documents,
        is_counted=places.is_counted,
        reading=places.reading + others.reading,
    )


def _read_all(sources: Sequence[Source], runner: Runner) -> DrawnRows:
    """Count all rows; keep every 2^k-th block of all files together, so that there are enough."""
    start = time.perf_counter()
    n_documents, n_blocks, step = 0, 0, 1
    sampled: list[tuple[Source, RowBlock]] = []
    reading = ReadingPass("read", sources, runner)
    for i, block in reading.map(lambda _, block: block, sources):
        if not len(block):
            continue
        n_documents += len(block)
        if n_blocks % step == 0:
            sampled.append((sources[i], block))
            if len(sampled) > _MOST_BLOCKS:
                sampled, step = sampled[::2], 2 * step
        n_blocks += 1
    return DrawnRows(sampled, n_documents, True, time.perf_counter() - start)


def _read_places(sources: Sequence[Source], most: int, runner: Runner) -> DrawnRows:
    """Read rows at places that are evenly spread over the bytes of all files, one after the other.

    What begins at a place has ``most`` bytes, and less where files are small: each costs some work.
    """
    sizes = [source.size or 0 for source in sources]
    total = sum(sizes)
    length = min(most, max(1, _FILES_OF_PLACE * total // len(sources)))
    starts = [total * i // _MOST_BLOCKS for i in range(_MOST_BLOCKS)]
    drawn: list[tuple[Source, RowBlock]] = []
    tallies: dict[type[Source], _Tally] = {}
    counted, lines, done = 0, _Tally(), 0
    for source, size, end in zip(sources, sizes, itertools.accumulate(sizes), strict=True):
        begin = end - size
        inside = [
            range(max(start - begin, 0), min(start + length - begin, size))
            for start in starts
            if start < end and start + length > begin
        ]
        start = time.perf_counter()
        n_rows, known = 0, 0
        for n_bytes, block in source.sample_blocks(inside):
            n_rows, known, done = n_rows + len(block), known + n_bytes, done + n_bytes
            if len(block):
                drawn.append((source, block))
            runner.report("read", min(done, _MOST_BLOCKS * length), _MOST_BLOCKS * length)
        tally = _Tally(size, known, n_rows, time.perf_counter() - start)
        tallies[type(source)] = tallies.get(type(source), _Tally()) + tally
        if source.known_rows is None:
            lines += tally
        else:
            counted += source.known_rows
    if lines.size and not lines.known:
        # Too small a part for a place, and nothing tells how many rows it has.
        drawn = []
    return DrawnRows(
        drawn,
        counted + round(lines.n_rows * lines.growth),
        not lines.size,
        sum(tally.seconds * tally.growth for tally in tallies.values()),
    )


@dataclass(frozen=True)
class _Tally:
    """Files of so many bytes; of those of which it is known, how many rows begin in them."""

    size: int = 0
    known: int = 0
    n_rows: int = 0
    seconds: float = 0.0

    def __add__(self, other: _Tally) -> _Tally:
        return _Tally(
            self.size + other.size,
            self.known + other.known,
            self.n_rows + other.n_rows,
            self.seconds + other.seconds,
        )

    @property
    def growth(self) -> float:
        """How many times as much all files are; 1 where what was read is no part of them."""
        return self.size / self.known if self.known else 1.0


@contextlib.contextmanager
def bytes_named(sources: Sequence[Source], rows: DrawnRows) -> Iterator[None]:
    """Say of a bad row of a file that was not read from its start at which byte it begins."""
    try:
        yield
    except InvalidInputError as error:
        numbered = {s.origin for s in sources if s.piece_bytes is None or s.known_rows is not None}
        if rows.is_counted or error.row is None or error.path in numbered:
            raise
        message = f"the row that begins at byte {error.row:,}: {error.reason}"
        raise InvalidInputError(message, path=error.path, is_bad_row=error.is_bad_row) from None


@dataclass(frozen=True)
class DrawnTexts:
    """Texts of blocks that were drawn, which stand for those of all documents."""

    rows: DrawnRows
    text_bytes: int

    def scaled(self, value: float) -> float:
        """Return a sum over the blocks as one over all documents."""
        return value / self.rows.share if self.rows.share else 0.0

    @property
    def bytes(self) -> float:
        """Bytes of all texts."""
        return self.scaled(self.text_bytes)


def blocks_under_way(n_bytes: float, largest: float, workers: int, made: float) -> float:
    """Return the bytes of the blocks of a collection that are there at the same time.

    Two for each thread are read, and one of them is worked on. A block has ``largest`` bytes of
    text, of ``n_bytes`` in all, and its part of what would be ``made`` of all documents.
    """
    share = largest / n_bytes if n_bytes else 0.0
    return min(1.0, 2 * workers * share) * n_bytes + min(1.0, workers * share) * made


@dataclass(frozen=True)
class DrawnBlocks(DrawnTexts):
    """Texts that were drawn: the bytes of those of the largest block; characters and tokens of all.

    So it is known what a thread takes for a block that it works on.
    """

    largest: int
    n_characters: int
    n_tokens: int

    def bytes_of(self, characters: float) -> float:
        """Return how many bytes some characters of the texts are."""
        return characters * self.text_bytes / max(1, self.n_characters)

    @property
    def tokens(self) -> float:
        """Tokens of all documents."""
        return self.scaled(self.n_tokens)

    def under_way(
        self, workers: int, *, texts: float = 2, of_token: float = 8, more: float = 0.0
    ) -> float:
        """Return the bytes of the blocks that are there at the same time.

        Of what is made of one its text is there so many times, and so many bytes a token, and its
        part of what ``more`` there would be of all documents.
        """
        made = texts * self.bytes + of_token * self.tokens + more
        return blocks_under_way(self.bytes, self.largest, workers, made)


@dataclass(frozen=True)
class DrawnTokens(DrawnBlocks):
    """Tokens of blocks that were drawn: those of each block that differ.

    ``tokenizing`` are the seconds of one core in which the blocks were cut into tokens. Packed are
    tokens and texts as they travel between executors.
    """

    parts: list[Uint64s]
    tokenizing: float
    packed_tokens: int
    packed_texts: int


def draw_tokens(
    sources: Sequence[Source],
    columns: ColumnNames,
    skip_bad: bool,
    tokenizer: Tokenizer,
    runner: Runner,
) -> DrawnTokens:
    """Cut the texts of some blocks of a collection, evenly spread, into tokens."""
    columns = choose_id_column(columns, sources)
    rows = draw_rows(sources, runner)
    parts: list[Uint64s] = []
    text_bytes = largest = n_characters = n_tokens = packed_tokens = packed_texts = 0
    tokenizing = 0.0
    with bytes_named(sources, rows):
        for _, block in rows.drawn:
            start = time.thread_time()
            parsed = block.parse(columns, skip_bad=skip_bad)
            text_bytes += parsed.text.nbytes
            largest = max(largest, parsed.text.nbytes)
            n_characters += count_characters(parsed.text)
            texts = Texts.from_arrow(parsed.text)
            tokens = tokenizer.hash_tokens(texts)
            n_tokens += len(tokens.values)
            parts.append(np.unique(tokens.values))
            tokenizing += time.thread_time() - start
            packed_tokens += packed_bytes(tokens.values)
            packed_texts += packed_bytes(texts.data[texts.offsets[0] : texts.offsets[-1]])
    return DrawnTokens(
        rows,
        text_bytes,
        largest,
        n_characters,
        n_tokens,
        parts,
        tokenizing,
        packed_tokens,
        packed_texts,
    )


def count_characters(texts: pa.Array) -> int:
    """Return how many characters texts have in all."""
    import pyarrow.compute as pc

    return pc.sum(pc.utf8_length(texts)).as_py() or 0


def packed_bytes(*parts: pa.RecordBatch | np.ndarray[Any, Any]) -> int:
    """Return of how many bytes rows or values are as Spark sends and keeps them: it packs them."""
    import pyarrow as pa

    buffers: list[Any] = []
    for part in parts:
        if isinstance(part, np.ndarray):
            buffers.append(part.tobytes())
        else:
            buffers += [buffer for column in part.columns for buffer in column.buffers() if buffer]
    return sum(len(pa.compress(buffer, "lz4", asbytes=True)) for buffer in buffers)


def weighed_by_sample(sampled: Sequence[RowBlock], plan: ReadingPlan) -> ReadingPlan:
    """Weigh shingles by the documents of a sample, where a plan asks for their frequencies."""
    if not plan.needs_frequencies:
        return plan
    counted = count_documents(block_frequencies(block, plan) for block in sampled)
    return with_frequencies(plan, counted)
