"""How many elements sets have, estimated from their samples."""

from __future__ import annotations

import numpy as np

from neardup.sketches.samples.scheme import SetScheme
from neardup.tables import Estimates, SetSketches


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
    scheme.check(sketches)
    n_values = np.diff(sketches.offsets)
    values, errors, low, high = scheme.estimate_sizes(sketches)
    known = sketches.sizes >= 0
    exact = sketches.sizes.astype(np.float64)
    return Estimates(
        np.where(known, exact, values),
        np.where(known, 0.0, errors),
        np.where(known, exact, np.maximum(low, n_values.astype(np.float64))),
        np.where(known, exact, high),
        n_values,
    )
