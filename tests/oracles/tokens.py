"""Tokens by definition, one character at a time."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

# Blocks of scripts that are written without spaces between words.
UNSPACED = (
    (0x0E00, 0x0EFF),
    (0x1000, 0x109F),
    (0x1780, 0x17FF),
    (0x1950, 0x19DF),
    (0x1A20, 0x1AAF),
    (0x2E80, 0x2FDF),
    (0x3005, 0x3007),
    (0x3021, 0x3029),
    (0x3031, 0x303C),
    (0x3040, 0x312F),
    (0x31A0, 0x31BF),
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xA9E0, 0xA9FF),
    (0xAA60, 0xAADF),
    (0xF900, 0xFAFF),
    (0xFF66, 0xFF9F),
    (0x1AFF0, 0x1B16F),
    (0x20000, 0x33479),
)


@dataclass(frozen=True)
class Options:
    """Differences between texts that do not count."""

    casefold: bool = True
    unicode_form: str | None = None
    strip_accents: bool = False


def fold(character: str, options: Options) -> str:
    """Give what stands for a character; empty if it does not count."""
    if options.casefold:
        character = character.casefold()
    if options.strip_accents:
        parts = unicodedata.normalize("NFD", character)
        bare = "".join(part for part in parts if unicodedata.category(part) != "Mn")
        if bare != parts:
            character = unicodedata.normalize("NFC", bare)
    return character


def is_unspaced(character: str) -> bool:
    return any(first <= ord(character) <= last for first, last in UNSPACED)


# Marks that only choose a glyph or a line break.
INVISIBLE_MARKS = {0x034F, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F}
INVISIBLE_MARKS |= {*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}


def is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M"


def is_invisible(character: str) -> bool:
    return ord(character) in INVISIBLE_MARKS or unicodedata.category(character) == "Cf"


def roles_in_words(text: str) -> list[str]:
    """Give the part of each character in words.

    A ``gap``, ``part`` of a word, ``alone`` as a letter of an unspaced script, a ``mark`` of the
    letter or digit before it, or ``nothing``.
    """
    roles = []
    takes_marks = False
    for character in text:
        is_letter = unicodedata.category(character)[0] in "LN"
        if is_invisible(character) or (is_mark(character) and not takes_marks):
            roles.append("nothing")
        elif is_mark(character):
            roles.append("mark")
        else:
            takes_marks = is_letter
            role = "alone" if is_unspaced(character) else "part"
            roles.append(role if is_letter or character == "_" else "gap")
    return roles


def tokenize(text: str, kind: str, options: Options) -> list[bytes]:
    """Cut a text into tokens of folded UTF-8: words, whitespace, characters or bytes."""
    if kind == "bytes":
        return [bytes([byte]) for byte in text.encode()]
    if options.unicode_form is not None:
        text = unicodedata.normalize(options.unicode_form, text)
    if kind == "characters":
        folded = [fold(character, options) for character in text]
        return [part.encode() for part in "".join(folded)]
    tokens, current, is_alone = [], "", False
    if kind == "words":
        roles = roles_in_words(text)
    else:
        # Zero bytes are used to separate tokens, so U+0000 has to be white space.
        roles = ["gap" if c.isspace() or c == "\0" else "part" for c in text]
    for character, role in zip(text, roles, strict=True):
        folded = "" if role in ("gap", "nothing") else fold(character, options)
        if role == "gap" or (folded and (role == "alone" or (role == "part" and is_alone))):
            tokens.append(current)
            current, is_alone = "", False
        if folded and role != "mark":
            is_alone = role == "alone"
        current += folded
    tokens.append(current)
    return [token.encode() for token in tokens if token]
