from __future__ import annotations

import random
from functools import cache
from itertools import product

import numba
import numpy as np
import pytest

from neardup.kernels.text import folding, tokens
from neardup.text.forms import Normalisation, token_tables
from tests.arrays import first_difference, make_texts, ragged, random_words, unragged
from tests.each import each_of
from tests.oracles import hashing as oracle
from tests.oracles.tokens import Options, tokenize

PLAIN = Options(casefold=False)
# Of all characters a sample where kernels are not compiled.
STRIDE = 257 if numba.config.DISABLE_JIT else 1
EDGES = [0, 1, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0xFFFFF, 0x100000]
EDGES += [0x10FFFF]

hash_token = cache(oracle.hash_token)


def kernel_tokens(strings, kind="words", options=PLAIN, **around):
    """Fold and hash with exactly the room that the kernels' descriptions ask for."""
    texts = make_texts(strings, **around)
    ascii_table, table = token_tables(kind, Normalisation(**vars(options)))
    n, n_bytes = len(strings), int(texts.offsets[-1] - texts.offsets[0])
    offsets = np.empty(n + 1, np.int64)
    hashes = np.empty(n_bytes + 1, np.uint64)
    if kind == "characters":
        hashes = np.empty(int(folding.MOST_TOKENS * n_bytes), np.uint64)
        tokens.hash_characters(texts.data, texts.offsets, table, hashes, offsets)
    else:
        room = folding.GROWTH * n_bytes + folding.SLACK * (n + 1)
        folded = np.full(room, 255, np.uint8)
        folded_offsets = np.empty(n + 1, np.int64)
        folding.fold_texts(texts.data, texts.offsets, ascii_table, table, folded, folded_offsets)
        tokens.hash_tokens(folded, folded_offsets, hashes, offsets)
    assert offsets[0] == 0
    return unragged(hashes, offsets)


def oracle_tokens(strings, kind="words", options=PLAIN):
    return [[hash_token(token) for token in tokenize(s, kind, options)] for s in strings]


def characters():
    """All assigned characters, and a sample of the planes that are empty or for private use."""
    sample = [*EDGES, *range(0, 0x34000, STRIDE), *range(0xE0000, 0xE0200, STRIDE)]
    sample += range(0x34000, 0x110000, 257)
    return [chr(c) for c in sample if not 0xD800 <= c < 0xE000]


# One of each class that a character may have in words, by its part in them.
IN_WORDS = {
    "letter": "a",
    "digit": "1",
    "underscore": "_",
    "space": " ",
    "symbol": "❤",
    "unspaced": "葛",
    "nonspacing mark": "\u0301",
    "spacing mark": "\u0903",
    "enclosing mark": "\u20e3",
    "mark of an unspaced script": "\u0e34",
    "variation selector": "\ufe0f",
    "soft hyphen": "\u00ad",
    "joiner": "\u200d",
}


def test_hash_tokens__many_long_tokens():
    """More than are hashed together, in one text and in those next to it."""
    words = [f"{'long' * (k % 7 + 1)}{k}" for k in range(700)]
    strings = [" ".join(words), "", " ".join(words[:3] * 200), "short words", words[-1]]
    assert kernel_tokens(strings) == oracle_tokens(strings)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_hash_tokens__runs_of_every_class(n):
    strings = ["".join(run) for run in product(IN_WORDS.values(), repeat=n)]
    assert first_difference(kernel_tokens(strings), oracle_tokens(strings)) is None


@pytest.mark.slow
def test_hash_tokens__every_character_in_runs():
    """Each character in a run of up to four with characters of every class, and of any."""
    generator = random.Random(3)
    around, everything = list(IN_WORDS.values()), characters()
    strings = []
    for character in everything:
        run = generator.choices(around, k=generator.randrange(4))
        run.insert(generator.randrange(len(run) + 1), character)
        strings.append("".join(run))
    generator.shuffle(everything)
    strings += ["".join(everything[i : i + 4]) for i in range(0, len(everything), 4)]
    assert first_difference(kernel_tokens(strings), oracle_tokens(strings)) is None


