"""Resemblance of changed, reordered and unrelated texts by the size of a shingle."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.corpora.texts import make_texts
from benchmarks.papers.broder.texts import elements, resemblance
from neardup.text.shingles import make_shingle_scheme, shingle_sets

if TYPE_CHECKING:
    from collections.abc import Sequence

Row = dict[str, Any]

SIZES = (1, 2, 3, 4, 5, 7, 10, 15)
PIECES, PIECE_WORDS, BLOCK_WORDS, CHANGED = 200, 1_000, 50, 0.01


def run_sizes(text: str, seed: int) -> list[Row]:
    """Take the resemblance of pieces of a text and what has become of them, for sizes of shingles.

    Both of the paper's options: shingles as a set, and with their occurrences numbered.
    """
    words = text.split()
    pieces = [
        words[start : start + PIECE_WORDS]
        for start in range(0, len(words) - PIECE_WORDS, PIECE_WORDS)
    ][: PIECES + 1]
    generator = np.random.default_rng(seed)
    others = {
        "changed": [_change(piece, words, generator) for piece in pieces],
        "blocks": [_shuffle(piece, BLOCK_WORDS, generator) for piece in pieces],
        "words": [_shuffle(piece, 1, generator) for piece in pieces],
        "unrelated": [*pieces[1:], pieces[0]],
    }
    return [
        {"size": size, "occurrences": occurrences}
        | {
            name: _mean_resemblance(pieces, changed, size, occurrences)
            for name, changed in others.items()
        }
        for occurrences in ("set", "numbered")
        for size in SIZES
    ]


def _change(
    piece: Sequence[str], words: Sequence[str], generator: np.random.Generator
) -> list[str]:
    """Exchange a share of the words for others of the text."""
    changed = list(piece)
    for place in generator.choice(len(piece), round(CHANGED * len(piece)), replace=False).tolist():
        changed[place] = words[int(generator.integers(len(words)))]
    return changed


def _shuffle(piece: Sequence[str], size: int, generator: np.random.Generator) -> list[str]:
    """Put blocks of so many words in random order."""
    blocks = [piece[start : start + size] for start in range(0, len(piece), size)]
    return [word for number in generator.permutation(len(blocks)) for word in blocks[number]]


def _mean_resemblance(
    pieces: Sequence[Sequence[str]], others: Sequence[Sequence[str]], size: int, occurrences: Any
) -> float:
    scheme = make_shingle_scheme("words", ngram=size, occurrences=occurrences)
    sets = shingle_sets(make_texts([" ".join(own) for own in (*pieces, *others)]), scheme)
    return statistics.fmean(
        resemblance(elements(sets, row), elements(sets, row + len(pieces)))
        for row in range(len(pieces))
    )
