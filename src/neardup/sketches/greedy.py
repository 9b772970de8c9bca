"""Cluster similar documents greedily from their sketches."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import numpy as np

from neardup.errors import InvalidParameterError, option_name
from neardup.kernels.arrays import sealed
from neardup.kernels.sketch import greedy_kernels
from neardup.kernels.sketch.sample_kernels import SampleRows
from neardup.options.kinds import exact_fraction
from neardup.sketches.kind import LEAST_SAMPLES
from neardup.sketches.samples import SampleScheme
from neardup.tables import GreedyClusters, Int64s, SetSketches


def cluster_greedily(
    sketches: SetSketches,
    scheme: SampleScheme,
    threshold: str | float | Decimal | Fraction,
    *,
    report: Callable[[int, int], None] = lambda _done, _total: None,
) -> GreedyClusters:
    """Assign documents to the most similar or a new cluster.

    A document joins the cluster whose first member it resembles most, by the estimate of the
    sketches, if that reaches the threshold; the earliest cluster on a tie. Estimates from fewer
    than ``LEAST_SAMPLES`` samples are ignored, unless both sets are known completely. Clusters are
    numbered in the order of their first members. ``report`` is called with the numbers of sketches
    processed and to process.

    The result depends on the order of the documents, and no pair is verified. Two members resemble
    each other by at least 2 t - 1, by the triangle inequality of 1 - r. A document of n values is
    compared only with clusters that share one of its n (1 - t) + 1 rarest values, so that
    boilerplate costs nothing.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 4.
    """
    least = exact_fraction("threshold", threshold)
    n, n_values = len(sketches), len(sketches.values)
    # An index entry is a value of a first member. With one modulus it needs only its rarest values,
    # n (1 - t) + 1 of n.
    has_one_modulus = len(np.unique(sketches.moduli)) <= 1
    n_entries = n_values
    if has_one_modulus:
        n_entries = min(n_values, int(n_values * (1 - least)) + n)
    if n_entries > _MOST_ENTRIES:
        message = (
            f"clusters take sketches of at most {_MOST_ENTRIES:,} values together, got "
            f"{n_values:,}; sketch with a smaller {option_name('size')}"
        )
        raise InvalidParameterError(message)
    frequencies = np.zeros(1 << n_values.bit_length(), np.uint32)
    greedy_kernels.count_values(sketches.values, frequencies)
    largest = int(np.diff(sketches.offsets).max(initial=0))
    n_levels = 1 if has_one_modulus else int(sketches.moduli.max()).bit_length()
    scratch = greedy_kernels.ClusterScratch(
        np.empty(n_levels, np.int64), *np.empty((4, largest), np.int64)
    )
    held = greedy_kernels.Held(
        used=np.zeros(2, np.int64),
        firsts=np.empty(n, np.int64),
        last_met=np.full(n, -1, np.int64),
        heads=np.full(1 << max(n_entries.bit_length() - 1, 0), -1, np.int32),
        links=np.empty(n_entries, np.int32),
        owners=np.empty(n_entries, np.int32),
        places=np.empty(n_entries, np.int64),
    )
    rows = sealed(SampleRows(sketches.values, sketches.offsets, sketches.sizes, sketches.moduli))
    p, q = least.numerator, least.denominator
    rule = greedy_kernels.Rule(p, q, scheme.sample_limit, LEAST_SAMPLES)
    clusters: Int64s = np.empty(n, np.int64)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        greedy_kernels.cluster_greedily(
            rows, start, stop, frequencies, rule, held, scratch, clusters
        )
        report(stop, n)
    return GreedyClusters(clusters, held.firsts[: held.used[0]].copy())


# Sketches processed between two reports.
_BLOCK = 1 << 16

# Entries are numbered with 31 bits.
_MOST_ENTRIES = 2**31 - 1
