"""Texts with words replaced are cut as those texts are, and places are those of the original."""

from __future__ import annotations

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from neardup.errors import InvalidParameterError
from neardup.matching.nearest import string_maker
from neardup.sketches.edit.kind import fold_texts
from neardup.text.shingles import make_shingle_scheme
from tests.arrays import make_texts, unragged
from tests.oracles import hashing
from tests.oracles.replacing import are_sound, replaced, replaced_characters
from tests.oracles.spans import cut
from tests.oracles.tokens import Options, fold_all

WORDS = ["St", "st", "Street", "GmbH", "Co", "a", "é", "e\u0301", "語", "Ü", "U\u0308", "x_1"]
GAPS = [" ", "  ", "\t", ". ", ".", ", ", " & ", "\n", " \n ", "-", "\u3000", " - ", "e"]
texts = st.lists(st.sampled_from([*WORDS, *WORDS, *GAPS]), max_size=14).map("".join)
olds = st.one_of(
    st.sampled_from([*WORDS, "St.", "& Co.", ", GmbH", "a Co", "St. a", "GmbH & Co", "(a)"]),
    texts.filter(lambda text: any(c.isalnum() for c in text)),
)
news = st.one_of(st.just(""), st.sampled_from(["Street", "&", "b", "b c", "語 b", "\u0308"]), texts)
rules = st.dictionaries(olds.map(str.strip), news.map(str.strip), max_size=5)
options = st.builds(
    Options,
    casefold=st.booleans(),
    unicode_form=st.sampled_from([None, "NFC"]),
    strip_accents=st.booleans(),
)
kinds = st.sampled_from(["words", "whitespace", "characters", "lines"])


def scheme_of(kind, chosen, wanted):
    return make_shingle_scheme(tokenizer=kind, ngram=1, replace=wanted, **vars(chosen))


@given(st.lists(texts, min_size=1, max_size=4), rules, kinds, options)
@example(["GmbH  a GmbH, St. b"], {"GmbH": "", "St.": "Street"}, "characters", Options())
@example(["a & Co. GmbH"], {"& Co.": "", "Co. GmbH": "b"}, "whitespace", Options())
@example(["U\u0308 x"], {"Ü": "a"}, "words", Options(unicode_form="NFC"))
@example(["GmbH GmbH x"], {"GmbH": ""}, "lines", Options())
def test_replace__tokens_and_places(strings, wanted, kind, chosen):
    assume(are_sound(wanted, chosen))
    tokenizer = scheme_of(kind, chosen, wanted).tokenizer
    made = make_texts(strings, lead="é")
    expected = [cut(replaced_characters(s, wanted, chosen), kind, chosen) for s in strings]
    lists, spans = tokenizer.locate_tokens(made)
    hashes = [[hashing.hash_token(token) for token, _, _ in tokens] for tokens in expected]
    assert unragged(lists.values, lists.offsets) == hashes
    places = list(zip(spans.starts.tolist(), spans.stops.tolist(), strict=True))
    assert places == [(start, stop) for tokens in expected for _, start, stop in tokens]
    again = tokenizer.hash_tokens(made)
    assert unragged(again.values, again.offsets) == hashes


@given(texts, rules, options)
def test_replace__strings_of_edits(text, wanted, chosen):
    assume(are_sound(wanted, chosen))
    scheme = scheme_of("characters", chosen, wanted)
    expected = fold_all(replaced(text, wanted, chosen), chosen)
    assert string_maker(scheme.tokenizer, scheme.normalisation)(text) == expected
    folded = fold_texts(make_texts([text], lead="é"), scheme.normalisation)
    assert folded.to_arrow().to_pylist() == [expected]


@given(rules, options)
@example({"a": "b", "b": "a"}, Options())
@example({"a": "b a"}, Options())
@example({"St": "Street", "st": "x"}, Options())
@example({"St": "Street", "St Co": "St Co"}, Options())
def test_replace__refuses_what_one_pass_leaves(wanted, chosen):
    if are_sound(wanted, chosen):
        scheme_of("words", chosen, wanted)
    else:
        with pytest.raises(InvalidParameterError, match="replace: "):
            scheme_of("words", chosen, wanted)
