"""For tokenizers that cut Python strings: the strings, hashes of what comes of them, and places."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import hash_bytes
from neardup.tables import Int64s, Texts, TokenLists, TokenSpans, Uint64s
from neardup.text.forms import form_texts
from neardup.text.normalise import Normalisation

Place = tuple[int, int]
"""Where a token stands, in characters of the string that was cut; the stop is exclusive."""

Cut = Callable[[list[str]], tuple[TokenLists, Sequence[Sequence[Place]]]]
"""Cuts strings into tokens, each with its place."""


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


def locate_strings(
    texts: Texts, normalisation: Normalisation, cut: Cut
) -> tuple[TokenLists, TokenSpans]:
    """Cut texts as strings, normalised and folded; find where in the texts the tokens stand."""
    formed = form_texts(texts, normalisation)
    strings = (texts if formed is None else formed.texts).to_arrow().to_pylist()
    lists, places = cut([normalisation.fold_text(string) for string in strings])
    starts: Int64s = np.empty(len(lists.values), np.int64)
    stops: Int64s = np.empty(len(lists.values), np.int64)
    for d, (string, of_string) in enumerate(zip(strings, places, strict=True)):
        edges = _folded_edges(string, normalisation)
        offsets: Int64s = np.array(of_string, np.int64).reshape(-1, 2)
        rows = slice(lists.offsets[d], lists.offsets[d + 1])
        starts[rows] = edges[0][offsets[:, 0]]
        stops[rows] = edges[1][offsets[:, 1]]
    found = TokenSpans(starts, stops)
    return lists, found if formed is None else formed.locate(found, lists.offsets)


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


def _folded_edges(text: str, normalisation: Normalisation) -> tuple[Int64s, Int64s]:
    """Find where in a text's bytes a span of characters of the folded text starts and stops.

    Both arrays have one value more than the folded text has characters. A place inside what one
    character has become is the start or the stop of that character; dropped characters belong to
    the one before them.
    """
    sizes = {c: (len(c.encode()), len(normalisation.fold(c))) for c in set(text)}
    starts, stops = [], [0]
    position, n_last = 0, 1
    for character in text:
        n_bytes, n_folded = sizes[character]
        starts += [position] * n_folded
        position += n_bytes
        if n_folded:
            stops += [position] * n_folded
            n_last = n_folded
        else:
            # All places in what the character before has become: its stop has moved.
            stops[-n_last:] = [position] * n_last
    return np.array([*starts, position], np.int64), np.array(stops, np.int64)
