from __future__ import annotations

import pytest

from neardup.errors import InvalidParameterError
from neardup.text.shingles import draw_polynomial, make_shingle_scheme, shingle_lists, shingle_texts
from tests.arrays import make_texts, unragged
from tests.each import each_of

# As published: seeds and polynomials, byte strings and fingerprints under seed 42.
POLYNOMIALS = {
    (0, 64): 0x1E255B237B8BB18FB,
    (1, 64): 0x15F552CE482F2AA47,
    (42, 64): 0x108B30BAA09BF6AD7,
    (2**64 - 1, 64): 0x178BD794EB5A6CA63,
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


@each_of(("drawn", "polynomial"), POLYNOMIALS.items())
def test_draw_polynomial__known_answers(drawn, polynomial):
    assert draw_polynomial(*drawn) == polynomial


@each_of(("string", "fingerprint"), STRINGS.items())
def test_shingle_texts__known_answers_of_bytes(string, fingerprint):
    found = shingle_texts(make_texts([string]), rabin("bytes", ngram=30))
    assert found.values.tolist() == [fingerprint]


@pytest.mark.parametrize(("text", "fingerprint"), TOKENS.items())
def test_shingle_texts__known_answers_of_words(text, fingerprint):
    found = shingle_texts(make_texts([text]), rabin(ngram=5))
    assert found.values.tolist() == [fingerprint]


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_make_shingle_scheme__seed_out_of_range(seed):
    with pytest.raises(InvalidParameterError, match="seed must lie between 0 and"):
        rabin(seed=seed)


def test_make_shingle_scheme__unknown_fingerprints():
    with pytest.raises(InvalidParameterError, match="must be mixer or rabin, got 'md5'"):
        make_shingle_scheme(fingerprint="md5")
    with pytest.raises(InvalidParameterError, match="_bits must be 32, 40 or 64, got 48"):
        make_shingle_scheme(fingerprint_bits=48)


def test_make_shingle_scheme__only_rabin_has_a_seed():
    assert make_shingle_scheme(seed=1) == make_shingle_scheme()
    assert rabin(seed=1) != rabin() == rabin(seed=42)


def test_describe__what_is_not_as_usual():
    assert "fingerprint" not in make_shingle_scheme().describe()
    described = rabin(fingerprint_bits=40).describe()
    assert (described["fingerprint"], described["fingerprint_bits"]) == ("rabin", 40)


@each_of("tokenizer", ["bytes", "words"])
@each_of("bits", [32, 40, 64])
def test_shingle_texts__empty_and_short_texts(tokenizer, bits):
    scheme = rabin(tokenizer, ngram=3, fingerprint_bits=bits)
    found = shingle_texts(make_texts(["", "a", "", "a b c d"]), scheme)
    sizes = [len(row) for row in unragged(found.values, found.offsets)]
    assert sizes == [0, 1, 0, {"bytes": 5, "words": 2}[tokenizer]]
    nothing = shingle_texts(make_texts([]), scheme)
    assert nothing.offsets.tolist() == [0]


def test_shingle_texts__seeds_give_different_fingerprints():
    texts = make_texts(["one two three"])
    one, other = (shingle_texts(texts, rabin(ngram=2, seed=seed)).values for seed in (1, 2))
    assert not set(one.tolist()) & set(other.tolist())


@pytest.mark.parametrize("bits", [32, 64])
def test_shingle_lists__bytes_of_tokens_are_those_of_texts(bits):
    scheme = rabin("bytes", ngram=3, fingerprint_bits=bits)
    texts = make_texts(["abcabd", "", "é", "x" * 9], lead="y")
    tokens = scheme.tokenizer.hash_tokens(texts)
    assert (
        shingle_lists(tokens, scheme).values.tolist()
        == shingle_texts(texts, scheme).values.tolist()
    )
