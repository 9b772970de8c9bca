from __future__ import annotations

import pytest

from neardup.text.shingles import draw_polynomial, make_shingle_scheme, shingle_lists, shingle_texts
from tests.arrays import make_texts
from tests.each import each_of

# As published: seeds and polynomials, byte strings and fingerprints under seed 42.
POLYNOMIALS = {
    0: 0x1E255B237B8BB18FB,
    1: 0x15F552CE482F2AA47,
    42: 0x108B30BAA09BF6AD7,
    2**64 - 1: 0x178BD794EB5A6CA63,
}
STRINGS = {
    "\0": 0xF82A6F1D1144170D,
    "a": 0x1DED6CD22636A0E5,
    "ab": 0x3E2CA7E08CD66FAD,
    "\0ab": 0x30E05156C5A39B5B,
    "hello world": 0xE1B1854FD590FB7,
    "a rose is a rose is a rose": 0x4043609CE29769B,
}
TOKENS = {
    "a": 0x3500E95D8FD0EFB3,
    "a hello": 0x66BF33CEB3B01849,
    "the cat sat on the": 0x46F72F0F10C41026,
}


def rabin(tokenizer="words", **options):
    return make_shingle_scheme(tokenizer, fingerprint="rabin", **options)


@each_of(("seed", "polynomial"), POLYNOMIALS.items())
def test_draw_polynomial__known_answers(seed, polynomial):
    assert draw_polynomial(seed) == polynomial


@each_of(("string", "fingerprint"), STRINGS.items())
def test_shingle_texts__known_answers_of_bytes(string, fingerprint):
    found = shingle_texts(make_texts([string]), rabin("bytes", ngram=30))
    assert found.values.tolist() == [fingerprint]


@pytest.mark.parametrize(("text", "fingerprint"), TOKENS.items())
def test_shingle_texts__known_answers_of_words(text, fingerprint):
    found = shingle_texts(make_texts([text]), rabin(ngram=5))
    assert found.values.tolist() == [fingerprint]


def test_shingle_lists__bytes_of_tokens_are_those_of_texts():
    scheme = rabin("bytes", ngram=3)
    texts = make_texts(["abcabd", "", "é", "x" * 9], lead="y")
    tokens = scheme.tokenizer.hash_tokens(texts)
    assert (
        shingle_lists(tokens, scheme).values.tolist()
        == shingle_texts(texts, scheme).values.tolist()
    )
