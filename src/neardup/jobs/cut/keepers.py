"""Ids of the documents in which what stays is, for the table of what went."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.cut.spans import CutSpans
from neardup.jobs.dedup.ids import KeeperIds
from neardup.reading.catalogue import Catalogue
from neardup.tables import Int64s

if TYPE_CHECKING:
    import pyarrow as pa


class Keepers(ABC):
    """Where what stays for some spans is."""

    @abstractmethod
    def ids(self, rows: Int64s) -> pa.Array:
        """Return the ids of the documents that have what stays for some spans."""

    @abstractmethod
    def places(self, rows: Int64s) -> pa.Array:
        """Return for each whether that is in the ``input`` or ``against``."""


class ReadKeepers(Keepers):
    """Documents of two collections that were read, the other one numbered first."""

    def __init__(self, own: Catalogue, other: Catalogue, spans: CutSpans) -> None:
        self._numbers, self._n_other = spans.kept_documents, len(other)
        self._ids = KeeperIds(own, other, self._numbers)

    def ids(self, rows: Int64s) -> pa.Array:
        """Return ids; those of the other collection with ``against/`` where both have them."""
        return self._ids.take(self._numbers[rows])

    def places(self, rows: Int64s) -> pa.Array:
        """Return in which collection the documents are."""
        import pyarrow as pa

        return pa.array(np.where(self._numbers[rows] < self._n_other, "against", "input"))


class NamedKeepers(Keepers):
    """Documents that a table has named; null where it has not."""

    def __init__(self, ids: pa.Array, are_own: pa.Array) -> None:
        self._ids, self._are_own = ids, are_own

    def ids(self, rows: Int64s) -> pa.Array:
        """Return ids as the table has them."""
        import pyarrow as pa

        return self._ids.take(pa.array(rows))

    def places(self, rows: Int64s) -> pa.Array:
        """Return whether the input has documents of these ids."""
        import pyarrow as pa
        import pyarrow.compute as pc

        are_own = self._are_own.take(pa.array(rows))
        return pc.if_else(are_own, "input", "against").cast(pa.string())
