"""Windows and seconds by length, frequency, weights, number of hash functions and algorithm."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.monoactive.allalign import allalign_windows
from benchmarks.papers.monoactive.monoall import count_active_keys, expected_active_keys, visit_keys
from benchmarks.papers.monoactive.texts import LONG, corpus_words, grouped_texts, one_list, one_text
from neardup.passages.scheme import make_passage_scheme
from neardup.passages.windows import count_windows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from neardup.kernels.passage.staircase import Occurrences
    from neardup.tables import Uint64s
    from neardup.text.weighting import TermFrequency

WEIGHTS: tuple[TermFrequency, ...] = ("binary", "log", "raw", "squared")
# Words of a text, and under how many hash functions it is partitioned; figures are means of one.
LENGTHS = {1_000: 64, 10_000: 64, 100_000: 16, 1_000_000: 4}
QUICK_LENGTHS = {1_000: 8, 10_000: 4}
# Visiting every key takes time that is quadratic in a word's frequency.
MOST_MONOALL = 100_000
FUNCTION_COUNTS, FUNCTIONS_WORDS = (16, 32, 64, 128), 10_000


def seeds_of(count: int) -> list[int]:
    """Return the seeds of the first hash functions."""
    return [int(seed) for seed in make_passage_scheme(num_perm=max(count, 8)).seeds[:count]]


def _time(work: Callable[[int], int], seeds: Iterable[int]) -> tuple[float, float]:
    """Return mean result and mean seconds of this thread's processor time over hash functions."""
    results, start = [], time.thread_time()
    for seed in seeds:
        results.append(work(seed))
    seconds = (time.thread_time() - start) / len(results)
    return statistics.fmean(results), seconds


def _entry(mean: tuple[float, float]) -> dict[str, float]:
    return {"windows": round(mean[0], 2), "seconds": round(mean[1], 7)}


def _weighted(values: Uint64s, seeds: list[int]) -> dict[str, Any]:
    """Partition a text by all weights; count active keys too."""
    texts = one_text(values)
    found = {}
    for tf in WEIGHTS:
        scheme = make_passage_scheme(min_tokens=1, tf=tf)
        lists = one_list(values)
        _, list_windows = count_windows(lists, scheme, None)
        list_windows(seeds[0])
        found[tf] = {
            **_entry(_time(lambda seed, run=list_windows: len(run(seed)), seeds)),
            "active_keys": round(count_active_keys(texts, tf, seeds), 2),
            "expected_keys": round(expected_active_keys(texts, tf), 2),
        }
    return found


def _baselines(texts: Occurrences, seeds: list[int]) -> dict[str, Any]:
    """Partition a text by AllAlign, by MonoAll, and by MonoActive one key at a time."""
    found: dict[str, Any] = {
        "allalign": _entry(_time(lambda seed: len(allalign_windows(texts, seed, 1)[0]), seeds))
    }
    for name, only_active in (("one by one", True), ("monoall", False)):
        if only_active or len(texts.positions) <= MOST_MONOALL:
            few = seeds if only_active else seeds[: max(1, len(seeds) // 4)]
            keys = visit_keys(texts, few[0], only_active=only_active)[1]
            work = lambda seed, active=only_active: visit_keys(  # noqa: E731
                texts, seed, only_active=active
            )[0]
            found[name] = {**_entry(_time(work, few)), "keys": keys}
    return found


def _facts(texts: Occurrences) -> dict[str, int]:
    frequencies = np.diff(texts.type_starts)
    return {
        "words": len(texts.positions),
        "types": len(frequencies),
        "greatest_frequency": int(frequencies.max()),
    }


def run_lengths(*, quick: bool, corpus: str = LONG) -> list[dict[str, Any]]:
    """Partition the first words of a corpus, more and more of them (Figures 5a-b, 6a-d, 7a-d)."""
    values = corpus_words(corpus).values
    entries = []
    warm = one_text(values[:500])
    _baselines(warm, seeds_of(1))
    _weighted(values[:500], seeds_of(1))
    for words, functions in (QUICK_LENGTHS if quick else LENGTHS).items():
        texts, seeds = one_text(values[:words]), seeds_of(functions)
        entries.append(
            {
                **_facts(texts),
                "functions": functions,
                "weights": _weighted(values[:words], seeds),
                "baselines": _baselines(texts, seeds),
            }
        )
    return entries


def run_frequencies(*, quick: bool) -> list[dict[str, Any]]:
    """Partition texts of one length by the frequency of the commonest word (5c, 6g-j, 7m-p)."""
    entries = []
    for least, group in grouped_texts().items():
        parts = []
        for values in group[:1] if quick else group:
            texts, seeds = one_text(values), seeds_of(4 if quick else 16)
            found = {**_weighted(values, seeds), **_baselines(texts, seeds)}
            parts.append({**_facts(texts), "found": found})
        entries.append({"least_frequency": least, "texts": parts})
    return entries


def run_functions(*, quick: bool) -> list[dict[str, Any]]:
    """Partition one text under more and more hash functions (Figure 5e)."""
    values = corpus_words(LONG).values[:FUNCTIONS_WORDS]
    texts = one_text(values)
    lists = one_list(values)
    _, list_windows = count_windows(lists, make_passage_scheme(min_tokens=1, tf="raw"), None)
    entries = []
    for functions in FUNCTION_COUNTS[: 2 if quick else None]:
        seeds = seeds_of(functions)
        visit_keys(texts, seeds[0], only_active=False)
        own = _time(lambda seed: len(list_windows(seed)), seeds)[1]
        every = _time(lambda seed: visit_keys(texts, seed, only_active=False)[0], seeds)[1]
        entries.append(
            {
                "functions": functions,
                "monoactive": round(own * functions, 6),
                "monoall": round(every * functions, 6),
            }
        )
    return entries
