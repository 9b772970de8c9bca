"""Texts as neardup's tables, and made-up texts."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from benchmarks.corpora.lines import read_strings
from neardup.tables import Texts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

LETTERS = np.array(list(string.ascii_lowercase))


def make_texts(strings: Sequence[str]) -> Texts:
    """Put strings into one Arrow string array."""
    return Texts.from_arrow(pa.array(strings, pa.large_string()))


def read_texts(path: Path) -> Texts:
    """Read the texts of a JSON lines file."""
    return make_texts(read_strings(path))


def draw_words(generator: np.random.Generator, count: int) -> npt.NDArray[np.str_]:
    """Make up words that are as long as English ones."""
    lengths = generator.integers(2, 10, count)
    return np.array(["".join(generator.choice(LETTERS, length)) for length in lengths])


def draw_text(generator: np.random.Generator, vocabulary: int, n_words: int) -> str:
    """Make a text up, of so many words out of a vocabulary whose first ones are the commonest."""
    words = draw_words(generator, vocabulary)
    ranks = np.minimum(generator.zipf(1.3, n_words) - 1, vocabulary - 1)
    return " ".join(words[ranks])
