"""The worst case: texts of few words that are repeated all over, against the lower bound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.monoactive.allalign import allalign_windows
from benchmarks.papers.monoactive.monoall import expected_active_keys
from benchmarks.papers.monoactive.partitions import seeds_of
from benchmarks.papers.monoactive.texts import one_list, one_text
from neardup.passages.scheme import make_passage_scheme
from neardup.passages.windows import count_windows

if TYPE_CHECKING:
    from neardup.tables import Uint64s

# Tokens of a text, frequencies of all its words, and hash functions of which means are taken.
TOKENS, FREQUENCIES, FUNCTIONS = 4_096, (1, 16, 256, 4_096), 64


def run_worst(*, quick: bool) -> list[dict[str, Any]]:
    """Partition texts of n / f words, each f times in a row, as the paper's Appendix B has them.

    The bound is the number of sub-texts of which no two can share a window: of each word those
    that hold x of its copies and nothing else, where the x-th hash value is active. Their expected
    number is that of the active keys.
    """
    entries = []
    for frequency in FREQUENCIES[: 3 if quick else None]:
        values: Uint64s = np.repeat(np.arange(TOKENS // frequency, dtype=np.uint64), frequency)
        texts = one_text(values)
        seeds = seeds_of(8 if quick else FUNCTIONS)
        scheme = make_passage_scheme(min_tokens=1, tf="raw")
        _, list_windows = count_windows(one_list(values), scheme, None)
        entries.append(
            {
                "tokens": TOKENS,
                "frequency": frequency,
                "bound": expected_active_keys(texts, "raw"),
                "monoactive": _mean([len(list_windows(seed)) for seed in seeds]),
                "allalign": _mean([len(allalign_windows(texts, seed, 1)[0]) for seed in seeds]),
            }
        )
    return entries


def _mean(counts: list[int]) -> float:
    return sum(counts) / len(counts)
