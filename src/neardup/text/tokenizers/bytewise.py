"""The tokenizer whose tokens are bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from neardup.kernels.common.hashing import hash_bytes
from neardup.tables import Int64s, Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.tokenizers.tokenizer import Tokenizer

_BYTE_HASHES: Uint64s = np.array([hash_bytes(bytes([b])) for b in range(256)], np.uint64)


@dataclass(frozen=True)
class ByteTokenizer(Tokenizer):
    """Every byte is a token."""

    name: Literal["bytes"] = "bytes"
    is_bytewise = True

    def hash_tokens(self, texts: Texts) -> TokenLists:
        """Hash the bytes of each text."""
        start, stop = int(texts.offsets[0]), int(texts.offsets[-1])
        return TokenLists(_BYTE_HASHES[texts.data[start:stop]], texts.offsets - start)

    def texts_of(self, lists: TokenLists) -> Texts:
        """Return the bytes that ``hash_tokens`` has hashed."""
        order = np.argsort(_BYTE_HASHES)
        data = order[np.searchsorted(_BYTE_HASHES[order], lists.values)].astype(np.uint8)
        return Texts(data, lists.offsets)

    def locate_tokens(self, texts: Texts) -> tuple[TokenLists, TokenSpans]:
        """Hash the bytes of each text, and find where each stands."""
        lists = self.hash_tokens(texts)
        starts: Int64s = np.arange(lists.offsets[-1], dtype=np.int64)
        starts -= np.repeat(lists.offsets[:-1], np.diff(lists.offsets))
        return lists, TokenSpans(starts, starts + 1)
