"""Fingerprints and their order, as docs/papers/broder.md has them."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.corpora.texts import draw_text
from neardup.kernels.common.hashing import mix_words
from neardup.text.shingles import draw_polynomial, remainder

if TYPE_CHECKING:
    from benchmarks.corpora.lines import Row
    from benchmarks.papers.broder.texts import Hashes

TEXT_BYTES = 4_000_000
# Different words of a made-up text.
VOCABULARY = 5_000
# Strings that differ in their last bytes, of which two sets share the middle third.
PAGES, LAST_BYTES = 3_000, 192
STEM = b"https://example.org/page/"
NULLS = 8
SAMPLE, BYTE_SAMPLE = 100, 16


def made_up_text(seed: int) -> str:
    """Make a text up."""
    generator = np.random.default_rng(seed)
    return draw_text(generator, VOCABULARY, TEXT_BYTES // 5)[:TEXT_BYTES]


def run_order(polynomials: int) -> list[Row]:
    """Estimate the resemblance of sets of strings that differ in their last bytes.

    Fingerprints are put in their own order, in that with nulls appended, and mixed.
    """
    pages = [STEM + b"%04d" % number for number in range(PAGES)]
    bytes_ = [STEM + bytes([number]) for number in range(LAST_BYTES)]
    return [
        *_run_order("pages 0000 to 2999", pages, SAMPLE, polynomials),
        *_run_order("192 last bytes", bytes_, BYTE_SAMPLE, polynomials),
    ]


def _run_order(name: str, strings: list[bytes], sample: int, polynomials: int) -> list[Row]:
    """Take the first two thirds for A and the last two for B."""
    n = len(strings)
    third = n // 3
    truth = third / n
    is_common = (np.arange(n) >= third) & (np.arange(n) < 2 * third)
    estimates: dict[str, list[float]] = {"as it is": [], "8 nulls appended": [], "mixed": []}
    for seed in range(polynomials):
        polynomial = draw_polynomial(seed)
        plain = fingerprints(strings, polynomial)
        nulls = fingerprints([each + bytes(NULLS) for each in strings], polynomial)
        with np.errstate(over="ignore"):
            mixed = mix_words(plain)
        for way, values in zip(estimates, (plain, nulls, mixed), strict=True):
            # The smallest of both sets together: what the right estimator looks at.
            estimates[way].append(float(is_common[np.argsort(values)[:sample]].mean()))
    theory = (truth * (1 - truth) / sample * (n - sample) / (n - 1)) ** 0.5
    return [
        {
            "strings": name,
            "sample": sample,
            "order": way,
            "truth": truth,
            "bias": statistics.mean(values) - truth,
            "deviation": statistics.stdev(values),
            "theory": theory,
            "polynomials": polynomials,
        }
        for way, values in estimates.items()
    ]


def fingerprints(strings: list[bytes], polynomial: int) -> Hashes:
    """Return the remainders of equally long strings, unmixed, a 1 before each of them."""
    data = np.frombuffer(b"".join(strings), np.uint8).reshape(len(strings), -1)
    width = data.shape[1]
    found = np.full(len(strings), remainder(1 << 8 * width, polynomial), np.uint64)
    for place in range(width):
        # Only few places differ, and only they need a table of all bytes.
        used = np.unique(data[:, place])
        table = np.zeros(256, np.uint64)
        for byte in used.tolist():
            table[byte] = remainder(byte << 8 * (width - 1 - place), polynomial)
        found ^= table[data[:, place]]
    return found
