"""How similar removed documents are to those that stay for them, in bins from the threshold on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

# Widths of bins that are tried, and how many bins a chart has at most.
_WIDTHS = tuple(Fraction(1, share) for share in (200, 100, 50, 20))
_MOST_BINS = 30


@dataclass(frozen=True)
class Similarities:
    """Removed documents by their similarity to the one that stays, exact copies apart.

    ``counts[i]`` documents lie from ``edges[i]`` up to ``edges[i + 1]``, the last ones with 1 among
    them. ``n_unknown`` have no similarity, ``n_below`` of those counted are below ``threshold``,
    which happens only among connected components. ``n_copies`` is None where nobody knows it.
    """

    threshold: float | None
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    n_copies: int | None
    n_unknown: int
    n_below: int

    @property
    def n_counted(self) -> int:
        """How many documents the bins hold."""
        return sum(self.counts)


def count_similarities(removed: pa.Table, threshold: float | None) -> Similarities:
    """Count the similarities of removed documents.

    Parameters
    ----------
    removed
        The table of removed documents; ``exact_copy`` is null where it is not known.
    threshold
        Least similarity, which is an edge of the bins; None where pairs had none.
    """
    copies = removed["exact_copy"]
    are_known = copies.null_count < len(removed) or not len(removed)
    n_copies = (pc.sum(copies).as_py() or 0) if are_known else None
    counted = removed["similarity"].filter(pc.invert(pc.fill_null(copies, False)))
    values = counted.drop_null().to_numpy()
    edges = list_edges(threshold, float(values.min()) if len(values) else None)
    # An edge belongs to the bin above it, 1 to the last one.
    places = np.searchsorted(edges[1:-1], values, side="right")
    return Similarities(
        threshold,
        tuple(edges),
        tuple(np.bincount(places, minlength=len(edges) - 1).tolist()),
        n_copies,
        counted.null_count,
        int((values < threshold).sum()) if threshold is not None else 0,
    )


def list_edges(threshold: float | None, least: float | None) -> Sequence[float]:
    """Return the edges of bins: the threshold, and multiples of one width from there up to 1.

    They begin below the threshold where the least value does.
    """
    starts = [value for value in (threshold, least) if value is not None]
    first = Fraction(str(min(starts, default=0)))
    wide_enough = (width for width in _WIDTHS if (1 - first) / width <= _MOST_BINS)
    width = next(wide_enough, _WIDTHS[-1])
    edges = {min(math.floor(first / width) * width, 1 - width), Fraction(1)}
    edges |= {n * width for n in range(math.ceil(first / width), math.ceil(1 / width))}
    if threshold is not None:
        exact = Fraction(str(threshold))
        edges.add(exact)
        if first == exact:
            edges = {edge for edge in edges if edge >= exact}
    edges.add(Fraction(1))
    if len(edges) == 1:
        # Nothing but a similarity of 1 reaches the threshold.
        edges.add(1 - width)
    return [float(edge) for edge in sorted(edges)]
