"""Pairs of documents that their filters do not rule out."""

from __future__ import annotations

from neardup.kernels._compile import kernel
from neardup.kernels.filters import may_reach
from neardup.kernels.overlap import Threshold
from neardup.kernels.types import Bools, ConstInt64s, ConstUint64s


@kernel
def sieve_pairs(
    words: ConstUint64s,
    offsets: ConstInt64s,
    sizes: ConstInt64s,
    left: ConstInt64s,
    right: ConstInt64s,
    threshold: Threshold,
    may_be_similar: Bools,
) -> None:
    """Ask of each pair whether its filters leave it open that the first is similar to the second.

    Document d has the filter ``words[offsets[d] : offsets[d + 1]]`` and ``sizes[d]`` shingles.
    """
    measure, p, q = threshold
    for k in range(left.shape[0]):
        x, y = left[k], right[k]
        may_be_similar[k] = may_reach(
            words,
            offsets[x],
            offsets[x + 1],
            sizes[x],
            offsets[y],
            offsets[y + 1],
            sizes[y],
            measure,
            p,
            q,
            0,
        )
