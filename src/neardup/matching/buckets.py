"""Choose bands, and find candidates by bands, prefixes and filters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from neardup.errors import InvalidParameterError, option_name
from neardup.kernels.arrays import Int, sealed
from neardup.kernels.bucket import bucket_kernels as kernel
from neardup.kernels.bucket import components as component_kernel
from neardup.kernels.common.hashing import mix_words
from neardup.kernels.join import filters as filters_kernel
from neardup.kernels.join import postings
from neardup.kernels.join.overlap import WideMatches
from neardup.matching.join import (
    WIDE,
    Columns,
    FilterCounts,
    RankedRecords,
    collect_pairs,
    probe_pieces,
    rank_sets,
)
from neardup.matching.measures import Measure, measure_sets
from neardup.options.choices import Number
from neardup.options.kinds import Whole, exact_fraction
from neardup.runs.runner import Runner
from neardup.tables import (
    Bools,
    Buckets,
    Bytes,
    Filters,
    Int32s,
    Int64s,
    KeyLists,
    ScoredPairs,
    ShingleLists,
    ShingleSets,
    Uint64s,
    WeightedSets,
    starts_of_runs,
)

_MOST = 2**31 - 1
_TOO_MANY = (
    f"more than {_MOST:,} distinct texts or buckets; use fewer bands (a lower recall) or cut the "
    "collection into parts and join them with against (--against)"
)


def bucket_documents(
    band_key: Callable[[int], Uint64s], n_bands: int, n_documents: int, runner: Runner
) -> Buckets:
    """Sort documents with equal keys into buckets of each band.

    ``band_key`` returns all documents' keys of 64 bits in one band, one block of the runner's work.
    Time O(n_bands * n log n), memory 20 bytes per document for each band at work, 4 bytes per
    document and band in the result.
    """
    numbers = _no_buckets(n_bands, n_documents)

    def sized() -> Iterator[Int64s]:
        sort = partial(_sort_band, band_key, numbers)
        for band, sizes in enumerate(runner.map(sort, range(n_bands)), 1):
            yield sizes
            runner.report("bucket", band, n_bands)

    return _number_buckets(numbers, sized())


def _no_buckets(n_bands: int, n_documents: int) -> Int32s:
    if n_documents > _MOST:
        raise InvalidParameterError(_TOO_MANY)
    return np.empty((n_bands, n_documents), np.int32)


def _sort_band(band_key: Callable[[int], Uint64s], numbers: Int32s, band: int) -> Int64s:
    """Fill in a band's bucket numbers and return bucket sizes."""
    keys = np.ascontiguousarray(band_key(band))
    packed, index_mask = _sort_keys(keys)
    sizes: Int64s = np.empty(len(keys) // 2, np.int64)
    n_buckets = kernel.bucket_runs(packed, index_mask, keys, 0, numbers[band], sizes)
    return sizes[:n_buckets].copy()


def _number_buckets(numbers: Int32s, sizes_of_bands: Iterable[Int64s]) -> Buckets:
    sizes, n_buckets = [np.empty(0, np.int64)], 0
    for row, of_band in zip(numbers, sizes_of_bands, strict=True):
        row[row >= 0] += n_buckets
        n_buckets += len(of_band)
        if n_buckets > _MOST:
            raise InvalidParameterError(_TOO_MANY)
        sizes.append(of_band)
    return Buckets(numbers, np.concatenate(sizes))


def star_edges(keys: Uint64s, *, are_ignored: Bools | None = None) -> tuple[Int64s, Int64s]:
    """List edges between each key's first document and other documents.

    There are up to 2^32 documents. A group has no edges if all of its documents ``are_ignored``.
    Time O(n log n). Memory 16 bytes per document in addition to the keys, and 16 bytes per edge.
    """
    keys = np.ascontiguousarray(keys)
    packed, index_mask = _sort_keys(keys)
    # Repeated cut keys, an upper bound on the edges.
    most = int(np.count_nonzero(packed[:-1] ^ packed[1:] <= index_mask))
    firsts: Int64s = np.empty(most, np.int64)
    members: Int64s = np.empty(most, np.int64)
    ignored = np.empty(0, np.bool_) if are_ignored is None else are_ignored
    n_edges = kernel.star_edges(packed, index_mask, keys, ignored, firsts, members)
    return firsts[:n_edges], members[:n_edges]


def _sort_keys(keys: Uint64s) -> tuple[Uint64s, np.uint64]:
    """Return documents packed and sorted by key, with their mask.

    A key is cut to the bits that a document's index leaves free in 64 (34 at 2^30 documents):
    single numbers sort fastest. Kernels compare full keys.
    """
    index_bits = max(1, int(len(keys) - 1).bit_length())
    index_mask = np.uint64((1 << index_bits) - 1)
    packed: Uint64s = keys & ~index_mask
    packed |= np.arange(len(keys), dtype=np.uint64)
    packed.sort()
    return packed, index_mask


def list_keys(buckets: Buckets) -> KeyLists:
    """List each document's buckets as keys."""
    starts: Int64s = np.empty(buckets.numbers.shape[1] + 1, np.int64)
    keys: Int32s = np.empty(int((buckets.numbers >= 0).sum()), np.int32)
    kernel.list_keys(buckets.numbers, starts, keys)
    sizes: Int64s = np.bincount(keys, minlength=len(buckets.sizes)).astype(np.int64)
    return KeyLists(starts, keys, np.diff(starts), sizes)


def list_full_keys(keys: Uint64s, components: Int64s | None = None) -> KeyLists:
    """List keys of documents with equal 64-bit band keys.

    ``keys`` has shape (n_documents, n_bands). Keys match only within one of the ``components``, if
    given. A key that one document has alone is left out. Time O(n_bands * n log n), memory about 50
    bytes per document for the band at work, at most 8 bytes per document and band in all.
    """
    n_documents, n_bands = keys.shape
    numbers = _no_buckets(n_bands, n_documents)
    salts = None if components is None else mix_words(components.astype(np.uint64))

    def band_key(band: int) -> Uint64s:
        with np.errstate(over="ignore"):
            return keys[:, band] if salts is None else keys[:, band] + salts

    sizes = map(partial(_sort_band, band_key, numbers), range(n_bands))
    return list_keys(_number_buckets(numbers, sizes))


def list_prefixes(sets: ShingleSets | WeightedSets, measure: Measure) -> KeyLists:
    """List the prefix tokens of each set as keys.

    Plain sets are not empty. In a directed measure the first set of a pair looks for the second;
    sets that look under all keys find partners in either direction. Of two sets at the threshold
    each has an element of the other in its prefix. Elements of a single set are left out. Memory 20
    bytes per element while it works, 32 per weighted one, and 4 bytes per key (Xiao et al. 2008,
    section 3).
    """
    n = len(sets)
    records, probing, indexing = _ranked_prefixes(sets, measure)
    frequencies: Int64s = np.zeros(records.n_tokens + 1, np.int64)
    postings.count_postings(records.tokens, records.starts, indexing, frequencies)
    shared = np.diff(frequencies) > 1
    numbers: Int32s = np.where(shared, np.cumsum(shared) - 1, -1).astype(np.int32)
    n_keys = np.diff(frequencies)[shared]
    starts: Int64s = np.empty(n + 1, np.int64)
    keys: Int32s = np.empty(int(n_keys.sum()), np.int32)
    n_probed: Int64s = np.empty(n, np.int64)
    postings.list_shared(
        records.tokens, records.starts, indexing, probing, numbers, starts, keys, n_probed
    )
    return KeyLists(starts, keys, n_probed, n_keys)


def _ranked_prefixes(
    sets: ShingleSets | WeightedSets, measure: Measure
) -> tuple[RankedRecords, Int64s, Int64s]:
    """Rank elements and count the keys to probe and index."""
    everything = np.arange(len(sets))
    if isinstance(sets, ShingleSets):
        records = rank_sets(sets, everything)
        probing, indexing = measure.prefixes(sets.sizes)
        return records, records.shorten(probing, sets.sizes), records.shorten(indexing, sets.sizes)
    # Its kernels are for few jobs.
    from neardup.matching.set_join import needed_weights, rank_weighted_sets, weight_prefixes

    ranked, sums = rank_weighted_sets(sets, everything)
    prefixes = weight_prefixes(ranked, sums, needed_weights(measure, sets.totals)[0])
    return ranked, prefixes, prefixes


@dataclass(frozen=True)
class BucketJoinCounts(FilterCounts):
    """Counts of pairs that share a bucket, and of similar ones."""

    verified: int
    results: int


def join_buckets(
    buckets: Buckets,
    sets: ShingleSets | WeightedSets,
    measure: Measure,
    *,
    sides: Bytes | None = None,
    limit: int | None = None,
    runner: Runner,
) -> tuple[ScoredPairs, BucketJoinCounts]:
    """Find similar pairs of sets that share a bucket.

    Parameters, results and errors as in ``Join.run``. Plain sets are not empty; scores of weighted
    ones are common weights. All sets of a bucket are compared with each other. Memory 4 bytes per
    set and bucket, and 4 bytes per set and thread. Nothing is reported.
    """
    n = len(sets)
    lists = list_members(buckets)
    table = measure_sets(sets, with_parities=False)
    own_sides: Bytes = np.empty(0, np.uint8) if sides is None else sides
    counts: Int64s = np.zeros(kernel.N_COUNTS, np.int64)

    def probe(
        start: int, stop: int, last_seen: Int32s, columns: Columns, own_counts: Int64s
    ) -> tuple[Int, Int]:
        # The kernel's left set is the first of a pair.
        left, right, scores = columns
        return kernel.probe_buckets(
            start,
            stop,
            lists,
            table,
            measure.in_kernels,
            int(measure.is_directed),
            own_sides,
            last_seen,
            WideMatches(right, left, scores),
            own_counts,
        )

    pieces = probe_pieces(n, WIDE, lambda: np.full(n, -1, np.int32), probe, counts, runner)
    pairs = collect_pairs(pieces, np.arange(n), limit, None, is_directed=True)
    return pairs, BucketJoinCounts(int(counts[kernel.CANDIDATES]), len(pairs))


def list_members(buckets: Buckets) -> kernel.BucketLists:
    """List the documents of each bucket, as kernels take them."""
    starts: Int64s = np.cumsum(buckets.sizes) - buckets.sizes
    members: Int32s = np.empty(int(buckets.sizes.sum()), np.int32)
    kernel.list_members(buckets.numbers, starts.copy(), members)
    return sealed(kernel.BucketLists(buckets.numbers, starts, members))


# Filters: a few bits per shingle, which rule out most pairs that only share a band key.

# Runs have to agree on both: other numbers drop other pairs, if never a similar one.
_BITS_PER_SHINGLE = 2
_MOST_WORDS = 1024


def make_filters(lists: ShingleLists, measure: Measure) -> Filters:
    """Make a filter of each document from its shingle hashes.

    A filter has a power of two of bits, 64 to 2^16, two or more per shingle up to that size.
    Repeats of a shingle count for its size only. ``kernels.join.filters`` has the proof that no
    pair is lost. They rule out 95 and 99 % of false candidates of Jaccard similarity 0.8 on package
    descriptions (22 bytes per document) and licences (57), and 97 and 93 % at containment 0.9.
    """
    n = len(lists)
    offsets: Int64s = np.empty(n + 1, np.int64)
    filters_kernel.count_words(lists.offsets, _BITS_PER_SHINGLE, _MOST_WORDS, offsets)
    words: Uint64s = np.zeros(int(offsets[-1]), np.uint64)
    sizes: Int64s = np.empty(n, np.int64)
    longest = int((lists.offsets[1:] - lists.offsets[:-1]).max(initial=0))
    seen: Uint64s = np.empty(2 << (2 * longest).bit_length(), np.uint64)
    filters_kernel.fill_filters(
        lists.values, lists.offsets, measure.code, seen, offsets, words, sizes
    )
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


def _rows(filters: Filters) -> filters_kernel.FilterRows:
    return sealed(filters_kernel.FilterRows(filters.words, filters.offsets, filters.sizes))


def sieve_pairs(filters: Filters, left: Int64s, right: Int64s, measure: Measure) -> Bools:
    """Return a mask of pairs that pass the filters."""
    may_be: Bools = np.empty(len(left), np.bool_)
    filters_kernel.sieve_pairs(_rows(filters), left, right, measure.in_kernels, may_be)
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
    """Split components by candidate pairs that pass the filters.

    Candidates have the same component and the same key in the same band, and filters do not prove
    them to be below the threshold. Without filters, as for weighted sets, every component stays
    whole; so do large ones. Documents are in keep order; for one-sided measures the later document
    of a pair is x. Documents that ``are_fixed`` are compared with each other only ``with_fixed``.
    With ``either_way`` a pair counts if it is similar in one direction.

    Returns the first document of each document's new component. Components do not depend on each
    other.
    """
    n, n_bands = keys.shape
    order: Int64s = np.argsort(components, kind="stable").astype(np.int64, copy=False)
    starts = np.append(starts_of_runs(components[order]), n)
    firsts: Int64s = np.empty(n, np.int64)
    if filters is None:
        firsts[order] = np.repeat(order[starts[:-1]], np.diff(starts))
        return firsts
    candidates = component_kernel.SievedDocuments(
        keys=np.ascontiguousarray(keys),
        filters=_rows(filters),
        are_fixed=np.zeros(n, np.bool_) if are_fixed is None else are_fixed,
    )
    sizes = np.diff(starts)
    largest = int(sizes[sizes <= MOST_SIEVED].max(initial=0))
    component_kernel.sieve_components(
        order,
        starts,
        sealed(candidates),
        measure.in_kernels,
        component_kernel.Rules(int(either_way), int(with_fixed), MOST_SIEVED, _MOST_PAIRS),
        _make_room(largest, n_bands),
        firsts,
    )
    return firsts


def _make_room(n: int, n_bands: int) -> component_kernel.Room:
    n_places = n_bands << max(1, int(2 * n - 1).bit_length())
    next_group, next_member, last_member = np.empty((3, n * n_bands), np.int64)
    groups = component_kernel.ComponentGroups(
        owners=np.repeat(np.arange(n, dtype=np.int32), n_bands),
        heads=np.empty(n_places, np.int64),
        next_group=next_group,
        next_member=next_member,
        last_member=last_member,
    )
    first_members: Int32s = np.empty(n_places, np.int32)
    return component_kernel.Room(
        first_members,
        np.empty(n_places, np.int32),
        np.empty(n * n_bands, np.int64),
        sealed(groups),
        np.empty(n, np.int64),
        np.empty(n, np.int32),
    )


# Bands and rows by the S-curve.

# Points of the numerical integral over the curve below the threshold.
_STEPS = 200

# Far above the rounding errors of the curve in floating point.
_TOO_CLOSE = 1e-12


@dataclass(frozen=True)
class Banding:
    """Signature positions cut into ``bands`` of ``rows`` each."""

    bands: int
    rows: int

    @property
    def num_perm(self) -> int:
        """Signature positions in use."""
        return self.bands * self.rows

    def candidate_probability(self, jaccard: float) -> float:
        """Return the probability that a pair becomes a candidate.

        The S-curve 1 - (1 - s^r)^b; exact to rounding, also where it is close to 0 or 1.
        """
        if jaccard >= 1:
            return 1.0
        return -math.expm1(self.bands * math.log1p(-(jaccard**self.rows)))

    @property
    def steepest(self) -> float:
        """Return the Jaccard similarity at the S-curve's steepest point.

        ((r - 1) / (b r - 1))^(1 / r), where (r - 1)(1 - s^r) = (b - 1) r s^r: the second derivative
        is 0. 0 with one row per band, near (1 / b)^(1 / r) for many bands and rows.
        """
        if self.rows == 1:
            return 0.0
        return float(((self.rows - 1) / (self.bands * self.rows - 1)) ** (1 / self.rows))

    @property
    def midpoint(self) -> float:
        """Return the similarity with candidate probability 1/2: (1 - 2^(-1/b))^(1/r)."""
        return float((-math.expm1(-math.log(2) / self.bands)) ** (1 / self.rows))

    def area_below(self, jaccard: float) -> float:
        """Return the area under the curve from 0 to ``jaccard``."""
        step = jaccard / _STEPS
        return step * sum(self.candidate_probability((i + 0.5) * step) for i in range(_STEPS))


def reaches(banding: Banding, jaccard: Fraction, recall: Fraction) -> bool:
    """Return whether the bands reach a recall, decided exactly."""
    difference = banding.candidate_probability(float(jaccard)) - float(recall)
    if abs(difference) > _TOO_CLOSE:
        return difference > 0
    return 1 - (1 - jaccard**banding.rows) ** banding.bands >= recall


def choose_banding(least_jaccard: Number, recall: Number = "0.99", num_perm: int = 128) -> Banding:
    """Choose the cheapest bands and rows for a recall.

    For every number of rows the least number of bands that reaches the recall is the cheapest. Of
    these the function takes the one with the least area under the curve below the threshold,
    because most time on real text goes into comparing false candidates.

    ``least_jaccard`` is the least Jaccard similarity of a pair at the threshold, in (0, 1], and
    ``recall`` the least probability that such a pair becomes a candidate, below 1 unless the
    similarity is 1. Both are exact decimals. ``num_perm`` hash functions may be used.

    Raises
    ------
    InvalidParameterError
        If a value is not a number or out of range, or no choice within ``num_perm`` has the recall.

    Examples
    --------
    >>> import neardup
    >>> neardup.choose_banding(0.8)
    Banding(bands=16, rows=6)
    """
    # Exact thresholds of other measures may be finer than a typed one.
    jaccard, least = (
        value if isinstance(value, Fraction) and 0 < value <= 1 else exact_fraction(name, value)
        for name, value in (("least_jaccard", least_jaccard), ("recall", recall))
    )
    return _cheapest(jaccard, least, Whole(1).checked("num_perm", num_perm))


def _cheapest(least_jaccard: Fraction, recall: Fraction, num_perm: int) -> Banding:
    choices = []
    for rows in range(1, num_perm + 1):
        bands = _least_bands(least_jaccard, rows, recall, num_perm // rows)
        if bands is None:
            # More rows need more bands, and the number of hash functions limits them.
            break
        choices.append(Banding(bands, rows))
    if not choices:
        needed = _least_bands(least_jaccard, 1, recall, 10**9)
        hint = f"raise num_perm to {needed} or ask for less" if needed else "ask for less than 1"
        message = (
            f"recall {float(recall):g} at Jaccard similarity {float(least_jaccard):g} is out of "
            f"reach with num_perm {num_perm}; {hint}"
        )
        raise InvalidParameterError(message, "recall", "num_perm")
    return min(choices, key=lambda c: (c.area_below(float(least_jaccard)), c.num_perm))


def check_banding(bands: int, rows: int, num_perm: int) -> Banding:
    """Check bands and rows that a user has chosen."""
    if bands < 1 or rows < 1:
        names = f"{option_name('bands')} and {option_name('rows')}"
        message = f"{names} must be at least 1, got {bands} bands of {rows} rows"
        raise InvalidParameterError(message)
    if bands * rows > num_perm:
        message = (
            f"{bands} bands of {rows} rows need {bands * rows} hash functions, num_perm allows "
            f"{num_perm}; lower one of them or raise num_perm"
        )
        raise InvalidParameterError(message, "num_perm")
    return Banding(bands, rows)


def _least_bands(jaccard: Fraction, rows: int, recall: Fraction, most: int) -> int | None:
    if jaccard >= 1:
        return 1
    if recall >= 1 or not reaches(Banding(most, rows), jaccard, recall):
        return None
    missed_by_one = math.log1p(-(float(jaccard) ** rows))
    bands = max(1, math.ceil(math.log1p(-float(recall)) / missed_by_one) - 1)
    while not reaches(Banding(bands, rows), jaccard, recall):
        bands += 1
    return bands
