"""The tokenizer whose tokens are lines."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.tables import Bytes, Texts, TokenLists, TokenSpans
from neardup.text.tokenizers.tables import TableTokenizer


@dataclass(frozen=True)
class LineTokenizer(TableTokenizer):
    r"""Every line that is not blank is a token.

    A line ends with ``\n``, ``\r\n`` or ``\r``, and at U+0000. White space at its end is no part of
    it, that at its beginning is.
    """

    def _hash(self, texts: Texts) -> TokenLists:
        return super()._hash(_trimmed(texts))

    def _locate(self, texts: Texts, n_tokens: int) -> TokenSpans:
        return super()._locate(_trimmed(texts), n_tokens)


def _trimmed(texts: Texts) -> Texts:
    """Return texts with newlines for white space at the ends of lines, so that places stay."""
    # Only this tokenizer needs it.
    from neardup.kernels.text.tokens import trim_lines

    start, stop = int(texts.offsets[0]), int(texts.offsets[-1])
    data: Bytes = np.empty(stop - start, np.uint8)
    trim_lines(texts.data, texts.offsets, data)
    return Texts(data, texts.offsets - start)
