from __future__ import annotations

import unicodedata
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.tables import Texts
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import make_tokenizer
from tests.arrays import first_difference, make_texts, unragged
from tests.each import each_of
from tests.oracles import hashing as oracle
from tests.oracles.tokens import Options, fold, tokenize
from tests.strategies import any_text, assigned_only, options

hash_token = cache(oracle.hash_token)


def hashes_of(texts: Texts, kind, chosen: Options) -> list[list[int]]:
    token_lists = make_tokenizer(kind, Normalisation(**vars(chosen))).hash_tokens(texts)
    return unragged(token_lists.values, token_lists.offsets)


# All that may be assigned, and a sample of the planes that are empty or for private use.
CODE_POINTS = [*range(0xD800), *range(0xE000, 0x34000), *range(0x34000, 0x110000, 61)]
CODE_POINTS += [*range(0xE0000, 0xE0200), 0x10FFFF]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "chosen"),
    [
        ("words", Options()),
        ("words", Options(casefold=False, strip_accents=True)),
        ("whitespace", Options(strip_accents=True)),
    ],
)
def test_hash_tokens__every_character(kind, chosen):
    """Each code point alone and between letters: what it folds to and whether it separates."""
    strings = [f"{chr(c)} a{chr(c)}b" for c in CODE_POINTS]
    found = hashes_of(make_texts(strings), kind, chosen)
    wrong = [
        f"U+{c:04X}"
        for c, string, hashes in zip(CODE_POINTS, strings, found, strict=True)
        if hashes != [hash_token(token) for token in tokenize(string, kind, chosen)]
    ]
    assert wrong[:20] == []


@pytest.mark.slow
@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_hash_tokens__unicode_form_of_every_character(form):
    chosen = Options(casefold=False, unicode_form=form)
    strings = [chr(c) for c in CODE_POINTS if unicodedata.category(chr(c)) != "Cn"]
    plain = replace(chosen, unicode_form=None)
    normal = [unicodedata.normalize(form, string) for string in strings]
    expected = hashes_of(make_texts(normal), "words", plain)
    assert first_difference(hashes_of(make_texts(strings), "words", chosen), expected) is None


@each_of(
    ("kind", "text", "chosen", "expected"),
    [
        ("words", "It's x86_64, naïve!", Options(), ["it", "s", "x86_64", "naïve"]),
        ("words", "STRASSE straße", Options(), ["strasse", "strasse"]),
        ("words", "STRASSE", Options(casefold=False), ["STRASSE"]),
        ("words", "日本語 text", Options(), ["日", "本", "語", "text"]),
        ("words", "abc語def", Options(), ["abc", "語", "def"]),
        ("words", "한국어 단어", Options(), ["한국어", "단어"]),
        ("words", "cafe\u0301 café", Options(strip_accents=True), ["cafe", "cafe"]),
        ("words", "cafe\u0301", Options(unicode_form="NFC"), ["café"]),
        ("words", "ﬁx Ⅳ", Options(casefold=False, unicode_form="NFKC"), ["fix", "IV"]),
        ("words", "  \t\n…", Options(), []),
        ("whitespace", "It's  \u2003a-b\0c", Options(casefold=False), ["It's", "a-b", "c"]),
        ("characters", "a b", Options(casefold=False), ["a", " ", "b"]),
        ("characters", "Aé", Options(), ["a", "é"]),
    ],
)
def test_hash_tokens__examples(kind, text, chosen, expected):
    assert [token.decode() for token in tokenize(text, kind, chosen)] == expected
    assert hashes_of(make_texts([text]), kind, chosen) == [
        [hash_token(token.encode()) for token in expected]
    ]


@pytest.mark.slow
@each_of(
    "script",
    [
        "CJK UNIFIED IDEOGRAPH",
        "HIRAGANA LETTER",
        "KATAKANA LETTER",
        "THAI CHARACTER",
        "LAO LETTER",
        "KHMER LETTER",
        "MYANMAR LETTER",
    ],
)
def test_hash_tokens__letters_of_unspaced_scripts_stand_alone(script):
    letters = [
        chr(c)
        for c in range(0x110000)
        if unicodedata.name(chr(c), "").startswith(script)
        and unicodedata.category(chr(c)) in ("Lo", "Lm")
    ]
    assert len(letters) > 30
    (found,) = hashes_of(make_texts(["".join(letters)]), "words", Options(casefold=False))
    assert len(found) == len(letters)


@each_of("script", ["LATIN", "CYRILLIC", "GREEK", "ARABIC", "HANGUL", "DEVANAGARI"])
def test_hash_tokens__letters_of_spaced_scripts_join(script):
    letters = [
        chr(c)
        for c in range(0x10000)
        if unicodedata.name(chr(c), "").startswith(f"{script} ")
        and unicodedata.category(chr(c))[0] in "LM"
    ]
    (found,) = hashes_of(make_texts(["".join(letters)]), "words", Options(casefold=False))
    assert len(found) == 1


@given(st.lists(any_text, min_size=1, max_size=4), options)
def test_hash_tokens__of_a_function(strings, chosen):
    """A function sees the whole text, normalised and folded."""
    if chosen.unicode_form is not None:
        strings = [assigned_only(string) for string in strings]
    seen = []

    def cut(text):
        seen.append(text)
        return text.split("a")

    found = hashes_of(make_texts(strings), cut, chosen)
    normal = [
        unicodedata.normalize(chosen.unicode_form, s) if chosen.unicode_form else s for s in strings
    ]
    assert seen == ["".join(fold(c, chosen) for c in text) for text in normal]
    assert found == [[hash_token(part.encode()) for part in text.split("a")] for text in seen]


@given(st.lists(st.lists(st.integers(-(2**63), 2**63 - 1)), min_size=1, max_size=4))
def test_hash_tokens__of_a_function_to_integers(lists):
    remaining = iter(lists)
    found = hashes_of(make_texts([""] * len(lists)), lambda _: next(remaining), Options())
    assert found == [
        [hash_token(n.to_bytes(8, "little", signed=True)) for n in numbers] for numbers in lists
    ]
