"""Claims in the text of the paper: short texts, single edits, verification of candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpora.lines import Row, read_strings
from benchmarks.corpora.texts import make_texts
from benchmarks.measuring.clocks import fastest
from benchmarks.papers.coates.runs import PRINTABLE, RATES, REPEATS, make_scheme
from benchmarks.papers.minhash.rules import candidate_pairs
from neardup.matching.bands import Banding
from neardup.sketches.edit import edit_signatures, exact_distances, signature_distances
from neardup.sketches.minhash import MinHashScheme, minhash_signatures
from neardup.text.shingles import make_shingle_scheme, shingle_lists

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Bytes of the strings of which the paper says how many pairs a second it compares exactly.
LENGTHS = {40: (38_000, 200_000), 4_000: (3.7, 200)}
# Candidates: pairs that share a band; near-duplicates: a tenth of the longer text edited, at most.
BANDING, EDITED = Banding(25, 5), 0.1
# A rate for texts of a few thousand characters, and the least of these that have enough symbols.
TEXT_RATE, LEAST_CHARACTERS, MOST_CHARACTERS = 25, 1_500, 20_000
TEXTS = 4_000


def run_lengths(text: str, seed: int) -> list[Row]:
    """Time exact distances of short strings and of longer ones, all unrelated."""
    generator = np.random.default_rng(seed)
    rows = []
    for length, (paper, pairs) in LENGTHS.items():
        strings = ["".join(generator.permutation(list(text))[:length]) for _ in range(200)]
        texts = make_texts(strings)
        left, right = (generator.integers(0, len(strings), pairs) for _ in range(2))
        seconds = fastest(lambda pairs=(texts, left, right): exact_distances(*pairs), REPEATS)
        rows.append({"length": length, "paper": paper, "pairs_per_second": pairs / seconds})
    return rows


def run_single(text: str, hashes: Sequence[str], trials: int, seed: int) -> list[Row]:
    """Change one character, and see whether the signature has changed."""
    generator = np.random.default_rng(seed)
    changed = []
    for place in generator.integers(0, len(text), 100 * trials).tolist():
        others = PRINTABLE[text[place] != PRINTABLE]
        changed.append(text[:place] + str(generator.choice(others)) + text[place + 1 :])
    texts = make_texts([text, *changed])
    left = np.zeros(len(changed), np.int64)
    right = left + 1 + np.arange(len(changed))
    rows = []
    for compression in RATES:
        for kind in hashes:
            scheme = make_scheme(kind, compression)
            signatures = edit_signatures(texts, scheme)
            seen = signature_distances(signatures, left, right) > 0
            n = scheme.neighbourhood
            rows.append(
                {
                    "compression": compression,
                    "hash": kind,
                    "neighbourhood": n,
                    "seen": float(seen.mean()),
                    # Each of n old and of n new windows gives a symbol once in c times.
                    "expected": 1 - (1 - 1 / compression) ** (2 * n),
                }
            )
    return rows


def run_verify(path: Path) -> Row:
    """Verify candidates of bands by edit signatures."""
    strings = [" ".join(string.split()) for string in read_strings(path)]
    strings = [s for s in strings if LEAST_CHARACTERS <= len(s) <= MOST_CHARACTERS]
    strings = list(dict.fromkeys(strings))
    order = np.random.default_rng(1).permutation(len(strings))[:TEXTS]
    texts = make_texts([strings[row] for row in order.tolist()])
    shingles = make_shingle_scheme("words", ngram=5)
    lists = shingle_lists(shingles.tokenizer.hash_tokens(texts), shingles)
    signed = minhash_signatures(lists, MinHashScheme(BANDING.num_perm))
    left, right = candidate_pairs(signed, BANDING)
    sizes = np.array([len(strings[row]) for row in order.tolist()])
    most = EDITED * np.maximum(sizes[left], sizes[right])
    near = exact_distances(texts, left, right) <= most
    found: Row = {"texts": len(order), "candidates": len(left), "near": int(near.sum())}
    for kind in ("sum", "mixed"):
        scheme = make_scheme(kind, TEXT_RATE)
        signatures = edit_signatures(texts, scheme)
        scaled = TEXT_RATE * signature_distances(signatures, left, right)
        found[f"{kind}, c LD"] = _judge(scaled <= most, near)
    return found


def _judge(taken: np.typing.NDArray[np.bool_], near: np.typing.NDArray[np.bool_]) -> Row:
    return {
        "taken": int(taken.sum()),
        "false": int((taken & ~near).sum()),
        "missed": int((near & ~taken).sum()),
    }
