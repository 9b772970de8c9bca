"""Texts as they are compared: in a Unicode form, with words replaced; and the way back.

Words are replaced in texts, not among tokens: edits, runs of characters and a tokenizer of the
user's are of texts. They are found by the hashes of words, as ``--tokenizer words`` cuts them,
folded as tokens are, whatever the tokenizer.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from neardup.kernels.text import folding, phrases
from neardup.tables import Bytes, Int64s, Texts, TokenSpans, Uint64s, offsets_of
from neardup.text.characters import ASSIGNED, hash_by_table, locate_by_table
from neardup.text.normalise import Normalisation

if TYPE_CHECKING:
    import pyarrow as pa

# Vowels and final consonants that join what precedes to a Hangul syllable.
_JOINING_JAMO = (range(0x1161, 0x1176), range(0x11A8, 0x11C3))
_PRIVATE_USE = range(0xF0000, 0x110000)


@dataclass(frozen=True)
class FormedTexts:
    """Texts brought to a form piece by piece.

    ``texts`` are those in the form. Piece p is ``bounds[p] : bounds[p + 1]`` of the original
    bytes and ``formed_bounds[p] : formed_bounds[p + 1]`` of the formed ones; ``unchanged``
    tells whether these are the same. ``document_pieces`` (n + 1) gives each text's first piece.
    Where the original texts are in a form themselves, ``before`` says how they came to it.
    """

    texts: Texts
    bounds: Int64s
    formed_bounds: Int64s
    unchanged: Bytes
    document_pieces: Int64s
    before: FormedTexts | None = None

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
        found = TokenSpans(starts, stops)
        return found if self.before is None else self.before.locate(found, token_offsets)


def form_texts(texts: Texts, normalisation: Normalisation) -> FormedTexts | None:
    """Bring texts to the Unicode form, and replace words; None if all of them stay as they are."""
    formed = _normalised(texts, normalisation)
    if normalisation.replace is None:
        return formed
    replaced = _replaced(texts if formed is None else formed.texts, _phrases_of(normalisation))
    return formed if replaced is None else replace(replaced, before=formed)


def _normalised(texts: Texts, normalisation: Normalisation) -> FormedTexts | None:
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


# Words and phrases that others stand for.


class _Table(NamedTuple):
    """What ``kernels.text.phrases`` looks phrases up in, in the order of its parameters."""

    maybe: Bytes
    firsts: Uint64s
    first_phrases: Int64s
    words: Uint64s
    offsets: Int64s
    before: Bytes
    before_offsets: Int64s
    behind: Bytes
    behind_offsets: Int64s
    removed: Bytes


@dataclass(frozen=True, eq=False)
class _Phrases:
    """Phrases to be found, and what stands for each.

    ``rules`` has the number of each as it was written.
    """

    normalisation: Normalisation
    table: _Table
    new: pa.Array
    rules: Int64s


def check_replacements(normalisation: Normalisation) -> None:
    """Make sure that words can be replaced as ``normalisation`` says.

    Raises
    ------
    InvalidInputError, InvalidParameterError
        If two replacements are of the same words, or one makes words that another replaces.
    """
    if normalisation.replace is not None:
        _phrases_of(normalisation)


@lru_cache(maxsize=8)
def _phrases_of(normalisation: Normalisation) -> _Phrases:
    import pyarrow as pa

    given = normalisation.replace
    assert given is not None
    old, new = (
        _in_form(pa.array([rule[side] for rule in given.rules], pa.large_string()), normalisation)
        for side in (0, 1)
    )
    words = hash_by_table(old, "words", normalisation)
    spans = locate_by_table(old, "words", normalisation, len(words.values))
    known: dict[tuple[int, ...], int] = {}
    marks: list[tuple[bytes, bytes]] = []
    for number in range(len(old)):
        first, beyond = words.offsets[number : number + 2].tolist()
        if first == beyond:
            written, stands_for_it = given.rules[number]
            message = f"{written!r} has no word that could be replaced; signs count beside one only"
            if written and stands_for_it:
                message += f". Turn it round, {stands_for_it} -> {written}"
            raise given.error(number, message)
        phrase = tuple(words.values[first:beyond].tolist())
        if phrase in known:
            message = f"{given.rules[number][0]!r} is replaced by {given.name_of(known[phrase])}"
            message += " already, for neither signs nor folded letters tell words apart"
            raise given.error(number, f"{message}; leave one of them out")
        known[phrase] = number
        text = old.data[old.offsets[number] : old.offsets[number + 1]].tobytes()
        ends = text[: spans.starts[first]], text[spans.stops[beyond - 1] :]
        marks.append((ends[0].decode().strip().encode(), ends[1].decode().strip().encode()))
    phrases_in_order = sorted(known, key=lambda phrase: (phrase[0], -len(phrase)))
    rules: Int64s = np.array([known[phrase] for phrase in phrases_in_order], np.int64)
    firsts, counts = np.unique(
        np.array([phrase[0] for phrase in phrases_in_order], np.uint64), return_counts=True
    )
    maybe: Bytes = np.zeros(1 << 16, np.uint8)
    maybe[_lowest_bits(firsts)] = 1
    new_in_order = new.to_arrow().take(pa.array(rules))
    found = _Phrases(
        normalisation,
        _Table(
            maybe,
            firsts,
            offsets_of(counts),
            np.array(list(chain(*phrases_in_order)), np.uint64),
            offsets_of(list(map(len, phrases_in_order))),
            *_joined_bytes([marks[rule][0] for rule in rules]),
            *_joined_bytes([marks[rule][1] for rule in rules]),
            np.array([not each for each in new_in_order.to_pylist()], np.uint8),
        ),
        new_in_order,
        rules,
    )
    _check_stable(new, found)
    return found


def _check_stable(new: Texts, found: _Phrases) -> None:
    """Raise if what stands for words has words that are replaced: one pass would leave them."""
    given = found.normalisation.replace
    assert given is not None
    pieces = _cut_at_phrases(new, found)
    if pieces is None:
        return
    bounds, plain, document_pieces, phrases_there = pieces
    replaced = _joined(
        new, bounds, plain.copy(), document_pieces, Texts.from_arrow(found.new.take(phrases_there))
    )
    lists = (hash_by_table(texts, "words", found.normalisation) for texts in (new, replaced.texts))
    before, after = (np.split(each.values, each.offsets[1:-1]) for each in lists)
    for number, words in enumerate(before):
        if not np.array_equal(words, after[number]):
            n_before = int((plain[: document_pieces[number]] == 0).sum())
            other = int(found.rules[phrases_there[n_before]])
            old, stands_for_it = given.rules[number]
            message = f"{stands_for_it!r} has what {given.name_of(other)} replaces"
            if other == number:
                message += f", with or without its signs; turn it round, {stands_for_it} -> {old}"
            else:
                message += "; write what it becomes, for words are replaced once"
            raise given.error(number, message)


def _replaced(texts: Texts, wanted: _Phrases) -> FormedTexts | None:
    pieces = _cut_at_phrases(texts, wanted)
    if pieces is None:
        return None
    bounds, plain, document_pieces, found = pieces
    new = Texts.from_arrow(wanted.new.take(found))
    return _joined(texts, bounds, plain, document_pieces, new)


def _cut_at_phrases(texts: Texts, wanted: _Phrases) -> tuple[Int64s, Bytes, Int64s, Int64s] | None:
    """Return bounds of pieces, which are plain, each text's first, and phrases; None without."""
    words = hash_by_table(texts, "words", wanted.normalisation)
    n_possible = int(np.count_nonzero(wanted.table.maybe[_lowest_bits(words.values)]))
    if not n_possible:
        return None
    spans = locate_by_table(texts, "words", wanted.normalisation, len(words.values))
    room = len(texts) + 1 + 2 * n_possible
    bounds: Int64s = np.empty(room, np.int64)
    plain: Bytes = np.empty(room, np.uint8)
    document_pieces: Int64s = np.empty(len(texts) + 1, np.int64)
    found: Int64s = np.empty(n_possible, np.int64)
    n = phrases.find_phrases(
        texts.data,
        texts.offsets,
        words.values,
        words.offsets,
        spans.starts,
        spans.stops,
        *wanted.table,
        bounds,
        plain,
        document_pieces,
        found,
    )
    n_found = int(np.count_nonzero(plain[:n] == 0))
    if not n_found:
        return None
    return bounds[: n + 1], plain[:n], document_pieces, found[:n_found]


def _in_form(strings: pa.Array, normalisation: Normalisation) -> Texts:
    return Texts.from_arrow(normalisation.apply_form(strings))


def _lowest_bits(hashes: Uint64s) -> Int64s:
    """Return what ``maybe`` is asked for."""
    return (hashes & np.uint64(0xFFFF)).astype(np.int64)


def _joined_bytes(parts: Sequence[bytes]) -> tuple[Bytes, Int64s]:
    return np.frombuffer(b"".join(parts) or b"\0", np.uint8), offsets_of(list(map(len, parts)))
