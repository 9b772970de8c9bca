from __future__ import annotations

import pytest

from neardup.errors import InvalidParameterError
from neardup.sketches.rabin import draw_polynomial, rabin_shingle_lists
from neardup.text.shingles import make_shingle_scheme
from tests.arrays import make_texts, unragged

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


@pytest.mark.parametrize(("seed", "polynomial"), POLYNOMIALS.items())
def test_draw_polynomial__known_answers(seed, polynomial):
    assert draw_polynomial(seed) == polynomial


@pytest.mark.parametrize(("string", "fingerprint"), STRINGS.items())
def test_rabin_shingle_lists__known_answers_of_bytes(string, fingerprint):
    found = rabin_shingle_lists(make_texts([string]), make_shingle_scheme("bytes", ngram=30))
    assert found.values.tolist() == [fingerprint]


@pytest.mark.parametrize(("text", "fingerprint"), TOKENS.items())
def test_rabin_shingle_lists__known_answers_of_words(text, fingerprint):
    found = rabin_shingle_lists(make_texts([text]), make_shingle_scheme(ngram=5))
    assert found.values.tolist() == [fingerprint]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_rabin_shingle_lists__seed_out_of_range(seed):
    with pytest.raises(InvalidParameterError, match="seed must lie between 0 and"):
        rabin_shingle_lists(make_texts(["a"]), make_shingle_scheme(), seed)


def test_rabin_shingle_lists__bytes_want_texts():
    scheme = make_shingle_scheme("bytes")
    tokens = scheme.tokenizer.hash_tokens(make_texts(["abc"]))
    with pytest.raises(InvalidParameterError, match="hand in the texts"):
        rabin_shingle_lists(tokens, scheme)


@pytest.mark.parametrize("tokenizer", ["bytes", "words"])
def test_rabin_shingle_lists__empty_and_short_texts(tokenizer):
    scheme = make_shingle_scheme(tokenizer, ngram=3)
    found = rabin_shingle_lists(make_texts(["", "a", "", "a b c d"]), scheme)
    sizes = [len(row) for row in unragged(found.values, found.offsets)]
    assert sizes == [0, 1, 0, {"bytes": 5, "words": 2}[tokenizer]]
    nothing = rabin_shingle_lists(make_texts([]), scheme)
    assert nothing.offsets.tolist() == [0]


def test_rabin_shingle_lists__seeds_give_different_fingerprints():
    texts, scheme = make_texts(["one two three"]), make_shingle_scheme(ngram=2)
    one, other = (rabin_shingle_lists(texts, scheme, seed).values for seed in (1, 2))
    assert not set(one.tolist()) & set(other.tolist())
