"""Similarities read from MinHash signatures, plain and weighted, with how far off they may be."""

from __future__ import annotations

import numpy as np

from neardup.kernels.sketch import minhash
from neardup.sketches.intervals import estimate_shares
from neardup.tables import Estimates, Int64s, Signatures


def estimate_agreement(
    signatures: Signatures, other: Signatures, left: Int64s, right: Int64s
) -> Estimates:
    """Estimate the Jaccard similarity of pairs of sets, weighted if the signatures are.

    Parameters
    ----------
    signatures, other
        Of one scheme; may be the same table.
    left, right
        Rows of the one and of the other, one of each for every pair.

    Returns
    -------
    The share of equal positions of each pair, without bias; its standard error
    sqrt(v (1 - v) / num_perm), and Wilson's 95 % interval. An empty set has similarity 0, exactly.

    Notes
    -----
    Time O(num_perm) a pair: some 20 ns for 128 positions, and 150 ns for errors and intervals.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, section 3.
    """
    equal: Int64s = np.empty(len(left), np.int64)
    minhash.count_equal(signatures.values, other.values, left, right, equal)
    is_empty = (signatures.sizes[left] == 0) | (other.sizes[right] == 0)
    equal[is_empty] = 0
    samples: Int64s = np.full(len(left), signatures.values.shape[1], np.int64)
    # Positions are drawn independently, as if elements were put back.
    return estimate_shares(equal, samples, np.ones(len(left)), is_empty)
