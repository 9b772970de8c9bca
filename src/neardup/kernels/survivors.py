"""Who stays and who goes: one pass over the documents in keep order."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.common_weight import common_weight
from neardup.kernels.overlap import (
    WEIGHTED_JACCARD,
    is_closer,
    overlap_at_least,
    required_overlap,
    similarity,
)
from neardup.kernels.parities import count_ones
from neardup.kernels.types import ConstInt32s, ConstInt64s, ConstUint64s, Floats, Int32s, Int64s


@kernel
def choose_survivors(
    start: int,
    stop: int,
    n_fixed: int,
    key_starts: ConstInt64s,
    keys: ConstInt32s,
    n_probed: ConstInt64s,
    member_starts: ConstInt64s,
    n_members: Int64s,
    members: Int32s,
    values: ConstUint64s,
    set_starts: ConstInt64s,
    set_sizes: ConstInt64s,
    weights: ConstInt64s,
    totals: ConstInt64s,
    parities: ConstUint64s,
    measure: int,
    p: int,
    q: int,
    last_compared: Int32s,
    keepers: Int32s,
    similarities: Floats,
    counts: Int64s,
) -> None:
    """Decide documents ``start`` to ``stop``, all earlier ones being decided.

    A document stays unless it is verified similar to one that already stays and shares a key with
    it; then it goes in favour of the most similar such document, the earlier one on a tie. So
    a document is compared with survivors only, never with what has been removed, and a cluster of
    n copies costs n comparisons. The first ``n_fixed`` documents stay in any case.

    Document d has ``keys[key_starts[d] : key_starts[d + 1]]`` and looks under the first
    ``n_probed[d]`` of them. The survivors that have key b are
    ``members[member_starts[b]:][:n_members[b]]``. Document d's set is at ``set_starts[d]`` in
    ``values``, ``totals`` are the sizes of sets, and ``parities`` those of the sets. For weighted
    sets ``weights`` stand beside the values, and ``totals`` are their sums; they have no parities.
    ``last_compared`` (n, all -1 at first) marks what d has been compared with.
    ``keepers[d]`` becomes -1 (stays) or the document that stays for it, ``similarities[d]`` NaN or
    how similar they are; ``counts`` adds up comparisons and pairs that reached p / q.
    """
    for d in range(start, stop):
        best, best_overlap = np.int64(-1), np.int64(0)
        if d >= n_fixed:
            for k in range(key_starts[d], key_starts[d] + n_probed[d]):
                first = member_starts[keys[k]]
                for m in range(first, first + n_members[keys[k]]):
                    other = np.int64(members[m])
                    if last_compared[other] == d:
                        continue
                    last_compared[other] = d
                    counts[0] += 1
                    x, y = totals[d], totals[other]
                    if measure == WEIGHTED_JACCARD:
                        overlap = common_weight(
                            values,
                            weights,
                            set_starts[d],
                            set_sizes[d],
                            x,
                            set_starts[other],
                            set_sizes[other],
                            y,
                            p,
                            q,
                        )
                        if overlap < 0:
                            continue
                    else:
                        required = required_overlap(measure, x, y, p, q)
                        # Most candidates that share but a key differ too much in their parities.
                        if count_ones(parities[d] ^ parities[other]) > x + y - 2 * required:
                            continue
                        overlap = overlap_at_least(
                            values, set_starts[d], x, set_starts[other], y, required
                        )
                        if overlap < required:
                            continue
                    counts[1] += 1
                    if best >= 0:
                        best_size = totals[best]
                        if is_closer(measure, x, best_overlap, best_size, overlap, y):
                            continue
                        is_tie = not is_closer(measure, x, overlap, y, best_overlap, best_size)
                        if is_tie and best < other:
                            continue
                    best, best_overlap = other, np.int64(overlap)
        keepers[d] = best
        if best >= 0:
            similarities[d] = similarity(measure, best_overlap, totals[d], totals[best])
            continue
        similarities[d] = np.nan
        for k in range(key_starts[d], key_starts[d + 1]):
            members[member_starts[keys[k]] + n_members[keys[k]]] = d
            n_members[keys[k]] += 1
