"""Experiments of "A fast metric of document similarity" (Coates 2011), repeated.

``python -m benchmarks.papers.coates`` takes a minute; docs/papers.md has findings.
"""

from __future__ import annotations

import string
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.texts import draw_text, make_texts
from benchmarks.measuring.clocks import fastest
from benchmarks.papers.experiments import Row, make_parser, run_parts
from benchmarks.papers.minhash import candidate_pairs
from neardup.matching.buckets import Banding
from neardup.sketches.edit import (
    NEIGHBOURHOOD,
    EditScheme,
    edit_signatures,
    signature_distances,
)
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.text.shingles import make_shingle_scheme, shingle_lists

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from neardup.tables import Int64s, Texts

# Characters of the paper's text, and words of one that is made up.
LENGTH, VOCABULARY = 13_508, 2_000
RATES = (50, 100, 200)
SHARES, BLOCKS, BLOCK_SIZE = (1, 5, 10, 20, 30), (1, 5, 10), 500
PRINTABLE = np.array(list(string.printable[:95]))
# Estimates of the paper: by compression, for its shares of substitutions and for its blocks.
PAPER_SHARES = {50: (333, 1000, 2416, 2350, 3700), 100: (66, 600, 1066, 1666, 1833)}
PAPER_SHARES[200] = (66, 200, 266, 800, None)
PAPER_BLOCKS = {50: (700, 2100, 5450), 100: (700, 2800, 4700), 200: (200, 2200, 6000)}
# Candidates share a band; near-duplicates differ in a tenth of the longer text at most.
BANDING, EDITED, TEXT_RATE = Banding(25, 5), 0.1, 25
LEAST_CHARACTERS, MOST_CHARACTERS, TEXTS = 1_500, 20_000, 4_000


def exact_distances(texts: Texts, left: Int64s, right: Int64s) -> Int64s:
    """Count the edits between pairs of texts."""
    strings = np.array(texts.to_arrow().to_pylist(), np.object_)
    distances: Int64s = process.cpdist(
        strings[left], strings[right], scorer=Levenshtein.distance, dtype=np.int64
    )
    return distances


def read_text(options: argparse.Namespace) -> str:
    """Read the beginning of the text file, or make a text up."""
    if options.text is not None:
        return str(options.text.read_text(encoding="utf-8")[:LENGTH])
    return draw_text(np.random.default_rng(options.seed), VOCABULARY, LENGTH)[:LENGTH]


def run_speed(options: argparse.Namespace) -> list[Row]:
    """Time exact distances, signing, and distances of signatures, of unrelated texts."""
    text, generator = read_text(options), np.random.default_rng(options.seed)
    n, pairs = 200, 2_000 if options.quick else 20_000
    texts = make_texts(["".join(generator.permutation(list(text))) for _ in range(n)])
    few = np.arange(20)
    exact = len(few) / fastest(lambda: exact_distances(texts, few, few + 100), 5)
    rows: list[Row] = [{"c": "exact", "symbols": None, "pairs a second": exact}]
    rows[0]["million characters a second"] = None
    for c in RATES:
        scheme = EditScheme(c)
        signatures = edit_signatures(texts, scheme)
        left, right = (generator.integers(0, n, pairs) for _ in range(2))
        signing = fastest(lambda s=scheme: edit_signatures(texts, s), 5)
        comparing = fastest(lambda a=(signatures, left, right): signature_distances(*a), 5)
        row: Row = {"c": c, "symbols": round(len(signatures.symbols) / n)}
        row["pairs a second"] = pairs / comparing
        rows.append(row | {"million characters a second": n * len(text) / signing / 1e6})
    return rows


def run_scattered(options: argparse.Namespace) -> list[Row]:
    """Substitute a share of the characters, in random places."""
    text, generator = read_text(options), np.random.default_rng(options.seed)
    rows = []
    for share in SHARES:
        changed = []
        for _ in range(options.trials):
            letters = np.array(list(text))
            places = generator.choice(len(text), round(share / 100 * len(text)), replace=False)
            letters[places] = generator.choice(PRINTABLE, len(places))
            changed.append("".join(letters))
        paper = {c: values[SHARES.index(share)] for c, values in PAPER_SHARES.items()}
        rows += _compare(text, changed, {"% changed": share}, paper)
    return rows


