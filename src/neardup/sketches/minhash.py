"""Sign plain and weighted sets by min-hashes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import comb
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.kernels.arrays import Int
from neardup.kernels.common import hashing
from neardup.kernels.common.hashing import function_seeds, mix_words
from neardup.kernels.sketch import minhash_kernels
from neardup.matching.buckets import bucket_documents, list_members
from neardup.matching.join import NARROW, Columns, collect_pairs, probe_pieces
from neardup.matching.measures import Overlap
from neardup.runs.runner import Runner
from neardup.sketches.kind import (
    PairEstimates,
    Pairs,
    SketchKind,
    SketchMaker,
    WantedPairs,
    check_column,
    check_range,
    check_seed,
    cut_pairs,
    estimate_shares,
    make_pair_estimates,
    read_counts,
    read_lists,
)
from neardup.tables import (
    Bytes,
    Estimates,
    Floats,
    Int32s,
    Int64s,
    ScoredPairs,
    ShingleLists,
    ShingleSets,
    Signatures,
    TokenLists,
    Uint32s,
    Uint64s,
    WeightedSets,
    places_of_lists,
    starts_of_runs,
)
from neardup.text.shingles import shingle_lists, shingle_set_sizes
from neardup.text.weighting import weighted_sets

# The kernel handles whole vectors of lanes; a few lanes more cost nothing and are dropped.
_LANES_TOGETHER = 16

# Sets signed together; more of them would share draws, and take more memory where they are short.
_SETS_TOGETHER = 4096


@dataclass(frozen=True)
class MinHashScheme(SketchKind):
    """Signatures of ``num_perm`` positions, up to 65,536, for Jaccard similarity."""

    name = "minhash"
    measures = ("jaccard",)

    num_perm: int = 128
    seed: int = 42

    def __post_init__(self) -> None:
        check_range("num_perm", self.num_perm, 1, 65536, "65536")
        check_seed(self.seed)

    def make_rows(self, tokens: TokenLists, how: SketchMaker) -> Signatures:
        """Sign the set of shingles of each text."""
        lists = shingle_lists(tokens, how.shingles)
        # Lanes that were dropped leave gaps, which other kernels do not take.
        values = np.ascontiguousarray(minhash_signatures(lists, self))
        return Signatures(values, shingle_set_sizes(lists))

    def join_rows(self, parts: Sequence[Signatures]) -> Signatures:
        """Concatenate the signatures of all parts."""
        totals = [part.totals for part in parts if part.totals is not None]
        return Signatures(
            np.concatenate([part.values for part in parts]),
            np.concatenate([part.sizes for part in parts]),
            np.concatenate(totals) if totals else None,
        )

    def candidates(self, rows: Signatures, wanted: WantedPairs, runner: Runner) -> Iterator[Pairs]:
        """Find exactly the pairs that agree in enough positions."""
        pairs = join_signatures(
            rows, wanted.threshold, n_left=wanted.n_left, limit=wanted.limit, runner=runner
        )
        yield from cut_pairs(pairs.left, pairs.right)

    def estimate(self, rows: Signatures, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate the similarity of pairs, weighted if the sets are."""
        found = estimate_agreement(rows, rows, left, right)
        return make_pair_estimates({"similarity": found}, {self.measures[0]: found})

    def count_elements(self, rows: Signatures) -> Int64s:
        """Return the numbers of shingles."""
        return rows.sizes

    def to_columns(self, rows: Signatures) -> dict[str, pa.Array]:
        """Return numbers of elements, and lists of a fixed size."""
        values = pa.array(np.ascontiguousarray(rows.values).reshape(-1))
        return {
            "size": pa.array(rows.sizes),
            "sketch": pa.FixedSizeListArray.from_arrays(values, rows.values.shape[1]),
        }

    def from_columns(self, table: pa.Table) -> Signatures:
        """Read signatures of the scheme's length."""
        values, offsets = read_lists(table, pa.uint32())
        check_column((np.diff(offsets) == self.num_perm).all())
        rows = np.array(values.to_numpy(), np.uint32).reshape(len(table), self.num_perm)
        return Signatures(rows, read_counts(table, "size"))


