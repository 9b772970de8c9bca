"""The length of shingles: the article's rule of thumb, c^k, against English text."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.corpora.documents import prepare
from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.texts import make_texts
from neardup.text.shingles import ShingleScheme, make_shingle_scheme, shingle_lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neardup.tables import TokenLists

Row = dict[str, Any]

CORPUS = "prose"
# Characters that the article takes English text to be made of.
ALPHABET = 20
PIECES, QUICK_PIECES, CHARACTERS = 400, 40, 2_000
MOST_CHANCE = 0.7
# Lengths that are compared.
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16)
# Lengths of which shingles are counted, and characters of text that they are cut from.
ID_LENGTHS, ID_CHARACTERS, QUICK_CHARACTERS = (4, 5, 6, 7, 8, 9), 20_000_000, 200_000
_IDS = 2.0**32


def run_lengths(*, quick: bool) -> list[Row]:
    """Count how often a shingle of one piece of text is also in another one."""
    strings = pieces(QUICK_PIECES if quick else PIECES)
    rows = []
    for unit, scheme in (
        ("characters", characters(1)),
        ("words", make_shingle_scheme("words", ngram=1)),
    ):
        tokens = scheme.tokenizer.hash_tokens(make_texts(strings))
        mean = float(np.diff(tokens.offsets).mean())
        for ngram in LENGTHS:
            chance = _chance(tokens, replace(scheme, ngram=ngram))
            places = mean - ngram + 1
            row = {"unit": unit, "ngram": ngram, "mean": mean, "chance": chance}
            row["alphabet"] = _alphabet(chance, ngram, places)
            if unit == "characters":
                row["rule"] = float(-np.expm1(places * np.log1p(-(float(ALPHABET) ** -ngram))))
            rows.append(row)
    return rows


def _chance(tokens: TokenLists, scheme: ShingleScheme) -> float:
    """Return the mean share of a text's shingles that another text has, over all pairs."""
    lists = shingle_lists(tokens, scheme)
    own = [np.unique(lists.values[start:stop]) for start, stop in pairwise(lists.offsets)]
    _, inverse, texts = np.unique(np.concatenate(own), return_inverse=True, return_counts=True)
    sizes = np.array([len(values) for values in own])
    others = (texts[inverse] - 1) / (len(own) - 1)
    return float((np.add.reduceat(others, np.cumsum(sizes) - sizes) / sizes).mean())


def _alphabet(chance: float, ngram: int, places: float) -> float | None:
    """Return the c of which c^k equally likely shingles would be in another text as often.

    None where nearly all or none are, which says little of c.
    """
    if not 0 < chance < MOST_CHANCE:
        return None
    return float((-np.expm1(np.log1p(-chance) / places)) ** (-1 / ngram))


def run_ids(*, quick: bool) -> list[Row]:
    """Count different shingles, and how many of them a hash of 4 bytes makes equal."""
    most = QUICK_CHARACTERS if quick else ID_CHARACTERS
    text = " ".join(read_strings(prepare(CORPUS, CORPORA[CORPUS])))[:most]
    rows = []
    for ngram in ID_LENGTHS:
        scheme = characters(ngram)
        tokens = scheme.tokenizer.hash_tokens(make_texts([text]))
        different = np.unique(shingle_lists(tokens, scheme).values)
        ids = len(np.unique(different.astype(np.uint32)))
        m = len(different)
        rows.append(
            {
                "ngram": ngram,
                "rule": ALPHABET**ngram,
                "different": m,
                "lost": m - ids,
                "expected": float(m + _IDS * np.expm1(-m / _IDS)),
            }
        )
    return rows


def characters(ngram: int) -> ShingleScheme:
    """Return the scheme of runs of characters, case folded away."""
    return make_shingle_scheme("characters", ngram=ngram, casefold=True)


def pieces(count: int) -> Sequence[str]:
    """Cut pieces of one length out of as many documents, one from each."""
    found = []
    for string in read_strings(prepare(CORPUS, CORPORA[CORPUS])):
        if len(string) >= CHARACTERS:
            found.append(" ".join(string.split())[:CHARACTERS])
        if len(found) == count:
            break
    return found
