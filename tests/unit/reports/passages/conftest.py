"""Passages made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.reports.passages.model import Document, Documents, Passages, Spans, StoredSpans
from neardup.runs.work import IN_MEMORY, WorkFolder, Workspace


@pytest.fixture(params=["in memory", "in files"])
def workspace(request, tmp_path):
    """Hold everything in memory, or next to nothing."""
    if request.param == "in memory":
        yield IN_MEMORY
        return
    with Workspace(400, WorkFolder.temporary(tmp_path)) as few:
        yield few


@pytest.fixture
def make_passages(workspace):
    """Make passages of texts (None: not known) and rows (query, place, doc, place, similarity)."""

    def make(texts, rows, *, is_one=True, files=None, lengths=None, **more):
        columns = [
            np.array([row[k] for row in rows], np.int64) if rows else np.empty(0, np.int64)
            for k in range(6)
        ]
        similarities = np.array([row[6] for row in rows], np.float64)
        documents = [
            Document(
                f"d{k}",
                files[k] if files else None,
                lengths[k] if lengths else len(text or ""),
                text,
                k,
            )
            for k, text in enumerate(texts)
        ]
        spans = Spans(*columns, similarities, np.arange(len(rows)))
        # Some at a time, as a table is read.
        step = max(2, len(rows) // 5)
        parts = [
            spans.take(some)
            for some in np.split(np.arange(len(rows)), range(step, len(rows), step))
        ]
        stored = StoredSpans(lambda: parts, len(rows), workspace)
        return Passages(Documents.of(documents), stored, is_one, **more)

    return make
