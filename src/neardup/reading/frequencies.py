"""The stage count: in how many documents each shingle is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neardup.files.passes import ReadingPass
from neardup.files.rows import RowBlock, Source
from neardup.reading.plan import ReadingPlan
from neardup.runtime.runner import Runner
from neardup.tables import Texts, TokenLists
from neardup.text.weighted_sets import frequency_lists
from neardup.text.weighting import DocumentFrequencies, count_documents


def count_shingles(
    collections: Sequence[Sequence[Source]], plan: ReadingPlan, runner: Runner
) -> DocumentFrequencies:
    """Read all documents of some collections and count in how many of them each shingle is.

    Notes
    -----
    Memory 16 bytes for each different shingle, and about twice that while it works.
    """
    every = [source for sources in collections for source in sources]
    reading = ReadingPass("count", every, runner)
    counted = reading.map(lambda _, block: block_frequencies(block, plan), every)
    return count_documents(lists for _, lists in counted)


def block_frequencies(block: RowBlock, plan: ReadingPlan) -> TokenLists:
    """Return the shingles of a block's documents, skipped ones left out, as they are counted."""
    parsed = block.parse(plan.columns.only_text(), skip_bad=plan.skip_bad)
    texts = Texts.from_arrow(parsed.text.drop_null())
    return frequency_lists(plan.shingles.tokenizer.hash_tokens(texts), plan.shingles)


def with_frequencies(plan: ReadingPlan, frequencies: DocumentFrequencies) -> ReadingPlan:
    """Return the plan of weighted sets with document frequencies in it."""
    assert plan.weighted is not None
    return replace(plan, weighted=replace(plan.weighted, frequencies=frequencies))
