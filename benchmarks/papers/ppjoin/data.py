"""Collections that stand for the paper's, as sets of tokens.

As there, a record is cut at white space and punctuation; its grams are taken from the words joined
by single spaces; a token that comes again in a record counts as a new one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.corpora.build import all_corpora
from benchmarks.corpora.documents import prepare
from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.records import RECORDS, given_files
from benchmarks.corpora.texts import make_texts
from neardup.tables import ShingleSets
from neardup.text.shingles import ShingleScheme, make_shingle_scheme, shingle_sets

if TYPE_CHECKING:
    from neardup.tables import Texts, Uint64s

# Records of a collection in a quick run.
QUICK_RECORDS = 4000

find_words = re.compile(r"\w+").findall

WORDS = make_shingle_scheme("words", ngram=1, occurrences="numbered")


def grams(length: int) -> ShingleScheme:
    """Return the scheme of character grams of the given length, case folded away."""
    return make_shingle_scheme("characters", ngram=length, occurrences="numbered", casefold=True)


@dataclass(frozen=True)
class Collection:
    """A corpus and what it is cut into; ``role`` is the data set of the paper that it stands for.

    ``is_long`` where the paper uses its e-mails: for cosine similarity and near-duplicate pages.
    """

    name: str
    role: str
    corpus: str
    scheme: ShingleScheme
    is_long: bool = False

    def sets(self, *, quick: bool) -> ShingleSets:
        """Read the corpus, built if need be, and cut it."""
        return shingle_sets(read_texts(self.corpus, quick=quick), self.scheme)


TITLES = Collection("titles, words", "DBLP", "titles", WORDS)
TITLE_GRAMS = Collection("titles, 3-grams", "DBLP-3GRAM", "titles", grams(3))
LICENCES = Collection("licences, words", "ENRON", "licences", WORDS, is_long=True)


def collections() -> list[Collection]:
    """List three packaged collections and the given files."""
    given = [Collection(f"{name}, words", "ENRON", name, WORDS, is_long=True) for name in _given()]
    return [TITLES, TITLE_GRAMS, LICENCES, *given]


def page_corpora() -> list[str]:
    """List the corpora for the experiment with near-duplicate pages."""
    return ["licences", *_given()]


def _given() -> list[str]:
    return [name for name in given_files() if name not in CORPORA | RECORDS]


def read_texts(name: str, *, quick: bool) -> Texts:
    """Read a corpus, built if need be: the words of each document, joined by single spaces."""
    path = prepare(name, all_corpora()[name])
    strings = read_strings(path, QUICK_RECORDS if quick else None)
    return make_texts([" ".join(find_words(string)) for string in strings])


def statistics(sets: ShingleSets) -> dict[str, Any]:
    """Return the figures of the paper's Figure 2: records, mean size, different tokens."""
    filled = zip(sets.starts.tolist(), sets.sizes.tolist(), strict=True)
    values: Uint64s = np.concatenate([sets.values[start : start + n] for start, n in filled])
    return {
        "records": len(sets),
        "mean_size": round(float(sets.sizes.mean()), 1),
        "universe": len(np.unique(values)),
    }


def sample(sets: ShingleSets, share: float) -> ShingleSets:
    """Take a share of the records at random, the same ones every time."""
    chosen = np.random.default_rng(1).permutation(len(sets))[: round(share * len(sets))]
    return sets.take(np.sort(chosen).astype(np.int64))
