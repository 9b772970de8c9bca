"""docs/languages.md: what is equal by default, and by which options, is what it says."""

from __future__ import annotations

import json
import re

from neardup.text.forms import Normalisation
from neardup.text.tokenizers import make_tokenizer
from tests.docs.pages import hashed, page, tables, text_lists, values

GROUPS = re.findall(r"(?m)^### (.+)$", page("docs/languages.md"))
OPTIONS = {
    "--unicode-form NFC": {"unicode_form": "NFC"},
    "--unicode-form NFKC": {"unicode_form": "NFKC"},
    "--strip-accents": {"strip_accents": True},
}


def are_equal(pairs: list[list[str]], *names: str) -> list[bool]:
    """Tell of each pair of texts whether some options make them equal.

    Of all at once, because the tables of so many ways to normalise are not kept.
    """
    chosen = {key: value for name in names for key, value in OPTIONS[name].items()}
    tokenizer = make_tokenizer("words", Normalisation(casefold=True, **chosen))
    hashes = [
        [tokenizer.hash_tokens(text_lists(text)).values.tolist() for text in pair] for pair in pairs
    ]
    return [one == other for one, other in hashes]


def ways(equal: dict[str, bool]) -> list[str]:
    """Return the options that make two texts equal alone; NFKC only where NFC does not."""
    found = [name for name in OPTIONS if equal[name]]
    return [name for name in found if name[-4:] != "NFKC" or found[0][-3:] != "NFC"]


def test_languages_page__what_is_equal():
    assert len(GROUPS) == 7
    rows = [row for group in GROUPS for row in tables("docs/languages.md", group)[0]]
    assert len(rows) > 60
    cells_of_rows = [[cell.strip("| ") for cell in [*cells, ""][:4]] for _, *cells in rows]
    pairs = [[json.loads(cell.strip("`")) for cell in cells[:2]] for cells in cells_of_rows]
    plain = are_equal(pairs)
    alone = {name: are_equal(pairs, name) for name in OPTIONS}
    *forms, accents = OPTIONS
    together = [are_equal(pairs, form, accents) for form in forms]
    for row, (_, _, default, options) in enumerate(cells_of_rows):
        difference, texts = rows[row][0], pairs[row]
        assert texts[0] != texts[1], difference
        told = re.findall(r"`(.+?)`", options)
        if default == "equal":
            assert plain[row], difference
            assert not options
        else:
            assert default == "differ"
            assert not plain[row], difference
            assert ways({name: alone[name][row] for name in OPTIONS}) == told, difference
            assert bool(told) == (options != "no option")
        if options == "no option":
            # Nor several together.
            assert not any(equal[row] for equal in together), difference


def test_languages_page__tokens():
    [rows] = tables("docs/languages.md", "How words are cut")
    assert len(rows) > 5
    for script, *cells in rows:
        text, expected = (values(cell)[0] for cell in cells)
        found = make_tokenizer("words", Normalisation()).hash_tokens(text_lists(text))
        assert found.values.tolist() == hashed(expected), script
