"""Experiments of "Near-duplicate text alignment under weighted Jaccard similarity", repeated.

``python -m benchmarks.papers.monoactive`` takes ten minutes on one core; docs/papers.md has
findings. Times are processor time of one thread.
"""

from __future__ import annotations

import statistics
import time
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.corpora.documents import prepare
from benchmarks.corpora.packaged import CORPORA
from benchmarks.corpora.texts import read_texts
from benchmarks.papers.experiments import Row, make_parser, run_parts
from benchmarks.papers.monoactive.allalign import allalign_windows
from benchmarks.papers.monoactive.monoall import (
    count_active_keys,
    expected_active_keys,
    one_list,
    one_text,
    seeds_of,
    visit_keys,
)
from neardup.kernels.arrays import sealed
from neardup.kernels.passage import sweep
from neardup.kernels.passage.segment_kernels import SegmentWindows
from neardup.passages.search_plan import least_hits
from neardup.passages.windows import (
    WindowLists,
    _by_key,
    gather_queries,
    make_passage_scheme,
    window_lister,
)
from neardup.tables import TokenLists

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable

    from neardup.kernels.passage.window_kernels import Occurrences
    from neardup.tables import Int64s, Uint64s
    from neardup.text.weighting import TermFrequency

WEIGHTS: tuple[TermFrequency, ...] = ("binary", "log", "raw", "squared")
# Words of a text, and under how many hash functions it is partitioned; figures are means of one.
LENGTHS = {1_000: 64, 10_000: 64, 100_000: 16, 1_000_000: 4}
QUICK_LENGTHS = {1_000: 8, 10_000: 4}
# Visiting every key takes time that is quadratic in a word's frequency.
MOST_MONOALL = 100_000
# Texts grouped by the frequency of their commonest word.
GROUPED_WORDS, GROUP_WIDTH, TEXTS_OF_GROUP = 10_000, 200, 4
# Tokens of a text of repeated words, the frequencies of its words, and hash functions.
WORST_TOKENS, WORST_FREQUENCIES, FUNCTIONS = 4_096, (1, 16, 256, 4_096), 64
QUERY_LENGTHS, QUERY_WORDS, N_QUERIES, N_CHANGED = (1_000, 10_000, 100_000), 100, 200, 5
THRESHOLD, RECALL = Fraction(8, 10), Fraction(99, 100)


def corpus_words(name: str) -> TokenLists:
    """Read the words of a corpus, built if need be, hashed as an index does."""
    texts = read_texts(prepare(name, CORPORA[name]))
    return make_passage_scheme().tokenizer.hash_tokens(texts)


