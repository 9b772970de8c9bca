"""Copies of texts with errors as a scanner makes them, at a given share of characters."""

from __future__ import annotations

import random
import re

# What is taken for what: letters of the same shape, and strokes that run together or fall apart.
CONFUSIONS = {
    "e": ("c", "o"),
    "c": ("e", "o"),
    "o": ("0", "c", "e"),
    "a": ("n", "u", "o"),
    "n": ("u", "ri", "ii"),
    "u": ("n", "ii", "v"),
    "m": ("rn", "in", "nn"),
    "rn": ("m",),
    "l": ("1", "i", "t", "I"),
    "1": ("l", "I"),
    "I": ("l", "1", "T"),
    "i": ("l", "j", "t", "1"),
    "t": ("f", "l", "i"),
    "f": ("t", "s"),
    "s": ("f", "8", "a"),
    "h": ("li", "b", "n"),
    "li": ("h",),
    "b": ("h", "6"),
    "d": ("cl", "a"),
    "cl": ("d",),
    "r": ("i", "t", "v"),
    "v": ("y", "r"),
    "w": ("vv", "iv"),
    "vv": ("w",),
    "y": ("v", "g"),
    "g": ("q", "y"),
    "p": ("n", "jp"),
    "0": ("o", "O"),
    "5": ("S", "3"),
    "S": ("8", "5"),
    "B": ("8", "R"),
    ",": (".", ";"),
    ".": (",", " "),
    ";": (",", ":"),
}
_PAIRS = tuple(pair for pair in CONFUSIONS if len(pair) == 2)


def with_errors(text: str, share: float, rng: random.Random) -> str:
    """Return a text in which about so many of a hundred characters are wrong.

    Three of five errors are confusions; the others drop or double a letter, split a word or join
    two.
    """
    made: list[str] = []
    place = 0
    while place < len(text):
        character = text[place]
        if rng.random() >= share:
            made.append(character)
            place += 1
            continue
        if character.isspace():
            # Two words are joined; a line's end is white space as before.
            made.append("" if rng.random() < 0.8 else ". ")
            place += 1
            continue
        kind = rng.random()
        pair = text[place : place + 2]
        if kind < 0.6:
            taken = pair if pair in _PAIRS else character
            made.append(rng.choice(CONFUSIONS.get(taken, ("", "'", taken.swapcase()))))
            place += len(taken)
            continue
        place += 1
        if kind < 0.75:
            continue
        made.append(character * 2 if kind < 0.85 else character + " ")
    return "".join(made)


_SECTION = re.compile(r"(?m)^(?=(?:§|SEC\.|Sec\.|SECTION|Section)\s*\d+)")


def sections(text: str, least: int = 800, most: int = 3000) -> list[str]:
    """Return the sections of a statute that have so many characters."""
    parts = (part.strip() for part in _SECTION.split(text))
    return [part for part in parts if least <= len(part) <= most]
