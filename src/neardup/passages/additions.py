"""Adding documents to an index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, Source
from neardup.passages.documents import DocumentBlock, ReadOptions, read_documents
from neardup.passages.gathering import SEGMENT_TOKENS, gather
from neardup.passages.handle import PassageHandle
from neardup.passages.new_ids import NewIds
from neardup.passages.scheme import PassageScheme
from neardup.passages.segment_writer import write_segment
from neardup.runtime.runner import Runner
from neardup.storage.generations import free_name, store_next
from neardup.text.stored_frequencies import store_frequencies
from neardup.text.weighting import DocumentFrequencies, count_documents


@dataclass
class Addition:
    """What an addition did, and where text and ids were."""

    columns: ColumnNames
    n_documents: int = 0
    n_tokens: int = 0
    n_empty: int = 0
    n_short: int = 0
    skipped: list[tuple[str, int, str]] = field(default_factory=list)


def add_documents(
    handle: PassageHandle,
    sources: Sequence[Source],
    options: ReadOptions,
    runner: Runner,
    *,
    segment_tokens: int = SEGMENT_TOKENS,
) -> Addition:
    """Add documents, all of them or none.

    The first addition decides the inverse document frequencies, if tokens are weighted by them:
    then the input is read twice.

    Raises
    ------
    InvalidInputError
        For a bad row, or an id that comes twice or is in the index.
    IndexLockedError
        If another writer is at work.
    ReadError, WriteError, IndexFormatError
        If files cannot be read or written, or are damaged.
    """
    folder = handle.folder
    options = options.for_sources(sources)
    with handle.changing(runner) as opened:
        manifest, index = opened.manifest, handle.read(opened)
        scheme, frequencies = index.scheme, index.frequencies
        files = dict(manifest.files)
        if scheme.weighting.idf != "unary" and frequencies is None:
            frequencies = _count_frequencies(sources, scheme, options, runner)
            # No documents decide nothing: with their frequencies, no token ever weighed anything.
            if frequencies.n_documents:
                files.update(store_frequencies(folder, frequencies))
        addition, ids = Addition(options.columns), NewIds(index, options.columns)
        records = list(manifest.segments)
        reading = ReadingPass("read", sources, runner)
        blocks = read_documents(sources, scheme.tokenizer, options, reading)
        for block in gather(blocks, segment_tokens):
            ids.check(block)
            _count(addition, block, scheme)
            if len(block):
                name = free_name(manifest, len(records))
                records.append(write_segment(folder, name, block, scheme, frequencies, runner))
        store_next(folder, manifest, records, files)
        return addition


def _count_frequencies(
    sources: Sequence[Source], scheme: PassageScheme, options: ReadOptions, runner: Runner
) -> DocumentFrequencies:
    reading = ReadingPass("count", sources, runner)
    blocks = read_documents(sources, scheme.tokenizer, options, reading)
    return count_documents(block.tokens for block in blocks)


def _count(addition: Addition, block: DocumentBlock, scheme: PassageScheme) -> None:
    sizes = np.diff(block.tokens.offsets)
    addition.n_documents += len(block)
    addition.n_tokens += block.n_tokens
    addition.n_empty += int((sizes == 0).sum())
    addition.n_short += int(((sizes > 0) & (sizes < scheme.least_shingles)).sum())
    addition.skipped.extend(block.skipped)
