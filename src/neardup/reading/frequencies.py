"""The stage count: in how many documents each shingle is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from neardup.files.passes import ReadingPass
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.reading.plan import ReadingPlan
from neardup.runtime.runner import Runner
from neardup.tables import Texts, TokenLists
from neardup.text.weighted_sets import frequency_lists
from neardup.text.weighting import DocumentFrequencies, count_documents


def count_shingles(
    collections: Sequence[tuple[Sequence[Source], ColumnNames]], plan: ReadingPlan, runner: Runner
) -> DocumentFrequencies:
    """Read all documents of some collections and count in how many of them each shingle is.

    Each collection has columns of its own, whatever those of the plan are.

    Notes
    -----
    Memory 16 bytes for each different shingle, and about twice that while it works.
    """

    def lists_of(own: ReadingPlan, _: Source, block: RowBlock) -> TokenLists:
        return block_frequencies(block, own)

    def counted() -> Iterator[TokenLists]:
        every = [source for sources, _ in collections for source in sources]
        reading = ReadingPass("count", every, runner)
        for sources, columns in collections:
            own = replace(plan, columns=columns)
            for _, lists in reading.map(partial(lists_of, own), sources):
                yield lists

    return count_documents(counted())


def block_frequencies(block: RowBlock, plan: ReadingPlan) -> TokenLists:
    """Return the shingles of a block's documents, skipped ones left out, as they are counted."""
    parsed = block.parse(plan.columns.only_text(), skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text.drop_null())
    return frequency_lists(plan.shingles.tokenizer.hash_tokens(texts), plan.shingles)


def with_frequencies(plan: ReadingPlan, frequencies: DocumentFrequencies) -> ReadingPlan:
    """Return the plan of weighted sets with document frequencies in it."""
    assert plan.weighted is not None
    return replace(plan, weighted=replace(plan.weighted, frequencies=frequencies))
