"""docs/languages.md: what is equal by default, and by which options, is what it says."""

from __future__ import annotations

import json
import re
from itertools import combinations

from neardup.text.normalise import Normalisation
from neardup.text.tokenizers import make_tokenizer
from tests.docs.pages import hashed, page, tables, text_lists, values

GROUPS = re.findall(r"(?m)^### (.+)$", page("docs/languages.md"))
OPTIONS = {
    "--unicode-form NFC": {"unicode_form": "NFC"},
    "--unicode-form NFKC": {"unicode_form": "NFKC"},
    "--strip-accents": {"strip_accents": True},
    "--fold-digits": {"fold_digits": True},
}


def are_equal(texts: list[str], *names: str) -> bool:
    chosen = {key: value for name in names for key, value in OPTIONS[name].items()}
    tokenizer = make_tokenizer("words", Normalisation(casefold=True, **chosen))
    one, other = (tokenizer.hash_tokens(text_lists(text)).values.tolist() for text in texts)
    return one == other


def ways(texts: list[str]) -> list[str]:
    """Return the options that make two texts equal alone; NFKC only where NFC does not."""
    found = [name for name in OPTIONS if are_equal(texts, name)]
    return [name for name in found if name[-4:] != "NFKC" or found[0][-3:] != "NFC"]


def test_languages_page__what_is_equal():
    assert len(GROUPS) == 7
    rows = [row for group in GROUPS for row in tables("docs/languages.md", group)[0]]
    assert len(rows) > 60
    for difference, *cells in rows:
        one, other, default, options = (cell.strip("| ") for cell in [*cells, ""][:4])
        texts = [json.loads(cell.strip("`")) for cell in (one, other)]
        assert texts[0] != texts[1], difference
        told = re.findall(r"`(.+?)`", options)
        if default == "equal":
            assert are_equal(texts), difference
            assert not options
        else:
            assert default == "differ"
            assert not are_equal(texts), difference
            assert ways(texts) == told, difference
            assert bool(told) == (options != "no option")
        if options == "no option":
            # Nor several together.
            for names in combinations(OPTIONS, 3):
                assert not are_equal(texts, *names), difference


def test_languages_page__tokens():
    [rows] = tables("docs/languages.md", "How words are cut")
    assert len(rows) > 5
    for script, *cells in rows:
        text, expected = (values(cell)[0] for cell in cells)
        found = make_tokenizer("words", Normalisation()).hash_tokens(text_lists(text))
        assert found.values.tolist() == hashed(expected), script
