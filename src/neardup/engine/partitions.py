"""Partitions of documents: grouping by keys, exchange of rows, comparison."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.reading.passes import add_texts, collector_of
from neardup.reading.sign import ReadingPlan, numbers_of
from neardup.runs.arrays import AnyArray, keep_arrays, kept_arrays
from neardup.runs.exchange import Shuffle
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s, ShingleSets, Texts, WeightedSets

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

Columns = Mapping[str, AnyArray]
"""Arrays of one length by name."""


class DocumentRows(NamedTuple):
    """Rows of consecutive documents, starting with number ``first``.

    ``given`` are columns that this process has added.
    """

    first: int
    rows: pa.RecordBatch
    given: Columns


@dataclass(frozen=True)
class Keys:
    """Keys that group documents with equal values.

    Parameters
    ----------
    list_keys
        Returns a 64-bit ``key`` per document, and more columns, given the kind.
    n_kinds
        Number of kinds of keys; documents are grouped within one kind only.
    row_bytes
        Memory of a row while rows are grouped.
    """

    list_keys: Callable[[DocumentRows, int], Columns]
    n_kinds: int
    row_bytes: int


Meet = Callable[[Iterator[Iterable[Columns]]], Any]
"""Makes a result of grouped rows, kind by kind, each in the order of the documents."""

# Name of the partitions in the work folder.
_TASK = "components"


@dataclass(frozen=True)
class Partitions:
    """Documents in partitions of whole components, in keep order within each.

    Documents of one component share a partition. Partition k has the documents from ``bounds[k]``
    to ``bounds[k + 1]``.
    """

    documents: Int64s
    components: Int64s
    bounds: Int64s

    @classmethod
    def kept(cls, workspace: Workspace, find: Callable[[], Partitions]) -> Partitions:
        """Return the partitions of an earlier run, or else compute them."""
        return cls(**kept_arrays(workspace, _TASK, lambda: vars(find())))

    def keep(self, workspace: Workspace) -> None:
        """Store the partitions for a resumed run, before other data are stored by partition."""
        keep_arrays(workspace, _TASK, vars(self))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def places(self, partition: int) -> slice:
        """Return the positions of a partition's documents."""
        return slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))

    def of_places(self, places: Int64s) -> Int64s:
        """Return the partitions of documents by position."""
        return np.searchsorted(self.bounds, places, side="right") - 1

    def places_of_all(self, n_documents: int, are_wanted: Bools | None = None) -> Int64s:
        """Return the position of each document, -1 if it has none or is not wanted."""
        places: Int64s = np.full(n_documents, -1, np.int64)
        wanted = (
            np.arange(len(self.documents)) if are_wanted is None else np.flatnonzero(are_wanted)
        )
        places[self.documents[wanted]] = wanted
        return places


# Picks rows by number from the rows of consecutive documents, in the order of the numbers.
Pick = Callable[["pa.RecordBatch", Int64s], "pa.RecordBatch"]


def pick_placed(pick: Pick, batch: pa.RecordBatch, places: Int64s) -> pa.RecordBatch:
    """Pick the rows of documents that have a position, which becomes the first column."""
    import pyarrow as pa

    rows = np.flatnonzero(places >= 0)
    rows = rows[np.argsort(places[rows])]
    picked = pick(batch, rows)
    columns = [pa.array(places[rows]), *picked.columns]
    return pa.RecordBatch.from_arrays(columns, names=[PLACE, *picked.schema.names])


PLACE = "place"
"""Column with the position of a row's document in all partitions."""


@dataclass(frozen=True)
class DocumentPartition:
    """Documents that are processed together.

    Parameters
    ----------
    facts
        Facts that the caller has about the documents.
    rows
        Returns the picked rows, in any order.
    read_sets
        Returns the compared sets of documents at ascending positions, given their token counts.
    has_sets
        Whether all sets are in memory in any case.
    runner
        Threads that work on the partition.
    """

    facts: Any
    rows: Callable[[], Iterator[pa.RecordBatch]]
    read_sets: Callable[[Int64s, Int64s], ShingleSets | WeightedSets]
    has_sets: bool
    runner: Runner

    def rows_by_place(self) -> pa.RecordBatch | None:
        """Return the picked rows as one batch in order of position, or None if there are none."""
        import pyarrow as pa

        batches = list(self.rows())
        if not batches:
            return None
        batch = pa.concat_batches(batches)
        return batch.take(pa.array(np.argsort(numbers_of(batch, PLACE))))


class Exchanged(ABC):
    """Rows of documents, sent to the partitions of the documents."""

    @abstractmethod
    def with_sets(self, are_wanted: Bools) -> Exchanged:
        """Read some of the documents again, and add the compared sets to the rows.

        ``are_wanted`` is a mask in the order of the partitions.
        """

    @abstractmethod
    def work(
        self,
        stage: str,
        function: Callable[[DocumentPartition], Columns],
        facts: Callable[[int], Any],
    ) -> Iterator[Columns]:
        """Yield a function's result per partition, given ``facts`` by its number.

        A resumed run reuses earlier results. Progress is reported under ``stage``.
        """


def read_sets_of(
    texts: Shuffle, partition: int, reading: ReadingPlan, places: Int64s, n_tokens: Int64s
) -> ShingleSets | WeightedSets:
    """Return the compared sets of a partition's documents from their texts."""
    import pyarrow as pa

    collector = collector_of(n_tokens, reading)

    def find(batch: pa.RecordBatch) -> tuple[Int64s, Bools]:
        found = numbers_of(batch, PLACE)
        own = np.searchsorted(places, found)
        return own, places[np.minimum(own, len(places) - 1)] == found

    for batch in texts.read(partition, lambda batch: bool(find(batch)[1].any())):
        own, is_wanted = find(batch)
        if not is_wanted.all():
            batch, own = batch.filter(pa.array(is_wanted)), own[is_wanted]
        add_texts(collector, Texts.of_columns(batch), own, "an input")
    return collector.sets
