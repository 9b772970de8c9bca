from __future__ import annotations

import pytest

from neardup.text.shingles import draw_polynomial, make_shingle_scheme, shingle_lists
from tests.arrays import make_texts
from tests.each import each_of

# As published: seeds and polynomials, tokens and fingerprints under seed 42.
POLYNOMIALS = {
    0: 0x1E255B237B8BB18FB,
    1: 0x15F552CE482F2AA47,
    42: 0x108B30BAA09BF6AD7,
    2**64 - 1: 0x178BD794EB5A6CA63,
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


@pytest.mark.parametrize(("text", "fingerprint"), TOKENS.items())
def test_shingle_lists__known_answers_of_words(text, fingerprint):
    scheme = rabin(ngram=5)
    found = shingle_lists(scheme.tokenizer.hash_tokens(make_texts([text])), scheme)
    assert found.values.tolist() == [fingerprint]