def run_blocks(options: argparse.Namespace) -> list[Row]:
    """Insert blocks of random characters in random places."""
    text, generator = read_text(options), np.random.default_rng(options.seed)
    rows = []
    for n_blocks in BLOCKS:
        changed = []
        for _ in range(options.trials):
            whole = text
            for place in np.sort(generator.integers(0, len(text), n_blocks))[::-1].tolist():
                block = "".join(generator.choice(PRINTABLE, BLOCK_SIZE))
                whole = whole[:place] + block + whole[place:]
            changed.append(whole)
        paper = {c: values[BLOCKS.index(n_blocks)] for c, values in PAPER_BLOCKS.items()}
        rows += _compare(text, changed, {"blocks": n_blocks}, paper)
    return rows


def _compare(
    text: str, changed: Sequence[str], facts: Row, paper: dict[int, int | None]
) -> list[Row]:
    """Estimate the distance of changed texts by each compression, means of all trials."""
    texts = make_texts([text, *changed])
    left = np.zeros(len(changed), np.int64)
    right = left + 1 + np.arange(len(changed))
    true = float(exact_distances(texts, left, right).mean())
    rows = []
    for c in RATES:
        row = {"c": c, **facts, "true": round(true), "paper's": paper[c]}
        scaled = c * signature_distances(edit_signatures(texts, EditScheme(c)), left, right)
        rows.append(row | {"c LD": round(float(scaled.mean()))})
    return rows


def run_single(options: argparse.Namespace) -> list[Row]:
    """Change one character, and count the signatures that have changed."""
    text, generator = read_text(options), np.random.default_rng(options.seed)
    changed = []
    for place in generator.integers(0, len(text), 100 * options.trials).tolist():
        others = PRINTABLE[text[place] != PRINTABLE]
        changed.append(text[:place] + str(generator.choice(others)) + text[place + 1 :])
    texts = make_texts([text, *changed])
    left = np.zeros(len(changed), np.int64)
    right = left + 1 + np.arange(len(changed))
    rows = []
    for c in RATES:
        seen = signature_distances(edit_signatures(texts, EditScheme(c)), left, right) > 0
        # Each of n old and of n new windows gives a symbol once in c times.
        expected = 1 - (1 - 1 / c) ** (2 * NEIGHBOURHOOD)
        rows.append({"c": c, "edit seen": float(seen.mean()), "expected": expected})
    return rows


def run_verify(options: argparse.Namespace) -> list[Row] | None:
    """Verify candidates of bands by edit signatures, near-duplicates by exact distances."""
    if options.texts is None:
        return None
    strings = [" ".join(each.split()) for each in read_strings(options.texts)]
    strings = [s for s in dict.fromkeys(strings) if LEAST_CHARACTERS <= len(s) <= MOST_CHARACTERS]
    order = np.random.default_rng(1).permutation(len(strings))[:TEXTS].tolist()
    texts = make_texts([strings[row] for row in order])
    shingles = make_shingle_scheme("words", ngram=5)
    lists = shingle_lists(shingles.tokenizer.hash_tokens(texts), shingles)
    signed = minhash_signatures(lists, MinHashScheme(BANDING.num_perm))
    left, right = np.divmod(candidate_pairs(signed, BANDING), len(order))
    sizes = np.array([len(strings[row]) for row in order])
    most = EDITED * np.maximum(sizes[left], sizes[right])
    near = exact_distances(texts, left, right) <= most
    rows = []
    signatures = edit_signatures(texts, EditScheme(TEXT_RATE))
    verified = TEXT_RATE * signature_distances(signatures, left, right) <= most
    for kind, taken in (("nothing", np.ones(len(left), bool)), ("signatures", verified)):
        right_ones = int((taken & near).sum())
        row: Row = {"verified by": kind, "pairs left": int(taken.sum())}
        row["precision"] = right_ones / max(1, int(taken.sum()))
        rows.append(row | {"recall": right_ones / max(1, int(near.sum()))})
    return rows


if __name__ == "__main__":
    parser = make_parser("benchmarks.papers.coates", __doc__)
    parser.add_argument("--text", type=Path, help="text to edit; without it, one is made up")
    parser.add_argument("--texts", type=Path, help="JSON lines (.xz) with text, many of them alike")
    parser.add_argument("--trials", type=int, default=20, help="random changes for each row")
    parser.add_argument("--seed", type=int, default=42)
    run_parts(
        parser,
        {
            "speed": run_speed,
            "scattered": run_scattered,
            "blocks": run_blocks,
            "single": run_single,
            "verify": run_verify,
        },
    )
