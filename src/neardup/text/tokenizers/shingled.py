"""Shingles in the place of tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.kernels.text import shingles
from neardup.tables import Int64s, Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.tokenizers.tokenizer import Tokenizer


@dataclass(frozen=True)
class ShingledTokenizer(Tokenizer):
    """Cuts texts into runs of ``ngram`` tokens of another tokenizer, each of which is a token.

    A run goes from the start of its first token to the end of its last; neighbours overlap. A text
    of fewer tokens is one run.
    """

    tokenizer: Tokenizer
    ngram: int

    @property
    def name(self) -> str:  # type: ignore[override]
        """Name of the tokenizer, and number of its tokens."""
        return f"{self.tokenizer.name} by {self.ngram}"

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the runs of each text."""
        return shingle_tokens(self.tokenizer.hash_tokens(texts), self.ngram)

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the runs of each text, and find where each stands."""
        tokens, spans = self.tokenizer.locate_tokens(texts)
        runs = shingle_tokens(tokens, self.ngram)
        sizes = np.diff(runs.offsets)
        firsts = np.arange(len(runs.values)) + np.repeat(
            tokens.offsets[:-1] - runs.offsets[:-1], sizes
        )
        lasts = np.minimum(firsts + self.ngram, np.repeat(tokens.offsets[1:], sizes)) - 1
        return runs, TokenSpans(spans.starts[firsts], spans.stops[lasts])


def shingle_tokens(tokens: TokenLists, ngram: int) -> TokenLists:
    """Put shingles in the place of tokens."""
    values: Uint64s = np.empty(len(tokens.values), np.uint64)
    offsets: Int64s = np.empty(len(tokens.offsets), np.int64)
    shingles.hash_shingles(tokens.values, tokens.offsets, ngram, values, offsets)
    return TokenLists(values[: offsets[-1]], offsets)
