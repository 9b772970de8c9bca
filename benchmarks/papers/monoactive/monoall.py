"""MonoAll, the paper's first algorithm, and active keys counted: what MonoActive is held against.

MonoAll visits every key of a text, MonoActive only those whose hash value is less than that of
every key with the same left end. Here keys are visited by ascending hash value over a skyline, as
in the paper; ours goes through the text instead and sorts none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.papers.monoactive import ordered_set
from benchmarks.papers.monoactive.allalign import LARGEST, compiled
from neardup.kernels._compile import leading_zeros
from neardup.kernels.common.hashing import mix64
from neardup.kernels.passage.window_kernels import occurrence_hash
from neardup.kernels.sketch.weighted_minhash import list_weighted
from neardup.passages.windows import (
    ALL_COPIES,
    group_occurrences,
    make_passage_scheme,
    text_log_weights,
)
from neardup.tables import TokenLists
from neardup.text.weighting import term_frequencies

if TYPE_CHECKING:
    from neardup.kernels.passage.window_kernels import Occurrences
    from neardup.tables import Uint64s
    from neardup.text.weighting import TermFrequency


def one_list(values: Uint64s) -> TokenLists:
    """Make the tokens of a single text a table."""
    return TokenLists(values.copy(), np.array([0, len(values)], np.int64))


def one_text(values: Uint64s) -> Occurrences:
    """Group the tokens of a single text."""
    return group_occurrences(one_list(values))


def seeds_of(count: int) -> list[int]:
    """Return the seeds of the first hash functions."""
    return [int(seed) for seed in make_passage_scheme(num_perm=max(count, 8)).seeds[:count]]


@compiled
def _list_values(hashes: Any, starts: Any, most: int, seed: np.uint64, only_active: bool) -> Any:
    """List hash values, their types and copies: all, or the active ones."""
    n = starts[-1]
    values = np.empty(n, np.uint64)
    types, copies = np.empty(n, np.int32), np.empty(n, np.int32)
    found = 0
    for k in range(hashes.shape[0]):
        mixed = mix64(hashes[k] ^ seed)
        best = LARGEST
        for x in range(1, min(starts[k + 1] - starts[k], most) + 1):
            value = occurrence_hash(mixed, x)
            if value < best or not only_active:
                best = min(best, value)
                values[found], types[found], copies[found] = value, k, x
                found += 1
    return values[:found], types[:found], copies[:found]


@compiled
def _last_to(bits: Any, words: Any, blocks: Any, x: int) -> int:
    """Return the greatest number that is at most x; there has to be one."""
    w = x >> 6
    rest = bits[w] << np.uint64(63 - (x & 63))
    if rest != 0:
        return x - np.int64(leading_zeros(rest))
    w -= 1
    b = w >> 6
    rest = words[b] << np.uint64(63 - (w & 63))
    if rest != 0:
        w -= np.int64(leading_zeros(rest))
    else:
        b -= 1
        block = b >> 6
        rest = blocks[block] << np.uint64(63 - (b & 63))
        while rest == 0:
            block -= 1
            rest = blocks[block]
            b = (block << 6) + 63
        b -= np.int64(leading_zeros(rest))
        w = (b << 6) + 63 - np.int64(leading_zeros(words[b]))
    return (w << 6) + 63 - np.int64(leading_zeros(bits[w]))


@compiled
def _visit(
    order: Any,
    types: Any,
    copies: Any,
    starts: Any,
    positions: Any,
    n_tokens: int,
    bits: Any,
    words: Any,
    blocks: Any,
    ends: Any,
) -> Any:
    """Visit keys one by one (Algorithm 4); return the numbers of windows and of keys visited."""
    ordered_set.clear(bits, words, blocks, n_tokens + 2)
    ordered_set.insert(bits, words, blocks, 0)
    ordered_set.insert(bits, words, blocks, n_tokens + 1)
    ends[0], ends[n_tokens + 1] = 0, n_tokens + 1
    n_windows, n_keys = 0, 0
    # What is written for each window, so that it costs what it costs an index.
    corners = np.empty((1 << 16, 4), np.uint32)
    for number in order:
        k, x = types[number], copies[number]
        for i in range(starts[k], starts[k + 1] - x + 1):
            n_keys += 1
            p, q = np.int64(positions[i]), np.int64(positions[i + x - 1])
            s = ordered_set.first_from(bits, words, blocks, p)
            if ends[s] <= q:
                continue
            u = _last_to(bits, words, blocks, p - 1)
            top, right = np.int64(ends[s]) - 1, p
            while True:
                if top >= q:
                    row = corners[n_windows & 0xFFFF]
                    row[0], row[1], row[2], row[3] = u, right - u - 1, q - right, top - q
                    n_windows += 1
                if ends[u] < q:
                    break
                ordered_set.remove(bits, words, blocks, u)
                top, right = np.int64(ends[u]) - 1, u
                u = _last_to(bits, words, blocks, u - 1)
            ends[p] = q
            ordered_set.insert(bits, words, blocks, p)
    return n_windows, n_keys


def visit_keys(texts: Occurrences, seed: int, *, only_active: bool) -> tuple[int, int]:
    """Partition a single text key by key.

    Returns the numbers of windows and of keys visited; the windows are not kept.
    """
    n = len(texts.positions)
    seeds = np.uint64(seed)
    found = _list_values(texts.type_hashes, texts.type_starts, ALL_COPIES, seeds, only_active)
    values, types, copies = found
    bits = [np.zeros(size, np.uint64) for size in ordered_set.words_needed(n + 3)]
    ends = np.empty(n + 3, np.int32)
    order = np.argsort(values)
    counts = _visit(order, types, copies, texts.type_starts, texts.positions, n, *bits, ends)
    return int(counts[0]), int(counts[1])


@compiled
def _count_counted(hashes: Any, starts: Any, most: int, seed: np.uint64) -> int:
    values, types, copies = _list_values(hashes, starts, most, seed, True)
    return _keys_of(len(values), starts, types, copies)


@compiled
def _count_weighted(
    hashes: Any, starts: Any, logs: Any, seed: np.uint64, values: Any, types: Any, copies: Any
) -> int:
    n = list_weighted(
        hashes, starts, hashes.shape[0], logs, seed, values, np.empty_like(values), types, copies
    )
    return _keys_of(n, starts, types, copies)


@compiled
def _keys_of(n: int, starts: Any, types: Any, copies: Any) -> int:
    keys = 0
    for i in range(n):
        keys += starts[types[i] + 1] - starts[types[i]] - copies[i] + 1
    return keys


def count_active_keys(texts: Occurrences, tf: TermFrequency, seeds: list[int]) -> float:
    """Count the active keys of a single text: the mean over hash functions."""
    n = len(texts.positions)
    room = np.empty(n, np.uint64), np.empty(n, np.int32), np.empty(n, np.int32)
    arguments = texts.type_hashes, texts.type_starts
    if tf in ("binary", "raw"):
        most = 1 if tf == "binary" else ALL_COPIES
        counts = [_count_counted(*arguments, most, np.uint64(seed)) for seed in seeds]
    else:
        logs = text_log_weights(texts, make_passage_scheme(tf=tf), None)
        counts = [_count_weighted(*arguments, logs, np.uint64(seed), *room) for seed in seeds]
    return sum(counts) / len(counts)


def expected_active_keys(texts: Occurrences, tf: TermFrequency) -> float:
    """Return how many keys of a single text are expected to be active.

    The x-th copy of a token is active with probability (w(x) - w(x - 1)) / w(x), w the weight, and
    a token that occurs f times has f - x + 1 keys of x copies.
    """
    frequencies = np.diff(texts.type_starts)
    highest = int(frequencies.max())
    weights = term_frequencies(tf, highest)
    active = np.diff(weights) / weights[1:]
    # Sums over x up to f of (f + 1 - x) * active[x].
    sums = np.concatenate([[0.0], np.cumsum(active)])
    moments = np.concatenate([[0.0], np.cumsum(active * np.arange(1, highest + 1))])
    return float(((frequencies + 1) * sums[frequencies] - moments[frequencies]).sum())
