"""Alignments of many pairs of signatures at once, as the blocks of symbols that both have."""

from __future__ import annotations

import numpy as np
from rapidfuzz.distance import LCSseq

from neardup.sketches.edit.distances import MANY_PAIRS, as_codes, as_strings
from neardup.tables import EditSignatures, Int64s

# Blocks that are found between two looks at how many there are.
_ROOM = 1 << 16


def common_blocks(signatures: EditSignatures, left: Int64s, right: Int64s) -> Int64s:
    """Align pairs of signatures so that as many symbols as possible are in common, in order.

    Parameters
    ----------
    signatures
        n signatures of one scheme.
    left, right
        Pairs of their numbers (n_pairs).

    Returns
    -------
    A row for each block: the pair, where it begins in the left and in the right signature, and how
    many symbols are equal from there on. The pairs are in order, the blocks of a pair too; its last
    one is at both ends, and empty. Of equally good alignments it is that of RapidFuzz.
    """
    if len(left) < MANY_PAIRS:
        return _by_rapidfuzz(signatures, left, right, np.arange(len(left), dtype=np.int64))
    from neardup.kernels.edit import symbols
    from neardup.kernels.edit.symbols import UNKNOWN

    codes = as_codes(signatures)
    n_blocks: Int64s = np.empty(len(left), np.int64)
    parts: list[Int64s] = []
    pair = 0
    while pair < len(left):
        blocks: Int64s = np.empty((_ROOM, 4), np.int64)
        before = pair
        pair = symbols.common_blocks(
            codes, signatures.offsets, left, right, before, blocks, n_blocks
        )
        parts.append(blocks[: np.maximum(n_blocks[before:pair], 0).sum()].copy())
    rest = np.flatnonzero(n_blocks == UNKNOWN)
    parts.append(_by_rapidfuzz(signatures, left, right, rest))
    found = np.concatenate(parts)
    ordered: Int64s = found[np.argsort(found[:, 0], kind="stable")]
    return ordered


def _by_rapidfuzz(signatures: EditSignatures, left: Int64s, right: Int64s, pairs: Int64s) -> Int64s:
    """Align some of the pairs, one after another."""
    rows: list[tuple[int, int, int, int]] = []
    strings = as_strings(signatures) if len(pairs) else np.empty(0, np.object_)
    for pair, first, second in zip(
        pairs.tolist(), left[pairs].tolist(), right[pairs].tolist(), strict=True
    ):
        blocks = LCSseq.editops(strings[first], strings[second]).as_matching_blocks()
        rows.extend((pair, block.a, block.b, block.size) for block in blocks)
    return np.array(rows, np.int64).reshape(-1, 4)
