"""The stage copies: documents of equal digests have one content, numbered as it is first met."""

from __future__ import annotations

import numpy as np

from neardup.kernels import copies
from neardup.tables import ContentNumbers, Digests, Int64s, Uint64s

_FIRST_SLOTS = 1 << 12


class ContentTable:
    """Numbers 128-bit digests of token sequences in order of first appearance.

    Memory: 32 to 64 bytes for each distinct text.
    """

    def __init__(self) -> None:
        self.size = 0
        self._slots: Int64s = np.full(_FIRST_SLOTS, -1, np.int64)
        self._digests: Uint64s = np.empty((_FIRST_SLOTS // 2, 2), np.uint64)

    def number(self, digests: Digests) -> ContentNumbers:
        """Return the content number of each document, and which documents are the first of one."""
        self._reserve(self.size + len(digests))
        before = self.size
        numbers: Int64s = np.empty(len(digests), np.int64)
        self.size = copies.number_digests(
            self._slots, self._digests, before, digests.values, digests.is_filled, numbers
        )
        # New contents are numbered as they come: a row that tops all before it shows one first.
        highest = np.maximum.accumulate(np.concatenate([[before - 1], numbers]))
        return ContentNumbers(numbers, numbers > highest[:-1])

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
