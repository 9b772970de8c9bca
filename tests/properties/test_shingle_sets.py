from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neardup.tables import ShingleSets, Texts
from neardup.text.shingles import (
    digest_token_lists,
    make_shingle_scheme,
    shingle_lists,
    shingle_sets,
)
from tests.arrays import make_texts, unragged
from tests.oracles import hashing
from tests.oracles.shingles import elements, shingle_tuples
from tests.oracles.tokens import Options, tokenize
from tests.strategies import any_text, small_texts

text_lists = st.lists(st.one_of(small_texts, any_text), max_size=6)
ngrams = st.integers(1, 7)
readings = st.sampled_from(["set", "numbered"])
names = st.sampled_from(["words", "whitespace", "characters", "bytes"])


def lists_of(sets: ShingleSets) -> list[list[int]]:
    return [
        sets.values[start : start + size].tolist()
        for start, size in zip(sets.starts, sets.sizes, strict=True)
    ]


def token_lists_of(strings, name) -> list[list[bytes]]:
    return [tokenize(string, name, Options(casefold=name == "words")) for string in strings]


@given(text_lists, names, ngrams, readings)
def test_shingle_sets__are_hashes_of_the_oracles_shingles(strings, name, ngram, occurrences):
    scheme = make_shingle_scheme(name, ngram=ngram, occurrences=occurrences)
    found = lists_of(shingle_sets(make_texts(strings), scheme))
    for tokens, hashes in zip(token_lists_of(strings, name), found, strict=True):
        token_hashes = [hashing.hash_token(token) for token in tokens]
        shingles = hashing.hash_shingles(token_hashes, ngram)
        expected = hashing.number_occurrences(shingles) if occurrences == "numbered" else shingles
        assert hashes == sorted(set(expected))


@given(text_lists, names, ngrams, readings)
def test_shingle_sets__sizes_and_overlaps_are_those_of_real_shingles(
    strings, name, ngram, occurrences
):
    scheme = make_shingle_scheme(name, ngram=ngram, occurrences=occurrences)
    found = [set(hashes) for hashes in lists_of(shingle_sets(make_texts(strings), scheme))]
    real = [elements(tokens, ngram, occurrences) for tokens in token_lists_of(strings, name)]
    for x, real_x in zip(found, real, strict=True):
        for y, real_y in zip(found, real, strict=True):
            assert len(x & y) == len(real_x & real_y)


@given(text_lists, ngrams, readings, st.integers(1, 60))
def test_shingle_sets__block_slicing_changes_nothing(strings, ngram, occurrences, n_bytes):
    scheme = make_shingle_scheme("words", ngram=ngram, occurrences=occurrences)
    texts = make_texts(strings)
    parts = [lists_of(shingle_sets(part, scheme)) for part in texts.slices(n_bytes)]
    assert lists_of(shingle_sets(texts, scheme)) == [hashes for part in parts for hashes in part]


@given(text_lists, ngrams)
def test_shingle_lists__in_text_order_with_repeats(strings, ngram):
    scheme = make_shingle_scheme("words", ngram=ngram)
    lists = shingle_lists(scheme.tokenizer.hash_tokens(make_texts(strings)), scheme)
    expected = [
        [
            hashing.hash_shingle([hashing.hash_token(token) for token in shingle])
            for shingle in shingle_tuples(tokens, ngram)
        ]
        for tokens in token_lists_of(strings, "words")
    ]
    assert unragged(lists.values, lists.offsets) == expected


@given(text_lists)
def test_digest_token_lists__equal_for_equal_sequences_only(strings):
    scheme = make_shingle_scheme("words")
    texts: Texts = make_texts(strings)
    found = digest_token_lists(scheme.tokenizer.hash_tokens(texts)).tolist()
    token_lists = token_lists_of(strings, "words")
    for tokens, digest in zip(token_lists, found, strict=True):
        assert tuple(digest) == hashing.digest([hashing.hash_token(token) for token in tokens])
        for other_tokens, other in zip(token_lists, found, strict=True):
            assert (digest == other) == (tokens == other_tokens)


@given(text_lists, st.data())
def test_take__gives_the_chosen_sets(strings, data):
    sets = shingle_sets(make_texts(strings), make_shingle_scheme("words", ngram=1))
    chosen = data.draw(st.lists(st.sampled_from(range(len(strings))))) if strings else []
    lists = lists_of(sets)
    assert lists_of(sets.take(chosen)) == [lists[d] for d in chosen]


@pytest.mark.parametrize(("name", "expected"), [("words", True), ("whitespace", False)])
def test_make_shingle_scheme__casefold_by_default_for_words_only(name, expected):
    assert make_shingle_scheme(name).normalisation.casefold is expected
