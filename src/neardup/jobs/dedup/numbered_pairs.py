"""Pairs of documents by their numbers, and what has such pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from neardup.jobs.stages.pair_ids import AboutPairs
from neardup.reading.catalogue import Catalogue
from neardup.runtime.runner import Runner
from neardup.tables import Floats, Int32s


@dataclass(frozen=True)
class NumberedPairs:
    """Pairs as numbers of documents, and their similarities."""

    left: Int32s
    right: Int32s
    similarities: Floats

    def __len__(self) -> int:
        return len(self.left)

    @classmethod
    def of_all(cls, parts: Sequence[NumberedPairs]) -> NumberedPairs:
        """Put pairs one behind the other."""
        nothing = np.empty(0, np.int32)
        return cls(
            np.concatenate([nothing, *(part.left for part in parts)]),
            np.concatenate([nothing, *(part.right for part in parts)]),
            np.concatenate([np.empty(0), *(part.similarities for part in parts)]),
        )


class PairSource(Protocol):
    """Where pairs are from: a table, or an index in which documents are looked up."""

    @property
    def name(self) -> str:
        """How messages call it."""
        ...

    @property
    def about(self) -> AboutPairs | None:
        """Which pairs it has, None if it does not say so."""
        ...

    def numbered(self, documents: Catalogue, runner: Runner) -> NumberedPairs:
        """Return the pairs of some documents."""
        ...
