"""Shingles: hashes of runs of consecutive tokens, as lists, as multisets, and as sorted sets."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, inlined, kernel, leading_zeros
from neardup.kernels.hashing import GOLDEN, mix64
from neardup.kernels.ordering import sort_range
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int64s, Uint64s

# Odd, and 3 modulo 4, so that POWER - 1 has a single factor 2: the order of two tokens shows in all
# bits but one.
POWER = np.uint64(0xD6E8FEB86659FD93)

# Ranges up to this length are sorted by insertion, and buckets up to that.
_FEW, _SHORT = 8, 24
_1 = np.uint64(1)


@kernel
def hash_shingles(
    tokens: ConstUint64s,
    token_offsets: ConstInt64s,
    ngram: int,
    shingles: Uint64s,
    shingle_offsets: Int64s,
) -> None:
    """Hash every run of ``ngram`` consecutive tokens; a shorter text has one run, all its tokens.

    The tokens' hashes h_1..h_m are joined as a polynomial, sum of h_i * POWER^(m - i) modulo 2^64,
    rolled along the text; the shingle is mix64(polynomial + m * GOLDEN). ``shingles`` takes one
    value for each token, ``shingle_offsets`` (n + 1) says whose they are.
    """
    leaving = np.uint64(1)
    for _ in range(ngram):
        leaving *= POWER
    count = np.int64(0)
    for doc in range(token_offsets.shape[0] - 1):
        shingle_offsets[doc] = count
        start, stop = token_offsets[doc], token_offsets[doc + 1]
        if stop == start:
            continue
        head = min(start + ngram, stop)
        polynomial = np.uint64(0)
        for i in range(start, head):
            polynomial = polynomial * POWER + tokens[i]
        length_term = np.uint64(head - start) * GOLDEN
        shingles[count] = mix64(polynomial + length_term)
        count += 1
        for i in range(head, stop):
            polynomial = (
                polynomial * POWER + tokens[np.uint64(i)] - tokens[np.uint64(i - ngram)] * leaving
            )
            shingles[np.uint64(count)] = mix64(polynomial + length_term)
            count += 1
    shingle_offsets[token_offsets.shape[0] - 1] = count


@inlined
def _insertion_sort(values: Uint64s, start: Int, stop: Int) -> None:
    """Sort a short range."""
    for i in range(start + 1, stop):
        value = values[i]
        j = i
        while j > start and values[j - 1] > value:
            values[j] = values[j - 1]
            j -= 1
        values[j] = value


@inlined
def _spread(
    values: Uint64s,
    start: np.uint64,
    size: np.uint64,
    shift: np.uint64,
    n_buckets: np.uint64,
    scratch: Uint64s,
    counts: Int64s,
) -> np.int64:
    """Spread values over buckets by what ``shift`` leaves of them; gives the most in one bucket.

    Afterwards ``counts[b]`` is the end of bucket b.
    """
    for b in range(n_buckets + _1):
        counts[b] = 0
    for i in range(size):
        value = values[start + i]
        scratch[i] = value
        counts[(value >> shift) + _1] += 1
    total, longest = np.int64(0), np.int64(0)
    for b in range(n_buckets):
        longest = max(longest, counts[b + _1])
        total += counts[b]
        counts[b] = total
    for i in range(size):
        value = scratch[i]
        home = value >> shift
        values[start + np.uint64(counts[home])] = value
        counts[home] += 1
    return longest


@inlined
def _sort_nearly_sorted(values: Uint64s, start: np.uint64, size: np.uint64) -> None:
    """Sort values that are few places from where they belong."""
    # Most that are not in order are next to each other: one pass without branches exchanges them,
    # so that afterwards the processor guesses right that a value is to stay where it is.
    held = values[start]
    for i in range(start + _1, start + size):
        value = values[i]
        values[i - _1] = min(held, value)
        held = max(held, value)
    values[start + size - _1] = held
    _insertion_sort(values, np.int64(start), np.int64(start + size))


@helper
def sort_hashes(
    values: Uint64s, start: Int, stop: Int, scratch: Uint64s, counts: Int64s, n_zeros: Int
) -> None:
    """Sort a range of hashes whose highest ``n_zeros`` bits are zero.

    Hashes are uniform, so that spread by their leading bits over more buckets than there are values
    they are nearly in order: linear time. Equal values share a bucket; one that is long because of
    them goes to a general sort. ``scratch`` is as long as the range, ``counts`` twice that and one.
    """
    if stop - start <= _FEW:
        _insertion_sort(values, start, stop)
        return
    first, size = np.uint64(start), np.uint64(stop - start)
    bits = np.int64(64) - np.int64(leading_zeros(size))
    shift = np.uint64(max(np.int64(64 - n_zeros) - bits, np.int64(0)))
    n_buckets = _1 << np.uint64(bits)
    if _spread(values, first, size, shift, n_buckets, scratch, counts) > _SHORT:
        bucket_start = np.int64(0)
        for b in range(n_buckets):
            if counts[b] - bucket_start > _SHORT:
                sort_range(values, start + bucket_start, start + counts[b])
            bucket_start = counts[b]
    _sort_nearly_sorted(values, first, size)


@kernel
def number_occurrences(
    shingles: Uint64s,
    offsets: ConstInt64s,
    scratch: Uint64s,
    counts: Int64s,
) -> None:
    """Turn each text's shingles into a set of numbered ones, in place.

    The x-th copy of shingle h becomes mix64(h ^ mix64(x)) for x > 1, the first stays h; so the
    intersection of two such sets is the multiset intersection. ``scratch`` and ``counts`` are as
    long as the longest text's shingles, ``counts`` twice as long and one more.
    """
    for doc in range(offsets.shape[0] - 1):
        start, stop = offsets[doc], offsets[doc + 1]
        sort_hashes(shingles, start, stop, scratch, counts, 0)
        i = start
        while i < stop:
            value = shingles[i]
            copy = np.uint64(2)
            i += 1
            while i < stop and shingles[i] == value:
                shingles[i] = mix64(value ^ mix64(copy))
                copy += np.uint64(1)
                i += 1


@kernel
def sort_sets(
    shingles: Uint64s,
    offsets: ConstInt64s,
    scratch: Uint64s,
    counts: Int64s,
    sizes: Int64s,
) -> None:
    """Sort each text's shingles and drop repeats, in place.

    The set of text d is then ``shingles[offsets[d] : offsets[d] + sizes[d]]``; what follows up to
    ``offsets[d + 1]`` is meaningless. ``scratch`` and ``counts`` as in ``number_occurrences``.
    """
    for doc in range(offsets.shape[0] - 1):
        start, stop = offsets[doc], offsets[doc + 1]
        sort_hashes(shingles, start, stop, scratch, counts, 0)
        last = start - 1
        for i in range(start, stop):
            if i == start or shingles[i] != shingles[last]:
                last += 1
                shingles[last] = shingles[i]
        sizes[doc] = last + 1 - start


@kernel
def sort_bags(
    shingles: Uint64s,
    offsets: ConstInt64s,
    scratch: Uint64s,
    counts: Int64s,
    sizes: Int64s,
    copies: Int64s,
) -> None:
    """Sort each text's shingles and count the copies of each, in place.

    As ``sort_sets``; ``copies`` is as long as ``shingles`` and gets how often each one occurs.
    """
    for doc in range(offsets.shape[0] - 1):
        start, stop = offsets[doc], offsets[doc + 1]
        sort_hashes(shingles, start, stop, scratch, counts, 0)
        last = start - 1
        for i in range(start, stop):
            if i == start or shingles[i] != shingles[last]:
                last += 1
                shingles[last] = shingles[i]
                copies[last] = 0
            copies[last] += 1
        sizes[doc] = last + 1 - start


@kernel
def copy_sets(
    values: ConstUint64s,
    starts: ConstInt64s,
    sizes: ConstInt64s,
    target: Uint64s,
    target_starts: ConstInt64s,
) -> None:
    """Copy n sets from one array to their places in another."""
    for d in range(starts.shape[0]):
        for i in range(sizes[d]):
            target[target_starts[d] + i] = values[starts[d] + i]
