"""Strings as the tables that neardup's stages take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from benchmarks.corpora.lines import read_strings
from neardup.tables import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def make_texts(strings: Sequence[str]) -> Texts:
    """Put strings into one Arrow string array."""
    return Texts.from_arrow(pa.array(strings, pa.large_string()))


def read_texts(path: Path) -> Texts:
    """Read the texts of a JSON lines file."""
    return make_texts(read_strings(path))
