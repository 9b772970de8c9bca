from __future__ import annotations

import unicodedata
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from neardup.text.forms import Normalisation, _begins_piece, _cut_pieces
from neardup.text.tokenizers import make_tokenizer
from tests.arrays import make_texts
from tests.oracles import hashing
from tests.oracles import spans as oracle
from tests.oracles.tokens import Options, fold
from tests.strategies import any_text, assigned_only, kinds, options
from tests.tokenizer_files import write_byte_pairs, write_word_pieces

hash_token = cache(hashing.hash_token)

# Characters that normalisation joins, takes apart, reorders, or could be thought to.
JOINING = [*"ᄀ나ᅵᆨᇂ가각", "\u1160", "\u11a7", "\u11ff", "\u09c7", "\u09be", "\u09d7", "\u0dd9\u0dcf"]
JOINING += [*"\u0301\u0308\u0323\u0327\u0344\u0345\u0340\u0f71\u0f72\u0f73", "\u1b05", "\u1b35"]
JOINING += [*"aeoAOéÅﬁ…½㍿ﷺﾞﾊ\u212b\u2126\u0958\u2adc\ufb1d\u1e9b\u00a0\u0374\u037e", "\U0001d15e"]
texts_to_form = st.one_of(any_text, st.text(st.sampled_from([*"ab ", *"".join(JOINING)])))


def located(strings, kind, chosen, **around):
    """Give (hash, start, stop) for each token of each text."""
    texts = make_texts(strings, **around)
    tokenizer = make_tokenizer(kind, Normalisation(**vars(chosen)))
    lists, spans = tokenizer.locate_tokens(texts)
    plain = tokenizer.hash_tokens(texts)
    assert np.array_equal(lists.values, plain.values)
    assert np.array_equal(lists.offsets, plain.offsets)
    assert len(spans) == len(spans.starts) == len(spans.stops) == len(lists.values)
    assert spans.starts.dtype == spans.stops.dtype == np.int64
    rows = zip(lists.values.tolist(), spans.starts.tolist(), spans.stops.tolist(), strict=True)
    return [[next(rows) for _ in range(b - a)] for a, b in pairwise(lists.offsets.tolist())]


def known(strings, chosen):
    if chosen.unicode_form is None:
        return strings
    return [assigned_only(string) for string in strings]


@given(st.lists(texts_to_form, max_size=5), kinds, options, any_text)
def test_locate_tokens__as_oracle(strings, kind, chosen, lead):
    strings = known(strings, chosen)
    if kind == "bytes":
        chosen = Options(casefold=False)
    expected = [
        [(hash_token(token), start, stop) for token, start, stop in oracle.locate(s, kind, chosen)]
        for s in strings
    ]
    assert located(strings, kind, chosen, lead=lead, trail=lead) == expected


@given(st.lists(texts_to_form, min_size=1, max_size=3), kinds, options)
def test_locate_tokens__the_place_holds_the_token(strings, kind, chosen):
    """Cutting the place out of the text as given and tokenizing it alone finds the token again."""
    strings = known(strings, chosen)
    if kind == "bytes":
        chosen = Options(casefold=False)
    for string, tokens in zip(strings, located(strings, kind, chosen), strict=True):
        data = string.encode()
        if kind == "bytes":
            assert [stop - start for _, start, stop in tokens] == [1] * len(data)
            continue
        places = [data[start:stop].decode() for _, start, stop in tokens]
        found = located(places, kind, chosen)
        for (value, _, _), again in zip(tokens, found, strict=True):
            assert value in [other for other, _, _ in again]


KNOWN = [
    chr(c)
    for c in [*range(0xD800), *range(0xE000, 0x34000), *range(0xE0000, 0xE0200), 0xF0000, 0x10FFFD]
    if unicodedata.category(chr(c)) != "Cn"
]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_form_texts__every_character_among_joining_ones(form):
    """Pieces joined are what the whole text becomes, whatever stands on either side."""
    around = [
        "\u0301\u0327",
        "a",
        "\u1100",
        "\u1161",
        "\u11a8",
        "\u09c7",
        "\u09be",
        "\u3099",
        "\uac00",
    ]
    for left in around:
        for c in KNOWN:
            for right in ("\u0323\u0301", "\u1161", "a"):
                text = f"e{left}{c}{right}"
                pieces, formed = _cut_pieces(text, form)
                assert "".join(pieces) == text
                assert "".join(formed) == unicodedata.normalize(form, text)


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_begins_piece__as_oracle(form):
    wrong = [c for c in KNOWN if _begins_piece(c, form) != oracle.starts_piece(c, form)]
    assert wrong[:20] == []


@pytest.fixture(scope="module")
def tokenizer_files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    return [write_byte_pairs(folder / "bytes.json"), write_word_pieces(folder / "words.json")]


@given(st.lists(texts_to_form, min_size=1, max_size=4), options, st.integers(0, 1))
@example(["0ß\u3099"], Options(strip_accents=True), 0)
def test_locate_tokens__of_a_tokenizer_file(tokenizer_files, strings, chosen, which):
    """The library's places, taken back through folding and through normalisation."""
    path = tokenizer_files[which]
    strings = known(strings, chosen)
    library = tokenizers.Tokenizer.from_file(str(path))
    for string, tokens in zip(strings, located(strings, path, chosen, lead="é"), strict=True):
        characters = oracle.normalised_characters(string, chosen.unicode_form)
        normal = "".join(c for c, _, _ in characters)
        edges = [oracle.byte_length(normal[:i]) for i in range(len(normal))]
        folded = "".join(fold(c, chosen) for c in normal)
        offsets = library.encode(folded, add_special_tokens=False).offsets
        for (_, start, stop), (a, b) in zip(tokens, offsets, strict=True):
            assert 0 <= start <= stop <= oracle.byte_length(string)
            if a < b:
                first, beyond = oracle.place_of_folded(normal, a, b, chosen)
                last = max(i for i, edge in enumerate(edges) if edge < beyond)
                assert start == characters[edges.index(first)][1]
                assert stop == characters[last][2]


@given(st.lists(texts_to_form, max_size=5), kinds, st.integers(0, 5))
def test_locate_tokens__texts_do_not_know_their_neighbours(strings, kind, cut):
    chosen = Options(casefold=False, unicode_form=None if kind == "bytes" else "NFC")
    strings = known(strings, chosen)
    whole = located(strings, kind, chosen)
    assert whole == located(strings[:cut], kind, chosen) + located(strings[cut:], kind, chosen)
