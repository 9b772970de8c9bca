"""Laws of a cut: what went is in what stayed, all else stays as it was, and once is enough."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.cutting import (
    characters_gone,
    collections,
    cut,
    make_text,
    part,
    similarity,
    without,
    words_as_compared,
)
from tests.examples import examples

# Few words come back often, so that much is similar, and many that only pieces are.
documents = collections(n_words=300) | collections(n_words=40) | collections(n_words=5)
least = st.sampled_from([4, 6, 9])
options = st.one_of(
    st.fixed_dictionaries({"exact": st.just(True), "min_tokens": least}),
    st.fixed_dictionaries(
        {"threshold": st.sampled_from(["0.6", "0.8", "1"]), "min_tokens": least},
        optional={"min_documents": st.integers(2, 3)},
    ),
)


@given(documents, options, st.sampled_from(["first", "longest", "shortest"]))
@examples(100)
def test_cut__what_went_is_in_what_stayed(documents, options, keep):
    texts = list(map(make_text, documents))
    found = cut(texts, keep=keep, **options)
    rows = found.removed.to_pylist()
    gone = characters_gone(texts, rows)
    # The text is the old one without what the table names.
    assert found.kept["text"].to_pylist() == list(map(without, texts, gone))
    for row in rows:
        number = int(row["kept_id"])
        kept = part(texts[number], row["kept_start"], row["kept_end"], gone[number])
        assert kept
        if "exact" in options:
            assert part(texts[int(row["id"])], row["start"], row["end"], set()) == kept
            assert row["similarity"] == 1
            continue
        values = {similarity(each, kept) for each in words_as_compared(texts, row, rows)}
        assert row["similarity"] in map(float, values)
        assert Fraction(row["similarity"]) >= Fraction(float(Fraction(options["threshold"])))


@given(documents, options)
@examples(100)
def test_cut__once_is_enough(documents, options):
    options.pop("min_documents", None)
    once = cut(list(map(make_text, documents)), **options).kept["text"].to_pylist()
    again = cut(once, **options)
    assert again.removed.num_rows == 0
    assert again.kept["text"].to_pylist() == once


@given(collections(n_words=6), least)
@examples(60)
def test_cut__once_is_enough_for_equal_passages(documents, min_tokens):
    options = {"exact": True, "min_tokens": min_tokens}
    once = cut(list(map(make_text, documents)), **options).kept["text"].to_pylist()
    assert cut(once, **options).removed.num_rows == 0


# Of what a text is made, so that words stand beside marks, breaks and what is written unspaced.
pieces = [
    "the quick brown fox",
    "jumps over",
    "語日本語",
    "naïve café",
    "x_1",
    "“so”",
    "…",
    "é\u0301",
]
gaps = st.sampled_from([" ", "  ", "\n", "\n\n", ", ", "-", ". ", '" ', "\r\n", "\u3000", "🙂"])
prose = st.lists(st.tuples(st.sampled_from(pieces), gaps).map("".join), max_size=14).map("".join)


@given(st.lists(prose, max_size=4), st.integers(3, 6), st.sampled_from(["words", "whitespace"]))
@examples(100)
def test_cut__once_is_enough_for_any_writing(texts, min_tokens, tokenizer):
    options = {"exact": True, "min_tokens": min_tokens, "tokenizer": tokenizer}
    once = cut(texts, **options)
    if once.removed.num_rows:
        kept = once.kept["text"].to_pylist()
        assert cut(kept, **options).removed.num_rows == 0
