"""Passages looked up in one text by windows with their min-hashes (6e to 6l, 7e, 7f, 7q, 7r)."""

from __future__ import annotations

import statistics
import time
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.monoactive.allalign import allalign_windows
from benchmarks.papers.monoactive.partitions import WEIGHTS, seeds_of
from benchmarks.papers.monoactive.texts import LONG, corpus_words, grouped_texts, one_list, one_text
from neardup.kernels.passage import candidates, sweep
from neardup.passages.plan import least_hits
from neardup.passages.scheme import make_passage_scheme
from neardup.passages.segment import WindowIndex
from neardup.passages.windows import WindowLists, _by_key, count_windows, make_queries
from neardup.tables import Int64s, TokenLists

if TYPE_CHECKING:
    from neardup.kernels.passage.staircase import Occurrences
    from neardup.tables import Uint64s

FUNCTIONS = 64
QUERY_LENGTHS, QUERY_WORDS, N_QUERIES = (1_000, 10_000, 100_000), 100, 200
# By frequency: queries of each text, half of them passages of it, and of how many words one is
# exchanged.
N_OF_TEXT, TEXTS_OF_GROUP, EXCHANGED = 40, 2, 20
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


def _allalign_lists(texts: Occurrences, seed: int) -> WindowLists:
    keys, corners = allalign_windows(texts, seed, 1)
    order = np.argsort(corners[:, 0], kind="stable")
    spans = np.ascontiguousarray(corners[order, 1:])
    return _by_key(keys[order], np.ascontiguousarray(corners[order, 0]), spans)


def _sweep_all(index: WindowIndex, keys: Uint64s, hits: int, n_words: int) -> tuple[int, int]:
    """Answer a query as the paper does: a sweep over all windows with one of its min-hashes.

    Returns the numbers of windows and of sub-texts found.
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


def run_queries(*, quick: bool, corpus: str = LONG) -> list[dict[str, Any]]:
    """Look passages up in texts that are longer and longer (Figures 6e, 6f, 7e, 7f).

    Half the queries are passages of the text with some words exchanged, half stand elsewhere.
    """
    values = corpus_words(corpus).values
    rng = np.random.default_rng(1)
    hits = least_hits(FUNCTIONS, THRESHOLD, RECALL)
    entries = []
    for words in QUERY_LENGTHS[: 2 if quick else None]:
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
        entry: dict[str, Any] = {"words": words, "queries": len(queries)}
        entries.append(entry | _by_weights(values[:words], tokens, hits))
    return entries


def run_query_frequencies(*, quick: bool) -> list[dict[str, Any]]:
    """Look passages up in texts of one length by the frequency of their commonest word.

    Figures 6k, 6l, 7q and 7r. Half the queries of a text are passages of it with some words
    exchanged, half are of the other texts.
    """
    rng = np.random.default_rng(2)
    hits = least_hits(FUNCTIONS, THRESHOLD, RECALL)
    groups = grouped_texts()
    every = [text for group in groups.values() for text in group]
    entries = []
    for least, group in list(groups.items())[: 2 if quick else None]:
        parts = []
        for text in group[: 1 if quick else TEXTS_OF_GROUP]:
            queries = []
            for number in range(N_OF_TEXT):
                other = text if number % 2 else every[int(rng.integers(len(every)))]
                queries.append(_draw(other, QUERY_WORDS, rng))
            found = _by_weights(text, _lists(queries), hits)
            commonest = int(np.unique(text, return_counts=True)[1].max())
            parts.append({"commonest": commonest, **found})
        entries.append({"least_frequency": least, "texts": parts})
    return entries


def _draw(values: Uint64s, words: int, rng: np.random.Generator) -> Uint64s:
    """Take a passage of a text, and exchange some of its words for others of the text."""
    start = int(rng.integers(0, len(values) - words))
    query = values[start : start + words].copy()
    places = rng.choice(words, max(1, words // EXCHANGED), replace=False)
    query[places] = values[rng.integers(0, len(values), len(places))]
    return query


def _lists(queries: list[Uint64s]) -> TokenLists:
    offsets = np.cumsum([0, *map(len, queries)]).astype(np.int64)
    return TokenLists(np.concatenate(queries), offsets)


def _by_weights(values: Uint64s, tokens: TokenLists, hits: int) -> dict[str, Any]:
    """Time queries in the windows of a text, by weights, and by AllAlign's for raw counts."""
    seeds, n_words = seeds_of(FUNCTIONS), len(values)
    lists = one_list(values)
    entry = {}
    for tf in WEIGHTS:
        scheme = make_passage_scheme(min_tokens=1, tf=tf)
        _, list_windows = count_windows(lists, scheme, None)
        index = _index([list_windows(seed) for seed in seeds])
        keys = [query.keys for query in make_queries(tokens, scheme, None)]
        entry[tf] = _time_queries(index, keys, hits, n_words)
        if tf == "raw":
            texts = one_text(values)
            other = _index([_allalign_lists(texts, seed) for seed in seeds])
            entry["allalign"] = _time_queries(other, keys, hits, n_words)
            if entry["allalign"]["found"] != entry["raw"]["found"]:
                message = "two partitions of one text give different answers"
                raise RuntimeError(message)
    return entry


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
