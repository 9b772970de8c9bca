"""The kind smallest: the smallest elements of a permuted set."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from neardup.errors import SketchMismatchError
from neardup.runs.runner import Runner
from neardup.sketches.kind import Pairs, check, cut_pairs
from neardup.sketches.samples import SampleKind, SetScheme, join_smallest, read_samples
from neardup.tables import Floats, Int64s, SetSketches, ShingleLists, Uint64s

# Kernels are imported on use, so that a job loads only its kind's kernels.


@dataclass(frozen=True)
class SmallestScheme(SetScheme):
    """Sketches of the ``size`` smallest elements of a permuted set.

    Parameters
    ----------
    size
        From 1 to 1,048,576. A smaller set is kept whole.
    seed
        From 0 to 2^64 - 1; selects the permutation.
    """

    size: int = 256
    seed: int = 42

    def __post_init__(self) -> None:
        self._check_fields()

    def describe(self) -> dict[str, Any]:
        """Return all settings that decide the sketches of given shingles, as plain values."""
        return {
            "kind": "smallest",
            "size": self.size,
            "seed": self.seed,
        }

    @property
    def sample_limit(self) -> int:
        """Return the most values of a union that are a sample: the size."""
        return self.size

    def sample(self, shingles: ShingleLists) -> SetSketches:
        """Take the smallest elements of every set."""
        from neardup.kernels.sketch import samples

        n = len(shingles)
        room = int(np.minimum(np.diff(shingles.offsets), self.size).sum())
        values: Uint64s = np.empty(room, np.uint64)
        offsets: Int64s = np.empty(n + 1, np.int64)
        sizes: Int64s = np.empty(n, np.int64)
        samples.smallest_sketches(
            shingles.values,
            shingles.offsets,
            self.permutation_key,
            self.size,
            values,
            offsets,
            sizes,
        )
        return SetSketches(values[: offsets[-1]].copy(), offsets, sizes, np.ones(n, np.int64))

    def check(self, sketches: SetSketches) -> None:
        """Raise SketchMismatchError for any modulus, and for other numbers of values."""
        unlike = sketches.moduli[sketches.moduli != 1]
        if len(unlike):
            raise SketchMismatchError({"modulus": (1, int(unlike.min()))})
        n_values = np.diff(sketches.offsets)
        unlike = n_values[(n_values > self.size) | ((sketches.sizes < 0) & (n_values < self.size))]
        if len(unlike):
            raise SketchMismatchError({"size": (self.size, int(unlike[0]))})

    def seen(self, largest: Uint64s, moduli: Int64s) -> Floats:
        """As much of the union is seen as the largest value is of 2^64."""
        shares: Floats = largest / 2.0**64
        return shares


class SmallestKind(SampleKind[SmallestScheme]):
    """Samples of a fixed size, for Jaccard similarity with less error than signatures."""

    name = "smallest"
    measures = ("jaccard",)
    scheme_type = SmallestScheme

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
        """Find the pairs whose samples have enough in common for their sizes."""
        yield from cut_pairs(*join_smallest(rows, threshold, n_left=n_left, runner=runner))

    def from_columns(self, table: pa.Table) -> SetSketches:
        """Read samples that are full, or whole sets."""
        rows = read_samples(table)
        n_values = np.diff(rows.offsets)
        check(bool((n_values <= self.scheme.size).all()))
        is_full = n_values == self.scheme.size
        check(bool(((rows.sizes == n_values) | (is_full & (rows.sizes < 0))).all()))
        return rows
