"""Texts and options for Hypothesis."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

from hypothesis import strategies as st

from tests.oracles.tokens import Options

# Characters with something special about them, by what it is.
CASES = "aAbZßẞİıſKÅΣσςǅﬁŉΐᾷͅꭰᏸ"
ACCENTS = "éÉüñ\u0301\u0308\u0327\u0345ạ̈ệ≠й"
DIGITS = "0123456789٠١٢٣߀१𝟎𝟗²½Ⅳ５"
UNSPACED = "語日本かなカﾅกำ\u0e31ລ\u1000\u1039ក\u17b6々〇𠀀\u3099゛"
GAPS = " \t\n\r\x0b\x0c\x1c\x1f\x85\xa0\u1680\u2003\u2028\u3000\u200b\u200d\ufeff\0"
SIGNS = "_-'’.,!¿·…—€+=\U0001f600\U000e0001\ufffd\U0010ffff"
PIECES = [*CASES, *ACCENTS, *DIGITS, *UNSPACED, *GAPS, *SIGNS]
WORDS = ["the", "quick", "Brown", "fox", "naïve", "STRASSE", "straße", "日本語", "x86_64", "ไทย"]

any_text = st.one_of(
    st.text(),
    st.text(st.sampled_from(PIECES), max_size=40),
    st.lists(st.sampled_from([*WORDS, *GAPS, *SIGNS]), max_size=40).map("".join),
    st.text(st.characters(categories=["L", "M", "N", "Z"]), max_size=30),
)

options = st.builds(
    Options,
    casefold=st.booleans(),
    unicode_form=st.sampled_from([None, "NFC", "NFKC"]),
    strip_accents=st.booleans(),
)

kinds = st.sampled_from(["words", "whitespace", "characters", "bytes"])

# Few different words, so that shingles repeat within and between texts.
small_texts = st.lists(st.sampled_from("abcde"), max_size=9).map(" ".join)

thresholds = st.one_of(
    st.sampled_from([Fraction(t) for t in ("0.3", "0.5", "0.6", "0.75", "0.8", "1")]),
    st.integers(1, 1000).map(lambda n: Fraction(n, 1000)),
    st.fractions(Fraction(1, 10), 1, max_denominator=10**9),
)


def assigned_only(text: str) -> str:
    """Leave out characters that this Python's Unicode does not know, and another one may."""
    return "".join(c for c in text if unicodedata.category(c) != "Cn")
