"""What is read from sketches, and how far from the truth it may lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.sketches.broder import (
    ModuloScheme,
    SetScheme,
    SmallestScheme,
    check_rows,
    check_sketches,
    sample_limit,
)
from neardup.sketches.intervals import QUANTILE_95, wilson_intervals
from neardup.tables import Bools, Estimates, Floats, Int64s, SetSketches, Uint64s


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
    compared = _compare(sketches, other, left, right, scheme)
    # Of the union 1 / m is seen, or as much of it as the largest value is of 2^64.
    seen = 1 / compared.moduli
    if isinstance(scheme, SmallestScheme):
        seen = compared.largest / 2.0**64
    return estimate_shares(compared.common, compared.union, 1 - seen, compared.whole)


def estimate_containment(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: ModuloScheme
) -> Estimates:
    """Estimate |A ∩ B| / |A|, how much of A is in B, for pairs of sets; A is the left one.

    For the other direction exchange the tables and the rows. Arguments, results and errors as of
    ``estimate_resemblance``; only modulo sketches tell containment. Little is known of a small set
    in a large one: of A only the multiples of B's modulus count.
    """
    compared = _compare(sketches, other, left, right, scheme)
    sizes = sketches.sizes[left]
    unseen = np.where(
        sizes < 0, 1 - 1 / compared.moduli, (sizes - compared.own) / np.maximum(sizes - 1, 1)
    )
    return estimate_shares(compared.common, compared.own, unseen, compared.whole)


def estimate_sizes(sketches: SetSketches, scheme: SetScheme) -> Estimates:
    """Estimate how many distinct elements each set has, where that is not known.

    A full sketch of the s smallest values gives (s - 1) / u, u being the largest of them as a share
    of 2^64: without bias, with variance N (N - s + 1) / (s - 2), and an interval from gamma
    quantiles (Wilson and Hilferty); s below 3 tells nearly nothing, and has an infinite error.
    A modulo sketch of k values and modulus m gives k m, with variance N (m - 1).

    Parameters
    ----------
    sketches
        Made by ``scheme``, or unions of such.
    scheme
        That of the sketches.

    Returns
    -------
    One estimate for each sketch. Exact where ``sizes`` has the number.
    """
    check_sketches(scheme, sketches)
    n_values = np.diff(sketches.offsets)
    k, m = n_values.astype(np.float64), sketches.moduli.astype(np.float64)
    if isinstance(scheme, SmallestScheme):
        last = np.maximum(sketches.offsets[1:] - 1, 0)
        largest = np.append(sketches.values, np.uint64(0))[last] if len(last) else last
        unit = 2.0**64 / (largest + 1.0)
        values = (k - 1) * unit
        spread = np.full(len(k), np.inf)
        # Without bias for the variance: the square of an estimate is too large in the mean.
        np.divide(values * (values - k + 1), k - 1, out=spread, where=k > 2)
        errors = np.sqrt(np.maximum(spread, 0))
        s = np.maximum(k, 1)
        low, high = (
            unit * s * np.maximum(1 - 1 / (9 * s) + z / (3 * np.sqrt(s)), 0) ** 3
            for z in (-QUANTILE_95, QUANTILE_95)
        )
    else:
        values, errors = k * m, np.sqrt(k * m * (m - 1))
        # All N with (k - N / m)^2 at most z^2 N / m (1 - 1 / m).
        z = QUANTILE_95 * np.sqrt(1 - 1 / m)
        low, high = (m * ((sign * z + np.sqrt(z * z + 4 * k)) / 2) ** 2 for sign in (-1, 1))
    known = sketches.sizes >= 0
    exact = sketches.sizes.astype(np.float64)
    return Estimates(
        np.where(known, exact, values),
        np.where(known, 0.0, errors),
        np.where(known, exact, np.maximum(low, k)),
        np.where(known, exact, high),
        n_values,
    )


def estimate_shares(hits: Int64s, n_samples: Int64s, left: Floats, whole: Bools) -> Estimates:
    """Estimate the share of marked elements in populations of which samples were drawn.

    Parameters
    ----------
    hits
        Marked elements in each sample.
    n_samples
        Elements in each sample, drawn without putting back.
    left
        The factor by which the variance is less than with putting back: (N - n) / (N - 1) for n
        of N elements, or an estimate of it.
    whole
        Which samples are the whole population: these shares are exact, 0 where it is empty.

    Returns
    -------
    Values v = hits / n. Errors are those of the hypergeometric distribution with the estimate in
    place of the truth, sqrt(v (1 - v) / n * left); so they are 0 where v is 0 or 1, and the
    interval tells more. Intervals are Wilson's for n / left samples.
    """
    n = n_samples.astype(np.float64)
    left = np.where(whole, 0.0, left)
    values = np.where(whole, 0.0, np.nan)
    np.divide(hits, n, out=values, where=n > 0)
    errors = np.where(n > 0, np.sqrt(values * (1 - values) * left / np.maximum(n, 1)), values)
    effective = np.full(len(n), np.inf)
    np.divide(n, left, out=effective, where=left > 0)
    low, high = wilson_intervals(values, effective)
    return Estimates(values, errors, low, high, n_samples)


@dataclass(frozen=True)
class _Comparison:
    """What samples of pairs have in common: see ``kernels.broder.compare_sketches``."""

    common: Int64s
    union: Int64s
    own: Int64s
    largest: Uint64s
    whole: Bools
    moduli: Int64s


def _compare(
    sketches: SetSketches, other: SetSketches, left: Int64s, right: Int64s, scheme: SetScheme
) -> _Comparison:
    # Compiled when it is imported, which MinHash signatures do not need.
    from neardup.kernels import broder

    if len(left) != len(right):
        message = f"left and right must have one row for each pair, got {len(left)}, {len(right)}"
        raise InvalidParameterError(message)
    check_rows("left", left, sketches)
    check_rows("right", right, other)
    check_sketches(scheme, sketches)
    check_sketches(scheme, other)
    common, union, own, whole = np.empty((4, len(left)), np.int64)
    largest: Uint64s = np.empty(len(left), np.uint64)
    broder.compare_sketches(
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
        sample_limit(scheme),
        common,
        union,
        own,
        largest,
        whole,
    )
    moduli = np.maximum(sketches.moduli[left], other.moduli[right])
    return _Comparison(common, union, own, largest, whole > 0, moduli)
