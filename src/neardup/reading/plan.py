"""How the documents of a collection are read, and what is worked out of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from neardup.files.rows import ColumnNames
from neardup.matching.measures import Measure
from neardup.sketches.minhash import MinHashScheme
from neardup.text.shingles import ShingleScheme
from neardup.text.weighted_sets import WeightedScheme

if TYPE_CHECKING:
    from neardup.matching.bands import Banding

# Texts go through the kernels in slices of about so many bytes, so that tokens and shingles are
# still in the processor's cache when the next stage reads them.
SLICE_BYTES = 1 << 17
# For weighted sketches larger ones, because numbers are drawn once for each token of a slice.
WEIGHTED_SLICE_BYTES = 1 << 21


@dataclass(frozen=True)
class ReadingPlan:
    """All that turns the rows of a block into numbers.

    Without ``minhash`` and ``banding`` there are no band keys; exact joins need none. With
    ``weighted`` documents are weighted sets, and ``minhash`` is of their kind. Filters are
    made for the measure ``filters_for``, of plain sets.
    """

    columns: ColumnNames
    shingles: ShingleScheme
    minhash: MinHashScheme | None = None
    banding: Banding | None = None
    skip_bad: bool = False
    with_lengths: bool = False
    weighted: WeightedScheme | None = None
    filters_for: Measure | None = None

    @property
    def slice_bytes(self) -> int:
        """Bytes of text that go through the kernels together."""
        return WEIGHTED_SLICE_BYTES if self.weighted else SLICE_BYTES

    @property
    def needs_frequencies(self) -> bool:
        """Whether documents have to be counted before anything can be weighed."""
        return self.weighted is not None and self.weighted.needs_frequencies

    def for_other(self, columns: ColumnNames) -> ReadingPlan:
        """Return the same plan for another collection, not ranked by a keep policy."""
        return replace(self, columns=columns, with_lengths=False)
