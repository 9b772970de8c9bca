from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neardup.text.shingles import draw_polynomial, make_shingle_scheme, shingle_lists
from tests.arrays import make_texts, unragged
from tests.oracles import hashing
from tests.oracles import rabin as oracle
from tests.strategies import any_text, small_texts

readings = st.sampled_from(["set", "numbered"])


def numbered_as(row, expected, occurrences):
    if occurrences == "numbered":
        return sorted(row) == sorted(hashing.number_occurrences(expected))
    return row == expected


@given(
    st.lists(st.one_of(any_text, small_texts), max_size=4),
    st.sampled_from(["words", "characters", "whitespace", "bytes"]),
    st.integers(1, 6),
    readings,
    st.integers(0, 3),
)
def test_shingle_lists__rabin_as_oracle(texts, tokenizer, ngram, occurrences, seed):
    options = {"fingerprint": "rabin", "seed": seed}
    scheme = make_shingle_scheme(tokenizer, ngram=ngram, occurrences=occurrences, **options)
    source = make_texts(texts, lead="é", trail="junk")
    tokens = scheme.tokenizer.hash_tokens(source)
    found = shingle_lists(tokens, scheme)
    for row, hashes in zip(
        unragged(found.values, found.offsets),
        unragged(tokens.values, tokens.offsets),
        strict=True,
    ):
        words = [token.to_bytes(8, "big") for token in hashes]
        expected = oracle.shingles(words, ngram, draw_polynomial(seed))
        assert numbered_as(row, expected, occurrences)
