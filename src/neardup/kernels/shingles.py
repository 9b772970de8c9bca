"""Shingles: hashes of runs of consecutive tokens, as lists, as multisets, and as sorted sets."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import inlined, kernel
from neardup.kernels.hashing import GOLDEN, mix64
from neardup.kernels.ordering import sort_range
from neardup.kernels.types import ConstInt64s, ConstUint64s, Int, Int64s, Uint64s

# Odd, and 3 modulo 4, so that POWER - 1 has a single factor 2: the order of two tokens shows in all
# bits but one.
POWER = np.uint64(0xD6E8FEB86659FD93)

# Ranges up to this length are sorted by insertion.
_SHORT = 24


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
def sort_hashes(values: Uint64s, start: Int, stop: Int, scratch: Uint64s, counts: Int64s) -> None:
    """Sort a range of hashes: spread them by their leading bits, then finish each small bucket.

    Hashes are uniform, so about as many buckets as values leaves one or two in each: linear time.
    Equal values share a bucket; a bucket that is long because of them goes to a general sort.
    ``scratch`` is as long as the range, ``counts`` longer by two.
    """
    size = stop - start
    if size <= _SHORT:
        _insertion_sort(values, start, stop)
        return
    bits = np.uint64(1)
    while (np.int64(2) << np.int64(bits)) <= size:
        bits += np.uint64(1)
    shift = np.uint64(64) - bits
    n_buckets = np.int64(1) << np.int64(bits)
    for b in range(n_buckets + 1):
        counts[b] = 0
    for i in range(size):
        value = values[start + i]
        scratch[i] = value
        counts[np.int64(value >> shift) + 1] += 1
    for b in range(n_buckets):
        counts[b + 1] += counts[b]
    for i in range(size):
        value = scratch[i]
        home = np.int64(value >> shift)
        values[start + counts[home]] = value
        counts[home] += 1
    # Now counts[b] is where bucket b ends.
    bucket_start = np.int64(0)
    for b in range(n_buckets):
        bucket_stop = counts[b]
        if bucket_stop - bucket_start > _SHORT:
            sort_range(values, start + bucket_start, start + bucket_stop)
        elif bucket_stop - bucket_start > 1:
            _insertion_sort(values, start + bucket_start, start + bucket_stop)
        bucket_start = bucket_stop


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
    long as the longest text's shingles, ``counts`` longer by two.
    """
    for doc in range(offsets.shape[0] - 1):
        start, stop = offsets[doc], offsets[doc + 1]
        sort_hashes(shingles, start, stop, scratch, counts)
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
        sort_hashes(shingles, start, stop, scratch, counts)
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
        sort_hashes(shingles, start, stop, scratch, counts)
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
