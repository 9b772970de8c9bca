"""The kind modulo: the elements of a permuted set divisible by a modulus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import InvalidParameterError, SketchMismatchError
from neardup.matching.measures import MEASURES
from neardup.runs.runner import Runner
from neardup.sketches.intervals import Shares, estimate_shares
from neardup.sketches.kind import Pairs, check, cut_pairs, read_counts
from neardup.sketches.samples import (
    SampleKind,
    SetScheme,
    compare_samples,
    estimate_resemblance,
    join_modulo,
    read_samples,
)
from neardup.tables import Estimates, Floats, Int64s, SetSketches, ShingleLists, Uint64s

# Kernels are imported on use, so that a job loads only its kind's kernels.

_ALL_ONES = 2**64 - 1
# More values than any sketch has.
_NO_LIMIT = 2**62


@dataclass(frozen=True)
class ModuloScheme(SetScheme):
    """Sketches of the elements of a permuted set divisible by a modulus.

    Parameters
    ----------
    modulus
        One for all sets, from 1 to 2^32. None: each set of n distinct elements has the power of two
        2^i with size * 2^i <= n < size * 2^(i + 1), and 1 if n < size. So a sketch is expected to
        have ``size`` to twice as many values.
    size
        From 1 to 1,048,576. No effect where a modulus is given.
    seed
        From 0 to 2^64 - 1; selects the permutation.
    """

    modulus: int | None = None
    size: int = 100
    seed: int = 42

    def __post_init__(self) -> None:
        if self.modulus is not None and not 1 <= self.modulus <= 2**32:
            message = f"modulus must lie between 1 and 2^32, got {self.modulus}"
            raise InvalidParameterError(message)
        self._check_fields()

    def describe(self) -> dict[str, Any]:
        """Return all settings that decide the sketches of given shingles, as plain values."""
        return {
            "kind": "modulo",
            "modulus": self.modulus,
            "size": self.size if self.modulus is None else None,
            "seed": self.seed,
        }

    @property
    def sample_limit(self) -> int:
        """All values of a larger modulus are a sample of the union."""
        return _NO_LIMIT

    def sample(self, shingles: ShingleLists) -> SetSketches:
        """Take the multiples of a modulus in every set, and count its distinct elements."""
        from neardup.kernels.sketch import samples

        n = len(shingles)
        longest = int(np.diff(shingles.offsets).max(initial=0))
        scratch: Uint64s = np.empty(longest, np.uint64)
        counts: Int64s = np.empty(2 * longest + 1, np.int64)
        sizes: Int64s = np.empty(n, np.int64)
        # A sketch of modulus 1 counts by itself.
        least = {None: 2 * self.size, 1: longest + 1}.get(self.modulus, 0)
        samples.count_distinct(
            shingles.values,
            shingles.offsets,
            self.permutation_key,
            least,
            np.empty(longest, np.uint64),
            np.empty(longest, np.uint64),
            np.empty(longest, np.uint64),
            scratch,
            counts,
            sizes,
        )
        odd, shifts, moduli = self._moduli_for(sizes)
        values: Uint64s = np.empty(len(shingles.values) + 1, np.uint64)
        offsets: Int64s = np.empty(n + 1, np.int64)
        samples.modulo_sketches(
            shingles.values,
            shingles.offsets,
            self.permutation_key,
            np.uint64(pow(odd, -1, 2**64)),
            np.uint64(_ALL_ONES // odd),
            shifts,
            scratch,
            counts,
            values,
            offsets,
        )
        sizes = np.where(moduli == 1, np.diff(offsets), sizes)
        return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, moduli)

    def _moduli_for(self, sizes: Int64s) -> tuple[int, Int64s, Int64s]:
        """Return the odd factor, the powers of two, and the moduli of sets."""
        if self.modulus is None:
            shifts = _fitting_shifts(sizes, self.size)
            return 1, shifts, 1 << shifts
        power_of_two = self.modulus & -self.modulus
        shifts = np.full(len(sizes), power_of_two.bit_length() - 1, np.int64)
        return self.modulus // power_of_two, shifts, np.full(len(sizes), self.modulus, np.int64)

    def check(self, sketches: SetSketches) -> None:
        """Raise SketchMismatchError for moduli outside of the scheme."""
        moduli = np.unique(sketches.moduli)
        if self.modulus is None:
            unlike = moduli[(moduli < 1) | (moduli & (moduli - 1) != 0)]
        else:
            unlike = moduli[moduli != self.modulus]
        if len(unlike):
            raise SketchMismatchError({"modulus": (self.modulus, int(unlike[0]))})

    def seen(self, largest: Uint64s, moduli: Int64s) -> Floats:
        """Of the union 1 / modulus is seen."""
        shares: Floats = 1 / moduli
        return shares


def estimate_containment(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: ModuloScheme
) -> Estimates:
    """Estimate |A ∩ B| / |A|, the share of A in B, for pairs of sets.

    For the other direction exchange the tables and the rows. Arguments, results and errors as of
    ``estimate_resemblance``; only modulo sketches estimate containment. A is the left set.
    Estimates of a small set in a large one are weak: only A's multiples of B's modulus count.
    """
    compared = compare_samples(sketches, other, left, right, scheme)
    sizes = sketches.sizes[left]
    unseen = np.where(
        sizes < 0, 1 - 1 / compared.moduli, (sizes - compared.own) / np.maximum(sizes - 1, 1)
    )
    return estimate_shares(compared.common, compared.own, unseen, compared.whole)


class ModuloKind(SampleKind[ModuloScheme]):
    """Samples that grow with their sets, for containment too."""

    name = "modulo"
    measures = ("jaccard", "containment", "max-containment")
    directed_measures = ("containment",)
    scheme_type = ModuloScheme

    @classmethod
    def check_given(cls, given: Mapping[str, Any]) -> None:
        """Raise InvalidParameterError if both a size and a modulus are given."""
        if given["modulus"] is not None and given["size"] is not None:
            message = "size has no effect with a modulus; leave it out, or leave out modulus"
            raise InvalidParameterError(message, "size", "modulus")

    def candidates(
        self,
        rows: SetSketches,
        measure: str,
        threshold: Fraction,
        *,
        n_left: int | None,
        limit: int | None,
        runner: Runner,
    ) -> Iterator[Pairs]:
        """Find the pairs whose samples have enough in common at the larger modulus."""
        asked = MEASURES[measure](threshold)
        yield from cut_pairs(*join_modulo(rows, asked, n_left=n_left, runner=runner))

    def shares(self, rows: SetSketches, left: Int64s, right: Int64s) -> Shares:
        """Estimate resemblance, and containment both ways."""
        return Shares(
            estimate_resemblance(rows, rows, left, right, self.scheme),
            estimate_containment(rows, rows, left, right, self.scheme),
            estimate_containment(rows, rows, right, left, self.scheme),
        )

    def by_measure(
        self, shares: Shares, rows: SetSketches, left: Int64s, right: Int64s
    ) -> tuple[Estimates, ...]:
        """Return resemblance, containment of the left set, and that of the smaller one."""
        if shares.a_in_b is None or shares.b_in_a is None:
            message = "modulo sketches tell both containments"
            raise TypeError(message)
        is_left = _likely_sizes(rows, left) <= _likely_sizes(rows, right)
        return shares.jaccard, shares.a_in_b, shares.a_in_b.where(is_left, shares.b_in_a)

    def to_columns(self, rows: SetSketches) -> dict[str, pa.Array]:
        """Return sizes, null where they are not known, moduli and lists of values."""
        columns = super().to_columns(rows)
        return {"size": columns["size"], "modulus": pa.array(rows.moduli), **columns}

    def from_columns(self, table: pa.Table) -> SetSketches:
        """Read multiples of moduli that the scheme may have."""
        rows = read_samples(table)
        n_values = np.diff(rows.offsets)
        moduli = read_counts(table, "modulus")
        check(bool((moduli >= 1).all()))
        if self.scheme.modulus is None:
            check(bool((moduli & (moduli - 1) == 0).all()))
        else:
            check(bool((moduli == self.scheme.modulus).all()))
        check(bool(((moduli > 1) | (rows.sizes == n_values)).all()))
        check(bool((rows.values % np.repeat(moduli, n_values).astype(np.uint64) == 0).all()))
        return replace(rows, moduli=moduli)


def _likely_sizes(rows: SetSketches, chosen: Int64s) -> Int64s:
    """Return the sizes of some sets, estimated where they are not known."""
    n_values = rows.offsets[chosen + 1] - rows.offsets[chosen]
    return np.where(rows.sizes[chosen] < 0, n_values * rows.moduli[chosen], rows.sizes[chosen])


def _fitting_shifts(sizes: Int64s, least: int) -> Int64s:
    """Return for each size the largest i with least * 2^i <= size, or 0."""
    bounds = np.array([least << i for i in range(1, 63 - least.bit_length())], np.int64)
    return np.searchsorted(bounds, sizes, side="right")
