"""Documents read, cut into tokens, and told where each token stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa

from neardup.files.ids import choose_id_column, join_ids
from neardup.files.passes import ReadingPass, read_text_block
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.indexes.changes import RowPlaces
from neardup.tables import Int64s, Texts, TokenLists, TokenSpans, offsets_of
from neardup.text.tokenizers import Tokenizer

# Texts go through the tokenizer in slices of about so many bytes, which fit into a cache.
_SLICE_BYTES = 1 << 17


@dataclass(frozen=True)
class PassageReading:
    """How documents are read.

    ``columns`` name the text and the id; a bad row is listed in ``skipped`` with ``skip_bad``, and
    an error without.
    """

    columns: ColumnNames
    skip_bad: bool = False

    def for_sources(self, sources: Sequence[Source]) -> PassageReading:
        """Return the options with the column of the ids, chosen if nobody named one."""
        return replace(self, columns=choose_id_column(self.columns, sources))


@dataclass(frozen=True)
class DocumentBlock:
    """Some documents in input order, with their tokens and where these stand.

    ``ids`` are large strings or integers.
    ``skipped`` rows (source, row, reason) are not among them. ``places`` are the documents' rows;
    those that come out of an index have none.
    """

    ids: pa.Array
    texts: pa.Array
    tokens: TokenLists
    spans: TokenSpans
    skipped: list[tuple[str, int, str]] = field(default_factory=list)
    places: RowPlaces = field(default_factory=lambda: RowPlaces((), np.empty(0, np.int64)))

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def n_tokens(self) -> int:
        """Tokens of all documents."""
        return len(self.tokens.values)


def read_documents(
    sources: Sequence[Source], tokenizer: Tokenizer, options: PassageReading, reading: ReadingPass
) -> Iterator[DocumentBlock]:
    """Read documents in blocks of some megabytes, in input order."""

    def read(source: Source, block: RowBlock) -> DocumentBlock:
        return read_document_block(source, block, tokenizer, options)

    for _, block in reading.map(read, sources):
        yield block


def join_blocks(blocks: Sequence[DocumentBlock]) -> DocumentBlock:
    """Put blocks one behind the other."""
    if len(blocks) == 1:
        return blocks[0]
    tokens = TokenLists(
        np.concatenate([block.tokens.values for block in blocks]),
        _join_offsets([block.tokens.offsets for block in blocks]),
    )
    spans = TokenSpans(
        np.concatenate([block.spans.starts for block in blocks]),
        np.concatenate([block.spans.stops for block in blocks]),
    )
    return DocumentBlock(
        join_ids([block.ids for block in blocks]),
        pa.concat_arrays([block.texts for block in blocks]),
        tokens,
        spans,
        [row for block in blocks for row in block.skipped],
        RowPlaces(
            tuple(source for block in blocks for source in block.places.sources),
            np.concatenate([block.places.numbers for block in blocks]),
        ),
    )


def read_document_block(
    source: Source, block: RowBlock, tokenizer: Tokenizer, options: PassageReading
) -> DocumentBlock:
    """Read the documents of a block of a source."""
    rows = read_text_block(source, block, options.columns, skip_bad=options.skip_bad)
    tokens, spans = _locate_tokens(Texts.from_arrow(rows.texts), tokenizer)
    places = RowPlaces(((source.name, len(rows)),), rows.numbers)
    return DocumentBlock(rows.ids, rows.texts, tokens, spans, rows.skipped, places)


def _locate_tokens(texts: Texts, tokenizer: Tokenizer) -> tuple[TokenLists, TokenSpans]:
    parts = [tokenizer.locate_tokens(part) for part in texts.slices(_SLICE_BYTES)]
    tokens = TokenLists(
        np.concatenate([lists.values for lists, _ in parts]),
        _join_offsets([lists.offsets for lists, _ in parts]),
    )
    return tokens, TokenSpans(
        np.concatenate([spans.starts for _, spans in parts]),
        np.concatenate([spans.stops for _, spans in parts]),
    )


def _join_offsets(parts: Sequence[Int64s]) -> Int64s:
    sizes = np.concatenate([np.diff(offsets) for offsets in parts])
    return offsets_of(sizes)
