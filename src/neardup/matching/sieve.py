"""Split components by filters that rule out similar pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neardup.kernels.bucket import components as sieve_kernel
from neardup.kernels.bucket.components import Groups
from neardup.kernels.join import filters as kernel
from neardup.kernels.types import sealed
from neardup.matching.measures import Measure
from neardup.tables import Bools, Filters, Int32s, Int64s, ShingleLists, Uint64s

# Filters: a few bits per shingle, which rule out most pairs that only share a band key.

# Runs have to agree on both: other numbers drop other pairs, if never a similar one.
_BITS_PER_SHINGLE = 2
_MOST_WORDS = 1024


def make_filters(lists: ShingleLists, measure: Measure) -> Filters:
    """Make each document's filter from its shingle hashes, for a measure of plain sets.

    Notes
    -----
    A filter has from 64 to 2^16 bits, a power of two, and up to that size two bits a shingle or
    more. Repeats of a shingle count for its size only. ``kernels.join.filters`` has the proof that
    no pair is lost. Filters rule out 95 and 99 % of the false candidates of Jaccard similarity 0.8
    on package descriptions (22 bytes per document) and licences (57), and 97 and 93 % at
    containment 0.9. Four bits would leave 2 and 0.3 % fewer candidate documents, and cost more.
    """
    n = len(lists)
    offsets: Int64s = np.empty(n + 1, np.int64)
    kernel.count_words(lists.offsets, _BITS_PER_SHINGLE, _MOST_WORDS, offsets)
    words: Uint64s = np.zeros(int(offsets[-1]), np.uint64)
    sizes: Int64s = np.empty(n, np.int64)
    longest = int((lists.offsets[1:] - lists.offsets[:-1]).max(initial=0))
    seen: Uint64s = np.empty(max(kernel.ROOMY, 1 << (4 * longest // 3).bit_length()), np.uint64)
    kernel.fill_filters(lists.values, lists.offsets, measure.code, seen, offsets, words, sizes)
    return Filters(words, offsets, sizes)


def join_filters(parts: Sequence[Filters]) -> Filters:
    """Concatenate the filters of some runs of documents."""
    ends = np.cumsum([0, *(len(part.words) for part in parts)])
    offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends, strict=False)]
    return Filters(
        np.concatenate([np.empty(0, np.uint64), *(part.words for part in parts)]),
        np.concatenate([*offsets, ends[-1:]]).astype(np.int64),
        np.concatenate([np.empty(0, np.int64), *(part.sizes for part in parts)]),
    )


def sieve_pairs(filters: Filters, left: Int64s, right: Int64s, measure: Measure) -> Bools:
    """Return which pairs may be similar by their filters."""
    may_be: Bools = np.empty(len(left), np.bool_)
    kernel.sieve_pairs(
        filters.words, filters.offsets, filters.sizes, left, right, measure.in_kernels, may_be
    )
    return may_be


# Larger components stay whole. Each is decided by itself, so that the same documents stay
# together wherever they are worked on.
MOST_SIEVED = 16384
# Pairs per document in all buckets: a cluster of 500 copies that share 16 keys is below.
_MOST_PAIRS = 4096


def sieve_components(
    components: Int64s,
    keys: Uint64s,
    filters: Filters | None,
    measure: Measure,
    *,
    are_fixed: Bools | None = None,
    with_fixed: bool = False,
    either_way: bool = False,
) -> Int64s:
    """Connect only those documents of a component that filters leave as candidates.

    Candidates are pairs of one component that have the same key in the same band, and whose
    filters do not prove them to be below the threshold.

    Parameters
    ----------
    components
        Component of each document; equal numbers are the same one. Documents are in keep order,
        whatever their components.
    keys
        Band keys, of shape (n, n_bands).
    filters
        Their filters for the measure. Without filters (None), as for weighted sets, every component
        stays whole.
    measure
        For one-sided measures the later document, which would go, is x, the earlier one y.
    are_fixed
        Documents that stay in any case.
    with_fixed
        Whether pairs of fixed documents are compared.
    either_way
        Whether a pair counts that is similar in the other direction.

    Returns
    -------
    For each document the first one of its new component, itself if it is alone.

    Notes
    -----
    The result depends only on the documents of each component. Components of more than
    ``MOST_SIEVED`` documents, or with more than 4096 pairs per document in their buckets, stay
    whole. Kernels hold no lock: threads may sieve different components at the same time.
    """
    n, n_bands = keys.shape
    order: Int64s = np.argsort(components, kind="stable").astype(np.int64, copy=False)
    starts = _starts_of_runs(components[order])
    firsts: Int64s = np.empty(n, np.int64)
    if filters is None:
        firsts[order] = np.repeat(order[starts[:-1]], np.diff(starts))
        return firsts
    candidates = sieve_kernel.Candidates(
        keys=np.ascontiguousarray(keys),
        words=filters.words,
        offsets=filters.offsets,
        sizes=filters.sizes,
        are_fixed=np.zeros(n, np.bool_) if are_fixed is None else are_fixed,
    )
    sizes = np.diff(starts)
    largest = int(sizes[sizes <= MOST_SIEVED].max(initial=0))
    sieve_kernel.sieve_components(
        order,
        starts,
        sealed(candidates),
        measure.in_kernels,
        sieve_kernel.Rules(int(either_way), int(with_fixed), MOST_SIEVED, _MOST_PAIRS),
        _make_room(largest, n_bands),
        firsts,
    )
    return firsts


def _starts_of_runs(values: Int64s) -> Int64s:
    changes = np.flatnonzero(values[1:] != values[:-1]) + 1
    ends = [len(values)] if len(values) else []
    return np.concatenate([[0], changes, ends]).astype(np.int64)


def _make_room(n: int, n_bands: int) -> sieve_kernel.Room:
    n_places = n_bands << max(1, int(2 * n - 1).bit_length())
    next_group, next_member, last_member = np.empty((3, n * n_bands), np.int64)
    groups = Groups(
        owners=np.repeat(np.arange(n, dtype=np.int32), n_bands),
        heads=np.empty(n_places, np.int64),
        next_group=next_group,
        next_member=next_member,
        last_member=last_member,
    )
    first_members: Int32s = np.empty(n_places, np.int32)
    return sieve_kernel.Room(
        first_members,
        np.empty(n_places, np.int32),
        np.empty(n * n_bands, np.int64),
        sealed(groups),
        np.empty(n, np.int64),
        np.empty(n, np.int32),
    )
