"""Documents of sources looked up in an index, block by block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neardup.documents.index import OpenDocuments
from neardup.documents.lookup import Hits, find_hits
from neardup.documents.reading import queries_of_texts
from neardup.files.passes import ReadingPass, TextBlock, read_text_block
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.matching.measures import Measure
from neardup.runs.runner import Runner
from neardup.tables import Int64s


@dataclass(frozen=True)
class LookedUp:
    """Documents of a block, the numbers of their tokens, and what they are similar to."""

    rows: TextBlock
    n_tokens: Int64s
    hits: Hits


def look_up(
    index: OpenDocuments,
    sources: Sequence[Source],
    columns: ColumnNames,
    measure: Measure,
    runner: Runner,
    *,
    skip_bad: bool,
) -> Iterator[LookedUp]:
    """Look up every document of some sources, in threads; they come in the order of the input."""

    def of_block(source: Source, block: RowBlock) -> LookedUp:
        rows = read_text_block(source, block, columns, skip_bad=skip_bad)
        queries = queries_of_texts(rows.texts, index.scheme)
        return LookedUp(rows, queries.n_tokens, find_hits(index, queries, measure))

    reading = ReadingPass("search", sources, runner)
    for _, found in reading.map(of_block, sources):
        yield found


def in_rank_order(hits: Hits) -> Hits:
    """Return hits in the order of queries, the most similar first, on a tie the first added."""
    return hits.take(np.lexsort((hits.documents, -hits.similarities, hits.queries)))