@dataclass(frozen=True)
class WeightedMinHashScheme(MinHashScheme):
    """Signatures by consistent weighted sampling, for weighted Jaccard similarity."""

    name = "weighted"
    measures = ("weighted-jaccard",)
    more_options = ("tf", "idf")
    missing_options = ("occurrences",)
    defaults = {"ngram": 1}  # noqa: RUF012 - nobody changes it
    is_weighted = True

    def describe_with(self, how: SketchMaker) -> dict[str, Any]:
        """Return all settings that decide a signature, weights included."""
        return how.shingles.describe() | how.weights.describe() | self.describe()

    def make_rows(self, tokens: TokenLists, how: SketchMaker) -> Signatures:
        """Sign the weighted set of shingles of each text."""
        sets = weighted_sets(tokens, how.shingles, how.weights)
        return Signatures(weighted_signatures(sets, self), sets.sizes, sets.totals)

    def to_columns(self, rows: Signatures) -> dict[str, pa.Array]:
        """Return numbers of elements, sums of weights and fixed-size lists."""
        columns = super().to_columns(rows)
        return {"size": columns["size"], "weight": pa.array(rows.totals), **columns}

    def from_columns(self, table: pa.Table) -> Signatures:
        """Read signatures and the sums of weights."""
        rows = super().from_columns(table)
        return replace(rows, totals=read_counts(table, "weight"))


def minhash_signatures(shingles: ShingleLists, scheme: MinHashScheme) -> Uint32s:
    """Return the least hash of every set under each function.

    The share of equal positions of two signatures estimates the Jaccard similarity without bias.
    Values have 32 bits: two sets of n elements each that share nothing agree in a position with
    probability about n / 2^33. Shingles come in any order, and repeats change nothing. Returns
    shape (n, num_perm); the row of an empty list is all ones.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 3.
    """
    masks, even_masks = _lanes(scheme)
    signatures: Uint32s = np.empty((len(shingles), len(masks)), np.uint32)
    minhash_kernels.minhash_signatures(
        shingles.values, shingles.offsets, masks, even_masks, signatures
    )
    return signatures[:, : scheme.num_perm]


