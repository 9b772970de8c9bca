"""Share code of the kinds smallest and modulo."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.kernels.common.hashing import mix_words
from neardup.kernels.types import sealed
from neardup.matching.measures import Dice, Measure
from neardup.matching.set_join import join_sets
from neardup.runs.runner import Runner
from neardup.sketches.intervals import ShareKind, Shares, estimate_shares
from neardup.sketches.kind import Pairs, TextScheme, check, read_counts, read_lists
from neardup.tables import (
    Bools,
    Bytes,
    Estimates,
    Floats,
    Int64s,
    SetSketches,
    ShingleLists,
    ShingleSets,
    Texts,
    Uint64s,
    offsets_of,
)
from neardup.text.shingles import shingle_texts

# Schemes of samples: their common part, and the decisions of each.


class SetScheme(ABC):
    """A rule for which elements of a permuted set its sample holds.

    Schemes are frozen dataclasses; shingle x becomes mix64(x ^ ``permutation_key``), one to one.
    """

    size: int
    seed: int

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """Return all settings that decide the sketches of given shingles, as plain values."""

    @property
    @abstractmethod
    def sample_limit(self) -> int:
        """Return the most values of a union that are a sample."""

    @abstractmethod
    def sample(self, shingles: ShingleLists) -> SetSketches:
        """Sample every set; see ``sketch_sets``."""

    @abstractmethod
    def check(self, sketches: SetSketches) -> None:
        """Raise SketchMismatchError for moduli or sizes outside of the scheme."""

    @abstractmethod
    def seen(self, largest: Uint64s, moduli: Int64s) -> Floats:
        """Return the sampled shares of unions."""

    @property
    def permutation_key(self) -> np.uint64:
        """The key xored with elements before mixing."""
        with np.errstate(over="ignore"):
            return mix_words(~mix_words(np.uint64(self.seed)))

    def _check_fields(self) -> None:
        if not 1 <= self.size <= 2**20:
            message = f"size must lie between 1 and 1,048,576, got {self.size}"
            raise InvalidParameterError(message)
        if not 0 <= self.seed < 2**64:
            message = f"seed must lie between 0 and 2^64 - 1, got {self.seed}"
            raise InvalidParameterError(message)


def check_rows(what: str, rows: Int64s, sketches: SetSketches) -> None:
    """Raise InvalidParameterError for a missing row; ``what`` is the parameter's name."""
    if len(rows) and not 0 <= rows.min() <= rows.max() < len(sketches):
        message = (
            f"{what} must be rows of {len(sketches)} sketches, got {rows.min()} to {rows.max()}"
        )
        raise InvalidParameterError(message)


# Broder's sketches: samples of shingle sets that estimate resemblance and containment.


def sketch_sets(shingles: ShingleLists, scheme: SetScheme) -> SetSketches:
    """Sample the same elements of every shingle set.

    Shingle x becomes mix64(x ^ mix64(~mix64(seed))), one to one, and sketches hold some of
    these values: the smallest, or the multiples of a modulus.

    Parameters
    ----------
    shingles
        n lists of shingle hashes in any order; repeats change nothing.
    scheme
        Which values.

    Returns
    -------
    n sketches. ``sizes`` has the number of distinct shingles; smallest sketches have it only below
    the scheme's size, else -1.

    Notes
    -----
    Time O(shingles), and sorting of the sampled values. If a modulo sketch does not hold all,
    distinct shingles are counted, with 48 bytes per shingle of the longest text, so that repeats do
    not change the modulus.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, sections 3 and 4.
    """
    return scheme.sample(shingles)


# Tables of sketches put together.


def join_sketches(parts: Sequence[SetSketches]) -> SetSketches:
    """Put tables of sketches of one scheme one after another."""
    ends = np.cumsum([0, *(part.offsets[-1] for part in parts)])
    offsets = [part.offsets[1:] + end for part, end in zip(parts, ends[:-1], strict=True)]
    nothing: Int64s = np.empty(0, np.int64)
    return SetSketches(
        np.concatenate([nothing.astype(np.uint64), *(part.values for part in parts)]),
        np.concatenate([np.zeros(1, np.int64), *offsets]),
        np.concatenate([nothing, *(part.sizes for part in parts)]),
        np.concatenate([nothing, *(part.moduli for part in parts)]),
    )


