"""Places of tokens by definition, one character at a time."""

from __future__ import annotations

import unicodedata
from functools import cache

from tests.oracles.tokens import Options, fold, roles_in_words

Places = list[tuple[str, int, int]]


def byte_length(text: str) -> int:
    return len(text.encode())


@cache
def joining_characters() -> frozenset[str]:
    """Find the characters that a composition may join to the one in front of them."""
    known = (chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000)
    decomposed = ((c, unicodedata.normalize("NFD", c)) for c in known)
    return frozenset(
        parts[-1]
        for c, parts in decomposed
        if len(parts) > 1 and unicodedata.is_normalized("NFC", c)
    )


@cache
def starts_piece(character: str, form: str) -> bool:
    """Whether normalisation treats a character independently of all that precedes it."""
    first = unicodedata.normalize("NFD" if form == "NFC" else "NFKD", character)[0]
    return unicodedata.combining(first) == 0 and first not in joining_characters()


def pieces(text: str, form: str | None) -> list[str]:
    """Cut a text into pieces that are normalised independently of each other."""
    found: list[str] = []
    for character in text:
        if found and form is not None and not starts_piece(character, form):
            found[-1] += character
        else:
            found.append(character)
    return found


def normalised_characters(text: str, form: str | None) -> Places:
    """Give each character of the normalised text, and the bytes of the text it comes from."""
    found = []
    position = 0
    for piece in pieces(text, form):
        end = position + byte_length(piece)
        normal = piece if form is None else unicodedata.normalize(form, piece)
        for character in normal:
            if normal == piece:
                stop = position + byte_length(character)
                found.append((character, position, stop))
                position = stop
            else:
                found.append((character, position, end))
        position = end
    return found


def changed_bytes(text: str, form: str | None, *, folds: bool = False) -> set[int]:
    """Give the positions of all bytes in pieces that normalisation changes.

    With ``folds`` also those of characters that fold to several.
    """
    found: set[int] = set()
    position = 0
    for piece in pieces(text, form):
        end = position + byte_length(piece)
        is_changed = form is not None and unicodedata.normalize(form, piece) != piece
        if is_changed or (folds and any(len(each.casefold()) > 1 for each in piece)):
            found |= set(range(position, end))
        position = end
    return found


def locate(text: str, kind: str, options: Options) -> list[tuple[bytes, int, int]]:
    """Give the tokens of a text, each with its place in the text's bytes."""
    if kind == "bytes":
        return [(bytes([byte]), i, i + 1) for i, byte in enumerate(text.encode())]
    return cut(normalised_characters(text, options.unicode_form), kind, options)


def cut(characters: Places, kind: str, options: Options) -> list[tuple[bytes, int, int]]:
    """Give the tokens of characters, each with its place, that of the characters it is made of."""
    tokens: list[tuple[str, int, int]] = []
    grows = adheres = False  # the last token takes up letters; or characters that fold to nothing
    text = "".join(character for character, _, _ in characters)
    if kind == "words":
        roles = roles_in_words(text)
    elif kind == "whitespace":
        roles = ["gap" if c.isspace() or c == "\0" else "part" for c in text]
    else:
        roles = ["alone"] * len(text)
    for (character, start, stop), role in zip(characters, roles, strict=True):
        folded = "" if role == "nothing" else fold(character, options)
        if role == "gap":
            grows = adheres = False
        elif not folded:
            if adheres:
                last = tokens[-1][1]
                tokens = [(t, s, stop if s == last else e) for t, s, e in tokens]
        elif role == "mark" or (role == "part" and grows):
            token, token_start, _ = tokens[-1]
            tokens[-1] = (token + folded, token_start, stop)
        else:
            parts = folded if kind == "characters" else [folded]
            tokens += [(part, start, stop) for part in parts]
            grows, adheres = role == "part", True
    return [(token.encode(), start, stop) for token, start, stop in tokens]


def place_of_folded(text: str, start: int, stop: int, options: Options) -> tuple[int, int]:
    """Give the bytes of a normalised text that characters start to stop of its folded form are.

    Characters that fold to nothing belong to what stands in front of them.
    """
    owners = [i for i, c in enumerate(text) for _ in fold(c, options)]
    first, last = owners[start], owners[stop - 1]
    while last + 1 < len(text) and not fold(text[last + 1], options):
        last += 1
    return byte_length(text[:first]), byte_length(text[: last + 1])