@lru_cache(maxsize=8)
def _lanes(scheme: MinHashScheme) -> tuple[Uint32s, Uint32s]:
    """Draw two masks per lane from seed and lane number."""
    n_lanes = -(-scheme.num_perm // _LANES_TOGETHER) * _LANES_TOGETHER
    with np.errstate(over="ignore"):
        start = mix_words(np.uint64(scheme.seed))
        drawn = mix_words(start ^ mix_words(np.arange(1, n_lanes + 1, dtype=np.uint64)))
    masks = (drawn >> np.uint64(32)).astype(np.uint32)
    return masks, drawn.astype(np.uint32) & np.uint32(0xFFFFFFFE)


def weighted_signatures(sets: WeightedSets, scheme: WeightedMinHashScheme) -> Uint32s:
    """Return the least element of weighted sets under each function.

    Two sets agree in a position with a probability of their weighted Jaccard similarity, plus
    2^-32. Returns shape (n, num_perm), the upper halves of the identities of
    ``kernels.sketch.weighted_minhash``; the row of an empty set is all ones. Memory 16 bytes per
    function and set, for up to 4,096 sets at a time.

    References
    ----------
    Ioffe (2010), Improved consistent sampling, weighted minhash and L1 sketching.
    """
    seeds = function_seeds(scheme.seed, scheme.num_perm)
    signatures: Uint32s = np.empty((len(sets), scheme.num_perm), np.uint32)
    for first in range(0, len(sets), _SETS_TOGETHER):
        rows = slice(first, first + _SETS_TOGETHER)
        signatures[rows] = _sign(sets, rows, seeds)
    return signatures


def _sign(sets: WeightedSets, rows: slice, seeds: Uint64s) -> Uint32s:
    """Sign some sets, drawing the numbers of each element once."""
    # Only few jobs need it.
    from neardup.kernels.sketch import weighted_minhash as kernels

    sizes, starts = sets.sizes[rows], sets.starts[rows]
    n = len(sizes)
    places, _ = places_of_lists(starts, sizes)
    values = sets.values[places]
    order = np.argsort(values, kind="stable")
    values = values[order]
    firsts = starts_of_runs(values)
    owner_starts = np.append(firsts, len(values)).astype(np.int64)
    owners = np.repeat(np.arange(n, dtype=np.int32), sizes)[order]
    logs: Floats = np.empty(len(values), np.float64)
    hashing.logarithms(sets.weights[places][order].astype(np.float64), logs)
    least: Floats = np.full((n, len(seeds)), np.inf)
    identities: Uint64s = np.full((n, len(seeds)), 2**64 - 1, np.uint64)
    kernels.weighted_signatures(
        values[firsts], owner_starts, owners, logs, seeds, least, identities
    )
    return (identities >> np.uint64(32)).astype(np.uint32)


def band_keys(signatures: Uint32s, bands: int, rows: int) -> Uint64s:
    """Hash bands of ``rows`` positions to keys, shape (n, bands).

    Two sets agree in a key with probability J^rows, in at least one with 1 - (1 - J^rows)^bands.
    """
    if bands < 1 or rows < 1 or bands * rows > signatures.shape[1]:
        message = (
            f"bands * rows must lie between 1 and the signature's {signatures.shape[1]} positions, "
            f"got {bands} * {rows}"
        )
        raise InvalidParameterError(message)
    keys: Uint64s = np.empty((len(signatures), bands), np.uint64)
    minhash_kernels.band_keys(np.ascontiguousarray(signatures), bands, rows, keys)
    return keys


def estimate_agreement(
    signatures: Signatures, other: Signatures, left: Int64s, right: Int64s
) -> Estimates:
    """Estimate the (weighted) Jaccard similarity of pairs of sets.

    Pairs have ``left`` rows of one table and ``right`` rows of the other, of one scheme. Values are
    shares of equal positions, without bias, with standard errors sqrt(v (1 - v) / num_perm) and
    Wilson's 95 % intervals. An empty set has similarity 0, exactly. About 20 ns per pair for 128
    positions, and 150 ns for errors and intervals.
    """
    equal: Int64s = np.empty(len(left), np.int64)
    minhash_kernels.count_equal(signatures.values, other.values, left, right, equal)
    is_empty = (signatures.sizes[left] == 0) | (other.sizes[right] == 0)
    equal[is_empty] = 0
    samples: Int64s = np.full(len(left), signatures.values.shape[1], np.int64)
    # Positions are drawn independently, as if elements were put back.
    return estimate_shares(equal, samples, np.ones(len(left)), is_empty)


def join_signatures(
    signatures: Signatures,
    threshold: Fraction,
    *,
    n_left: int | None = None,
    limit: int | None = None,
    runner: Runner,
) -> ScoredPairs:
    """Find all pairs of signatures with enough equal positions.

    The ``threshold`` in (0, 1] is the share of equal positions. With ``n_left``, the rows of the
    first of two collections, pairs have one row of each. Pairs ascend; ``scores`` are numbers of
    equal positions. ResultLimitError at more than ``limit`` pairs.

    At most d = k - ceil(k * threshold) of k positions differ, so that one of d + 1 bands is equal;
    all rows that share a band are compared. Memory 8 bytes per row and band, and a copy of the
    signatures if some are empty.
    """
    n, num_perm = signatures.values.shape
    required = math.ceil(threshold * num_perm)
    bands = num_perm - required + 1
    width = num_perm // bands
    places: Int64s = np.flatnonzero(signatures.sizes != 0).astype(np.int64)
    # Most often all are filled, and are not copied then.
    chosen = signatures.values if len(places) == n else signatures.values[places]
    chosen = np.ascontiguousarray(chosen)

    def band_key(band: int) -> Uint64s:
        return band_keys(chosen[:, band * width : (band + 1) * width], 1, width)[:, 0]

    buckets = bucket_documents(band_key, bands, len(places), runner)
    lists = list_members(buckets)
    n_first = -1 if n_left is None else int(np.searchsorted(places, n_left))

    def probe(
        start: int, stop: int, last_seen: Int32s, columns: Columns, counts: Int64s
    ) -> tuple[Int, Int]:
        return minhash_kernels.probe_agreeing(
            start, stop, n_first, *lists, chosen, required, last_seen, *columns
        )

    def make_scratch() -> Int32s:
        return np.full(len(places), -1, np.int32)

    pieces = probe_pieces(len(places), NARROW, make_scratch, probe, np.zeros(0, np.int64), runner)
    return collect_pairs(pieces, places, limit, runner)


@dataclass(frozen=True)
class SuperShingleRule:
    """Rule for alike documents: ``least`` of ``groups`` super-shingles agree.

    Each is a hash of ``rows`` of at least groups * rows min-hashes.
    """

    groups: int = 6
    rows: int = 14
    least: int = 2

    def probability(self, resemblance: float) -> float:
        """Return the probability that ``least`` groups or more agree.

        With p = resemblance^rows, the sum of C(groups, k) p^k (1 - p)^(groups - k) from k = least.
        """
        p, g = resemblance**self.rows, self.groups
        return sum(comb(g, k) * p**k * (1 - p) ** (g - k) for k in range(self.least, g + 1))


@dataclass(frozen=True)
class SuperShingles:
    """Super-shingles of n documents, and the rule of similarity.

    ``keys``, hashes of groups of min-hashes, have shape (n, groups). ``filled`` are the documents
    that have shingles; all others would agree with each other.

    References
    ----------
    Broder, Glassman, Manasse and Zweig (1997), Syntactic clustering of the Web.
    """

    keys: Uint64s
    filled: Int64s
    rule: SuperShingleRule

    @classmethod
    def of(cls, signatures: Signatures, rule: SuperShingleRule) -> SuperShingles:
        """Make the super-shingles of signatures."""
        filled: Int64s = np.flatnonzero(signatures.sizes != 0)
        return cls(band_keys(signatures.values, rule.groups, rule.rows), filled, rule)

    def count(self, left: Int64s, right: Int64s) -> Int64s:
        """Count the equal groups of pairs, 0 for empty documents."""
        counts: Int64s = (self.keys[left] == self.keys[right]).sum(axis=1, dtype=np.int64)
        counts[~(np.isin(left, self.filled) & np.isin(right, self.filled))] = 0
        return counts

    def join(self, n_left: int | None, runner: Runner) -> Pairs:
        """Find all alike pairs, ascending, with the lesser row first.

        With two collections, the first of ``n_left`` documents, pairs have one document of each.
        """
        # Only this needs it.
        from neardup.matching.set_join import SetJoin

        keys = np.sort(self.keys[self.filled], axis=1)
        groups = self.rule.groups
        starts = np.arange(0, keys.size, groups, dtype=np.int64)
        sets = ShingleSets(keys.reshape(-1), starts, np.full(len(keys), groups, np.int64))
        sides: Bytes | None = None
        if n_left is not None:
            sides = np.where(self.filled < n_left, 1, 2).astype(np.uint8)
        least = Overlap(Fraction(self.rule.least))
        pairs, _ = SetJoin(sets, least).run(sides, None, runner)
        return self.filled[pairs.left], self.filled[pairs.right]
