"""Sample sets by smallest values or multiples of a modulus.

Broder's sketches: shingle x becomes mix64(x ^ mix64(~mix64(seed))), one to one, and sketches hold
some of these values. They estimate resemblance, and multiples of a modulus also containment.

References
----------
Broder (1997), On the resemblance and containment of documents, sections 3 and 4.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.kernels.arrays import sealed
from neardup.kernels.common.hashing import mix_words
from neardup.matching.measures import MEASURES, Dice, Measure
from neardup.matching.set_join import SetJoin
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
    Bools,
    Bytes,
    Estimates,
    Floats,
    Int64s,
    SetSketches,
    ShingleLists,
    ShingleSets,
    TokenLists,
    Uint64s,
    offsets_of,
)
from neardup.text.shingles import shingle_lists, sorting_room

# Kernels are imported on use, so that a job loads only its kind's kernels.

# More values than any sketch has.
_NO_LIMIT = 2**62


class SampleScheme(SketchKind):
    """Rule that selects the sampled elements of a permuted set."""

    size: int

    def __post_init__(self) -> None:
        check_range("size", self.size, 1, 2**20)
        check_seed(self.seed)

    @property
    @abstractmethod
    def sample_limit(self) -> int:
        """Return the limit of sampled values per union."""

    @abstractmethod
    def sample(self, shingles: ShingleLists) -> SetSketches:
        """Sample every set, whose shingles may be unordered and repeated."""

    @property
    def permutation_key(self) -> np.uint64:
        """Return the key to xor with elements before mixing."""
        with np.errstate(over="ignore"):
            return mix_words(~mix_words(np.uint64(self.seed)))

    def make_rows(self, tokens: TokenLists, how: SketchMaker) -> SetSketches:
        """Sketch the set of shingles of each text."""
        return self.sample(shingle_lists(tokens, how.shingles))

    def describe_with(self, how: SketchMaker) -> dict[str, Any]:
        """Return all settings of sketches, always including the fingerprints' kind."""
        return super().describe_with(how) | {"fingerprint": how.shingles.fingerprints.kind}

    def join_rows(self, parts: Sequence[SetSketches]) -> SetSketches:
        """Concatenate the sketches of all parts."""
        return SetSketches(
            np.concatenate([part.values for part in parts]),
            offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
            np.concatenate([part.sizes for part in parts]),
            np.concatenate([part.moduli for part in parts]),
        )

    def count_elements(self, rows: SetSketches) -> Int64s:
        """Return the numbers of shingles."""
        return rows.sizes

    def to_columns(self, rows: SetSketches) -> dict[str, pa.Array]:
        """Return sizes, null if unknown, and lists of values."""
        return {
            "size": pa.array(rows.sizes, mask=rows.sizes < 0),
            "sketch": pa.LargeListArray.from_arrays(rows.offsets, rows.values),
        }


