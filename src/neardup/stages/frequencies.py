"""The stage count: in how many documents each shingle is, which decides what it weighs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from neardup.reading.signed_batches import block_frequencies

if TYPE_CHECKING:
    from neardup.engine.engine import Engine
    from neardup.files.rows import ColumnNames, RowBlock, Source
    from neardup.reading.sign import ReadingPlan
    from neardup.tables import TokenLists
    from neardup.text.weighting import DocumentFrequencies


def count_frequencies(
    engine: Engine, collections: Sequence[tuple[Sequence[Source], ColumnNames]], plan: ReadingPlan
) -> DocumentFrequencies:
    """Count in how many documents of some collections each shingle is.

    Each collection is read by its own columns. The process keeps 16 bytes per different shingle.
    """
    looks = [partial(_list_shingles, replace(plan, columns=columns)) for _, columns in collections]
    counted = [sources for sources, _ in collections]
    return engine.count("count", list(zip(counted, looks, strict=True)))


def _list_shingles(plan: ReadingPlan, _: Source, block: RowBlock) -> TokenLists:
    return block_frequencies(block, plan)
