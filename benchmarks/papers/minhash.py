"""Experiments about the length of shingles, min-hashes and their bands, after an article.

``python -m benchmarks.papers.minhash`` takes two minutes on one core; docs/papers.md has findings.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

import neardup
from benchmarks.corpora.documents import prepare
from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.texts import make_texts
from benchmarks.papers.experiments import Row, make_parser, run_parts
from neardup.matching.buckets import Banding, choose_banding
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.tables import ShingleLists
from neardup.text.shingles import ShingleScheme, make_shingle_scheme, shingle_lists

if TYPE_CHECKING:
    import argparse

    from neardup.tables import Int64s, TokenLists, Uint32s, Uint64s

# Characters that the article takes English text to be made of.
ALPHABET = 20
PIECES, CHARACTERS = 400, 2_000
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 13, 16)
ID_LENGTHS, ID_CHARACTERS = (4, 5, 6, 7, 8, 9), 20_000_000
IDS = 2.0**32
BANDINGS = ((20, 5), (16, 8), (32, 8), (14, 8), (25, 10), (9, 13))
# Elements of the union of two random sets, and how many of them are common.
UNION, GRID = 400, tuple(range(80, 400, 16))
PAIRS = 20_000
TEXTS, THRESHOLD, RECALL, FUNCTIONS = 8_000, Fraction(8, 10), Fraction(99, 100), 128
# Rows of a band; as many bands as the functions suffice for.
ROWS = (4, 5, 6, 8, 9, 10, 11, 12, 14)


def characters(ngram: int) -> ShingleScheme:
    """Return the scheme of runs of characters, case folded away."""
    return make_shingle_scheme("characters", ngram=ngram, casefold=True)


def run_lengths(options: argparse.Namespace) -> list[Row]:
    """Measure how often a shingle of one piece of text is also in another one."""
    most = PIECES // 10 if options.quick else PIECES
    strings = (" ".join(s.split()) for s in read_strings(prepare("prose", CORPORA["prose"])))
    texts = make_texts([s[:CHARACTERS] for s in strings if len(s) >= CHARACTERS][:most])
    rows = []
    for unit, scheme in (
        ("characters", characters(1)),
        ("words", make_shingle_scheme("words", ngram=1)),
    ):
        tokens = scheme.tokenizer.hash_tokens(texts)
        for ngram in LENGTHS:
            places = float(np.diff(tokens.offsets).mean()) - ngram + 1
            rule = -np.expm1(places * np.log1p(-(float(ALPHABET) ** -ngram)))
            measured = _shared(tokens, replace(scheme, ngram=ngram))
            rows.append(
                {
                    "unit": unit,
                    "k": ngram,
                    "by 20^k": f"{rule:.1g}" if unit == "characters" else None,
                    "measured": f"{measured:.2g}",
                }
            )
    return rows


def _shared(tokens: TokenLists, scheme: ShingleScheme) -> float:
    """Return the mean share of a text's shingles that another text has, over all pairs."""
    lists = shingle_lists(tokens, scheme)
    own = [np.unique(lists.values[start:stop]) for start, stop in pairwise(lists.offsets)]
    _, inverse, texts = np.unique(np.concatenate(own), return_inverse=True, return_counts=True)
    sizes = np.array([len(values) for values in own])
    others = (texts[inverse] - 1) / (len(own) - 1)
    return float((np.add.reduceat(others, np.cumsum(sizes) - sizes) / sizes).mean())


def run_ids(options: argparse.Namespace) -> list[Row]:
    """Count the different shingles that a hash of 4 bytes makes equal."""
    most = 200_000 if options.quick else ID_CHARACTERS
    text = " ".join(read_strings(prepare("prose", CORPORA["prose"])))[:most]
    rows = []
    for ngram in ID_LENGTHS:
        scheme = characters(ngram)
        tokens = scheme.tokenizer.hash_tokens(make_texts([text]))
        different = np.unique(shingle_lists(tokens, scheme).values)
        m = len(different)
        rows.append(
            {
                "k": ngram,
                "20^k": ALPHABET**ngram,
                "different": m,
                "lost in 4 bytes": m - len(np.unique(different.astype(np.uint32))),
                "expected": float(m + IDS * np.expm1(-m / IDS)),
            }
        )
    return rows


def draw_sets(
    generator: np.random.Generator, pairs: int, sizes: tuple[int, int, int]
) -> tuple[ShingleLists, ShingleLists]:
    """Draw pairs of sets with so many elements of A alone, of both, and of B alone."""
    own, common, other = sizes
    words = generator.integers(0, 2**64, (pairs, own + common + other), np.uint64)

    def lists(some: Uint64s) -> ShingleLists:
        n, width = some.shape
        return ShingleLists(np.ascontiguousarray(some).reshape(-1), np.arange(n + 1) * width)

    return lists(words[:, : own + common]), lists(words[:, own:])