@each_of(
    "text, words",
    [
        # A mark after a letter or digit is part of the word: nonspacing, spacing, enclosing.
        ("e\u0301a 1\u20e3", ["e\u0301a", "1\u20e3"]),
        ("\u0915\u093f\u0902 a\u20dd1", ["\u0915\u093f\u0902", "a\u20dd1"]),
        # After anything else it is ignored, and separates nothing.
        ("\u0301a \u2764\ufe0f #\ufe0f\u20e3 _\u0301b", ["a", "_b"]),
        ("\u0903\u20dd -\u0903a", ["a"]),
        # Format characters and variation selectors are ignored everywhere.
        ("e\u00adbook e\u200b\u200dbook e\u2060\ufeffbook", ["ebook"] * 3),
        ("e\u00ad\u0301", ["e\u0301"]),
        ("\u0645\u06cc\u200c\u062e\u0648", ["\u0645\u06cc\u062e\u0648"]),
        ("\u180bm\u180fn 1\ufe0e\u20e3", ["mn", "1\u20e3"]),
        ("葛\U000e0100城", ["葛", "城"]),
        # A letter of an unspaced script is a token with its marks.
        ("\u0e01\u0e34\u0e48\u0e02a\u0301", ["\u0e01\u0e34\u0e48", "\u0e02", "a\u0301"]),
        ("か\u3099き", ["か\u3099", "き"]),
        # Letters of Hangul are letters, composed or not; a tone mark is a mark.
        ("\u1112\u1161\u11ab\u302e\ud55c", ["\u1112\u1161\u11ab\u302e\ud55c"]),
        # Emoji have no tokens, joined, coloured or flags.
        ("👩\u200d👧 👍🏽 🏴\U000e0067\U000e007f 🏳\ufe0f\u200d🌈 🇩🇪🇫🇷 *\ufe0f\u20e3", []),
    ],
)
def test_hash_tokens__marks_and_format_characters(text, words):
    assert kernel_tokens([text]) == [[hash_token(word.encode()) for word in words]]


def test_hash_characters__as_many_as_folds_have():
    """Also where two bytes fold to three characters, and a text is nothing but such."""
    strings = ["Straße", "STRASSE", "ΐ" * 9, "xﬃy", "İ", "", "ß"]
    found = kernel_tokens(strings, "characters", Options())
    assert found == oracle_tokens(strings, "characters", Options())
    assert found[0] == found[1]
    assert list(map(len, found)) == [7, 7, 27, 5, 2, 0, 2]


def test_hash_characters__room_for_every_fold():
    letters = (chr(c) for c in range(0x110000) if chr(c).isalpha())
    most = max(len(c.casefold()) / len(c.encode()) for c in letters)
    assert most == folding.MOST_TOKENS


@pytest.mark.parametrize("kind", ["words", "whitespace"])
def test_hash_tokens__every_length_and_alignment(kind):
    letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
    strings = [
        " " * ahead + letters[:length] + end
        for length in range(41)
        for ahead in range(17)
        for end in ("", " ", " next")
    ]
    expected = oracle_tokens(strings, kind)
    assert first_difference(kernel_tokens(strings, kind), expected) is None


@each_of("n_ascii", range(0, 140, max(1, STRIDE // 16)))
def test_fold_texts__other_characters_around_runs_of_ascii(n_ascii):
    run = ("abc def_ghi-JKL0123 mno pqr stu vwx\tYZ[`{@/:" * 4)[:n_ascii]
    strings = [run + c + run for c in ("é", "語", "𐐷", "\u2003", "—")]
    assert kernel_tokens(strings) == oracle_tokens(strings)


@each_of("n_ranges", [1, 5, 6, 40])
def test_fold_texts__any_table_of_ascii(n_ranges):
    ascii_table = np.zeros(128, np.uint8)
    ascii_table[1 : 3 * n_ranges : 3] = ord("A") + np.arange(n_ranges) % 26
    ascii_table[2 : 3 * n_ranges : 3] = ord("B") + np.arange(n_ranges) % 26
    data = np.arange(300, dtype=np.uint8) % 128
    _, table = token_tables("words", Normalisation())
    folded = np.full(folding.GROWTH * 300 + folding.SLACK * 2, 255, np.uint8)
    folding.fold_texts(data, np.array([0, 300]), ascii_table, table, folded, np.empty(2, np.int64))
    assert folded[:300].tolist() == ascii_table[data].tolist()


@each_of("character", ["\u0390", "語", "a", "\u1fb7", "\u0149", " ", "\U0001f600"])
def test_fold_texts__room_for_the_longest_folds(character):
    options = Options(casefold=True)
    strings = [character * n for n in (0, 1, 2, 3, 5, 8, 40)]
    assert kernel_tokens(strings, options=options) == oracle_tokens(strings, options=options)


def digests(lists, lead=0):
    values, offsets = ragged(lists, lead=lead)
    found = np.empty((len(lists), 2), np.uint64)
    tokens.digest_tokens(values, offsets, found)
    return [tuple(row) for row in found.tolist()]


def test_digest_tokens__every_token_and_its_place_count():
    words = random_words(random.Random(4), 9)
    variants = [words]
    variants += [[*words[:i], words[i] ^ 1, *words[i + 1 :]] for i in range(9)]
    variants += [[*words[:i], words[i + 1], words[i], *words[i + 2 :]] for i in range(8)]
    variants += [words[:i] for i in range(9)] + [[*words, words[-1]], [*words, 0], [0, *words]]
    found = digests(variants)
    for half in (0, 1):
        assert len({digest[half] for digest in found}) == len(variants)


def test_digest_tokens__repeats_do_not_cancel():
    a, b = random_words(random.Random(5), 2)
    repeats = [[a] * n for n in range(20)] + [[a, b] * n for n in range(1, 10)]
    found = digests(repeats)
    for half in (0, 1):
        assert len({digest[half] for digest in found}) == len(repeats)
