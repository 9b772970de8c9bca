"""How the documents of a collection are read, and what is worked out of each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from neardup.files.rows import ColumnNames
from neardup.matching.measures import Measure
from neardup.sketches.minhash import MinHashScheme
from neardup.tables import EarlierKeepers, Filters, TokenLists, Uint64s
from neardup.text.shingles import ShingleScheme
from neardup.text.weighted_sets import WeightedScheme

if TYPE_CHECKING:
    from neardup.matching.bands import Banding

# Texts go through the kernels in slices of about so many bytes, so that tokens and shingles are
# still in the processor's cache when the next stage reads them.
SLICE_BYTES = 1 << 17
# For weighted sketches larger ones, because numbers are drawn once for each token of a slice.
WEIGHTED_SLICE_BYTES = 1 << 21


class SignedTexts(Protocol):
    """What an index works out of some texts."""

    @property
    def digests(self) -> Uint64s:
        """Their digests, of shape (n, 2)."""

    @property
    def keys(self) -> Uint64s:
        """Their band keys, of shape (n, n_bands)."""

    @property
    def filters(self) -> Filters | None:
        """Their filters; None of weighted sets."""


class LookUp(ABC):
    """An index in which texts are looked up while they are signed, by any number of threads."""

    @abstractmethod
    def sign(self, token_lists: TokenLists) -> SignedTexts:
        """Work out of some texts what the index looks up."""

    @abstractmethod
    def find(self, signed: Sequence[SignedTexts]) -> EarlierKeepers:
        """Find what texts go for, of all runs that ``sign`` has signed one behind the other."""


@dataclass(frozen=True)
class ReadingPlan:
    """All that turns the rows of a block into numbers.

    Without ``minhash`` and ``banding`` there are no band keys; exact joins need none. With
    ``weighted`` documents are weighted sets, and ``minhash`` is of their kind. Filters are
    made for the measure ``filters_for``, of plain sets. With ``look_up`` an index works out
    digests, keys and filters, and looks each text up. Documents of different values in a column of
    ``blocking`` are not compared. Documents are counted by the values of column ``by``.
    """

    columns: ColumnNames
    shingles: ShingleScheme
    minhash: MinHashScheme | None = None
    banding: Banding | None = None
    skip_bad: bool = False
    with_lengths: bool = False
    weighted: WeightedScheme | None = None
    filters_for: Measure | None = None
    look_up: LookUp | None = None
    blocking: tuple[str, ...] = ()
    by: str | None = None

    @property
    def slice_bytes(self) -> int:
        """Bytes of text that go through the kernels together."""
        return WEIGHTED_SLICE_BYTES if self.weighted else SLICE_BYTES

    @property
    def needs_frequencies(self) -> bool:
        """Whether documents have to be counted before anything can be weighed."""
        weighted = self.weighted
        return bool(weighted and weighted.needs_frequencies and weighted.frequencies is None)

    def for_other(self, columns: ColumnNames) -> ReadingPlan:
        """Return the same plan for another collection, neither ranked nor counted."""
        return replace(self, columns=columns, with_lengths=False, by=None)
