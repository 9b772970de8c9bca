"""Tokenize texts in slices, so that tokens stay in the processor's cache."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from neardup.reading.sign import SLICE_BYTES
from neardup.tables import Int64s, Texts, TokenLists
from neardup.text.tokenizers import Tokenizer


def hash_tokens(
    texts: Texts, tokenizer: Tokenizer, *, with_heads: bool = False
) -> tuple[Int64s, list[TokenLists]]:
    """Return the token count of each text, and the tokens of some texts at a time."""
    parts = []
    for part in texts.slices(SLICE_BYTES):
        found = tokenizer.hash_with_heads(part) if with_heads else tokenizer.hash_tokens(part)
        # A copy, because the tokenizer's buffer has one slot per byte.
        parts.append(replace(found, values=found.values.copy()))
    sizes = [np.diff(part.offsets) for part in parts]
    return np.concatenate([np.empty(0, np.int64), *sizes]), parts
