"""Estimate shares from samples, with errors and intervals."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from neardup.sketches.kind import (
    LEAST_SAMPLES,
    EstimatedShares,
    PairEstimates,
    RowsT,
    SchemeT,
    SketchKind,
    where_known,
)
from neardup.tables import Bools, Estimates, Floats, Int64s

# The normal quantile that leaves 2.5 % on either side.
QUANTILE_95 = 1.959963984540054


def estimate_shares(hits: Int64s, n_samples: Int64s, left: Floats, whole: Bools) -> Estimates:
    """Estimate the share of marked elements in sampled populations.

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
    place of the truth, sqrt(v (1 - v) / n * left). They are 0 where v is 0 or 1; use the interval
    there. Intervals are Wilson's for n / left samples.
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


def wilson_intervals(shares: Floats, n_samples: Floats) -> tuple[Floats, Floats]:
    """Bound shares from independent draws with 95 % confidence.

    Without draws a share is NaN, from 0 to 1; with infinitely many draws it is exact. Intervals
    contain 95 % on average over all true shares, and less for some near 0 and 1.

    References
    ----------
    Wilson (1927), Probable inference, the law of succession, and statistical inference. Brown, Cai
    and DasGupta (2001), Interval estimation for a binomial proportion.
    """
    seen = n_samples > 0
    n = np.where(seen, n_samples, 1.0)
    z = QUANTILE_95
    whole = 1 + z * z / n
    middle = (shares + z * z / (2 * n)) / whole
    spread = z * np.sqrt(shares * (1 - shares) / n + z * z / (4 * n * n)) / whole
    # The bounds include the share itself, whatever was rounded.
    low = np.clip(np.minimum(middle - spread, shares), 0.0, 1.0)
    high = np.clip(np.maximum(middle + spread, shares), 0.0, 1.0)
    return np.where(seen, low, 0.0), np.where(seen, high, 1.0)


# Kinds of sketches that are samples of sets, for estimates of shares.


@dataclass(frozen=True)
class Shares:
    """Estimated shares of pairs of sets, a and b.

    ``jaccard``, weighted if the sets are, and for some kinds the share of a in b, and of b in a.
    """

    jaccard: Estimates
    a_in_b: Estimates | None = None
    b_in_a: Estimates | None = None


class ShareKind(SketchKind[SchemeT, RowsT]):
    """A kind of sketches for estimates of shares of sets."""

    @abstractmethod
    def shares(self, rows: RowsT, left: Int64s, right: Int64s) -> Shares:
        """Estimate the shares of elements common to pairs of rows; a is the left one."""

    def estimate(self, rows: RowsT, left: Int64s, right: Int64s) -> PairEstimates:
        """Estimate how similar pairs of rows are."""
        shares = self.shares(rows, left, right)
        jaccard = shares.jaccard
        is_usable = jaccard.is_usable(LEAST_SAMPLES)
        columns = {
            "similarity": where_known(is_usable, jaccard.values),
            "error": where_known(is_usable, jaccard.errors),
            "low": where_known(is_usable, jaccard.low),
            "high": where_known(is_usable, jaccard.high),
            **_containment("a", shares.a_in_b),
            **_containment("b", shares.b_in_a),
            "samples": pa.array(jaccard.n_samples),
        }
        measures = zip(self.measures, self.by_measure(shares, rows, left, right), strict=True)
        return PairEstimates(columns, {name: _counted(jaccard) for name, jaccard in measures})

    def by_measure(
        self, shares: Shares, rows: RowsT, left: Int64s, right: Int64s
    ) -> tuple[Estimates, ...]:
        """Return the estimates of each of the kind's measures, in their order."""
        return (shares.jaccard,)


def _counted(estimates: Estimates) -> EstimatedShares:
    samples = np.maximum(estimates.n_samples, 1)
    hits = np.rint(np.nan_to_num(estimates.values) * samples).astype(np.int64)
    return EstimatedShares(hits, samples, estimates.is_usable(LEAST_SAMPLES))


def _containment(name: str, estimates: Estimates | None) -> dict[str, pa.Array]:
    if estimates is None:
        return {}
    is_usable = estimates.is_usable(LEAST_SAMPLES)
    return {
        f"containment_{name}": where_known(is_usable, estimates.values),
        f"containment_{name}_error": where_known(is_usable, estimates.errors),
        f"containment_{name}_low": where_known(is_usable, estimates.low),
        f"containment_{name}_high": where_known(is_usable, estimates.high),
    }
