"""Passages looked up in one text by windows with their min-hashes (Figures 6e, 7e)."""

from __future__ import annotations

import statistics
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.monoactive.partitions import WEIGHTS, seeds_of
from benchmarks.papers.monoactive.texts import LONG, corpus_words
from benchmarks.windows.allalign import allalign_windows
from benchmarks.windows.words import one_list, one_text
from neardup.kernels import candidates, sweep
from neardup.passages.query import make_queries
from neardup.passages.recall import least_hits
from neardup.passages.scheme import make_passage_scheme
from neardup.passages.segment import WindowIndex
from neardup.passages.weights import count_windows
from neardup.passages.windows import WindowLists, _by_key
from neardup.tables import Int64s, TokenLists

if TYPE_CHECKING:
    from neardup.passages.windows import TokenOccurrences
    from neardup.tables import Uint64s

FUNCTIONS = 64
QUERY_LENGTHS, QUERY_WORDS, N_QUERIES = (1_000, 10_000, 100_000), 100, 200
THRESHOLD, RECALL = Fraction(8, 10), Fraction(99, 100)


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


def _allalign_lists(texts: TokenOccurrences, seed: int) -> WindowLists:
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
    values = corpus_words(LONG).values
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
        lists = one_list(values[:words])
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
