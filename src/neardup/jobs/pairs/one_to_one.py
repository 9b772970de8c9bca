"""Pairs of which no two have a document in common, the most similar first."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from neardup.kernels.bucket import survivors
from neardup.reading.signed_batches import numbers_of
from neardup.tables import Bools, Floats, Int64s


def choose_one_to_one(
    runs: Iterable[pa.RecordBatch], n_documents: int, *, by_distance: bool
) -> list[pa.RecordBatch]:
    """Keep of runs of pairs those that come first among all pairs of either document.

    Pairs are gone through from the most similar to the least, those of least distance first with
    ``by_distance``, ties by the left document, then the right one; a pair stays if neither of its
    documents is in one that does. So every pair that goes has a document in a pair that is no less
    similar: the matching is stable, and the only one that is, but for ties. Documents of two
    collections are numbered one behind the other.

    Notes
    -----
    Memory some 50 bytes a pair, and one a document; time O(n log n).
    """
    parts = list(runs)
    left, right = (_joined(parts, name) for name in ("left", "right"))
    if by_distance:
        ranks: Int64s | Floats = _joined(parts, "score")
    else:
        ranks = -_joined(parts, "similarity")
    order = np.lexsort((right, left, ranks))
    is_taken = np.zeros(n_documents, np.bool_)
    stays: Bools = np.zeros(len(left), np.bool_)
    survivors.match_in_order(order, left, right, is_taken, stays)
    bounds = np.cumsum([len(part) for part in parts])[:-1]
    masks = np.split(stays, bounds) if parts else []
    return [part.filter(pa.array(mask)) for part, mask in zip(parts, masks, strict=True)]


def _joined(runs: list[pa.RecordBatch], name: str) -> Int64s:
    return np.concatenate([np.empty(0, np.int64), *(numbers_of(run, name) for run in runs)])
