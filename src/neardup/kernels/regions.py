"""A region of a text made ready for comparison with a query: own token numbers, possible ends."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.types import (
    ConstFloats,
    ConstInt32s,
    Int,
    Int32s,
    Int64s,
)
from neardup.kernels.weights import scaled_weight
from neardup.kernels.wide import compare_products


@kernel
def number_region(
    tokens: ConstInt32s, n_query_types: int, known: Int32s, numbers: Int32s, types: Int32s
) -> Int:
    """Give a region's tokens numbers: those of the query keep theirs, others come behind.

    ``known`` has the number of each entry of the vocabulary that the query has, -1 for the others,
    and is left so. ``types`` receives the entry of each further number. Returns how many numbers
    there are.
    """
    n = np.int64(n_query_types)
    for i in range(tokens.shape[0]):
        token = tokens[i]
        if known[token] < 0:
            known[token] = n
            types[n - n_query_types] = token
            n += 1
        numbers[i] = known[token]
    for k in range(n - n_query_types):
        known[types[k]] = -1
    return n


@kernel
def narrow_rows(
    tokens: ConstInt32s,
    term_weights: ConstFloats,
    type_weights: ConstFloats,
    query_total: int,
    p: int,
    q: int,
    counts: Int32s,
    lows: Int64s,
    highs: Int64s,
) -> None:
    """Leave out ends of sub-texts that weigh too little or too much to be as similar as p / q.

    Of two texts that weigh v and w, the similarity is at most min(v, w) / max(v, w). ``counts``
    (n types) is zero, and zero again afterwards.
    """
    # First the ends below which sub-texts weigh too little, then those from which too much.
    for is_upper in range(2):
        behind, total = np.int64(0), np.int64(0)
        for row in range(lows.shape[0]):
            while behind < tokens.shape[0]:
                if is_upper == 0 and compare_products(total, q, query_total, p) >= 0:
                    break
                token = tokens[behind]
                weight = type_weights[token]
                more = total - scaled_weight(term_weights[counts[token]], weight)
                more += scaled_weight(term_weights[counts[token] + 1], weight)
                if is_upper == 1 and compare_products(more, p, query_total, q) > 0:
                    break
                counts[token] += 1
                total = more
                behind += 1
            if is_upper == 1:
                highs[row] = min(highs[row], behind - 1)
            elif compare_products(total, q, query_total, p) < 0:
                # Neither this start nor a later one leaves enough.
                for k in range(row, lows.shape[0]):
                    lows[k], highs[k] = np.int64(1), np.int64(0)
                break
            else:
                lows[row] = max(lows[row], behind - 1)
            if behind > row:
                token = tokens[row]
                weight = type_weights[token]
                total -= scaled_weight(term_weights[counts[token]], weight)
                counts[token] -= 1
                total += scaled_weight(term_weights[counts[token]], weight)
            else:
                behind = np.int64(row + 1)
        for k in range(counts.shape[0]):
            counts[k] = 0
