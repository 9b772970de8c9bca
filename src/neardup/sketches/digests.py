"""Digests beside sketches: whether two documents are the same, token for token.

Sketches of documents that differ little are often equal; digests are equal for exact copies only.
They are made under the seed of a scheme, so that one who does not know it can test no guess.
"""

from __future__ import annotations

from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from neardup.kernels.common.hashing import mix_words
from neardup.tables import Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.shingles import digest_token_lists
from neardup.text.tokenizers import Tokenizer

if TYPE_CHECKING:
    import pyarrow as pa

DIGEST_BYTES = 16


class RememberingTokenizer(Tokenizer):
    """A tokenizer that keeps the tokens of the texts that it has cut last.

    Sketches and digests are made of the same tokens, and cutting takes the most time.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.name = tokenizer.name
        self.is_bytewise = tokenizer.is_bytewise
        self._tokenizer = tokenizer
        self._last: tuple[Texts, TokenLists] | None = None

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the tokens of each text, unless they were the last."""
        if self._last is None or self._last[0] is not texts:
            self._last = texts, self._tokenizer.hash_tokens(texts)
        return self._last[1]

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the tokens of each text, and find their places."""
        return self._tokenizer.locate_tokens(texts)


def digest_tokens(tokens: TokenLists, seed: int) -> Uint64s:
    """Digest token sequences to 128 bits under a seed, shape (n, 2).

    Half j, 0 or 1, of the digest of exact copies is xored with mix64(mix64(seed) ^ mix64(j + 1)),
    and mixed.
    """
    with np.errstate(over="ignore"):
        keys = mix_words(mix_words(np.uint64(seed)) ^ mix_words(np.array([1, 2], np.uint64)))
        return mix_words(digest_token_lists(tokens) ^ keys)


def digest_texts(texts: Texts, seed: int) -> Uint64s:
    """Digest texts that are cut into no tokens to 128 bits under a seed, shape (n, 2).

    BLAKE2b of their UTF-8, with the eight bytes of the seed, lowest first, as its key.
    """
    key = seed.to_bytes(8, "little")
    data = texts.data.data
    digests = b"".join(
        blake2b(data[start:stop], digest_size=DIGEST_BYTES, key=key).digest()
        for start, stop in pairwise(texts.offsets.tolist())
    )
    halves: Uint64s = np.frombuffer(digests, "<u8").reshape(-1, 2).astype(np.uint64)
    return halves


def to_column(digests: Uint64s) -> pa.Array:
    """Return digests as a column of 16 bytes each, lowest first in either half."""
    import pyarrow as pa

    data = pa.py_buffer(np.ascontiguousarray(digests, "<u8"))
    return pa.Array.from_buffers(pa.binary(DIGEST_BYTES), len(digests), [None, data])


def no_digests(n: int) -> pa.Array:
    """Return the column of documents whose digests are not known."""
    import pyarrow as pa

    return pa.nulls(n, pa.binary(DIGEST_BYTES))
