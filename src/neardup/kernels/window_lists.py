"""Windows put in order of their keys, and their spans packed."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import helper, kernel
from neardup.kernels.types import (
    ConstInt32s,
    ConstInt64s,
    ConstUint16Rows,
    ConstUint32Rows,
    ConstUint32s,
    Int,
    Int64s,
    Uint16Rows,
    Uint32Rows,
    Uint32s,
)

# Stands in place of a span that does not fit into 16 bits.
WIDE = 65535


@kernel
def order_windows(
    numbers: ConstInt32s,
    ranks: ConstInt32s,
    starts: ConstUint32s,
    spans: ConstUint32Rows,
    next_row: Int64s,
    ordered_starts: Uint32s,
    ordered_spans: Uint32Rows,
) -> Int:
    """Write windows by rank of their key; those of one key keep their order.

    ``numbers`` gives each window's key, ``ranks`` each key's rank, ``next_row`` where the windows
    of each rank start; it is moved on. Returns how many windows have a span of 65,535 or more.
    """
    n_wide = np.int64(0)
    for i in range(numbers.shape[0]):
        rank = ranks[numbers[i]]
        row = next_row[rank]
        next_row[rank] = row + 1
        ordered_starts[row] = starts[i]
        is_wide = False
        for k in range(3):
            ordered_spans[row, k] = spans[i, k]
            is_wide |= spans[i, k] >= WIDE
        n_wide += np.int64(is_wide)
    return n_wide


@kernel
def pack_spans(
    spans: ConstUint32Rows, packed: Uint16Rows, wide_rows: Int64s, wide_spans: Uint32Rows
) -> None:
    """Narrow spans to 16 bits; rows with a wider one go into ``wide_rows`` and ``wide_spans``."""
    n_wide = np.int64(0)
    for row in range(spans.shape[0]):
        is_wide = False
        for k in range(3):
            span = spans[row, k]
            is_wide |= span >= WIDE
            packed[row, k] = np.uint16(min(np.int64(span), np.int64(WIDE)))
        if is_wide:
            wide_rows[n_wide] = row
            for k in range(3):
                wide_spans[n_wide, k] = spans[row, k]
            n_wide += 1


@helper
def read_span(
    spans: ConstUint16Rows,
    wide_rows: ConstInt64s,
    wide_spans: ConstUint32Rows,
    row: Int,
    which: Int,
) -> Int:
    """Give one span of a window, from the list of wide ones if need be.

    A function of its own: inlined in a loop it made Numba count references to its arrays, which
    took 50 ns a row.
    """
    span = np.int64(spans[row, which])
    if span < WIDE:
        return span
    low, high = np.int64(0), np.int64(wide_rows.shape[0])
    while low < high:
        middle = (low + high) >> 1
        if wide_rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return np.int64(wide_spans[low, which])
