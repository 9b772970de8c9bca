"""Estimates of pairs of real texts against what is true of them."""

from __future__ import annotations

import json
import lzma
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from neardup.sketches.broder import ModuloScheme, SmallestScheme, sketch_sets
from neardup.sketches.estimates import estimate_resemblance
from neardup.tables import ShingleLists, ShingleSets, Texts
from neardup.text.shingles import make_shingle_scheme, shingle_sets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

Row = dict[str, Any]
Integers = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

# What texts are cut into.
RFC_WORDS, EDIT_WORDS = 5, 2
# Rows of the table by true resemblance, per cent; those of few pairs are left out.
BINS = (0, 10, 30, 50, 70, 90, 100)
LEAST_PAIRS = 10
SEEDS = 20
KINDS = {
    ("smallest", 100): lambda seed: SmallestScheme(100, seed),
    ("smallest", 400): lambda seed: SmallestScheme(400, seed),
    ("modulo", 100): lambda seed: ModuloScheme(size=100, seed=seed),
}


def run_real(name: str, sets: ShingleSets, pairs: Integers, seeds: int) -> list[Row]:
    """Estimate the resemblance of pairs of real texts under several seeds."""
    lists = _lists_of(sets)
    left, right = pairs.T.copy()
    truth = np.array(
        [
            _resemblance(_elements(sets, row), _elements(sets, other))
            for row, other in pairs.tolist()
        ]
    )
    bins = np.clip(np.searchsorted(BINS, 100 * truth, "right") - 1, 0, len(BINS) - 2)
    rows = []
    for (kind, size), scheme_of in KINDS.items():
        errors, theory, held = [], [], []
        for seed in range(seeds):
            scheme = scheme_of(seed)
            sketches = sketch_sets(lists, scheme)
            found = estimate_resemblance(sketches, sketches, left, right, scheme)
            errors.append(found.values - truth)
            held.append((found.low <= truth) & (truth <= found.high))
            n = np.maximum(found.n_samples, 1)
            theory.append(np.where(found.low == found.high, 0.0, np.sqrt(truth * (1 - truth) / n)))
        for number in range(len(BINS) - 1):
            chosen = bins == number
            if chosen.sum() >= LEAST_PAIRS:
                error = np.stack(errors)[:, chosen]
                rows.append(
                    {
                        "collection": name,
                        "kind": kind,
                        "size": size,
                        "bin": BINS[number : number + 2],
                        "pairs": int(chosen.sum()),
                        "bias": float(np.nanmean(error)),
                        "error": float(np.sqrt(np.nanmean(error**2))),
                        "theory": float(np.sqrt(np.mean(np.stack(theory)[:, chosen] ** 2))),
                        "held": float(np.stack(held)[:, chosen].mean()),
                    }
                )
    return rows


def read_revisions(folder: Path) -> tuple[ShingleSets, Integers]:
    """Read RFCs, and pairs of which one obsoletes the other."""
    with lzma.open(folder / "docs.jsonl.xz", "rt", encoding="utf-8") as lines:
        texts = {entry["id"]: entry["text"] for entry in map(json.loads, lines)}
    rows = {name: row for row, name in enumerate(texts)}
    relations = (folder / "relations.tsv").read_text(encoding="utf-8").splitlines()[1:]
    cells = (line.split("\t") for line in relations)
    pairs = [(rows[new], rows[old]) for new, old, kind, *_ in cells if kind == "obsoletes"]
    return cut(list(texts.values()), RFC_WORDS), np.array(pairs, np.int64)


def read_edits(folder: Path) -> tuple[ShingleSets, Integers]:
    """Read paragraphs before and after an edit."""
    with lzma.open(folder / "edits.jsonl.xz", "rt", encoding="utf-8") as lines:
        edits = [json.loads(line) for line in lines]
    texts = [edit[key] for edit in edits for key in ("before", "after")]
    return cut(texts, EDIT_WORDS), np.arange(len(texts), dtype=np.int64).reshape(-1, 2)


def cut(texts: Sequence[str], ngram: int) -> ShingleSets:
    """Cut texts into sets of shingles of words."""
    table = Texts.from_arrow(pa.array(texts, pa.large_string()))
    return shingle_sets(table, make_shingle_scheme("words", ngram=ngram))


def _elements(sets: ShingleSets, row: int) -> Hashes:
    return sets.values[sets.starts[row] :][: sets.sizes[row]]


def _resemblance(own: Hashes, other: Hashes) -> float:
    common = len(np.intersect1d(own, other, assume_unique=True))
    return common / max(len(own) + len(other) - common, 1)


def _lists_of(sets: ShingleSets) -> ShingleLists:
    values = [_elements(sets, row) for row in range(len(sets))]
    offsets = np.concatenate([[0], np.cumsum(sets.sizes)]).astype(np.int64)
    return ShingleLists(np.concatenate(values), offsets)