def sign_pairs(
    generator: np.random.Generator, scheme: MinHashScheme, pairs: int, common: int
) -> tuple[Uint32s, Uint32s]:
    """Sign pairs of random sets with so many common elements of the union's 400."""
    alone = (UNION - common) // 2
    left, right = draw_sets(generator, pairs, (alone, common, UNION - common - alone))
    return minhash_signatures(left, scheme), minhash_signatures(right, scheme)


def run_bands(options: argparse.Namespace) -> list[Row]:
    """Count candidates among pairs of random sets, beside the S-curve."""
    pairs = 200 if options.quick else PAIRS
    generator = np.random.default_rng(42)
    scheme = MinHashScheme(max(bands * rows for bands, rows in BANDINGS))
    shares = {}
    for common in GRID:
        left, right = sign_pairs(generator, scheme, pairs, common)
        for banding in BANDINGS:
            agree = band_keys(left, *banding) == band_keys(right, *banding)
            shares[banding, common] = float(agree.any(axis=1).mean())
    rows = []
    for bands, width in BANDINGS:
        banding = Banding(bands, width)
        scores = []
        for common in GRID:
            p = banding.candidate_probability(common / UNION)
            if 5 < p * pairs < pairs - 5:
                error = sqrt(p * (1 - p) / pairs)
                scores.append((shares[(bands, width), common] - p) / error)
        rows.append(
            {
                "bands x rows": f"{bands} x {width}",
                "p*": f"{banding.steepest:.3f}",
                "f(p*)": banding.candidate_probability(banding.steepest),
                "f(0.8)": f"{banding.candidate_probability(0.8):.3f}",
                "largest error, in standard errors": f"{max(scores, key=abs):+.1f}",
            }
        )
    return rows


def run_rules(options: argparse.Namespace) -> list[Row]:
    """Count the candidates of each banding, and the similar pairs among them."""
    strings = read_strings(prepare("licences", CORPORA["licences"]))
    order = np.random.default_rng(1).permutation(len(strings))[: 500 if options.quick else TEXTS]
    # Exact copies are candidates of each other by any bands, and are taken once.
    texts = list(dict.fromkeys(strings[row] for row in order.tolist()))
    found = neardup.find_pairs(texts, threshold=THRESHOLD).table
    ids = (found[name].to_numpy().astype(np.int64) for name in ("id_a", "id_b"))
    similar = _number_pairs(*ids, len(texts))
    scheme = make_shingle_scheme("words", ngram=5)
    lists = shingle_lists(scheme.tokenizer.hash_tokens(make_texts(texts)), scheme)
    signatures = minhash_signatures(lists, MinHashScheme(FUNCTIONS))
    bandings = {Banding(FUNCTIONS // rows, rows) for rows in ROWS}
    rows = []
    for banding in sorted(
        bandings | {choose_banding(THRESHOLD, RECALL, FUNCTIONS)}, key=lambda b: (b.rows, -b.bands)
    ):
        candidates = candidate_pairs(signatures, banding)
        true = len(np.intersect1d(candidates, similar, assume_unique=True))
        rows.append(
            {
                "bands x rows": f"{banding.bands} x {banding.rows}",
                "p*": f"{banding.steepest:.3f}",
                "f(0.8)": f"{banding.candidate_probability(float(THRESHOLD)):.3f}",
                "candidates": len(candidates),
                "similar, missed": len(similar) - true,
                "found": f"{true / max(1, len(similar)):.4f}",
            }
        )
    return rows


def candidate_pairs(signatures: Uint32s, banding: Banding) -> Int64s:
    """Number all pairs of rows that agree in a band: lesser row times n, plus the greater."""
    keys = band_keys(signatures, banding.bands, banding.rows)
    n = len(keys)
    parts = [np.empty(0, np.int64)]
    for band in range(keys.shape[1]):
        order = np.argsort(keys[:, band], kind="stable").astype(np.int64)
        ordered = keys[order, band]
        # Rows of equal keys are adjacent, so their pairs are 1, 2, ... places apart.
        for step in range(1, n):
            places = np.flatnonzero(ordered[step:] == ordered[:-step])
            if not len(places):
                break
            parts.append(_number_pairs(order[places], order[places + step], n))
    return np.unique(np.concatenate(parts))


def _number_pairs(own: Int64s, other: Int64s, n: int) -> Int64s:
    return np.unique(np.minimum(own, other) * n + np.maximum(own, other))


if __name__ == "__main__":
    run_parts(
        make_parser("benchmarks.papers.minhash", __doc__),
        {"lengths": run_lengths, "ids": run_ids, "bands": run_bands, "rules": run_rules},
    )
