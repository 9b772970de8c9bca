"""Limits of proportions, and the mean of a Poisson number of which only the presence shows."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from neardup.tables import Floats


def run_size(rates: Floats) -> Floats:
    """Symbols that a disturbed place leaves on average, from runs for each symbol left over.

    Places with a Poisson number of symbols, of mean x, show as (1 - e^-x) / x runs a symbol.
    """
    sizes = np.geomspace(1e-3, 1e5, 2000)
    sizes_by_rate: Floats = np.interp(rates, (-np.expm1(-sizes) / sizes)[::-1], sizes[::-1])
    return sizes_by_rate


def wilson(successes: Floats, trials: Floats, z: float) -> tuple[Floats, Floats]:
    """Give Wilson's interval of a proportion; from 0 to 1 where there are no trials."""
    n = np.maximum(trials, 1e-9)
    centre = (successes + z * z / 2) / (n + z * z)
    spread = z / (n + z * z) * np.sqrt(successes * (n - successes) / n + z * z / 4)
    return np.clip(centre - spread, 0, 1), np.clip(centre + spread, 0, 1)


def normal_quantile(confidence: float) -> float:
    """Give how many deviations to either side hold such a share of a normal distribution."""
    return NormalDist().inv_cdf((1 + confidence) / 2)
