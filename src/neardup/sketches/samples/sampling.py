"""Broder's sketches: samples of shingle sets that estimate resemblance and containment."""

from __future__ import annotations

from neardup.sketches.samples.scheme import SetScheme
from neardup.tables import SetSketches, ShingleLists


def sketch_sets(shingles: ShingleLists, scheme: SetScheme) -> SetSketches:
    """Sample every shingle set, so that samples of two sets are of the same elements.

    Shingle x becomes mix64(x ^ mix64(~mix64(seed))), one to one, and sketches hold some of
    these values: the smallest, or the multiples of a modulus.

    Parameters
    ----------
    shingles
        n lists of shingle hashes in any order; repeats change nothing.
    scheme
        Which values.

    Returns
    -------
    n sketches. The number of distinct shingles stands in ``sizes``; a smallest sketch knows it only
    where it is less than the scheme's size, and has -1 otherwise.

    Notes
    -----
    Time O(shingles), and sorting of what comes into the sketches. Where a modulo sketch does not
    hold all, distinct shingles are counted, with 48 bytes for each shingle of the longest text:
    only so is the modulus that of the set, whatever is repeated.

    References
    ----------
    Broder (1997), On the resemblance and containment of documents, sections 3 and 4.
    """
    return scheme.sample(shingles)
