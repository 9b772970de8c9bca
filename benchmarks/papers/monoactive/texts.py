"""Texts for the experiments with windows: words of a corpus in a row, and texts of like repeats."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpora.documents import prepare
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.texts import read_texts
from neardup.passages.scheme import make_passage_scheme
from neardup.passages.windows import group_occurrences
from neardup.tables import TokenLists

if TYPE_CHECKING:
    from neardup.kernels.passage.staircase import Occurrences
    from neardup.tables import Uint64s

LONG, VARIED = "prose", "wikipedia"
# Words of the texts that are grouped by the frequency of their commonest word, and the groups.
GROUPED_WORDS, GROUP_WIDTH, TEXTS_OF_GROUP = 10_000, 200, 4


def corpus_words(name: str) -> TokenLists:
    """Read the words of a corpus, built if need be, hashed as an index does."""
    texts = read_texts(prepare(name, CORPORA[name]))
    return make_passage_scheme().tokenizer.hash_tokens(texts)


def grouped_texts() -> dict[int, list[Uint64s]]:
    """Return texts of one length by the frequency of their commonest word.

    Articles with the same commonest word are put one behind the other, by its share, and cut.
    Nothing is repeated. The keys are the least frequencies of the groups.
    """
    words = corpus_words(VARIED)
    order = []
    for number in range(len(words)):
        values = words.values[words.offsets[number] : words.offsets[number + 1]]
        if len(values):
            ((commonest, count),) = Counter(values.tolist()).most_common(1)
            order.append((commonest, count / len(values), number))
    order.sort()
    groups: dict[int, list[Uint64s]] = {}
    pieces: list[Uint64s] = []
    before = None
    for commonest, _, number in order:
        if commonest != before:
            pieces, before = [], commonest
        pieces.append(words.values[words.offsets[number] : words.offsets[number + 1]])
        if sum(map(len, pieces)) >= GROUPED_WORDS:
            text = np.concatenate(pieces)[:GROUPED_WORDS]
            pieces = []
            frequency = int(np.unique(text, return_counts=True)[1].max())
            group = groups.setdefault(frequency // GROUP_WIDTH * GROUP_WIDTH, [])
            if len(group) < TEXTS_OF_GROUP:
                group.append(text)
    return dict(sorted(groups.items()))


def one_list(values: Uint64s) -> TokenLists:
    """Make the tokens of a single text a table."""
    return TokenLists(values.copy(), np.array([0, len(values)], np.int64))


def one_text(values: Uint64s) -> Occurrences:
    """Group the tokens of a single text."""
    return group_occurrences(one_list(values))
