"""Real texts for docs/papers/broder.md, as sets of shingles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from benchmarks.corpora.lines import read_rows, read_table
from benchmarks.corpora.texts import make_texts
from neardup.tables import ShingleLists, ShingleSets
from neardup.text.shingles import make_shingle_scheme, shingle_sets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

# What texts are cut into.
WORDS, EDIT_WORDS = 5, 2
# Texts with less than this are notices of a line, and most of them the same.
LEAST_SHINGLES = 20


def read_revisions(folder: Path) -> tuple[ShingleSets, Integers]:
    """Read RFCs, and pairs of which one obsoletes the other."""
    texts = {entry["id"]: entry["text"] for entry in read_rows(folder / "docs.jsonl.xz")}
    rows = {name: row for row, name in enumerate(texts)}
    pairs = [
        (rows[relation["newer"]], rows[relation["older"]])
        for relation in read_table(folder / "relations.tsv")
        if relation["relation"] == "obsoletes"
    ]
    return cut(list(texts.values()), WORDS), np.array(pairs, np.int64)


def read_edits(folder: Path) -> tuple[ShingleSets, Integers]:
    """Read paragraphs before and after an edit."""
    edits = read_rows(folder / "edits.jsonl.xz")
    texts = [edit[key] for edit in edits for key in ("before", "after")]
    return cut(texts, EDIT_WORDS), np.arange(len(texts), dtype=np.int64).reshape(-1, 2)


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
