"""Hashes of whole strings, such as ids."""

from __future__ import annotations

import numpy as np

from neardup.kernels._compile import kernel
from neardup.kernels.hashing import GOLDEN, mix64
from neardup.kernels.types import ConstBytes, ConstInt64s, Uint64s


@kernel
def hash_strings(data: ConstBytes, offsets: ConstInt64s, hashes: Uint64s) -> None:
    """Hash every string, byte for byte, as ``hashing.hash_bytes`` does.

    String i is ``data[offsets[i] : offsets[i + 1]]``; ``hashes`` takes a value for each.
    """
    for i in range(offsets.shape[0] - 1):
        h, word, n_bytes = GOLDEN, np.uint64(0), np.uint64(0)
        for k in range(offsets[i], offsets[i + 1]):
            word |= np.uint64(data[np.uint64(k)]) << (n_bytes << np.uint64(3))
            n_bytes += np.uint64(1)
            if n_bytes == np.uint64(8):
                h, word, n_bytes = mix64(h ^ word), np.uint64(0), np.uint64(0)
        hashes[i] = mix64(h ^ word ^ (n_bytes << np.uint64(56)))
