"""Real texts for docs/papers/broder.md, as sets of shingles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks.corpora.lines import read_rows
from benchmarks.corpora.texts import make_texts
from neardup.tables import ShingleLists, ShingleSets
from neardup.text.shingles import make_shingle_scheme, shingle_sets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

# Words of a shingle.
WORDS = 5
# Texts with less than this are notices of a line, and most of them the same.
LEAST_SHINGLES = 20


def read_licences(folder: Path, most: int | None) -> tuple[ShingleSets, list[str]]:
    """Read licence texts that are no mere mentions, and their labels."""
    entries = read_rows(folder / "texts.jsonl.xz")[:most]
    sets = cut([entry["text"] for entry in entries], WORDS)
    rows = np.flatnonzero(sets.sizes >= LEAST_SHINGLES)
    return sets.take(rows), [entries[row]["label"] for row in rows]


def cut(texts: Sequence[str], ngram: int) -> ShingleSets:
    """Cut texts into sets of shingles of words."""
    return shingle_sets(make_texts(texts), make_shingle_scheme("words", ngram=ngram))


def elements(sets: ShingleSets, row: int) -> Hashes:
    """Return the elements of one set."""
    return sets.values[sets.starts[row] :][: sets.sizes[row]]


def lists_of(sets: ShingleSets, order: Integers) -> ShingleLists:
    """Put sets one after another in an order."""
    values = [elements(sets, row) for row in order.tolist()]
    offsets = np.concatenate([[0], np.cumsum(sets.sizes[order])]).astype(np.int64)
    return ShingleLists(np.concatenate(values), offsets)


def resemblance(own: Hashes, other: Hashes) -> float:
    """Return what share of two sets' elements both have."""
    common = len(np.intersect1d(own, other, assume_unique=True))
    return common / max(len(own) + len(other) - common, 1)
