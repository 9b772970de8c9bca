"""Bring texts to a Unicode form, and map places in them back to the original texts."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from typing import Literal

import numpy as np

from neardup.kernels.text import folding
from neardup.tables import Bytes, Int64s, Texts, TokenSpans
from neardup.text.characters import ASSIGNED
from neardup.text.normalise import Normalisation

# Vowels and final consonants that join what precedes to a Hangul syllable.
_JOINING_JAMO = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))
_PRIVATE_USE = range(0xF0000, 0x110000)


@dataclass(frozen=True)
class FormedTexts:
    """Texts brought to a form piece by piece.

    ``texts`` are those in the form. Piece p is ``bounds[p] : bounds[p + 1]`` of the original
    bytes and ``formed_bounds[p] : formed_bounds[p + 1]`` of the formed ones; ``unchanged``
    tells whether these are the same. ``document_pieces`` (n + 1) gives each text's first piece.
    """

    texts: Texts
    bounds: Int64s
    formed_bounds: Int64s
    unchanged: Bytes
    document_pieces: Int64s

    def locate(self, spans: TokenSpans, token_offsets: Int64s) -> TokenSpans:
        """Give places in the texts as they were for places in the formed ones."""
        starts, stops = spans.starts.copy(), spans.stops.copy()
        folding.map_spans(
            self.bounds,
            self.formed_bounds,
            self.unchanged,
            self.document_pieces,
            token_offsets,
            starts,
            stops,
        )
        return TokenSpans(starts, stops)


def form_texts(texts: Texts, normalisation: Normalisation) -> FormedTexts | None:
    """Bring texts to the Unicode form; None if all of them stay as they are."""
    if normalisation.unicode_form is None:
        return None
    table = form_table(normalisation.unicode_form)
    n_special = folding.count_special(texts.data, texts.offsets, table)
    if not n_special:
        return None
    room = len(texts) + 1 + 2 * n_special
    bounds: Int64s = np.empty(room, np.int64)
    plain: Bytes = np.empty(room, np.uint8)
    document_pieces: Int64s = np.empty(len(texts) + 1, np.int64)
    n = int(folding.cut_pieces(texts.data, texts.offsets, table, bounds, plain, document_pieces))
    bounds, plain = bounds[: n + 1], plain[:n]
    # Plain pieces are passed by: Arrow normalises no more than some 20 MB a second.
    special = Texts(texts.data, bounds).to_arrow().take(np.flatnonzero(plain == 0))
    normal = Texts.from_arrow(normalisation.apply_form(special))
    return _joined(texts, bounds, plain, document_pieces, normal)


def _joined(
    texts: Texts, bounds: Int64s, plain: Bytes, document_pieces: Int64s, normal: Texts
) -> FormedTexts:
    """Put texts in the place of the pieces that are not plain."""
    n_plain_bytes = int(np.diff(bounds)[plain == 1].sum())
    n_bytes = n_plain_bytes + int(normal.offsets[-1] - normal.offsets[0])
    formed: Bytes = np.empty(max(n_bytes, 1), np.uint8)
    formed_bounds: Int64s = np.empty(len(bounds), np.int64)
    folding.join_pieces(
        texts.data, bounds, normal.data, normal.offsets, formed, formed_bounds, plain
    )
    formed_texts = Texts(formed, formed_bounds[document_pieces])
    return FormedTexts(formed_texts, bounds, formed_bounds, plain, document_pieces)


@lru_cache(maxsize=2)
def form_table(form: Literal["NFC", "NFKC"]) -> Bytes:
    """Tell for every code point what normalisation may do to it, as in ``kernels.text.folding``.

    A character starts a piece if the first character of its decomposition is a starter and second
    in no composition. Code points that this Python's Unicode does not know may be known to the
    library that normalises, and are taken for the worst: they may be joined to what precedes.
    """
    decomposed: Literal["NFD", "NFKD"] = "NFD" if form == "NFC" else "NFKD"
    joining = {chr(c) for c in chain(*_JOINING_JAMO)}
    for code_point in chain(*ASSIGNED):
        composed = chr(code_point)
        parts = unicodedata.decomposition(composed).split()
        # Some characters are taken apart but never put together: those are not in NFC.
        if len(parts) == 2 and parts[0][0] != "<" and unicodedata.is_normalized("NFC", composed):
            joining.add(chr(int(parts[1], 16)))
    table: Bytes = np.full(0x110000, folding.JOINED, np.uint8)
    table[_PRIVATE_USE.start : _PRIVATE_USE.stop] = folding.PLAIN
    for code_point in chain(*ASSIGNED):
        character = chr(code_point)
        first = unicodedata.normalize(decomposed, character)[0]
        if (
            unicodedata.category(character) == "Cn"
            or unicodedata.combining(first)
            or first in joining
        ):
            continue
        stays = unicodedata.is_normalized(form, character)
        table[code_point] = folding.PLAIN if stays else folding.CHANGED
    return table
