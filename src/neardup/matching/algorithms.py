"""The algorithms of exact joins, and which of them is chosen for the sets at hand."""

from __future__ import annotations

import numpy as np

from neardup.kernels.join.postings import ALL_PAIRS, PPJOIN, PPJOIN_PLUS
from neardup.matching.measures import Measure
from neardup.options.choices import Algorithm
from neardup.tables import Int64s

ALGORITHMS: dict[Algorithm, int] = {
    "allpairs": ALL_PAIRS,
    "ppjoin": PPJOIN,
    "ppjoin+": PPJOIN_PLUS,
}
DEFAULT_ALGORITHM: Algorithm = "auto"

# Parities of a set of average size: so many bits an element that unlike sets differ in more than
# similar ones may; and no more words than those.
_BITS_PER_ELEMENT = 2
_MOST_WORDS = 64


def choose_algorithm(sizes: Int64s, measure: Measure) -> Algorithm:
    """Choose the algorithm for sets of these sizes, none of them 0.

    ``ppjoin+`` where parities tell a smaller set that has nothing in common with a typical partner
    from one at the threshold. Elsewhere ``ppjoin``, but for counts of common elements, of
    which positions rule out nothing.
    """
    if len(sizes) == 0:
        return "ppjoin+"
    sizes = np.sort(sizes)
    bounds = measure.size_bounds(sizes)
    quarter = len(sizes) // 4
    first, last = measure.partner_ranges(sizes, bounds.least)
    # A typical partner, or the set itself where it finds none.
    partner = (int(first[quarter]) + int(last[quarter])) // 2
    size, partner_size = int(sizes[quarter]), int(sizes[min(partner, len(sizes) - 1)])
    n_bits = 64 * count_words(sizes)
    # Bits turned at random come to half of all, the sooner the more of them are turned.
    expected = n_bits / 2 * (1 - (1 - 2 / n_bits) ** (size + partner_size))
    required = size + 1 - int(bounds.probing[quarter])
    if size + partner_size - 2 * required < expected:
        return "ppjoin+"
    return "allpairs" if measure.is_count else "ppjoin"


def count_words(lengths: Int64s) -> int:
    """Return the words of parities for sets of these sizes, a power of two."""
    n_bits = _BITS_PER_ELEMENT * int(lengths.sum()) // max(1, len(lengths))
    n_words = 1
    while 64 * n_words < n_bits and n_words < _MOST_WORDS:
        n_words *= 2
    return n_words
