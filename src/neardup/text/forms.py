"""Normalise texts to a Unicode form, and map positions back."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np
import pyarrow as pa

from neardup.kernels.text.folding import (
    CLASS_SHIFT,
    IGNORED,
    LENGTH_SHIFT,
    MARK,
    SEPARATOR,
    SEVERAL,
    SINGLE,
    WORD,
)
from neardup.options.choices import UnicodeForm
from neardup.options.groups import NormalOptions
from neardup.tables import Bools, Bytes, Int64s, Texts, TokenSpans, Uint64s

# Vowels and final consonants that join what precedes to a Hangul syllable.
_JOINING_JAMO = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))


@dataclass(frozen=True)
class FormedTexts:
    """Texts in a Unicode form, with the original and the formed strings."""

    texts: Texts
    form: UnicodeForm
    originals: list[str]
    formed: list[str]

    def locate(self, spans: TokenSpans, token_offsets: Int64s) -> TokenSpans:
        """Map positions in the formed texts to the original texts.

        A token that touches a changed piece of a text gets all of it.
        """
        starts, stops = spans.starts.copy(), spans.stops.copy()
        for d, (original, formed) in enumerate(zip(self.originals, self.formed, strict=True)):
            own = slice(token_offsets[d], token_offsets[d + 1])
            if original == formed or own.start == own.stop:
                continue
            pieces, formed_pieces = _cut_pieces(original, self.form)
            bounds, formed_bounds = _edges(pieces), _edges(formed_pieces)
            is_same = np.array([a == b for a, b in zip(pieces, formed_pieces, strict=True)])
            last = len(pieces) - 1
            at = np.minimum(np.searchsorted(formed_bounds, starts[own], side="right") - 1, last)
            inside = np.where(is_same[at], starts[own] - formed_bounds[at], 0)
            starts[own] = bounds[at] + inside
            at = np.maximum(np.searchsorted(formed_bounds, stops[own]) - 1, at)
            beyond = np.where(is_same[at], formed_bounds[at + 1] - stops[own], 0)
            stops[own] = bounds[at + 1] - beyond
        return TokenSpans(starts, stops)


def _edges(pieces: list[str]) -> Int64s:
    """Return the positions between pieces in bytes."""
    return np.cumsum([0, *(len(piece.encode()) for piece in pieces)], dtype=np.int64)


def form_texts(texts: Texts, normalisation: Normalisation) -> FormedTexts | None:
    """Convert texts to the Unicode form, None if unchanged."""
    form = normalisation.unicode_form
    data = texts.data[int(texts.offsets[0]) : int(texts.offsets[-1])]
    if form is None or not (data >= 128).any():
        return None
    originals = texts.to_arrow().to_pylist()
    formed = [
        text if unicodedata.is_normalized(form, text) else unicodedata.normalize(form, text)
        for text in originals
    ]
    if formed == originals:
        return None
    formed_texts = Texts.from_arrow(pa.array(formed, pa.large_string()))
    return FormedTexts(formed_texts, form, originals, formed)


def _cut_pieces(text: str, form: UnicodeForm) -> tuple[list[str], list[str]]:
    """Cut a text into pieces that are formed independently, and form them.

    A piece is a run of characters that stay, or one character and all that may be joined to it.
    """
    begins = {c: _begins_piece(c, form) for c in set(text)}
    joined = "".join(re.escape(c) for c, is_begin in begins.items() if not is_begin)
    changed = "".join(
        re.escape(c)
        for c, is_begin in begins.items()
        if is_begin and not unicodedata.is_normalized(form, c)
    )
    patterns = [f"[^{joined}][{joined}]+|^[{joined}]+"] if joined else []
    patterns += [f"[{changed}]"] if changed else []
    pieces, formed, last = [], [], 0
    for match in re.finditer("|".join(patterns), text):
        start, stop = match.span()
        if start > last:
            pieces.append(text[last:start])
            formed.append(text[last:start])
        pieces.append(match[0])
        formed.append(unicodedata.normalize(form, match[0]))
        last = stop
    if last < len(text):
        pieces.append(text[last:])
        formed.append(text[last:])
    return pieces, formed


@lru_cache(maxsize=1 << 16)
def _begins_piece(character: str, form: UnicodeForm) -> bool:
    """Return whether a character is never joined to the text before.

    Its decomposition starts with a starter that is not second in any composition. A code point that
    this Python does not know counts as joined.
    """
    decomposed: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
    first = unicodedata.normalize(decomposed, character)[0]
    return not (
        unicodedata.category(character) == "Cn"
        or unicodedata.combining(first)
        or first in _joining()
    )


@lru_cache(maxsize=1)
def _joining() -> set[str]:
    """Return the characters that are second in a composition."""
    joining = {chr(c) for c in chain(*_JOINING_JAMO)}
    for code_point in chain(*ASSIGNED):
        composed = chr(code_point)
        parts = unicodedata.decomposition(composed).split()
        # Some characters are decomposed but never composed, so that they are not in NFC.
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.is_normalized("NFC", composed):
            joining.add(chr(int(parts[1], 16)))
    return joining


class Normalisation(NormalOptions):
    """Differences that are folded away before tokens are compared.

    ``casefold`` is Unicode's full case folding. ``unicode_form``, NFC or NFKC, brings the whole
    text to that normalisation form first. With ``strip_accents`` combining marks do not count: é is
    e. ``stem`` is the language whose stems are compared instead of words.
    """

    casefold: bool = True

    @property
    def folds(self) -> bool:
        """Return whether single characters are folded."""
        return self.casefold or self.strip_accents

    def fold_character(self, character: str) -> str:
        """Return the folded form of a character, maybe empty."""
        if self.casefold:
            character = character.casefold()
        if self.strip_accents and not character.isascii():
            parts = unicodedata.normalize("NFD", character)
            bare = "".join(c for c in parts if unicodedata.category(c) != "Mn")
            if bare != parts:
                character = unicodedata.normalize("NFC", bare)
        return character

    def fold_text(self, text: str) -> str:
        """Fold every character of a text and return a string."""
        if self.strip_accents:
            return "".join(map(self.fold_character, text))
        # Case folding works on each character by itself.
        return text.casefold() if self.casefold else text

    def describe(self) -> dict[str, object]:
        """Return these options as plain values, for schemes and summaries."""
        return dict(vars(self))


# Character tables for the tokenizing kernels, worked out from Python's ``unicodedata``.
#
# The tables decide, for each code point, its part in tokens (kernels/text/folding.py) and the UTF-8
# bytes that stand for it after folding. They depend on Python's Unicode version, which is
# therefore part of every scheme.


# Blocks of scripts that are written without spaces between words: each of their letters and digits
# is a token, together with the marks after it. Han, kana and bopomofo with their extensions; Thai,
# Lao, Myanmar, Khmer; Tai scripts of the same tradition; halfwidth kana.
UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x2FDF),  # CJK radicals
    (0x3005, 0x3007),  # ideographic iteration mark, closing mark, zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x303C),  # kana repeat marks, vertical ideographic marks
    (0x3040, 0x312F),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31BF),  # Bopomofo extended
    (0x31F0, 0x31FF),  # Katakana phonetic extensions
    (0x3400, 0x4DBF),  # CJK extension A
    (0x4E00, 0x9FFF),  # CJK unified ideographs
    (0xA9E0, 0xA9FF),  # Myanmar extended B
    (0xAA60, 0xAADF),  # Myanmar extended A, Tai Viet
    (0xF900, 0xFAFF),  # CJK compatibility ideographs
    (0xFF66, 0xFF9F),  # halfwidth Katakana
    (0x1AFF0, 0x1B16F),  # kana extensions and supplements
    (0x20000, 0x33479),  # CJK extensions B to J and compatibility supplement
)

# Marks that only choose a glyph or a line break (Default_Ignorable_Code_Point of Unicode): the
# combining grapheme joiner, Khmer inherent vowels, variation selectors.
IGNORED_MARKS = (
    *(0x034F, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F),
    *range(0xFE00, 0xFE10),
    *range(0xE0100, 0xE01F0),
)

_N_CODE_POINTS = 0x110000
_PLANE = 0x10000

# Assigned characters end here but for variation selectors and tags, all of them marks or formats.
ASSIGNED = (range(0xD800), range(0xE000, 0x33480), range(0xE0000, 0xE01F0))


@lru_cache(maxsize=16)
def token_tables(rule: str, normalisation: Normalisation) -> tuple[Bytes, Uint64s]:
    """Return the tables of a tokenizer's rule, one of ``RULES``.

    They have a byte per ASCII character and an entry per code point (``kernels.text.folding``).
    """
    # Tables of single characters, equal for many options.
    return _token_tables(rule, normalisation.but(unicode_form=None, stem=None))


@lru_cache(maxsize=8)
def _token_tables(rule: str, normalisation: Normalisation) -> tuple[Bytes, Uint64s]:
    table = _plain_entries()
    classes = RULES[rule]()
    code_points, entries = _folds(normalisation)
    table[code_points] = entries
    # Characters that fold to nothing only count as separators.
    dropped = code_points[(entries >> LENGTH_SHIFT) == 0]
    classes[dropped[classes[dropped] != SEPARATOR]] = IGNORED
    if rule == "characters":
        classes[code_points[_are_several(entries)]] = SEVERAL
    for start in range(0, _N_CODE_POINTS, _PLANE):
        plane = slice(start, start + _PLANE)
        table[plane] |= classes[plane].astype(np.uint64) << CLASS_SHIFT
    ascii_table = np.where(classes[:128] == SEPARATOR, 0, table[:128] & np.uint64(0xFF))
    return ascii_table.astype(np.uint8), table


# The tables of all rules share the folds of a normalisation.
@lru_cache(maxsize=8)
def _folds(normalisation: Normalisation) -> tuple[Int64s, Uint64s]:
    """Find the characters that folding changes, and their entries."""
    folds: dict[int, np.uint64] = {}
    for row in _rows():
        # Most scripts have neither case nor accents, so that most rows need no second look.
        if normalisation.fold_text(row) != row:
            folded = ((character, normalisation.fold_character(character)) for character in row)
            folds |= {ord(c): _entry(fold.encode()) for c, fold in folded if fold != c}
    return np.array(list(folds), np.int64), np.array(list(folds.values()), np.uint64)


def _rows() -> Iterator[str]:
    for code_points in ASSIGNED:
        numbers = np.arange(code_points.start, code_points.stop, dtype="<u4")
        characters = numbers.tobytes().decode("utf-32-le")
        for start in range(0, len(characters), 64):
            yield characters[start : start + 64]


def _code_points(rows: Iterable[str]) -> Int64s:
    return np.frombuffer("".join(rows).encode("utf-32-le"), "<u4").astype(np.int64)


def _all_single() -> Bytes:
    return np.full(_N_CODE_POINTS, SINGLE, np.uint8)


def _between_spaces() -> Bytes:
    classes = np.full(_N_CODE_POINTS, WORD, np.uint8)
    spaces = [c for c in chain(*ASSIGNED) if chr(c).isspace()]
    # Zero bytes end tokens in the folded text, so U+0000 must be a separator too.
    classes[[0, *spaces]] = SEPARATOR
    return classes


def _words() -> Bytes:
    """Return code point classes for words and unspaced scripts.

    By rule WB4 of Unicode's word boundaries (UAX 29) marks and format characters never separate.
    """
    classes = np.full(_N_CODE_POINTS, SEPARATOR, np.uint8)
    # Most characters are in rows of nothing but letters, which need no look at each of them.
    rows = [(row, row.isalpha()) for row in _rows()]
    classes[_code_points(row for row, is_alpha in rows if is_alpha)] = WORD
    others = _code_points(row for row, is_alpha in rows if not is_alpha)
    names = "".join([unicodedata.category(chr(c)) for c in others.tolist()]).encode()
    major, minor = np.frombuffer(names, np.uint8).reshape(-1, 2).T
    classes[others[(major == ord("L")) | (major == ord("N"))]] = WORD
    classes[others[major == ord("M")]] = MARK
    classes[others[(major == ord("C")) & (minor == ord("f"))]] = IGNORED
    classes[ord("_")] = WORD
    classes[list(IGNORED_MARKS)] = IGNORED
    for first, last in UNSPACED_BLOCKS:
        block = classes[first : last + 1]
        block[block == WORD] = SINGLE
    return classes


RULES: dict[str, Callable[[], Bytes]] = {
    "words": _words,
    "whitespace": _between_spaces,
    "characters": _all_single,
}
"""For each tokenizer by characters the part of every code point; see ``kernels.text.folding``."""


def _entry(folded: bytes) -> np.uint64:
    if len(folded) > 7:
        message = f"a character folds to {len(folded)} bytes; the table has room for 7"
        raise AssertionError(message)
    return np.uint64(int.from_bytes(folded, "little")) | np.uint64(len(folded)) << LENGTH_SHIFT


def _are_several(entries: Uint64s) -> Bools:
    """Return a mask of entries with more than one character."""
    # An entry is up to seven bytes of UTF-8, and their number in the low bits of its last byte.
    folded = entries.astype("<u8").view(np.uint8).reshape(-1, 8)
    is_used = np.arange(7) < (folded[:, 7:] & 15)
    begins_character = (folded[:, :7] & 0xC0) != 0x80
    several: Bools = (is_used & begins_character).sum(axis=1) > 1
    return several


def _plain_entries() -> Uint64s:
    table: Uint64s = np.empty(_N_CODE_POINTS, np.uint64)
    # A code point's UTF-8, the first byte lowest, and the number of bytes from bit 56 on.
    table[:0x80] = np.arange(0x80) | 1 << 56
    # The last byte has six bits of the code point, so that only it differs among 64 of them.
    lasts = np.arange(0x80, 0xC0)
    for n_bytes, start, stop in ((2, 0x80, 0x800), (3, 0x800, 0x10000), (4, 0x10000, 0x110000)):
        rest = np.arange(start, stop, 64) >> 6
        before = 0x80 | rest & 0x3F
        if n_bytes == 2:
            heads = 0xC0 | rest
        elif n_bytes == 3:
            heads = 0xE0 | rest >> 6 | before << 8
        else:
            heads = 0xF0 | rest >> 12 | (0x80 | rest >> 6 & 0x3F) << 8 | before << 16
        rows = table[start:stop].reshape(-1, 64)
        heads |= n_bytes << 56
        np.bitwise_or.outer(heads, lasts << 8 * (n_bytes - 1), out=rows.view(np.int64))
    return table
