"""Documents with tokens and their positions in the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, pairwise

import numpy as np
import pyarrow as pa

from neardup.files.documents import ReadingPass, choose_id_column, join_ids, read_text_block
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.index.open_index import RowPlaces
from neardup.tables import (
    Bools,
    Int64s,
    TokenLists,
    TokenSpans,
    Uint32s,
    Uint64s,
    offsets_of,
)
from neardup.text.tokenizers import Tokenizer

# Ignored text: runs of tokens that occur in templates or prompts.

_PARTS_OF_A_PASSAGE, _LEAST = 10, 4

_FACTOR, _HALF = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


@dataclass(frozen=True)
class IgnoredRuns:
    """Token runs of templates: their lengths, and their ascending hashes.

    Texts are processed as if they did not contain these runs.
    """

    hashes: tuple[tuple[int, Uint64s], ...]

    def without_runs(self, tokens: TokenLists, spans: TokenSpans) -> tuple[TokenLists, TokenSpans]:
        """Return texts without ignored runs, at their original positions."""
        # The number of runs over a token is the sum of the changes up to it.
        changes = np.zeros(len(tokens.values) + 1, np.int64)
        for length, hashes in self.hashes:
            starts, found = _runs(tokens, length)
            places = np.searchsorted(hashes, found)
            is_ignored = hashes[np.minimum(places, len(hashes) - 1)] == found
            changes[starts[is_ignored]] += 1
            changes[starts[is_ignored] + length] -= 1
        kept = np.cumsum(changes[:-1]) == 0
        offsets = offsets_of(kept)[tokens.offsets]
        return (
            TokenLists(tokens.values[kept], offsets.astype(np.int64)),
            TokenSpans(spans.starts[kept], spans.stops[kept]),
        )


def runs_of(templates: Iterable[TokenLists], length: int) -> IgnoredRuns:
    """Return all runs of ``length`` tokens, or shorter whole templates."""
    parts: dict[int, list[Uint64s]] = {}
    for tokens in templates:
        parts.setdefault(length, []).append(_runs(tokens, length)[1])
        for start, stop in pairwise(tokens.offsets.tolist()):
            if 0 < stop - start < length:
                values = tokens.values[start:stop]
                parts.setdefault(stop - start, []).append(_hash_runs(values, stop - start))
    joined = {size: np.unique(np.concatenate(found)) for size, found in parts.items()}
    return IgnoredRuns(tuple((size, found) for size, found in joined.items() if len(found)))


def _runs(tokens: TokenLists, length: int) -> tuple[Int64s, Uint64s]:
    hashes = _hash_runs(tokens.values, length)
    last = np.repeat(tokens.offsets[1:] - length, np.diff(tokens.offsets))[: len(hashes)]
    starts = np.flatnonzero(np.arange(len(hashes)) <= last)
    return starts, hashes[starts]


def _hash_runs(values: Uint64s, length: int) -> Uint64s:
    n_runs = max(len(values) - length + 1, 0)
    hashes = np.zeros(n_runs, np.uint64)
    for k in range(length):
        hashes = (hashes ^ values[k : k + n_runs]) * _FACTOR
        # Products would never move the upper bits down.
        hashes ^= hashes >> _HALF
    return hashes


def least_run(min_tokens: int) -> int:
    """Return the shortest ignored run for a passage length.

    Shorter runs are common phrases. A passage is ten times as long, so enough of them in one
    passage are not a coincidence.
    """
    return max(min_tokens // _PARTS_OF_A_PASSAGE, _LEAST)


# Bytes of text per call of the tokenizer, which fit into a cache.
_SLICE_BYTES = 1 << 17


@dataclass(frozen=True)
class DocumentReading:
    """Options of reading documents.

    ``columns`` name the text and the id; a bad row is an error, or is listed in ``skipped`` with
    ``skip_bad``. The runs in ``ignored`` are removed from the tokens.
    """

    columns: ColumnNames
    skip_bad: bool = False
    ignored: IgnoredRuns | None = None

    def for_sources(self, sources: Sequence[Source]) -> DocumentReading:
        """Return the options with an id column chosen by default."""
        return replace(self, columns=choose_id_column(self.columns, sources))


@dataclass(frozen=True)
class DocumentBlock:
    """Documents in input order, with their tokens and token positions.

    ``ids`` are large strings or integers. ``skipped`` rows (source, row, reason) are excluded.
    ``places`` are the documents' rows, unless from an index. ``n_ignored`` tokens were removed.
    ``files`` are the file lists of texts joined from several files, or None.
    """

    ids: pa.Array
    texts: pa.Array
    tokens: TokenLists
    spans: TokenSpans
    skipped: list[tuple[str, int, str]] = field(default_factory=list)
    places: RowPlaces = field(default_factory=lambda: RowPlaces((), np.empty(0, np.int64)))
    n_ignored: int = 0
    files: pa.Array | None = None

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def n_tokens(self) -> int:
        """Tokens of all documents."""
        return len(self.tokens.values)


def read_documents(
    sources: Sequence[Source], tokenizer: Tokenizer, options: DocumentReading, reading: ReadingPass
) -> Iterator[DocumentBlock]:
    """Read documents in blocks of a few megabytes, in order."""

    def read(source: Source, block: RowBlock) -> DocumentBlock:
        return read_document_block(source, block, tokenizer, options)

    for _, block in reading.map(read, sources):
        yield block


def join_blocks(blocks: Sequence[DocumentBlock]) -> DocumentBlock:
    """Concatenate several blocks of documents."""
    if len(blocks) == 1:
        return blocks[0]
    return DocumentBlock(
        join_ids([block.ids for block in blocks]),
        pa.concat_arrays([block.texts for block in blocks]),
        *_join_tokens([(block.tokens, block.spans) for block in blocks]),
        [row for block in blocks for row in block.skipped],
        RowPlaces(
            tuple(source for block in blocks for source in block.places.sources),
            np.concatenate([block.places.numbers for block in blocks]),
        ),
        sum(block.n_ignored for block in blocks),
        _join_files(blocks),
    )


def gather(blocks: Iterable[DocumentBlock], n_tokens: int) -> Iterator[DocumentBlock]:
    """Join blocks until they have ``n_tokens`` tokens.

    The parts of a block are freed while the block is in use.
    """
    gathered: list[DocumentBlock] = []
    n_gathered = 0
    for block in chain(blocks, [None]):
        if block is not None:
            gathered.append(block)
            n_gathered += block.n_tokens
        if gathered and (block is None or n_gathered >= n_tokens):
            del block
            joined = join_blocks(gathered)
            gathered.clear()
            yield joined
            del joined
            n_gathered = 0


def without_rows(block: DocumentBlock, removed: Uint32s | Int64s) -> DocumentBlock:
    """Return a block without some documents."""
    if not len(removed):
        return block
    keep: Bools = np.ones(len(block), np.bool_)
    keep[removed] = False
    tokens, mask = block.tokens, pa.array(keep)
    sizes = np.diff(tokens.offsets)
    of_kept = np.repeat(keep, sizes)
    return DocumentBlock(
        block.ids.filter(mask),
        block.texts.filter(mask),
        replace(tokens, values=tokens.values[of_kept], offsets=offsets_of(sizes[keep])),
        TokenSpans(block.spans.starts[of_kept], block.spans.stops[of_kept]),
        files=None if block.files is None else block.files.filter(mask),
    )


def _join_files(blocks: Sequence[DocumentBlock]) -> pa.Array | None:
    known = next((block.files.type for block in blocks if block.files is not None), None)
    if known is None:
        return None
    return pa.concat_arrays(
        [pa.nulls(len(each), known) if each.files is None else each.files for each in blocks]
    )


def read_document_block(
    source: Source, block: RowBlock, tokenizer: Tokenizer, options: DocumentReading
) -> DocumentBlock:
    """Read the documents of a block of a source."""
    rows = read_text_block(source, block, options.columns, skip_bad=options.skip_bad)
    texts = tokenizer.texts_in_index(rows.texts, rows.ids, block.language)
    slices = texts.slices(_SLICE_BYTES)
    tokens, spans = _join_tokens([tokenizer.locate_tokens(part) for part in slices])
    n_tokens = len(tokens.values)
    if options.ignored is not None:
        tokens, spans = options.ignored.without_runs(tokens, spans)
    places = RowPlaces(((source.name, len(rows)),), rows.numbers)
    n_ignored = n_tokens - len(tokens.values)
    return DocumentBlock(
        rows.ids, rows.texts, tokens, spans, rows.skipped, places, n_ignored, rows.files
    )


def _join_tokens(parts: Sequence[tuple[TokenLists, TokenSpans]]) -> tuple[TokenLists, TokenSpans]:
    """Concatenate tokens of consecutive documents, with their positions."""
    values = np.concatenate([tokens.values for tokens, _ in parts])
    sizes = np.concatenate([np.diff(tokens.offsets) for tokens, _ in parts])
    starts = np.concatenate([spans.starts for _, spans in parts])
    stops = np.concatenate([spans.stops for _, spans in parts])
    return TokenLists(values, offsets_of(sizes)), TokenSpans(starts, stops)
