"""The documents among which pairs are looked for, and which of them have the same content."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.stages.contents import NumberedContents
from neardup.matching.join import LEFT, RIGHT
from neardup.reading.catalogue import Catalogue
from neardup.reading.copies import find_copies
from neardup.reading.sign_pass import Signed
from neardup.tables import Bools, Bytes, Int64s

if TYPE_CHECKING:
    from neardup.storage.workspace import Workspace


@dataclass(frozen=True)
class PairContents(NumberedContents):
    """Documents of one collection, or of two of which the left ones are numbered first."""

    collections: tuple[Catalogue, ...]
    firsts: Int64s
    ranks: None = None

    @property
    def catalogues(self) -> tuple[Catalogue, ...]:
        """The collections."""
        return self.collections

    @property
    def n_left(self) -> int | None:
        """Documents of the left collection, None for a self-join."""
        return None if len(self.collections) == 1 else len(self.collections[0])

    @property
    def are_shared(self) -> Bools:
        """Documents that stand for a content which others have, too."""
        shared: Bools = self.is_content & (
            np.bincount(self.firsts[self.firsts >= 0], minlength=len(self.firsts)) > 1
        )
        return shared


def find_pair_contents(signed: Signed, workspace: Workspace) -> PairContents:
    """Find the first document of each content."""
    n_documents = sum(map(len, signed.catalogues))
    firsts = find_copies(signed.batches, n_documents, None, workspace)
    return PairContents(signed.catalogues, firsts)


def sides_of(records: Int64s, n_left: int | None, n_records: int) -> Bytes | None:
    """Return for each record whether the left collection has it, the right one, or both.

    ``records`` has the record of each document, -1 for none, of the left collection first, which
    has ``n_left``; None, and no sides, for a self-join.
    """
    if n_left is None:
        return None
    sides: Bytes = np.zeros(n_records, np.uint8)
    left, right = records[:n_left], records[n_left:]
    sides[left[left >= 0]] |= LEFT
    sides[right[right >= 0]] |= RIGHT
    return sides
