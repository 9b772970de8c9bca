"""Documents whose similarity is easy to see, and a count of how often each is read."""

from __future__ import annotations

import numpy as np

from neardup.matching.buckets import list_full_keys
from neardup.matching.measures import CandidateSets
from neardup.tables import ShingleSets


class Runs:
    """Documents that are runs of ten numbers, and how often each was read."""

    def __init__(self, firsts):
        self.firsts = np.array(firsts, np.uint64)
        self.n_reads = np.zeros(len(firsts), np.int64)
        self.sizes = np.full(len(firsts), 10)

    def read(self, documents):
        self.n_reads[documents] += 1
        values = np.add.outer(self.firsts[documents], np.arange(10, dtype=np.uint64)).ravel()
        starts = np.arange(0, len(values), 10)
        return ShingleSets(values, starts, np.full(len(documents), 10))

    def documents(self, keys, capacity):
        """Return the documents with these keys, read within a capacity."""
        lists = list_full_keys(np.array(keys, np.uint64))
        return CandidateSets(lists, self.sizes, self.read, capacity=capacity)
