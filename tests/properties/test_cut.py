"""Laws of a cut: what went is in what stayed, all else stays as it was, and once is enough."""

from __future__ import annotations

from fractions import Fraction

import pytest
import tokenizers
from hypothesis import example, given
from hypothesis import strategies as st

from neardup import TextOptions
from tests.calls import grouped
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
from tests.each import each_of
from tests.examples import examples
from tests.oracles.spans import normalised_characters
from tests.oracles.tokens import Options, fold, tokenize
from tests.strategies import options as options_of_texts
from tests.tokenizer_files import write_byte_pairs

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
    found = cut(texts, **grouped(keep=keep, **options))
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
    once = cut(list(map(make_text, documents)), **grouped(**options)).kept["text"].to_pylist()
    again = cut(once, **grouped(**options))
    assert again.removed.num_rows == 0
    assert again.kept["text"].to_pylist() == once


@given(collections(n_words=6), least)
@examples(60)
def test_cut__once_is_enough_for_equal_passages(documents, min_tokens):
    options = {"exact": True, "min_tokens": min_tokens}
    once = cut(list(map(make_text, documents)), **grouped(**options)).kept["text"].to_pylist()
    assert cut(once, **grouped(**options)).removed.num_rows == 0


# Characters that are several bytes, or fold to several, and what they fold to.
odd = st.sampled_from([*"ßsfi\ufb01½12\u2044üu\u0308éвмо語日。、 ", "a b"])
shared = st.lists(odd, min_size=2, max_size=12).map("".join)
odd_texts = st.lists(shared, min_size=1, max_size=3).flatmap(
    lambda parts: st.lists(
        st.lists(st.sampled_from(parts) | odd, max_size=6).map("".join), min_size=2, max_size=4
    )
)


@pytest.fixture(scope="module")
def byte_pairs(tmp_path_factory):
    return write_byte_pairs(tmp_path_factory.mktemp("files") / "pairs.json")


@each_of("tokenizer", ["bytes", "pairs.json"])
@each_of(
    ("first", "second", "min_tokens", "gone"),
    [
        ("завтра поездом.", "с утра поездов много", 13, "тра поездо"),
        ("завтра поездом.", "с утра поездов много", 19, "тра поездо"),
        ("завтра поездом.", "с утра поездов много", 20, None),
        ("長い文です。", "長い文です、と", 15, "長い文です"),
        # Of both 文 and 斉 the first byte and the last one are the same.
        ("a文語日本b", "c斉語日本d", 9, "語日本"),
    ],
)
def test_cut__ends_within_characters(byte_tokens, tokenizer, first, second, min_tokens, gone):
    """A run whose ends are within characters is as long as the whole characters in it."""
    tokenizer = byte_tokens if tokenizer == "pairs.json" else tokenizer
    found = cut(
        [first, second], exact=True, min_tokens=min_tokens, text=TextOptions(tokenizer=tokenizer)
    )
    rows = found.removed.to_pylist()
    assert [second[row["start"] : row["end"]] for row in rows] == ([gone] if gone else [])
    assert [first[row["kept_start"] : row["kept_end"]] for row in rows] == ([gone] if gone else [])


@each_of(
    ("first", "second", "options", "gone", "stays"),
    [
        ("linken fus auf", "linken fuß zu", {"casefold": True}, "linken fu", "linken fu"),
        ("linken fuß auf", "linken fus zu", {"casefold": True}, "linken fu", "linken fu"),
        ("linken fuß auf", "linken FUSS zu", {"casefold": True}, "linken FUSS ", "linken fuß "),
        ("of flour, 1/4", "of flour, ½.", {"unicode_form": "NFKC"}, "of flour, ", "of flour, "),
        ("of flour, ½ of", "of flour, 1.", {"unicode_form": "NFKC"}, "of flour, ", "of flour, "),
    ],
)
def test_cut__ends_within_folded_characters(first, second, options, gone, stays):
    found = cut(
        [first, second], **grouped(tokenizer="characters", exact=True, min_tokens=8, **options)
    )
    [row] = found.removed.to_pylist()
    assert second[row["start"] : row["end"]] == gone
    assert first[row["kept_start"] : row["kept_end"]] == stays


