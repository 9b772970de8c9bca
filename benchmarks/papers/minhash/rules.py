"""Choice of bands by the article's rule of thumb, and by recall."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

import neardup
from benchmarks.corpora.documents import prepare
from benchmarks.corpora.lines import read_strings
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.texts import make_texts
from neardup.matching.bands import Banding, choose_banding
from neardup.sketches.minhash import MinHashScheme, band_keys, minhash_signatures
from neardup.text.shingles import make_shingle_scheme, shingle_lists

if TYPE_CHECKING:
    import numpy.typing as npt

    from neardup.tables import Uint32s

Row = dict[str, Any]

CORPUS, TEXTS, QUICK_TEXTS = "licences", 8_000, 500
THRESHOLD, RECALL, FUNCTIONS = Fraction(8, 10), Fraction(99, 100), 128
# Rows of a band; as many bands as the functions suffice for.
ROWS = (4, 5, 6, 8, 9, 10, 11, 12, 14)


def run_rules(*, quick: bool) -> dict[str, Any]:
    """Count the candidates of each banding, and the similar pairs among them.

    Exact copies are taken once: they are candidates of each other by any bands.
    """
    strings = read_strings(prepare(CORPUS, CORPORA[CORPUS]))
    generator = np.random.default_rng(1)
    order = generator.permutation(len(strings))[: QUICK_TEXTS if quick else TEXTS]
    texts = list(dict.fromkeys(strings[row] for row in order.tolist()))
    found = neardup.find_pairs(texts, threshold=THRESHOLD).table
    similar = _numbers(
        found["id_a"].to_numpy().astype(np.int64),
        found["id_b"].to_numpy().astype(np.int64),
        len(texts),
    )
    scheme = make_shingle_scheme("words", ngram=5)
    lists = shingle_lists(scheme.tokenizer.hash_tokens(make_texts(texts)), scheme)
    signatures = minhash_signatures(lists, MinHashScheme(FUNCTIONS))
    bandings = [Banding(FUNCTIONS // rows, rows) for rows in ROWS]
    chosen = choose_banding(THRESHOLD, RECALL, FUNCTIONS)
    return {
        "texts": len(texts),
        "similar": len(similar),
        "chosen": [chosen.bands, chosen.rows],
        "bandings": [
            _row(banding, signatures, similar) for banding in sorted({*bandings, chosen}, key=_rows)
        ],
    }


def _rows(banding: Banding) -> int:
    return banding.rows


def _row(banding: Banding, signatures: Uint32s, similar: npt.NDArray[np.int64]) -> Row:
    candidates = _candidates(signatures, banding)
    true = len(np.intersect1d(candidates, similar, assume_unique=True))
    return {
        "bands": banding.bands,
        "rows": banding.rows,
        "steepest": banding.steepest,
        "at_threshold": banding.candidate_probability(float(THRESHOLD)),
        "candidates": len(candidates),
        "false": len(candidates) - true,
        "missed": len(similar) - true,
    }


def candidate_pairs(
    signatures: Uint32s, banding: Banding
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """List all pairs of rows that agree in a band, each once."""
    numbers = _candidates(signatures, banding)
    return numbers // len(signatures), numbers % len(signatures)


def _candidates(signatures: Uint32s, banding: Banding) -> npt.NDArray[np.int64]:
    keys = band_keys(signatures, banding.bands, banding.rows)
    n = len(keys)
    parts = []
    for band in range(keys.shape[1]):
        order = np.argsort(keys[:, band], kind="stable").astype(np.int64)
        ordered = keys[order, band]
        step = 1
        # Rows of equal keys stand together; so do all pairs of them, that many places apart.
        equal = ordered[step:] == ordered[:-step]
        while equal.any():
            at = np.flatnonzero(equal)
            parts.append(_numbers(order[at], order[at + step], n))
            step += 1
            equal = ordered[step:] == ordered[:-step]
    return np.unique(np.concatenate([np.empty(0, np.int64), *parts]))


def _numbers(
    own: npt.NDArray[np.int64], other: npt.NDArray[np.int64], n: int
) -> npt.NDArray[np.int64]:
    """Number pairs of rows, the lesser one first."""
    numbers: npt.NDArray[np.int64] = np.minimum(own, other) * n + np.maximum(own, other)
    return np.unique(numbers)
