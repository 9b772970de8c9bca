"""The words of a corpus, hashed as an index does, and texts made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpora.texts import read_texts
from neardup.kernels.passage.staircase import Occurrences
from neardup.passages.scheme import make_passage_scheme
from neardup.passages.windows import group_occurrences
from neardup.tables import TokenLists

if TYPE_CHECKING:
    from pathlib import Path

    from neardup.tables import Uint64s


def read_words(path: Path) -> TokenLists:
    """Read the words of JSON lines."""
    return make_passage_scheme().tokenizer.hash_tokens(read_texts(path))


def one_list(values: Uint64s) -> TokenLists:
    """Make the tokens of a single text a table."""
    return TokenLists(values.copy(), np.array([0, len(values)], np.int64))


def one_text(values: Uint64s) -> Occurrences:
    """Group the tokens of a single text."""
    return group_occurrences(one_list(values))
