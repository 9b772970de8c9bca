"""The measurements: windows and seconds by length, frequency, weights and algorithm; queries."""

from __future__ import annotations

import statistics
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.monoactive_data import LONG, grouped_texts, one_text, read_words
from benchmarks.papers.monoall import count_active_keys, expected_active_keys, visit_keys
from benchmarks.windows.allalign import allalign_windows
from neardup.kernels import candidates, sweep
from neardup.passages.query import make_queries
from neardup.passages.recall import least_hits
from neardup.passages.scheme import make_passage_scheme
from neardup.passages.segment import WindowIndex, count_windows
from neardup.passages.windows import WindowLists, _by_key
from neardup.tables import Int64s, TokenLists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from neardup.passages.windows import Occurrences
    from neardup.tables import Uint64s
    from neardup.text.weighting import TermFrequency

WEIGHTS: tuple[TermFrequency, ...] = ("binary", "log", "raw", "squared")
FUNCTIONS = 64
# Words of a text, and under how many hash functions it is partitioned; figures are means of one.
LENGTHS = {1_000: 64, 10_000: 64, 100_000: 16, 1_000_000: 4}
QUICK_LENGTHS = {1_000: 8, 10_000: 4}
# Visiting every key takes time that is quadratic in a word's frequency.
MOST_MONOALL = 100_000
FUNCTION_COUNTS, FUNCTIONS_WORDS = (16, 32, 64, 128), 10_000
QUERY_LENGTHS, QUERY_WORDS, N_QUERIES = (1_000, 10_000, 100_000), 100, 200
THRESHOLD, RECALL = Fraction(8, 10), Fraction(99, 100)


def seeds_of(count: int) -> list[int]:
    """Give the seeds of the first hash functions."""
    return [int(seed) for seed in make_passage_scheme(num_perm=max(count, 8)).seeds[:count]]


def _time(work: Callable[[int], int], seeds: Iterable[int]) -> tuple[float, float]:
    """Give mean result and mean seconds of this thread's processor time over hash functions."""
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
        lists = TokenLists(values.copy(), np.array([0, len(values)], np.int64))
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


def run_lengths(*, quick: bool) -> list[dict[str, Any]]:
    """Partition the first words of a corpus, more and more of them (Figures 5a, 6a-d, 7a-d)."""
    values = read_words(LONG).values
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
    values = read_words(LONG).values[:FUNCTIONS_WORDS]
    texts = one_text(values)
    lists = TokenLists(values.copy(), np.array([0, len(values)], np.int64))
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


def _index(all_lists: list[WindowLists]) -> WindowIndex:
    """Put the windows of all hash functions together."""
    sizes = [len(lists) for lists in all_lists]
    firsts = np.concatenate([[0], np.cumsum(sizes)])
    key_starts = np.concatenate([[0], np.cumsum([len(lists.keys) for lists in all_lists])])
    offsets = [lists.offsets[1:] + first for lists, first in zip(all_lists, firsts, strict=False)]
    wide = [lists.wide_rows + first for lists, first in zip(all_lists, firsts, strict=False)]
    return WindowIndex(
        key_starts.astype(np.int64),
        np.concatenate([lists.keys for lists in all_lists]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([lists.starts for lists in all_lists]),
        np.concatenate([lists.spans for lists in all_lists]),
        np.concatenate(wide),
        np.concatenate([lists.wide_spans for lists in all_lists]),
    )


def _allalign_lists(texts: Occurrences, seed: int) -> WindowLists:
    keys, corners = allalign_windows(texts, seed, 1)
    order = np.argsort(corners[:, 0], kind="stable")
    spans = np.ascontiguousarray(corners[order, 1:])
    return _by_key(keys[order], np.ascontiguousarray(corners[order, 0]), spans)


def _sweep_all(index: WindowIndex, keys: Uint64s, hits: int, n_words: int) -> tuple[int, int]:
    """Answer a query as the paper does: a sweep over all windows with one of its min-hashes.

    Gives the numbers of windows and of sub-texts found.
    """
    lists: Int64s = np.empty((len(keys), 2), np.int64)
    candidates.find_lists(keys, index.keys, index.key_starts, index.list_starts, lists)
    n_windows = int((lists[:, 1] - lists[:, 0]).sum())
    corners: Int64s = np.empty((4, n_windows), np.int64)
    n = candidates.windows_in_range(
        lists,
        lists[:, 0].copy(),
        0,
        n_words,
        index.starts,
        index.spans,
        index.wide_rows,
        index.wide_spans,
        corners,
    )
    if n < hits:
        return n_windows, 0
    rectangles: Int64s = np.empty((8 * n_windows + 8, 4), np.int64)
    found = int(sweep.sweep_windows(*(np.ascontiguousarray(c) for c in corners), hits, rectangles))
    some = rectangles[: min(found, len(rectangles))]
    sides = (some[:, 1] - some[:, 0] + 1) * (some[:, 3] - some[:, 2] + 1)
    return n_windows, int(sides.sum())


def run_queries(*, quick: bool) -> list[dict[str, Any]]:
    """Look passages up in texts that are longer and longer (Figures 6e, 7e).

    Half the queries are passages of the text with some words exchanged, half stand elsewhere.
    """
    values = read_words(LONG).values
    rng = np.random.default_rng(1)
    seeds = seeds_of(FUNCTIONS)
    hits = least_hits(FUNCTIONS, THRESHOLD, RECALL)
    entries = []
    for words in QUERY_LENGTHS[: 2 if quick else None]:
        texts = one_text(values[:words])
        queries = []
        for number in range(20 if quick else N_QUERIES):
            low = 0 if number % 2 else max(QUERY_LENGTHS)
            start = int(rng.integers(low, low + words - QUERY_WORDS))
            query = values[start : start + QUERY_WORDS].copy()
            places = rng.choice(QUERY_WORDS, 5, replace=False)
            query[places] = values[rng.integers(0, len(values), 5)]
            queries.append(query)
        tokens = TokenLists(
            np.concatenate(queries), np.arange(len(queries) + 1, dtype=np.int64) * QUERY_WORDS
        )
        lists = TokenLists(values[:words].copy(), np.array([0, words], np.int64))
        entry: dict[str, Any] = {"words": words, "queries": len(queries)}
        for tf in WEIGHTS:
            scheme = make_passage_scheme(min_tokens=1, tf=tf)
            _, list_windows = count_windows(lists, scheme, None)
            index = _index([list_windows(seed) for seed in seeds])
            keys = [query.keys for query in make_queries(tokens, scheme, None)]
            entry[tf] = _time_queries(index, keys, hits, words)
            if tf == "raw":
                other = _index([_allalign_lists(texts, seed) for seed in seeds])
                entry["allalign"] = _time_queries(other, keys, hits, words)
                if entry["allalign"]["found"] != entry["raw"]["found"]:
                    message = "two partitions of one text give different answers"
                    raise RuntimeError(message)
        entries.append(entry)
    return entries


def _time_queries(
    index: WindowIndex, queries: list[Uint64s], hits: int, words: int
) -> dict[str, Any]:
    milliseconds, answers = [], []
    for keys in queries[:1] + queries:
        start = time.thread_time()
        answers.append(_sweep_all(index, keys, hits, words))
        milliseconds.append((time.thread_time() - start) * 1e3)
    return {
        "windows": len(index.starts),
        "mean_ms": round(statistics.fmean(milliseconds[1:]), 4),
        "median_ms": round(statistics.median(milliseconds[1:]), 4),
        "collided": round(statistics.fmean(answer[0] for answer in answers[1:]), 2),
        "found": sum(answer[1] for answer in answers[1:]),
    }