@pytest.fixture(scope="module")
def byte_tokens(tmp_path_factory):
    """A tokenizer of pairs of bytes without pairs."""
    letters = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: number for number, letter in enumerate(letters)}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    path = tmp_path_factory.mktemp("files") / "bytes.json"
    tokenizer.save(str(path))
    return path


@pytest.mark.parametrize("tokenizer", ["bytes", "characters", "words", "pairs.json"])
@given(odd_texts, options_of_texts, st.integers(1, 8), st.none() | st.lists(shared, max_size=2))
@examples(100)
def test_cut__whole_characters(byte_pairs, tokenizer, texts, chosen, min_tokens, others):
    """The same text stays where the table says, character by character, as it is compared."""
    chosen = Options(casefold=False) if tokenizer == "bytes" else chosen
    named = byte_pairs if tokenizer == "pairs.json" else tokenizer
    how = {} if tokenizer == "bytes" else vars(chosen)
    how |= {"tokenizer": named, "min_tokens": min_tokens, "exact": True}
    found = cut(texts, **grouped(against=others, **how))
    rows = found.removed.to_pylist()
    kept = found.kept["text"].to_pylist()
    assert kept == list(map(without, texts, characters_gone(texts, rows)))
    for row in rows:
        source = texts if row["kept_in"] == "input" else others
        gone = texts[int(row["id"])][row["start"] : row["end"]]
        number = int(row["kept_id"].removeprefix("against/"))
        stays = source[number][row["kept_start"] : row["kept_end"]]
        if as_compared(gone, tokenizer, chosen) != as_compared(stays, tokenizer, chosen):
            # A character on both sides of a place where something had gone is named for both.
            assert any(_shares_character(row, other) for other in rows if other is not row)
    if tokenizer != "pairs.json":
        assert cut(kept, **grouped(against=others, **how)).removed.num_rows == 0


@pytest.mark.parametrize("tokenizer", ["bytes", "characters"])
@given(odd_texts, st.sampled_from(["0.6", "0.8", "1"]), st.integers(4, 9))
@example(["tra поездом.", "s утra поездов"], "1", 9)
@example(["linken fuß auf", "am linken fus"], "1", 9)
@examples(60)
def test_cut__similar_whole_characters(tokenizer, texts, threshold, min_tokens):
    """What goes is as similar as the table says, characters with all of their tokens."""
    folds = tokenizer == "characters"
    how = {"tokenizer": tokenizer, "min_tokens": min_tokens, "threshold": threshold}
    how |= {"casefold": True, "unicode_form": "NFKC"} if folds else {}
    chosen = Options(casefold=folds, unicode_form="NFKC" if folds else None)

    def tokens_of(text):
        return list(as_compared(text, tokenizer, chosen)) if folds else list(text.encode())

    found = cut(texts, **grouped(**how))
    rows = found.removed.to_pylist()
    gone = characters_gone(texts, rows)
    for row in rows:
        number = int(row["kept_id"])
        kept = part(texts[number], row["kept_start"], row["kept_end"], gone[number], tokens_of)
        values = {similarity(each, kept) for each in words_as_compared(texts, row, rows, tokens_of)}
        assert row["similarity"] in map(float, values)
        assert Fraction(row["similarity"]) >= Fraction(float(Fraction(threshold)))
    assert cut(found.kept["text"].to_pylist(), **grouped(**how)).removed.num_rows == 0


def as_compared(text, tokenizer, chosen):
    """What counts of a text, by definition."""
    if tokenizer == "words":
        return tokenize(text, tokenizer, chosen)
    normal = normalised_characters(text, chosen.unicode_form)
    folded = "".join(fold(character, chosen) for character, _, _ in normal)
    # A tokenizer of pairs puts a space before the first word.
    return folded.strip() if tokenizer == "pairs.json" else folded


def _shares_character(row, other):
    return row["id"] == other["id"] and (
        max(row["start"], other["start"]) < min(row["end"], other["end"])
        or (
            row["kept_id"] == other["kept_id"]
            and max(row["kept_start"], other["kept_start"])
            < min(row["kept_end"], other["kept_end"])
        )
    )


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
    once = cut(texts, **grouped(**options))
    if once.removed.num_rows:
        kept = once.kept["text"].to_pylist()
        assert cut(kept, **grouped(**options)).removed.num_rows == 0
