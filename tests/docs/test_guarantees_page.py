from __future__ import annotations

import re
from fractions import Fraction

from neardup.matching.buckets import choose_banding
from neardup.matching.measures import make_measure
from neardup.sketches.minhash import SuperShingleRule
from neardup.text.forms import Normalisation
from neardup.text.tokenizers import make_tokenizer
from tests.docs.pages import hashed, page, tables, text_lists, values
from tests.oracles.tokens import Options, tokenize


def test_guarantees_page__super_shingles():
    shown = re.search(
        r"6 groups of 14, 2 of 6: r = (.*?)\. They", page("docs/guarantees.md"), re.DOTALL
    )
    rows = [pair.split() for pair in shown[1].split(",")]
    assert len(rows) == 4
    for resemblance, probability in rows:
        places = len(probability.split(".")[1])
        found = SuperShingleRule(6, 14, 2).probability(float(resemblance))
        assert f"{found:.{places}f}" == probability


def test_guarantees_page__tokens():
    rows = tables("docs/guarantees.md", "Tokens")[1]
    assert len(rows) > 5
    for name, *cells in rows:
        kind, *options = (word.strip("`") for word in name.split(", "))
        text, expected = (values(cell)[0] for cell in cells)
        normalisation = Normalisation(casefold=kind == "words" or "--casefold" in options)
        assert tokenize(text, kind, Options(normalisation.casefold)) == [
            token.encode() for token in expected
        ]
        found = make_tokenizer(kind, normalisation).hash_tokens(text_lists(text))
        assert found.values.tolist() == hashed(expected)


def test_guarantees_page__containment():
    ratios, found = re.findall(
        r"\| (?:size ratio|found with probability) \| (.*) \|", page("docs/guarantees.md")
    )
    least = make_measure("containment", "0.8").least_jaccard
    banding = choose_banding(least, Fraction("0.99"), 128)
    for ratio, probability in zip(ratios.split(" | "), found.split(" | "), strict=True):
        jaccard = 0.8 / (1 + int(ratio) - 0.8)
        assert f"{banding.candidate_probability(jaccard):.3f}" == probability
