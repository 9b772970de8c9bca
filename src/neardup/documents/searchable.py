"""What an index looks up in: segments, and documents that are not written yet."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from neardup.tables import (
    Bools,
    Filters,
    Int64s,
    ShingleSets,
    Uint32s,
    Uint64s,
    WeightedSets,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.documents.blocks import Block


class Searchable(ABC):
    """Some documents, by their rows, which are numbered from 0.

    Where queries are looked for, pairs come in the order of queries and rows, each once.
    """

    id_type: pa.DataType
    """What their ids were read as."""

    @property
    def id_keys(self) -> frozenset[int] | None:
        """The higher halves of the hashes of its ids; None where ``may_have_id`` is to be asked."""
        return None

    @abstractmethod
    def __len__(self) -> int:
        """Count the documents."""

    @abstractmethod
    def candidates(self, keys: Uint32s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        """Return queries and rows that share a band key; ``keys`` has shape (n, n_bands)."""

    @abstractmethod
    def rows_of_digests(self, digests: Uint64s, is_wanted: Bools) -> tuple[Int64s, Int64s]:
        """Return queries and rows of equal digests, which have shape (n, 2)."""

    @abstractmethod
    def rows_of_ids(self, ids: pa.Array, hashes: Uint64s) -> tuple[Int64s, Int64s]:
        """Return which ids, large strings of these hashes, which rows have."""

    @abstractmethod
    def may_have_id(self, digest: int) -> bool:
        """Return whether it may have an id of this hash: a quick look that rules most out."""

    @abstractmethod
    def find_gone(self, digests: Uint64s, is_wanted: Bools) -> list[tuple[int, str, float]]:
        """Find gone documents of equal digests: queries, ids of what they went for, similarities.

        They come in the order of queries, and then as they went.
        """

    @abstractmethod
    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""

    @abstractmethod
    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return what the measure compares of some rows, which ascend."""

    @abstractmethod
    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some rows, in any order, as large strings."""

    @abstractmethod
    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""

    @abstractmethod
    def block_of(self, row: int) -> tuple[Block, int]:
        """Return the block of a row, and its place there."""


def interleave(
    first: ShingleSets | WeightedSets, second: ShingleSets | WeightedSets, is_first: Bools
) -> ShingleSets | WeightedSets:
    """Put sets together of which each is the next of the first ones or of the second ones."""
    joined = join_sets(first, second)
    places: Int64s = np.empty(len(is_first), np.int64)
    places[is_first] = np.arange(len(first))
    places[~is_first] = len(first) + np.arange(len(second))
    return joined.take(places)


def join_sets(*parts: ShingleSets | WeightedSets) -> ShingleSets | WeightedSets:
    """Put sets of one kind one behind the other."""
    ends = np.cumsum([0, *(len(part.values) for part in parts)])
    values = np.concatenate([part.values for part in parts])
    starts = np.concatenate([part.starts + end for part, end in zip(parts, ends, strict=False)])
    sizes = np.concatenate([part.sizes for part in parts])
    weighted = [part for part in parts if isinstance(part, WeightedSets)]
    if not weighted:
        return ShingleSets(values, starts, sizes)
    weights = np.concatenate([part.weights for part in weighted])
    totals = np.concatenate([part.totals for part in weighted])
    return WeightedSets(values, weights, starts, sizes, totals)
