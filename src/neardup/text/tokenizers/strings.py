"""For tokenizers that cut Python strings: the strings, and the hashes of what comes of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.hashing import hash_bytes
from neardup.tables import Int64s, Texts, TokenLists, Uint64s
from neardup.text.normalise import Normalisation


def folded_strings(texts: Texts, normalisation: Normalisation) -> list[str]:
    """Return texts as strings, normalised and folded."""
    strings: list[str] = normalisation.apply_form(texts.to_arrow()).to_pylist()
    return [normalisation.fold_text(string) for string in strings]


def hash_lists(lists: Sequence[Sequence[str | int]]) -> TokenLists:
    """Hash the tokens of each text: strings as their UTF-8 bytes, integers as 8 bytes.

    Raises
    ------
    InvalidParameterError
        For anything else, and what cannot be hashed.
    """
    offsets: Int64s = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(tokens) for tokens in lists], out=offsets[1:])
    known: dict[tuple[type, str | int], int] = {}
    values: Uint64s = np.empty(offsets[-1], np.uint64)
    for start, tokens_of_text in zip(offsets[:-1], lists, strict=True):
        for i, token in enumerate(tokens_of_text):
            # With its type, because 1 and 1.0 and True are the same key.
            key = (type(token), token)
            if key not in known:
                known[key] = _hash_token(token)
            values[start + i] = known[key]
    return TokenLists(values, offsets)


def _hash_token(token: object) -> int:
    try:
        if isinstance(token, str):
            return hash_bytes(token.encode())
        if isinstance(token, (int, np.integer)):
            return hash_bytes(int(token).to_bytes(8, "little", signed=True))
    except (UnicodeEncodeError, OverflowError) as error:
        message = f"a tokenizer returned {token!r}, which cannot be hashed: {error}"
        raise InvalidParameterError(message) from None
    message = f"a tokenizer must return strings or integers, got {type(token).__name__}"
    raise InvalidParameterError(message)
