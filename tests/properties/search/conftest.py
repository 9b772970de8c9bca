"""Searches of small indexes as if they were large."""

from __future__ import annotations

from collections.abc import Iterator
from unittest.mock import patch

import pytest


@pytest.fixture(scope="module", autouse=True)
def _as_if_large() -> Iterator[None]:
    """Do not wait for the disk, and let few queries and windows do what else many do."""
    with (
        patch("os.fsync", lambda _: None),
        patch("neardup.passages.passage_lookup._CHUNK", 1),
        patch("neardup.passages.passage_segment._FIRST_ROOM", 1),
        patch("neardup.passages.segment_search._ROWS_OF_REGION", 1),
    ):
        yield
