"""Greedy clustering: groups of similar documents in one pass, from their sketches alone."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels import greedy
from neardup.options.choices import Representative
from neardup.options.kinds import exact_fraction
from neardup.sketches.samples.scheme import SetScheme
from neardup.tables import GreedyClusters, SetSketches


def cluster_greedily(
    sketches: SetSketches,
    scheme: SetScheme,
    threshold: str | float | Decimal | Fraction,
    *,
    representative: Representative = "first",
    min_samples: int = 20,
) -> GreedyClusters:
    """Put each document, in order, into the cluster it resembles most, or into a new one.

    A cluster is represented by its first member, or by the values that most members have. A
    document joins if its resemblance with the representative, as estimated from the sketches,
    reaches the threshold; of several clusters the one with the largest estimate, the earliest on a
    tie. Estimates are compared as fractions, without rounding.

    Parameters
    ----------
    sketches
        Of the documents, in the order in which they are to be considered.
    scheme
        That of the sketches.
    threshold
        In (0, 1], the exact decimal that is typed.
    representative
        ``first``: the sketch of the first member. ``popular``: a sketch with as many values as that
        one has, which are those in the most of the members' sketches, the smaller of two in equally
        many. It changes with each member. It has the modulus of the first member's, so that only
        multiples of that are counted, and stands for a whole set if that does.
    min_samples
        Estimates that rest on fewer samples join nothing, unless both sets are known whole.

    Returns
    -------
    Clusters numbered in the order of their first members, which are their ``representatives`` in
    either case. A document that joins none is alone, and so is an empty one.

    Raises
    ------
    InvalidParameterError
        For a threshold outside (0, 1], another representative, or min_samples below 1.
    SketchMismatchError
        For a modulus that is not of the scheme.

    Notes
    -----
    The order decides: it makes representatives, and a document that comes between two others may
    join either. Members resemble the representative, as far as estimates go, and each other by the
    triangle inequality of 1 - r at least 2 t - 1; no pair is verified. Time O(values) for sorting
    them, and for each document the comparisons with clusters that share one of its rarer values:
    of n values the n (1 - t) + 1 rarest are looked up, so that boilerplate costs nothing.

    ``popular`` values are no sample of any document's set. What they tell is a resemblance with the
    core of a cluster, and nothing is known of its error; nor is any resemblance of members assured,
    as the core may drift away from those that came first. A document in the middle is less needed,
    but the order still decides. Clusters are found by all values of their members, and every member
    is counted: time O(values) more, and 32 to 48 bytes a value.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 4.
    """
    least = exact_fraction("threshold", threshold)
    if min_samples < 1:
        message = f"min_samples must be 1 or more, got {min_samples}"
        raise InvalidParameterError(message)
    if representative not in ("first", "popular"):
        message = f"representative must be first or popular, got {representative!r}"
        raise InvalidParameterError(message)
    scheme.check(sketches)
    n = len(sketches)
    n_values = np.diff(sketches.offsets)
    _, numbers, counts = np.unique(sketches.values, return_inverse=True, return_counts=True)
    # The rarest values first, as few sketches are found by them.
    order = np.lexsort((numbers, counts[numbers], np.repeat(np.arange(n), n_values)))
    moduli = sketches.moduli
    n_levels = int(moduli.max()).bit_length() if len(np.unique(moduli)) > 1 else 1
    clusters, representatives = np.empty((2, n), np.int64)
    links, owners = np.empty((2, len(numbers)), np.int64)
    largest = int(n_values.max(initial=0))
    is_popular = representative == "popular"
    # The counts of popular values: nothing of it is needed for first members.
    n_counted = len(numbers) if is_popular else 0
    tallies, popular = np.empty((2, n_counted), np.int64)
    n_clusters = greedy.cluster_greedily(
        sketches.values,
        sketches.offsets,
        sketches.sizes,
        moduli,
        numbers,
        order,
        scheme.sample_limit,
        min_samples,
        least.numerator,
        least.denominator,
        int(is_popular),
        np.empty(n_levels, np.int64),
        np.full(len(counts), -1, np.int64),
        links,
        owners,
        np.empty(largest, np.int64),
        np.full(n, -1, np.int64),
        sketches.values.copy(),
        np.full(2 << n_counted.bit_length(), -1, np.int64),
        tallies,
        popular,
        np.empty(2 * largest, np.int64),
        np.empty(n if is_popular else 0, np.int64),
        clusters,
        representatives,
    )
    return GreedyClusters(clusters, representatives[:n_clusters].copy())
