"""Distinct texts, numbered as they are met: exact copies get the same number."""

from __future__ import annotations

import numpy as np

from neardup.kernels import copies
from neardup.tables import Bools, Int64s, Uint64s

_FIRST_SLOTS = 1 << 12


class ContentTable:
    """Numbers 128-bit digests of token sequences in order of first appearance.

    Memory: 32 to 64 bytes for each distinct text.
    """

    def __init__(self) -> None:
        self.size = 0
        self._slots: Int64s = np.full(_FIRST_SLOTS, -1, np.int64)
        self._digests: Uint64s = np.empty((_FIRST_SLOTS // 2, 2), np.uint64)

    def number(self, digests: Uint64s, wanted: Bools) -> Int64s:
        """Give the content number of each wanted digest, -1 for the others."""
        self._reserve(self.size + len(digests))
        numbers: Int64s = np.empty(len(digests), np.int64)
        self.size = copies.number_digests(
            self._slots, self._digests, self.size, digests, wanted, numbers
        )
        return numbers

    def _reserve(self, size: int) -> None:
        if size <= len(self._digests):
            return
        n_slots = len(self._slots)
        while n_slots // 2 < size:
            n_slots *= 2
        digests: Uint64s = np.empty((n_slots // 2, 2), np.uint64)
        digests[: self.size] = self._digests[: self.size]
        self._digests = digests
        self._slots = np.full(n_slots, -1, np.int64)
        copies.rebuild_slots(self._slots, self._digests, self.size)
