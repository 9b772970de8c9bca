"""Documents that go for one of an index, unless one that stays is more similar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from neardup.reading.signed_batches import SignedBatches
from neardup.tables import EarlierKeepers, Int64s


@dataclass(frozen=True)
class Earlier:
    """Documents that are similar to one of an index, and the one that each goes for.

    ``rows`` are their numbers, which ascend, ``keepers`` what they go for. None of them stays.
    """

    rows: Int64s
    keepers: EarlierKeepers

    @classmethod
    def of(cls, batches: SignedBatches) -> Earlier:
        """Collect them from what was signed."""
        rows, found = [np.empty(0, np.int64)], []
        for start, keepers in batches.earlier():
            here = np.flatnonzero(keepers.documents >= 0)
            rows.append(start + here)
            found.append(keepers.take(here))
        return cls(np.concatenate(rows), EarlierKeepers.join(found))

    @cached_property
    def index_documents(self) -> Int64s:
        """The documents of the index that others go for, each once, ascending."""
        return np.unique(self.keepers.documents)

    @property
    def places(self) -> Int64s:
        """Where the documents that are gone for stand among ``index_documents``."""
        return np.searchsorted(self.index_documents, self.keepers.documents)

    @property
    def settled(self) -> Int64s:
        """Documents that no other one may take."""
        return self.rows[self.keepers.are_settled]

    def of_documents(self, documents: Int64s) -> EarlierKeepers:
        """Return what some documents go for; -1 is nothing."""
        if not len(self.rows):
            return EarlierKeepers.none(len(documents))
        places = np.minimum(np.searchsorted(self.rows, documents), len(self.rows) - 1)
        found = self.keepers.take(places)
        found.documents[self.rows[places] != documents] = -1
        return found
