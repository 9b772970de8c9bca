"""Public functions on a Spark session, with all options by their own names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import neardup
from tests.calls import grouped


def deduplicate(session: Any, data: Any, **options: Any) -> neardup.types.DeduplicationResult:
    """Deduplicate on a session."""
    return neardup.deduplicate(data, **grouped(spark=session, **options))


def find_pairs(session: Any, *data: Any, **options: Any) -> neardup.types.PairResult:
    """Find pairs on a session."""
    return neardup.find_pairs(*data, **grouped(spark=session, **options))


def align(session: Any, *data: Any, **options: Any) -> neardup.types.PassageResult:
    """Align on a session."""
    return neardup.align(*data, **grouped(spark=session, **options))


def cut(session: Any, data: Any, **options: Any) -> neardup.types.CutResult:
    """Cut on a session."""
    return neardup.cut(data, **grouped(spark=session, **options))


def search_documents(
    session: Any, index: Any, queries: Any, **options: Any
) -> neardup.types.DocumentSearchResult:
    """Search an index of documents on a session."""
    if not isinstance(index, neardup.DocumentIndex):
        index = neardup.DocumentIndex.open(index)
    # As a string it would be a text.
    queries = Path(queries) if isinstance(queries, str) else queries
    return index.search(queries, **grouped(spark=session, **options))


def search_passages(
    session: Any, index: Any, queries: Any, **options: Any
) -> neardup.types.PassageResult:
    """Search an index of passages on a session."""
    if not isinstance(index, neardup.PassageIndex):
        index = neardup.PassageIndex.open(index)
    # As a string it would be a text.
    queries = Path(queries) if isinstance(queries, str) else queries
    return index.search(queries, **grouped(spark=session, **options))
