"""The measurements behind docs/papers/coates.md."""

from __future__ import annotations

import statistics
import string
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpora.lines import Row
from benchmarks.corpora.texts import draw_text, make_texts
from benchmarks.measuring.clocks import fastest
from neardup.sketches.edit import (
    EditScheme,
    edit_signatures,
    exact_distances,
    signature_distances,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# The paper's text has so many characters.
LENGTH = 13_508
# Its windows, and ours.
PAPER_NEIGHBOURHOOD = 4
RATES = (50, 100, 200)
SHARES = (1, 5, 10, 20, 30)
BLOCKS = (1, 5, 10)
BLOCK_SIZE = 500
REPEATS = 5
PRINTABLE = np.array(list(string.printable[:95]))
# Words that a made-up text has.
VOCABULARY = 2_000


def read_text(path: Path | None, seed: int) -> str:
    """Read the beginning of a text file, or make one up."""
    if path is not None:
        return path.read_text(encoding="utf-8")[:LENGTH]
    return draw_text(np.random.default_rng(seed), VOCABULARY, LENGTH)[:LENGTH]


def make_scheme(kind: str, compression: int) -> EditScheme:
    """Return the paper's way to sign, or ours."""
    if kind == "sum":
        return EditScheme(compression, PAPER_NEIGHBOURHOOD, hash="sum", letters=2)
    return EditScheme(compression)


def run_rates(text: str) -> list[Row]:
    """Count symbols for each residue of the sum, and for seeds of the mixed hash."""
    texts = make_texts([text])
    rows = []
    for compression in RATES:
        for neighbourhood in (PAPER_NEIGHBOURHOOD, EditScheme().neighbourhood):
            sums = [
                EditScheme(compression, neighbourhood, hash="sum", residue=residue)
                for residue in range(compression)
            ]
            mixed = [
                EditScheme(compression, neighbourhood, seed=seed) for seed in range(compression)
            ]
            for kind, schemes in (("sum", sums), ("mixed", mixed)):
                counts = [len(edit_signatures(texts, scheme).symbols) for scheme in schemes]
                rows.append(
                    {
                        "compression": compression,
                        "neighbourhood": neighbourhood,
                        "hash": kind,
                        "expected": (len(text) - neighbourhood + 1) / compression,
                        "least": min(counts),
                        "median": statistics.median(counts),
                        "most": max(counts),
                    }
                )
    return rows


def run_speed(text: str, hashes: Sequence[str], seed: int) -> Row:
    """Time exact distances, signing, and distances of signatures, of unrelated texts."""
    generator = np.random.default_rng(seed)
    n = 200
    texts = make_texts(["".join(generator.permutation(list(text))) for _ in range(n)])
    few = np.arange(20)
    rows = []
    for compression in RATES:
        for kind in hashes:
            scheme = make_scheme(kind, compression)
            signing = fastest(lambda scheme=scheme: edit_signatures(texts, scheme), REPEATS)
            signatures = edit_signatures(texts, scheme)
            left, right = (generator.integers(0, n, 20_000) for _ in range(2))
            comparing = fastest(
                lambda pairs=(signatures, left, right): signature_distances(*pairs), REPEATS
            )
            rows.append(
                {
                    "compression": compression,
                    "hash": kind,
                    "symbols": len(signatures.symbols) / n,
                    "characters_per_second": n * len(text) / signing,
                    "pairs_per_second": 20_000 / comparing,
                }
            )
    exact = fastest(lambda: exact_distances(texts, few, few + 100), REPEATS)
    return {"exact_pairs_per_second": len(few) / exact, "rows": rows}


def run_scattered(text: str, hashes: Sequence[str], trials: int, seed: int) -> list[Row]:
    """Substitute a share of the characters, in random places."""
    generator = np.random.default_rng(seed)
    rows = []
    for share in SHARES:
        changed = []
        for _ in range(trials):
            characters = np.array(list(text))
            places = generator.choice(len(text), round(share / 100 * len(text)), replace=False)
            characters[places] = generator.choice(PRINTABLE, len(places))
            changed.append("".join(characters))
        rows += compare(text, changed, hashes, {"share": share})
    return rows


def run_blocks(text: str, hashes: Sequence[str], trials: int, seed: int) -> list[Row]:
    """Insert blocks of random characters in random places."""
    generator = np.random.default_rng(seed)
    rows = []
    for n_blocks in BLOCKS:
        changed = []
        for _ in range(trials):
            places = np.sort(generator.integers(0, len(text), n_blocks))[::-1]
            whole = text
            for place in places.tolist():
                block = "".join(generator.choice(PRINTABLE, BLOCK_SIZE))
                whole = whole[:place] + block + whole[place:]
            changed.append(whole)
        rows += compare(text, changed, hashes, {"blocks": n_blocks})
    return rows


def compare(text: str, changed: Sequence[str], hashes: Sequence[str], what: Row) -> list[Row]:
    """Compare a text with changed ones by all schemes: a row for each, of means."""
    texts = make_texts([text, *changed])
    left = np.zeros(len(changed), np.int64)
    right = left + 1 + np.arange(len(changed))
    true = exact_distances(texts, left, right)
    rows = []
    for compression in RATES:
        for kind in hashes:
            scheme = make_scheme(kind, compression)
            signatures = edit_signatures(texts, scheme)
            scaled = compression * signature_distances(signatures, left, right)
            row = {
                **what,
                "compression": compression,
                "hash": kind,
                "true": float(true.mean()),
                "scaled": float(scaled.mean()),
            }
            rows.append(row)
    return rows
