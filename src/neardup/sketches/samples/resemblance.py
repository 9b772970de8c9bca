"""The resemblance of sets, estimated from what their samples have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.sketches.intervals import estimate_shares
from neardup.sketches.samples.scheme import SetScheme, check_rows
from neardup.tables import Bools, Estimates, Int64s, SetSketches, Uint64s


def estimate_resemblance(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: SetScheme
) -> Estimates:
    """Estimate |A ∩ B| / |A ∪ B| for pairs of sets, A in one table and B in the other.

    Of smallest sketches the ``size`` smallest values of the union are a sample of the union, and
    those in both sketches a sample of the intersection; two whole sets are compared exactly. Of
    modulo sketches all values count, those of the larger modulus of the two. Both estimates are
    without bias, the latter if any value is left.

    Parameters
    ----------
    sketches, other
        Made by ``scheme``; may be the same table.
    left, right
        Rows of the one and of the other, one of each for every pair.
    scheme
        That of the sketches.

    Returns
    -------
    One estimate for each pair. An empty set has resemblance 0 with all sets.

    Raises
    ------
    InvalidParameterError
        If a row is not there.
    SketchMismatchError
        If moduli or sizes are not those of the scheme; another seed cannot be seen.

    Notes
    -----
    Time O(values of both sketches) for each pair. The variance is r (1 - r) / n * (N - n) / (N - 1)
    for n samples of N = |A ∪ B|. Of the last factor, which is not known, 1 - 1 / modulus is taken,
    or 1 - u where u is the largest value of the sample, as a share of 2^64.

    References
    ----------
    Broder (1997), section 3.
    """
    compared = compare_samples(sketches, other, left, right, scheme)
    seen = scheme.seen(compared.largest, compared.moduli)
    return estimate_shares(compared.common, compared.union, 1 - seen, compared.whole)


@dataclass(frozen=True)
class SampleComparison:
    """What samples of pairs have in common: see ``kernels.broder.compare_sketches``."""

    common: Int64s
    union: Int64s
    own: Int64s
    largest: Uint64s
    whole: Bools
    moduli: Int64s


def compare_samples(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: SetScheme
) -> SampleComparison:
    """Count what the samples of pairs have in common; errors as of ``estimate_resemblance``."""
    # Only samples need it.
    from neardup.kernels.sketch import samples

    if len(left) != len(right):
        message = f"left and right must have one row for each pair, got {len(left)}, {len(right)}"
        raise InvalidParameterError(message)
    check_rows("left", left, sketches)
    check_rows("right", right, other)
    scheme.check(sketches)
    scheme.check(other)
    common, union, own, whole = np.empty((4, len(left)), np.int64)
    largest: Uint64s = np.empty(len(left), np.uint64)
    samples.compare_sketches(
        sketches.values,
        sketches.offsets,
        sketches.sizes,
        sketches.moduli,
        other.values,
        other.offsets,
        other.sizes,
        other.moduli,
        left,
        right,
        scheme.sample_limit,
        common,
        union,
        own,
        largest,
        whole,
    )
    moduli = np.maximum(sketches.moduli[left], other.moduli[right])
    return SampleComparison(common, union, own, largest, whole > 0, moduli)
