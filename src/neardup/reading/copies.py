"""The stage copies: documents of equal digests have one content, numbered as it is first met."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neardup.kernels.common import strings
from neardup.tables import ContentNumbers, Digests, Int64s, Uint64s

if TYPE_CHECKING:
    from neardup.reading.signed_batches import SignedBatches
    from neardup.storage.workspace import Workspace

_FIRST_SLOTS = 1 << 12

# Memory of a document of which the content is looked for, and the share of all that they may take.
COPIES_BYTES = 110
COPIES_SHARE = 0.4


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
        self.size = strings.number_digests(
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
        strings.rebuild_slots(self._slots, self._digests, self.size)


def find_copies(
    batches: SignedBatches, n_documents: int, ranks: Int64s | None, workspace: Workspace
) -> Int64s:
    """Find for each document the first one of the same tokens, -1 for one without tokens.

    The first is the one of the least rank; None: of the least number. Documents are gone through
    as often as it takes to have one range of digests after the other within the memory.
    """
    firsts: Int64s = np.full(n_documents, -1, np.int64)
    n_passes = workspace.passes(n_documents * COPIES_BYTES, COPIES_SHARE)
    for number in range(n_passes):
        table = ContentTable()
        documents, contents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for start, digests in batches.digests():
            is_wanted = digests.is_filled & (part_of(digests.values[:, 0], n_passes) == number)
            rows = np.flatnonzero(is_wanted)
            part = Digests(digests.values[rows], np.ones(len(rows), np.bool_))
            contents.append(table.number(part).numbers)
            documents.append(start + rows)
        assign_firsts(np.concatenate(documents), np.concatenate(contents), ranks, firsts)
    return firsts


def assign_firsts(
    documents: Int64s, contents: Int64s, ranks: Int64s | None, firsts: Int64s
) -> None:
    """Note for some documents the first one in keep order of those of the same content."""
    if ranks is not None:
        order = np.argsort(ranks[documents])
        documents, contents = documents[order], contents[order]
    first_of: Int64s = np.empty(int(contents.max(initial=-1)) + 1, np.int64)
    # Assigned backwards, so that the first document of each content is what remains.
    first_of[contents[::-1]] = documents[::-1]
    firsts[documents] = first_of[contents]


def part_of(values: Uint64s, n_parts: int) -> Uint64s:
    """Return in which of some equal ranges of 64-bit numbers each value is."""
    return ((values >> np.uint64(32)) * np.uint64(n_parts)) >> np.uint64(32)