@dataclass(frozen=True)
class SmallestScheme(SampleScheme):
    """Sketches of the ``size`` smallest elements of a permuted set.

    ``size`` is from 1 to 1,048,576. A smaller set is kept whole, with its size, else -1.
    """

    name = "smallest"
    measures = ("jaccard",)

    size: int = 256
    seed: int = 42

    @property
    def sample_limit(self) -> int:
        """Return ``size`` as the limit of sampled values."""
        return self.size

    def sample(self, shingles: ShingleLists) -> SetSketches:
        """Take the smallest elements of every set."""
        from neardup.kernels.sketch import sample_kernels

        n = len(shingles)
        room = int(np.minimum(np.diff(shingles.offsets), self.size).sum())
        values: Uint64s = np.empty(room, np.uint64)
        offsets: Int64s = np.empty(n + 1, np.int64)
        sizes: Int64s = np.empty(n, np.int64)
        sample_kernels.smallest_sketches(
            shingles.values,
            shingles.offsets,
            self.permutation_key,
            self.size,
            np.empty(int(np.diff(shingles.offsets).max(initial=0)), np.uint64),
            *sorting_room(shingles.offsets),
            values,
            offsets,
            sizes,
        )
        return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, np.ones(n, np.int64))

    def candidates(self, rows: SetSketches, wanted: WantedPairs, runner: Runner) -> Iterator[Pairs]:
        """Find pairs of samples with enough common values."""
        pairs = join_smallest(rows, wanted.threshold, n_left=wanted.n_left, runner=runner)
        yield from cut_pairs(*pairs)

    def estimate(self, rows: SetSketches, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate the resemblance of pairs."""
        found = estimate_resemblance(rows, rows, left, right, self)
        return make_pair_estimates({"similarity": found}, {"jaccard": found})

    def from_columns(self, table: pa.Table) -> SetSketches:
        """Read samples that are full, or whole sets."""
        rows = _read_samples(table)
        n_values = np.diff(rows.offsets)
        check_column((n_values <= self.size).all())
        is_full = n_values == self.size
        check_column(((rows.sizes == n_values) | (is_full & (rows.sizes < 0))).all())
        return rows


@dataclass(frozen=True)
class ModuloScheme(SampleScheme):
    """Sketches of a permuted set's elements divisible by a modulus.

    ``modulus`` is one for all sets, from 1 to 2^32, and ``size`` has no effect then. Without it
    each set of n distinct elements has the power of two 2^i with size * 2^i <= n < size * 2^(i +
    1), and 1 if n < size: an expected ``size`` to twice as many values.
    """

    name = "modulo"
    measures = ("jaccard", "containment", "max-containment")
    directed_measures = ("containment",)

    modulus: int | None = None
    size: int = 100
    seed: int = 42

    def __post_init__(self) -> None:
        if self.modulus is not None and not 1 <= self.modulus <= 2**32:
            message = f"modulus must lie between 1 and 2^32, got {self.modulus}"
            raise InvalidParameterError(message)
        super().__post_init__()

    def describe(self) -> dict[str, Any]:
        """Return all settings that decide a sketch, as plain values."""
        return super().describe() | {"size": self.size if self.modulus is None else None}

    @property
    def sample_limit(self) -> int:
        """Return no limit, because all multiples are sampled."""
        return _NO_LIMIT

    def sample(self, shingles: ShingleLists) -> SetSketches:
        """Take a modulus' multiples and count each set's distinct elements."""
        from neardup.kernels.sketch import sample_kernels

        n = len(shingles)
        values: Uint64s = np.empty(len(shingles.values), np.uint64)
        offsets: Int64s = np.empty(n + 1, np.int64)
        sizes, moduli = np.empty((2, n), np.int64)
        sample_kernels.modulo_sketches(
            shingles.values,
            shingles.offsets,
            self.permutation_key,
            self.modulus or 0,
            self.size,
            *sorting_room(shingles.offsets),
            values,
            offsets,
            sizes,
            moduli,
        )
        return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, moduli)

    def candidates(self, rows: SetSketches, wanted: WantedPairs, runner: Runner) -> Iterator[Pairs]:
        """Find pairs of samples with enough common values."""
        measure = MEASURES[wanted.measure](wanted.threshold)
        yield from cut_pairs(*join_modulo(rows, measure, n_left=wanted.n_left, runner=runner))

    def estimate(self, rows: SetSketches, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate resemblance, and containment both ways."""
        a_in_b = estimate_containment(rows, rows, left, right, self)
        b_in_a = estimate_containment(rows, rows, right, left, self)
        is_left = _likely_sizes(rows, left) <= _likely_sizes(rows, right)
        resemblance = estimate_resemblance(rows, rows, left, right, self)
        smaller_in_larger = a_in_b.where(is_left, b_in_a)
        return make_pair_estimates(
            {"similarity": resemblance, "containment_a": a_in_b, "containment_b": b_in_a},
            {"jaccard": resemblance, "containment": a_in_b, "max-containment": smaller_in_larger},
        )

    def to_columns(self, rows: SetSketches) -> dict[str, pa.Array]:
        """Return sizes, null if unknown, moduli and lists of values."""
        columns = super().to_columns(rows)
        return {"size": columns["size"], "modulus": pa.array(rows.moduli), **columns}

    def from_columns(self, table: pa.Table) -> SetSketches:
        """Read multiples of moduli that the scheme may have."""
        rows = _read_samples(table)
        n_values = np.diff(rows.offsets)
        moduli = read_counts(table, "modulus")
        check_column((moduli >= 1).all())
        if self.modulus is None:
            check_column((moduli & (moduli - 1) == 0).all())
        else:
            check_column((moduli == self.modulus).all())
        check_column(((moduli > 1) | (rows.sizes == n_values)).all())
        check_column((rows.values % np.repeat(moduli, n_values).astype(np.uint64) == 0).all())
        return replace(rows, moduli=moduli)


def estimate_resemblance(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: SampleScheme
) -> Estimates:
    """Estimate |A ∩ B| / |A ∪ B| of pairs of sets.

    In smallest sketches the ``size`` smallest values of the union sample the union, and common
    values among them the intersection; two whole sets are compared exactly. In modulo sketches all
    values of the larger modulus count. Both estimates are unbiased, the latter if any value is
    left. An empty set has resemblance 0 with all sets.

    Time O(values of both sketches) for each pair. The variance is r (1 - r) / n * (N - n) / (N - 1)
    for n samples of N = |A ∪ B|. The last factor is unknown; 1 - 1 / modulus replaces it, or 1 - u
    where u is the largest value of the sample, as a share of 2^64.
    """
    compared = _compare_samples(sketches, other, left, right, scheme)
    is_modulo = isinstance(scheme, ModuloScheme)
    sampled: Floats = 1 / compared.moduli if is_modulo else compared.largest / 2.0**64
    return estimate_shares(compared.common, compared.union, 1 - sampled, compared.is_exact)


def estimate_containment(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: ModuloScheme
) -> Estimates:
    """Estimate the share |A ∩ B| / |A| of pairs of sets.

    A is the left set; exchange the tables and the rows for the other direction. Estimates of a
    small set in a large one are weak: only A's multiples of B's modulus count.
    """
    compared = _compare_samples(sketches, other, left, right, scheme)
    sizes = sketches.sizes[left]
    correction = np.where(
        sizes < 0, 1 - 1 / compared.moduli, (sizes - compared.own) / np.maximum(sizes - 1, 1)
    )
    return estimate_shares(compared.common, compared.own, correction, compared.is_exact)


@dataclass(frozen=True)
class SampleComparison:
    """Numbers of sampled values per pair, from ``kernels.sketch.sample_kernels``.

    ``own`` counts the values of the left set. ``is_exact`` marks pairs of sets sampled completely.
    """

    common: Int64s
    union: Int64s
    own: Int64s
    largest: Uint64s
    is_exact: Bools
    moduli: Int64s


def _compare_samples(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: SampleScheme
) -> SampleComparison:
    from neardup.kernels.sketch import sample_kernels

    counts: Int64s = np.empty((len(left), 4), np.int64)
    largest: Uint64s = np.empty(len(left), np.uint64)
    first, second = (
        sealed(sample_kernels.SampleRows(table.values, table.offsets, table.sizes, table.moduli))
        for table in (sketches, other)
    )
    sample_kernels.compare_sketches(
        first, second, left, right, scheme.sample_limit, counts, largest
    )
    common, union, own, are_whole = counts.T
    moduli = np.maximum(sketches.moduli[left], other.moduli[right])
    return SampleComparison(common, union, own, largest, are_whole > 0, moduli)


def join_smallest(
    sketches: SetSketches, threshold: Fraction, *, n_left: int | None = None, runner: Runner
) -> Pairs:
    """Find candidate pairs of smallest sketches for a threshold.

    With ``n_left``, the rows of the first of two collections, pairs have one row of each. The
    lesser row is first; pairs ascend. With o common values of sketches of sizes x and y the
    estimate is o / max(x, y) at most, so that Dice's measure of the sketches reaches the threshold
    if it does.
    """
    sets = _sets(sketches.values, sketches.offsets)
    pairs, _ = SetJoin(sets, Dice(threshold)).run(_sides(sketches, n_left), None, runner)
    return pairs.left, pairs.right


def join_modulo(
    sketches: SetSketches, measure: Measure, *, n_left: int | None = None, runner: Runner
) -> Pairs:
    """Find candidate pairs of modulo sketches for a measure's threshold.

    Pairs are as of ``join_smallest``; in a directed measure the first row is contained in the
    second. Estimates use the values at the larger modulus: one join per modulus, of all rows up to
    it. Two whole sets are compared by all values; the intersection is the same, so that estimates
    are not greater.
    """
    sides = _sides(sketches, n_left)
    parts: list[Pairs] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    owners = np.repeat(np.arange(len(sketches)), np.diff(sketches.offsets))
    for modulus in np.unique(sketches.moduli).tolist():
        stays = (sketches.values % np.uint64(modulus) == 0) & (sketches.moduli[owners] <= modulus)
        rows: Int64s = np.flatnonzero(sketches.moduli <= modulus)
        counts = np.bincount(owners[stays], minlength=len(sketches))[rows]
        sets = _sets(sketches.values[stays], offsets_of(counts))
        chosen = None if sides is None else sides[rows]
        pairs, _ = SetJoin(sets, measure).run(chosen, None, runner)
        left, right = rows[pairs.left], rows[pairs.right]
        at_level = np.maximum(sketches.moduli[left], sketches.moduli[right]) == modulus
        parts.append((left[at_level], right[at_level]))
    left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order]


