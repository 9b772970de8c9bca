from __future__ import annotations

import random
from itertools import pairwise

import numpy as np

from neardup.kernels.common.hashing import GOLDEN, mix_words
from neardup.kernels.sketch import edit_kernels as signature
from tests.arrays import make_texts
from tests.each import each_of
from tests.oracles import edit_signature as oracle
from tests.oracles import hashing

ALPHABETS = {
    "ascii": "abcdefgh ",
    "latin": "abéü ",
    "mixed": "abcdefghijklmnop語🙂é",
    "han": "語日本漢字",
    "emoji": "🙂🙃\U0010ffff",
    "extremes": "\0\x7f\x80\u07ff\u0800\uffff\U00010000",
}


def sign(strings, compression, neighbourhood, *, room=None, first=0, **options):
    """Sign texts and check what is around them; give their symbols."""
    texts = make_texts(strings, lead="é junk ", trail="junk")
    n = len(strings)
    room = sum(map(len, strings)) if room is None else room
    symbols = np.zeros(room, np.uint32)
    offsets, lengths = np.zeros(n + 1, np.int64), np.full(n, -1)
    with np.errstate(over="ignore"):
        seed = mix_words(np.uint64(options.get("seed", 42)) ^ GOLDEN)
    done = signature.sign_texts(
        texts.data,
        texts.offsets,
        first,
        neighbourhood,
        np.uint64(options.get("largest", (1 << 64) // compression - 1)),
        seed,
        symbols,
        offsets,
        lengths,
    )
    if done == n:
        assert lengths[first:].tolist() == list(map(len, strings))[first:]
    return done, [symbols[a:b].tolist() for a, b in pairwise(offsets[: done + 1])]


def expected(text, *scheme, **options):
    return [symbol for _, symbol in oracle.sign(text, *scheme, **options)]


def random_text(generator, length, alphabet):
    return "".join(generator.choices(alphabet, k=length))


@each_of("neighbourhood", [1, 7, 256])
@each_of("extra", [-2, -1, 0, 1, 2, 3, 1025])
def test_sign_texts__around_chunks(extra, neighbourhood):
    """A full chunk of windows, some more or fewer, and characters read over its end."""
    generator = random.Random(extra)
    alphabet = ALPHABETS["mixed"]
    text = random_text(generator, 1024 + neighbourhood - 1 + extra, alphabet)
    _, found = sign([text, "", text[:40]], 4, neighbourhood)
    assert found == [expected(t, 4, neighbourhood) for t in (text, "", text[:40])]


@each_of("place", [0, 14, 15, 16, 17, 31, 32, 47])
@each_of("character", "\x7fé語🙂")
def test_sign_texts__one_other_character_anywhere(place, character):
    text = "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz"
    text = text[:place] + character + text[place:]
    assert sign([text], 1, 3)[1] == [expected(text, 1, 3)]


def test_sign_texts__largest_hash_itself_is_taken():
    value = 0
    for code in b"abcd":
        value = (value * hashing.POWER + code) & hashing.ALL
    z = hashing.mix(value ^ hashing.mix(42 ^ hashing.GOLDEN))
    assert sign(["abcd"], 1, 4, largest=z)[1] == [[z & 0xFFFFFFFF]]
    assert sign(["abcd"], 1, 4, largest=z - 1)[1] == [[]]


@each_of("room", range(0, 24, 3))
def test_sign_texts__stops_at_the_text_that_does_not_fit(room):
    """And goes on with it when there is more room."""
    strings = ["abcdefgh", "", "xyzuv", "abcdefgh"]  # 6, 0, 3 and 6 windows of three
    done, found = sign(strings, 1, 3, room=room)
    ends = [6, 6, 9, 15]
    assert done == next((i for i, end in enumerate(ends) if end > room), 4)
    assert found == [expected(text, 1, 3) for text in strings[:done]]
    _, rest = sign(strings, 1, 3, first=done)
    assert rest[done:] == [expected(text, 1, 3) for text in strings[done:]]