# Estimate the resemblance of sets from common values of their samples.


def estimate_resemblance(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: SetScheme
) -> Estimates:
    """Estimate |A ∩ B| / |A ∪ B| for pairs of two tables' sets.

    In smallest sketches the ``size`` smallest values of the union sample the union, and the common
    values among them sample the intersection; two whole sets are compared exactly. In modulo
    sketches all values of the larger of the two moduli count. Both estimates are unbiased, the
    latter if any value is left.

    Parameters
    ----------
    sketches, other
        Made by ``scheme``; may be the same table.
    left, right
        Rows of the two tables, one of each per pair.
    scheme
        The scheme of the sketches.

    Returns
    -------
    One estimate for each pair. An empty set has resemblance 0 with all sets.

    Raises
    ------
    InvalidParameterError
        If a row does not exist.
    SketchMismatchError
        If moduli or sizes do not fit the scheme; a different seed goes unnoticed.

    Notes
    -----
    Time O(values of both sketches) for each pair. The variance is r (1 - r) / n * (N - n) / (N - 1)
    for n samples of N = |A ∪ B|. The last factor is unknown; 1 - 1 / modulus replaces it, or 1 - u
    where u is the largest value of the sample, as a share of 2^64.

    References
    ----------
    Broder (1997), section 3.
    """
    compared = compare_samples(sketches, other, left, right, scheme)
    seen = scheme.seen(compared.largest, compared.moduli)
    return estimate_shares(compared.common, compared.union, 1 - seen, compared.whole)


@dataclass(frozen=True)
class SampleComparison:
    """Comparison of the samples of pairs: see ``kernels.sketch.samples``."""

    common: Int64s
    union: Int64s
    own: Int64s
    largest: Uint64s
    whole: Bools
    moduli: Int64s


def compare_samples(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: SetScheme
) -> SampleComparison:
    """Count common values of the samples of pairs; errors as of ``estimate_resemblance``."""
    # Only samples need it.
    from neardup.kernels.sketch import samples

    if len(left) != len(right):
        message = f"left and right must have one row for each pair, got {len(left)}, {len(right)}"
        raise InvalidParameterError(message)
    check_rows("left", left, sketches)
    check_rows("right", right, other)
    scheme.check(sketches)
    scheme.check(other)
    counts: Int64s = np.empty((len(left), 4), np.int64)
    largest: Uint64s = np.empty(len(left), np.uint64)
    first, second = (
        sealed(samples.Samples(table.values, table.offsets, table.sizes, table.moduli))
        for table in (sketches, other)
    )
    samples.compare_sketches(first, second, left, right, scheme.sample_limit, counts, largest)
    common, union, own, whole = counts.T
    moduli = np.maximum(sketches.moduli[left], other.moduli[right])
    return SampleComparison(common, union, own, largest, whole > 0, moduli)


_LEFT, _RIGHT = 1, 2


def join_smallest(
    sketches: SetSketches, threshold: Fraction, *, n_left: int | None = None, runner: Runner
) -> Pairs:
    """Find pairs of smallest sketches that may reach a threshold.

    Parameters
    ----------
    sketches
        n sketches made by one scheme.
    threshold
        Of the estimate, in (0, 1].
    n_left
        Rows of the first of two collections; pairs have one row of each.
    runner
        Runs the join.

    Returns
    -------
    All pairs of rows whose estimate reaches the threshold, and others; the lesser row first, in
    ascending order.

    Notes
    -----
    With o common values of sketches of sizes x and y the estimate is o / max(x, y) at most, so that
    Dice's measure of the sketches reaches the threshold if it does.
    """
    sets = _sets(sketches.values, sketches.offsets)
    sides = None if n_left is None else _sides(len(sketches), n_left)
    pairs, _ = join_sets(sets, Dice(threshold), sides=sides, runner=runner)
    return pairs.left, pairs.right


