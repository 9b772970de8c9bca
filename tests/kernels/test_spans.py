from __future__ import annotations

import numba
import numpy as np
import pytest

from neardup.kernels.text import tokens as spans
from neardup.tables import Texts, TokenSpans
from neardup.text.forms import Normalisation, form_texts, token_tables
from tests.arrays import first_difference, make_texts
from tests.oracles import spans as oracle
from tests.oracles.tokens import Options

PLAIN = Options(casefold=False)
BARE = Options(strip_accents=True)
KINDS = ["words", "whitespace", "characters"]
STRIDE = 257 if numba.config.DISABLE_JIT else 61
PIECES = [" ", "\0", "a", "Bc", "ß", "É", "e\u0301", "٣", "語", "\u0e31", "ﬁ", "İ", "_", "-"]
PIECES += ["\u2003", "𝟗", "\u200d", "\U0001f600", "0123456789abcdef", "naïve", "\u0301", "か\u3099"]
JOINING = ["\u1100", "\u1161", "\u11a8", "\uac00", "\u11a7", "\u09c7", "\u09be", "\u09d7", "\u0327"]
JOINING += [
    "\u2126",
    "\u0958",
    "\u0344",
    "\u1e9b\u0323",
    "\u00a0",
    "\u0340",
    "\ufdfa",
    "\U0001d15e",
]


def kernel_places(strings, kind="words", options=PLAIN, **around):
    """Locate tokens with exactly the room that the kernels' descriptions ask for."""
    texts = make_texts(strings, **around)
    expected = [oracle.locate(string, kind, options) for string in strings]
    n_tokens = sum(map(len, expected))
    ascii_table, table = token_tables(kind, Normalisation(**vars(options)))
    extra = kind != "characters"
    starts, stops = (np.full(n_tokens + extra, -7, np.int64) for _ in range(2))
    if kind == "characters":
        count = spans.locate_characters(texts.data, texts.offsets, table, starts, stops)
    else:
        count = spans.locate_tokens(texts.data, texts.offsets, ascii_table, table, starts, stops)
    assert count == n_tokens
    places = zip(starts[:count].tolist(), stops[:count].tolist(), strict=True)
    return [[next(places) for _ in tokens] for tokens in expected]


def oracle_places(strings, kind="words", options=PLAIN):
    return [
        [(start, stop) for _, start, stop in oracle.locate(string, kind, options)]
        for string in strings
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("options", [PLAIN, BARE])
def test_locate_tokens__all_characters(kind, options):
    everything = [chr(c) for c in range(0, 0x110000, STRIDE) if not 0xD800 <= c < 0xE000]
    strings = [
        "".join(f"a{c}b{c}{c} " for c in everything[i : i + 50])
        for i in range(0, len(everything), 50)
    ]
    found = kernel_places(strings, kind, options)
    assert first_difference(found, oracle_places(strings, kind, options)) is None


@pytest.mark.parametrize("kind", ["words", "whitespace"])
def test_locate_tokens__every_length_and_alignment(kind):
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    strings = [
        " " * ahead + letters[:length] + end
        for length in range(35)
        for ahead in range(17)
        for end in ("", " ", " next")
    ]
    assert first_difference(kernel_places(strings, kind), oracle_places(strings, kind)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_locate_tokens__a_dropped_character_keeps_to_its_text(kind):
    """Text 0 ends at byte 1; the mark of text 1 starts at its byte 1, behind a separator."""
    strings = ["a", "\n\u0301", "\u0301a"]
    options = Options(strip_accents=True)
    found = kernel_places(strings, kind, options)
    assert found == oracle_places(strings, kind, options)
    assert found[0] == [(0, 1)]
    assert found[2] == [(2, 3)]


def counted(strings, positions, **around):
    texts = make_texts(strings, **around)
    offsets = np.cumsum([0, *map(len, positions)], dtype=np.int64)
    flat = np.array([p for row in positions for p in row], np.int64)
    counts = np.full(len(flat), -7, np.int64)
    spans.count_characters(texts.data, texts.offsets, flat, offsets, counts)
    found = iter(counts.tolist())
    return [[next(found) for _ in row] for row in positions]


@pytest.mark.parametrize("lead", ["", "é", "語x"])
def test_count_characters__every_character_edge(lead):
    strings = ["", "abc", "é語\U0001f600x", "\u0301", "a" * 70 + "é" * 70]
    characters = [list(range(len(string) + 1)) for string in strings]
    positions = [
        [oracle.byte_length(string[:i]) for i in row]
        for string, row in zip(strings, characters, strict=True)
    ]
    assert counted(strings, positions, lead=lead) == characters


def test_count_characters__repeated_positions_and_none():
    assert counted(["éa", "x", "éé"], [[2, 2, 3, 3], [], [0, 4, 4]]) == [
        [1, 1, 2, 2],
        [],
        [0, 2, 2],
    ]
    assert counted([], []) == []


def test_formed_texts__empty_spans_and_empty_texts():
    """As tokens of a tokenizer file may have that stand for no character."""
    texts = make_texts(["", "xe\u0301", "a"])
    formed = form_texts(texts, Normalisation(unicode_form="NFC"))
    places = np.array([0, 0, 1, 3, 0, 1], np.int64)
    found = formed.locate(TokenSpans(places, places), np.array([0, 1, 4, 6], np.int64))
    assert found.starts.tolist() == [0, 0, 1, 1, 0, 1]
    assert found.stops.tolist() == [0, 0, 4, 4, 0, 1]


def test_form_texts__plain_texts_stay():
    plain = make_texts(["plain", "é語 “quoted” \U0001f600", ""])
    assert form_texts(plain, Normalisation(unicode_form="NFC")) is None
    assert form_texts(make_texts(["e\u0301"]), Normalisation()) is None
    none = Texts(plain.data, plain.offsets[:1])
    assert form_texts(none, Normalisation(unicode_form="NFC")) is None
