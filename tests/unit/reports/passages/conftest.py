"""Passages made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from neardup.reports.passages.model import Document, Documents, Passages, Spans


@pytest.fixture
def make_passages():
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
        return Passages(Documents.of(documents), Spans(*columns, similarities), is_one, **more)

    return make