def join_modulo(
    sketches: SetSketches,
    measure: Measure,
    *,
    n_left: int | None = None,
    runner: Runner,
) -> Pairs:
    """Find pairs of modulo sketches that may reach a threshold.

    Parameters
    ----------
    sketches
        n sketches made by one scheme.
    measure
        Jaccard similarity, or a containment, with the threshold of the estimate.
    n_left
        Rows of the first of two collections; pairs have one row of each.
    runner
        Runs the join.

    Returns
    -------
    As of ``join_smallest``. In a directed measure the first row is contained in the second.

    Notes
    -----
    Estimates use the values at the larger modulus: one join per modulus, of all rows up to it. A
    sketch of a larger modulus may hold a whole set. Compared with another whole set all values
    count; the intersection is the same, so that estimates are not greater.
    """
    sides = None if n_left is None else _sides(len(sketches), n_left)
    parts: list[Pairs] = [(np.empty(0, np.int64), np.empty(0, np.int64))]
    for modulus, rows, sets in _levels(sketches):
        chosen = None if sides is None else sides[rows]
        pairs, _ = join_sets(sets, measure, sides=chosen, runner=runner)
        left, right = rows[pairs.left], rows[pairs.right]
        at_level = np.maximum(sketches.moduli[left], sketches.moduli[right]) == modulus
        parts.append((left[at_level], right[at_level]))
    left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((right, left))
    return left[order], right[order]


def _levels(sketches: SetSketches) -> Iterator[tuple[int, Int64s, ShingleSets]]:
    """Yield for each modulus the rows up to it, as sets of the values divisible by it."""
    owners = np.repeat(np.arange(len(sketches)), np.diff(sketches.offsets))
    values = sketches.values
    for modulus in np.unique(sketches.moduli).tolist():
        stays = (values % np.uint64(modulus) == 0) & (sketches.moduli[owners] <= modulus)
        rows: Int64s = np.flatnonzero(sketches.moduli <= modulus)
        counts = np.bincount(owners[stays], minlength=len(sketches))[rows]
        offsets = offsets_of(counts)
        yield modulus, rows, _sets(values[stays], offsets)


def _sides(n: int, n_left: int) -> Bytes:
    sides: Bytes = np.full(n, _RIGHT, np.uint8)
    sides[:n_left] = _LEFT
    return sides


def _sets(values: Uint64s, offsets: Int64s) -> ShingleSets:
    return ShingleSets(values, offsets[:-1], np.diff(offsets).astype(np.int64))


# Kinds of samples: make, concatenate, compare and store them.

SetSchemeT = TypeVar("SetSchemeT", bound=SetScheme)


class SampleKind(ShareKind[SetSchemeT, SetSketches]):
    """A kind of samples of sets."""

    has_clusters = True

    def make(self, texts: Texts, how: TextScheme) -> SetSketches:
        """Sketch the set of shingles of each text."""
        return sketch_sets(shingle_texts(texts, how.shingles), self.scheme)

    def describe(self, texts: TextScheme) -> dict[str, Any]:
        """Return all settings that decide a sketch, always with the kind of fingerprints."""
        return super().describe(texts) | {"fingerprint": texts.shingles.fingerprints.kind}

    def join_rows(self, parts: Sequence[SetSketches]) -> SetSketches:
        """Put sketches one after another."""
        return join_sketches(parts)

    def shares(self, rows: SetSketches, left: Int64s, right: Int64s) -> Shares:
        """Estimate the resemblance of pairs."""
        return Shares(estimate_resemblance(rows, rows, left, right, self.scheme))

    def count_elements(self, rows: SetSketches) -> Int64s:
        """Return the numbers of shingles."""
        return rows.sizes

    def to_columns(self, rows: SetSketches) -> dict[str, pa.Array]:
        """Return sizes, null where they are not known, and lists of values."""
        return {
            "size": pa.array(rows.sizes, mask=rows.sizes < 0),
            "sketch": pa.LargeListArray.from_arrays(rows.offsets, rows.values),
        }


def read_samples(table: pa.Table) -> SetSketches:
    """Read ascending values and their sizes; the moduli are set to whole sets."""
    column, offsets = read_lists(table, pa.uint64())
    values: Uint64s = np.array(column.to_numpy(), np.uint64)
    is_first: Bools = np.zeros(len(values) + 1, np.bool_)
    is_first[offsets[:-1]] = True
    check(bool((is_first[1:-1] | (values[1:] > values[:-1])).all()))
    sizes = read_counts(table, "size", null=-1)
    check(bool(((sizes < 0) | (np.diff(offsets) <= sizes)).all()))
    return SetSketches(values, offsets, sizes, np.ones(len(table), np.int64))
