"""Bibliographic entries as plain text: fields of BibTeX, and LaTeX's accents as letters."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

# The combining mark that each of LaTeX's accents puts on the letter after it.
MARKS = {
    "`": "\u0300",
    "'": "\u0301",
    "^": "\u0302",
    "~": "\u0303",
    "=": "\u0304",
    "u": "\u0306",
    ".": "\u0307",
    '"': "\u0308",
    "r": "\u030a",
    "H": "\u030b",
    "v": "\u030c",
    "d": "\u0323",
    "textcommabelow": "\u0326",
    "c": "\u0327",
    "k": "\u0328",
}
LETTERS = (
    {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "aa": "å", "AA": "Å", "i": "ı"}
    | {"o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "dh": "ð", "DH": "Ð", "dj": "đ", "DJ": "Đ"}
    | {"th": "þ", "TH": "Þ", "ldots": "...", "textdollar": "$", "textdegree": "°"}
    | {"textless": "<", "textgreater": ">", "textasciitilde": " ", "textasciicircum": "^"}
    | {"textbackslash": "", "texttimes": "×", "texteuro": "€", "textregistered": "®"}
)
STYLES = ("emph", "mbox", "textit", "textbf", "mathbb", "mathrm", "mathcal", "mathscr", "url")

find_entry_key = re.compile(r"@\w+\s*\{\s*([^,\s]+)").search
accents = re.compile(
    r"\\(?:([`'^\"~=.])|([uvrHdck]|textcommabelow)(?![A-Za-z]))\s*\{?\\?([A-Za-z])\}?"
)
invisible = re.compile(r"\\unicode\{\d+\}|\\[()]|(?<!\\)\$")
commands = re.compile(r"\\([A-Za-z]+)\s*")


class Entry(NamedTuple):
    """One publication."""

    key: str
    authors: list[str]
    title: str


def parse_entry(entry: str) -> Entry:
    """Read the key, the authors and the title of a BibTeX entry."""
    key = find_entry_key(entry)
    names = re.split(r"\s+and\s+", field(entry, "author").strip())
    return Entry(
        key=key.group(1) if key else "",
        authors=[name for name in map(person, names) if name],
        title=plain(field(entry, "title")),
    )


def field(entry: str, name: str) -> str:
    """Return what is between the braces or quotes of a field; empty if there is no such field."""
    start = re.search(rf'^\s*{name}\s*=\s*([{{"])', entry, re.MULTILINE | re.IGNORECASE)
    if start is None:
        return ""
    closing = "}" if start.group(1) == "{" else '"'
    depth = 0
    for place in range(start.end(), len(entry)):
        character = entry[place]
        if depth == 0 and character == closing:
            return entry[start.end() : place]
        depth += (character == "{") - (character == "}")
    return ""


def person(name: str) -> str:
    """Return a name as it is spoken: what is behind the last comma goes first."""
    family, _, given = name.rpartition(",")
    return plain(f"{given} {family.replace(',', ' ')}")


def plain(text: str) -> str:
    """Turn LaTeX's accents into letters, leave its braces and commands out, collapse blanks."""
    text = invisible.sub("", text)
    text = re.sub(r"(?<!\\)~", " ", text)
    text = accents.sub(lambda m: m.group(3) + MARKS[m.group(1) or m.group(2)], text)
    text = commands.sub(lambda m: _meaning(m.group(1)), text)
    text = re.sub(r"[\\{}]", "", text)
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _meaning(command: str) -> str:
    """Return the text of a command; commands that are not known, of formulas, are spelled out."""
    return "" if command in STYLES else LETTERS.get(command, command)
