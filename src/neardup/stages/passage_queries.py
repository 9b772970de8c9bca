"""Documents as queries of an index of passages, for align and search."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Engine, TaskResources
from neardup.files.documents import common_id_type
from neardup.files.rows import Source
from neardup.index.open_index import SharedIndex
from neardup.options.passage_options import AlignOptions, SearchOptions
from neardup.passages.document_blocks import (
    DocumentBlock,
    DocumentReading,
    gather,
    read_document_block,
)
from neardup.passages.open_passages import OpenPassages
from neardup.passages.passage_lookup import WindowCounts, tokens_at_a_time, within_memory
from neardup.passages.passage_matches import (
    Extents,
    PassageMatches,
    Placer,
    extents_of,
    match_table,
    schema_of,
    with_id_types,
)
from neardup.results import QueryCounts, SkippedRow
from neardup.runs.runner import release_memory
from neardup.tables import Int64s

# Finds the passages of a block's documents, and counts the windows.
Find = Callable[[DocumentBlock], tuple[PassageMatches, WindowCounts]]
MakeFind = Callable[[OpenPassages, TaskResources], Find]


@dataclass(frozen=True)
class FoundInBlock:
    """Queries in input order, and their passages.

    ``sizes`` are their numbers of tokens, without the ``n_ignored`` ones. ``pairs`` has a row per
    passage: the number of the query in this block, and of the document in the index.
    """

    sizes: Int64s
    id_type: pa.DataType
    passages: pa.Table
    pairs: Int64s
    extents: Extents
    n_ignored: int
    skipped: Sequence[SkippedRow]
    windows: WindowCounts


def _find_in_blocks(
    shared: SharedIndex[OpenPassages],
    make_find: MakeFind,
    options: AlignOptions | SearchOptions,
    blocks: Iterator[DocumentBlock],
    task: TaskResources,
) -> Iterator[FoundInBlock]:
    """Yield the passages of queries, in batches of suitable size."""
    index = within_memory(shared.opened, task.workspace)
    find = make_find(index, task)
    placer = Placer(options.place_marker) if options.has_places else None
    for block in gather(blocks, tokens_at_a_time([index], task.workspace, task.runner)):
        matches, windows = find(block)
        yield FoundInBlock(
            np.diff(block.tokens.offsets),
            block.ids.type,
            match_table(matches, block, index, with_text=options.with_text, placer=placer),
            np.stack([matches.queries, matches.documents], axis=1),
            extents_of(matches, block, index),
            block.n_ignored,
            block.skipped,
            windows,
        )
        # Free memory before the next batch.
        del block, matches
        if index.frees_files:
            release_memory()


@dataclass
class FoundForQueries:
    """Passages of all queries, which ``pairs`` number across all sources."""

    table: pa.Table
    counts: QueryCounts
    pairs: Int64s
    extents: Extents
    n_ignored: int
    windows: WindowCounts


def query_passages(
    engine: Engine,
    stage: str,
    shared: SharedIndex[OpenPassages],
    sources: Sequence[Source],
    reading: DocumentReading,
    make_find: MakeFind,
    options: AlignOptions | SearchOptions,
    least: int,
) -> FoundForQueries:
    """Find documents' passages; queries below ``least`` tokens count as short."""
    index, counts = shared.opened, QueryCounts()
    schema = schema_of(with_text=options.with_text, with_places=options.has_places)
    tables = [schema.empty_table()]
    pairs, extents = [np.empty((0, 2), np.int64)], [np.empty((0, 6), np.int64)]
    n_ignored, windows, id_types = 0, WindowCounts(), set[pa.DataType]()
    read = partial(read_document_block, tokenizer=index.scheme.tokenizer, options=reading)
    find = partial(_find_in_blocks, shared, make_find, options)
    for found in engine.stream(stage, sources, read, find):
        tables.append(found.passages)
        pairs.append(found.pairs + np.array([counts.n_queries, 0]))
        extents.append(found.extents)
        counts.add(found.sizes, least, found.pairs[:, 0], found.skipped)
        n_ignored += found.n_ignored
        windows += found.windows
        id_types |= {found.id_type} if len(found.sizes) else set()
    table = with_id_types(pa.concat_tables(tables), common_id_type(id_types), index.id_type)
    return FoundForQueries(
        table, counts, np.concatenate(pairs), np.concatenate(extents), n_ignored, windows
    )
