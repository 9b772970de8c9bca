"""Ids of some documents, of a collection whose ids may not all be in memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from neardup.reading.catalogue import Catalogue
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class IdLookup:
    """Finds the ids of documents whose numbers ascend, best from one call to the next.

    A call that goes back begins at the first document again. Memory: a slice of the ids, and
    those that are asked for.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        import pyarrow as pa

        self._catalogue = catalogue
        self._slices: Iterator[tuple[int, pa.Array]] = iter(())
        self._first, self._ids = 0, pa.array([], catalogue.id_type)

    def __reduce__(self) -> tuple[type[IdLookup], tuple[Catalogue]]:
        """Be copied without the place that it has come to, which is in a generator."""
        return IdLookup, (self._catalogue,)

    def take(self, documents: Int64s) -> pa.Array:
        """Return the ids of some documents, whose numbers ascend."""
        import pyarrow as pa

        parts = [self._ids.slice(0, 0)]
        if len(documents) and documents[0] < self._first:
            self._first, self._ids, self._slices = 0, self._ids.slice(0, 0), iter(())
        if not len(self._ids):
            self._slices = self._catalogue.id_slices()
        start = 0
        while start < len(documents):
            end = self._first + len(self._ids)
            stop = start + int(np.searchsorted(documents[start:], end))
            if stop > start:
                parts.append(self._ids.take(pa.array(documents[start:stop] - self._first)))
            start = stop
            if start < len(documents):
                self._first, self._ids = next(self._slices)
        return pa.concat_arrays(parts)
