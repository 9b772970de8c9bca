"""Queries of an alignment: looked up in an index, some at a time, by each task."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.engine.engine import Means
from neardup.options.passages import AlignOptions
from neardup.passages.additions import gather
from neardup.passages.align import Aligner, AlignmentPlan
from neardup.passages.document_pairs import Extents, HiddenText, extents_of
from neardup.passages.documents import DocumentBlock
from neardup.passages.lookup import Later, WindowCounts, tokens_at_a_time, within_memory
from neardup.passages.matches import match_table
from neardup.passages.places import Placer
from neardup.passages.shared import SharedPassages
from neardup.results import SkippedRow
from neardup.runs.runner import release_memory
from neardup.tables import Int64s


@dataclass(frozen=True)
class Aligned:
    """Some queries in the order of the input, and what they share with the other collection.

    ``sizes`` are their numbers of tokens, beside which ``n_ignored`` were left out. ``places`` are
    rows of query, its first token, document, its first token; queries are counted among these,
    documents through the collection. There are ``extents`` where somebody wants pairs of documents.
    """

    sizes: Int64s
    id_type: pa.DataType
    passages: pa.Table
    places: Int64s
    extents: Extents | None
    n_ignored: int
    skipped: Sequence[SkippedRow]
    counts: WindowCounts


@dataclass(frozen=True)
class Queries:
    """How queries are aligned with the documents of an index.

    With ``is_one`` they are these documents themselves. ``hidden`` text counts nowhere. ``placer``
    names the beginnings of passages, if they are wanted.
    """

    shared: SharedPassages
    plan: AlignmentPlan
    options: AlignOptions
    hidden: HiddenText | None
    placer: Placer | None
    is_one: bool

    def align(self, blocks: Iterator[DocumentBlock], means: Means) -> Iterator[Aligned]:
        """Yield the passages of queries, as many queries at a time as are best."""
        workspace, runner, options = means.workspace, means.runner, self.options
        index = within_memory(self.shared.opened, workspace)
        aligner = Aligner(index, self.plan, workspace, runner)
        for block in gather(blocks, tokens_at_a_time([index], workspace, runner)):
            later = None
            if self.is_one:
                later = later_than(index.documents_of_ids(block.ids), options)
            matches = aligner.align(block.tokens, means.report, later)
            passages = match_table(
                matches, block, index, with_text=options.with_text, placer=self.placer
            )
            columns = (matches.queries, matches.query_starts, matches.documents, matches.starts)
            extents = None
            if options.summary is not None:
                extents = extents_of(matches, passages, block, index, self.hidden)
            yield Aligned(
                np.diff(block.tokens.offsets),
                block.ids.type,
                passages,
                np.stack(columns, axis=1),
                extents,
                block.n_ignored,
                block.skipped,
                aligner.take_counts(),
            )
            # Before the next ones are put together.
            del block, matches, passages, columns, extents
            if index.gives_back:
                release_memory()


def later_than(own: Int64s, options: AlignOptions) -> Later:
    """Return what documents of a collection find in it: later ones, themselves, too, or others.

    ``own`` are their numbers.
    """
    nobody = np.zeros(len(own), np.bool_)
    if options.most_times:
        # That one is contained in another does not say that this is in it.
        return Later(own, nobody, finds_before=True)
    return Later(own, ~nobody) if options.within else Later(own + 1, nobody)
