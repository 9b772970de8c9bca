"""Greedy clustering: groups of similar documents in one pass, from their sketches alone."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import numpy as np

from neardup.errors import InvalidParameterError
from neardup.kernels.sketch import greedy
from neardup.kernels.types import sealed
from neardup.options.choices import Representative
from neardup.options.kinds import exact_fraction
from neardup.sketches.samples import SetScheme
from neardup.tables import GreedyClusters, Int64s, SetSketches


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
    n, largest = len(sketches), int(np.diff(sketches.offsets).max(initial=0))
    ranked = _rank_values(sketches)
    n_values, n_different = len(ranked.numbers), int(ranked.numbers.max(initial=-1)) + 1
    is_popular = representative == "popular"
    clusters, representatives = np.empty((2, n), np.int64)
    n_clusters = greedy.cluster_greedily(
        ranked,
        greedy.Rule(least.numerator, least.denominator, scheme.sample_limit, min_samples),
        int(is_popular),
        greedy.Chains(
            heads=np.full(n_different, -1, np.int64),
            links=np.empty(n_values, np.int64),
            owners=np.empty(n_values, np.int64),
        ),
        greedy.Scratch(
            room=np.empty(_count_levels(sketches.moduli), np.int64),
            chosen=np.empty(largest, np.int64),
            last_met=np.full(n, -1, np.int64),
        ),
        # Nothing is counted for first members.
        _make_tallies(n_values, n, largest) if is_popular else _make_tallies(0, 0, 0),
        sketches.values.copy(),
        clusters,
        representatives,
    )
    return GreedyClusters(clusters, representatives[:n_clusters].copy())


def _rank_values(sketches: SetSketches) -> greedy.RankedSketches:
    """Order each sketch's values from the rarest to the most frequent: few are found by those."""
    owners = np.repeat(np.arange(len(sketches)), np.diff(sketches.offsets))
    _, numbers, counts = np.unique(sketches.values, return_inverse=True, return_counts=True)
    return sealed(
        greedy.RankedSketches(
            sketches.values,
            sketches.offsets,
            sketches.sizes,
            sketches.moduli,
            numbers,
            order=np.lexsort((numbers, counts[numbers], owners)),
        )
    )


def _count_levels(moduli: Int64s) -> int:
    """Count the powers of two up to the largest modulus, or 1 if all moduli are equal."""
    return int(moduli.max()).bit_length() if len(np.unique(moduli)) > 1 else 1


def _make_tallies(n_values: int, n_sketches: int, largest: int) -> greedy.Tallies:
    """Make room for the counts of popular values; ``largest`` is the size of the largest sketch."""
    return greedy.Tallies(
        slots=np.full(2 << n_values.bit_length(), -1, np.int64),
        counts=np.empty(n_values, np.int64),
        popular=np.empty(n_values, np.int64),
        merged=np.empty(2 * largest, np.int64),
        floors=np.empty(n_sketches, np.int64),
    )