def grouped_texts() -> dict[int, list[Uint64s]]:
    """Return texts of one length by the least frequency of their commonest word.

    Articles with the same commonest word are put one after the other, by its share, and cut.
    """
    words = corpus_words("wikipedia")
    articles = [words.values[slice(*words.offsets[i : i + 2])] for i in range(len(words))]
    order = []
    for number, values in enumerate(articles):
        if len(values):
            ((commonest, count),) = Counter(values.tolist()).most_common(1)
            order.append((commonest, count / len(values), number))
    groups: dict[int, list[Uint64s]] = {}
    pieces: list[Uint64s] = []
    before = None
    for commonest, _, number in sorted(order):
        if commonest != before:
            pieces, before = [], commonest
        pieces.append(articles[number])
        if sum(map(len, pieces)) >= GROUPED_WORDS:
            text = np.concatenate(pieces)[:GROUPED_WORDS]
            pieces = []
            frequency = int(np.unique(text, return_counts=True)[1].max())
            group = groups.setdefault(frequency // GROUP_WIDTH * GROUP_WIDTH, [])
            if len(group) < TEXTS_OF_GROUP:
                group.append(text)
    return dict(sorted(groups.items()))


def _windows(values: Uint64s, tf: TermFrequency) -> Callable[[int], Any]:
    """Return the function that lists the windows of a text under a seed."""
    scheme = make_passage_scheme(min_tokens=1, tf=tf)
    return window_lister(one_list(values), scheme, None)


def _time(work: Callable[[int], int], seeds: Iterable[int]) -> tuple[float, float]:
    """Return the mean result and mean seconds over hash functions."""
    results, start = [], time.thread_time()
    for seed in seeds:
        results.append(work(seed))
    return statistics.fmean(results), (time.thread_time() - start) / len(results)


def _measure(values: Uint64s, seeds: list[int]) -> dict[str, tuple[float, float]]:
    """Count and time the windows of a text by weights, and by the other algorithms."""
    texts, found = one_text(values), {}
    for tf in WEIGHTS:
        list_windows = _windows(values, tf)
        list_windows(seeds[0])
        found[tf] = _time(lambda seed, run=list_windows: len(run(seed)), seeds)
    allalign_windows(texts, seeds[0], 1)
    found["AllAlign"] = _time(lambda seed: len(allalign_windows(texts, seed, 1)[0]), seeds)
    for name, only_active in (("key by key", True), ("MonoAll", False)):
        if only_active or len(values) <= MOST_MONOALL:
            few = seeds if only_active else seeds[: max(1, len(seeds) // 4)]
            visit_keys(texts, few[0], only_active=only_active)
            work = lambda s, a=only_active: visit_keys(texts, s, only_active=a)[0]  # noqa: E731
            found[name] = _time(work, few)
    return found


def run_lengths(options: argparse.Namespace) -> list[Row]:
    """Partition the first words of two corpora (Figures 5a-b, 6a-d, 7a-d)."""
    rows = []
    for corpus in ("prose", "wikipedia"):
        values = corpus_words(corpus).values
        for words, functions in (QUICK_LENGTHS if options.quick else LENGTHS).items():
            text, seeds = values[:words], seeds_of(functions)
            texts = one_text(text)
            for name, (windows, seconds) in _measure(text, seeds).items():
                keys = expected = None
                if name in WEIGHTS:
                    keys = count_active_keys(texts, name, seeds) / words
                    expected = expected_active_keys(texts, name) / words
                row: Row = {"corpus": corpus, "words": words, "partition": name}
                row |= {"windows a word": windows / words, "active keys a word": keys}
                rows.append(row | {"expected": expected, "ns a word": seconds / words * 1e9})
    return rows


def run_frequencies(options: argparse.Namespace) -> list[Row]:
    """Partition texts of one length by the frequency of the commonest word (5c, 6g-j, 7m-p)."""
    rows = []
    for least, group in grouped_texts().items():
        some = group[:1] if options.quick else group
        found = [_measure(values, seeds_of(4 if options.quick else 16)) for values in some]
        for name in found[0]:
            windows, seconds = np.mean([each[name] for each in found], axis=0).tolist()
            row: Row = {"commonest word": f"{least:,} and more", "partition": name}
            row["windows a word"] = windows / GROUPED_WORDS
            rows.append(row | {"ms": seconds * 1e3})
    return rows


def run_worst(options: argparse.Namespace) -> list[Row]:
    """Partition texts of n / f words, each f times in a row (Appendix B).

    The bound is the expected number of passages that cannot share a window: for each word the
    passages that hold x of its copies and nothing else, with the x-th hash value active.
    """
    rows = []
    for frequency in WORST_FREQUENCIES[: 3 if options.quick else None]:
        words = np.arange(WORST_TOKENS // frequency, dtype=np.uint64)
        values: Uint64s = np.repeat(words, frequency)
        texts, seeds = one_text(values), seeds_of(8 if options.quick else FUNCTIONS)
        list_windows = _windows(values, "raw")
        row: Row = {"each word, times": frequency}
        row["lower bound"] = round(expected_active_keys(texts, "raw"))
        row["MonoActive"] = round(statistics.fmean(len(list_windows(seed)) for seed in seeds))
        allalign = (len(allalign_windows(texts, seed, 1)[0]) for seed in seeds)
        rows.append(row | {"AllAlign": round(statistics.fmean(allalign))})
    return rows


def run_queries(options: argparse.Namespace) -> list[Row]:
    """Look passages up in longer and longer texts (Figures 6e, 6f, 7e, 7f).

    Half of the queries are passages of the text with some words exchanged.
    """
    values = corpus_words("prose").values
    rng = np.random.default_rng(1)
    rows = []
    for words in QUERY_LENGTHS[: 2 if options.quick else None]:
        elsewhere = values[max(QUERY_LENGTHS) :][:words]
        queries = [
            _draw(values[:words] if number % 2 else elsewhere, values, rng)
            for number in range(20 if options.quick else N_QUERIES)
        ]
        rows += [{"words": words, **row} for row in _by_weights(values[:words], queries)]
    return rows


def _draw(text: Uint64s, words: Uint64s, rng: np.random.Generator) -> Uint64s:
    """Take a passage of a text, and exchange some of its words."""
    start = int(rng.integers(0, len(text) - QUERY_WORDS))
    query = text[start : start + QUERY_WORDS].copy()
    places = rng.choice(QUERY_WORDS, N_CHANGED, replace=False)
    query[places] = words[rng.integers(0, len(words), N_CHANGED)]
    return query


def _by_weights(values: Uint64s, queries: list[Uint64s]) -> list[Row]:
    """Time queries in the windows of a text, by weights, and by AllAlign's for raw counts."""
    hits, seeds = least_hits(FUNCTIONS, THRESHOLD, RECALL), seeds_of(FUNCTIONS)
    offsets = np.cumsum([0, *map(len, queries)]).astype(np.int64)
    tokens = TokenLists(np.concatenate(queries), offsets)
    rows, n_found = [], {}
    for tf, partition in (*((tf, tf) for tf in WEIGHTS), ("raw", "raw, AllAlign")):
        list_windows = _windows(values, tf)
        if partition == tf:
            index = _index([list_windows(seed) for seed in seeds])
        else:
            index = _index([_allalign_lists(one_text(values), seed) for seed in seeds])
        scheme = make_passage_scheme(min_tokens=1, tf=tf)
        asked = gather_queries(tokens.values, offsets[:-1], offsets[1:], scheme, None)
        keys = list(asked.hash(np.arange(len(queries)))[0])
        _sweep_all(index, keys[0], hits, len(values))
        start = time.thread_time()
        answers = [_sweep_all(index, each, hits, len(values)) for each in keys]
        seconds = time.thread_time() - start
        n_found[partition] = sum(answer[1] for answer in answers)
        row: Row = {"partition": partition, "windows a function": len(index.starts) / FUNCTIONS}
        row["windows of a query"] = statistics.fmean(answer[0] for answer in answers)
        rows.append(row | {"mean ms": seconds / len(keys) * 1e3})
    if n_found["raw"] != n_found["raw, AllAlign"]:
        message = "two partitions of one text give different answers"
        raise AssertionError(message)
    return rows


def _index(all_lists: list[WindowLists]) -> SegmentWindows:
    """Put the windows of all hash functions together."""
    return sealed(
        SegmentWindows(
            np.cumsum([0, *map(len, all_lists)]),
            np.concatenate([lists.keys for lists in all_lists]),
            np.concatenate([lists.starts for lists in all_lists]),
            np.concatenate([lists.spans for lists in all_lists]),
        )
    )


def _allalign_lists(texts: Occurrences, seed: int) -> WindowLists:
    keys, corners = allalign_windows(texts, seed, 1)
    order = np.argsort(corners[:, 0], kind="stable")
    starts, spans = (np.ascontiguousarray(part) for part in (corners[order, 0], corners[order, 1:]))
    return _by_key(keys[order], starts, spans)


def _sweep_all(index: SegmentWindows, keys: Uint64s, hits: int, n_words: int) -> tuple[int, int]:
    """Answer a query as the paper does: a sweep over all windows with one of its min-hashes.

    Returns the numbers of windows and of passages found.
    """
    lists: Int64s = np.empty((len(keys), 2), np.int64)
    sweep.find_lists(keys, index, lists)
    n_windows = int((lists[:, 1] - lists[:, 0]).sum())
    corners: Int64s = np.empty((4, n_windows), np.int64)
    n = sweep.windows_in_range(lists, 0, n_words, index, corners)
    if n < hits:
        return n_windows, 0
    rectangles: Int64s = np.empty((8 * n_windows + 8, 4), np.int64)
    found = int(sweep.sweep_windows(*(np.ascontiguousarray(c) for c in corners), hits, rectangles))
    some = rectangles[: min(found, len(rectangles))]
    sides = (some[:, 1] - some[:, 0] + 1) * (some[:, 3] - some[:, 2] + 1)
    return n_windows, int(sides.sum())


if __name__ == "__main__":
    run_parts(
        make_parser("benchmarks.papers.monoactive", __doc__),
        {
            "lengths": run_lengths,
            "frequencies": run_frequencies,
            "worst": run_worst,
            "queries": run_queries,
        },
    )
