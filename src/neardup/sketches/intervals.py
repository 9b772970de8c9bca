"""Intervals of shares that were seen in samples."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from neardup.tables import Floats

# The normal quantile that leaves 2.5 % on either side.
QUANTILE_95 = 1.959963984540054


def wilson_intervals(
    shares: Floats, n_samples: Floats, quantile: float = QUANTILE_95
) -> tuple[Floats, Floats]:
    """Bound shares that were each seen in some independent draws, with 95 % confidence by default.

    Shares of no draws, NaN, lie from 0 to 1; shares of infinitely many are what they are. Over all
    true shares the intervals hold 95 % in the mean; near 0 and 1 they hold less for some.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference. Brown, Cai
    and DasGupta (2001), Interval estimation for a binomial proportion.
    """
    seen = n_samples > 0
    n = np.where(seen, n_samples, 1.0)
    z = quantile
    whole = 1 + z * z / n
    middle = (shares + z * z / (2 * n)) / whole
    spread = z * np.sqrt(shares * (1 - shares) / n + z * z / (4 * n * n)) / whole
    # The bounds include the share itself, whatever was rounded.
    low = np.clip(np.minimum(middle - spread, shares), 0.0, 1.0)
    high = np.clip(np.maximum(middle + spread, shares), 0.0, 1.0)
    return np.where(seen, low, 0.0), np.where(seen, high, 1.0)


def normal_quantile(confidence: float) -> float:
    """Give how many deviations to either side hold such a share of a normal distribution."""
    return NormalDist().inv_cdf((1 + confidence) / 2)