def _sides(sketches: SetSketches, n_left: int | None) -> Bytes | None:
    """Return side 1 or 2 of each row, or None."""
    if n_left is None:
        return None
    sides: Bytes = np.full(len(sketches), 2, np.uint8)
    sides[:n_left] = 1
    return sides


def _sets(values: Uint64s, offsets: Int64s) -> ShingleSets:
    return ShingleSets(values, offsets[:-1], np.diff(offsets).astype(np.int64))


def _likely_sizes(rows: SetSketches, chosen: Int64s) -> Int64s:
    n_values = rows.offsets[chosen + 1] - rows.offsets[chosen]
    return np.where(rows.sizes[chosen] < 0, n_values * rows.moduli[chosen], rows.sizes[chosen])


def _read_samples(table: pa.Table) -> SetSketches:
    """Read ascending values and sizes as samples of modulus 1."""
    column, offsets = read_lists(table, pa.uint64())
    values: Uint64s = np.array(column.to_numpy(), np.uint64)
    is_first: Bools = np.zeros(len(values) + 1, np.bool_)
    is_first[offsets[:-1]] = True
    check_column((is_first[1:-1] | (values[1:] > values[:-1])).all())
    sizes = read_counts(table, "size", null=-1)
    check_column(((sizes < 0) | (np.diff(offsets) <= sizes)).all())
    return SetSketches(values, offsets, sizes, np.ones(len(table), np.int64))
