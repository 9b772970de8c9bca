"""Documents in partitions: what of them meets there, and what is compared of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from neardup.reading.second_pass import add_texts, collector_of
from neardup.reading.sign import ReadingPlan
from neardup.reading.signed_batches import numbers_of
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
    """A row of each of some consecutive documents, of which the first has the number ``first``.

    ``given`` are columns that this process has given them.
    """

    first: int
    rows: pa.RecordBatch
    given: Columns


@dataclass(frozen=True)
class Keys:
    """Keys of documents, by which those meet that have the same.

    Parameters
    ----------
    list_keys
        Returns a ``key`` of 64 bits for each of some documents, and more columns, given the kind.
    n_kinds
        Kinds of keys; those of one kind do not meet those of another.
    row_bytes
        Memory of a row while it meets others.
    """

    list_keys: Callable[[DocumentRows, int], Columns]
    n_kinds: int
    row_bytes: int


Meet = Callable[[Iterator[Iterable[Columns]]], Any]
"""Makes something of rows that meet, kind by kind, each in the order of the documents."""

# What partitions are called in the work folder.
_TASK = "components"


@dataclass(frozen=True)
class Partitions:
    """Documents in partitions of whole components, in keep order within each.

    Documents of equal ``components`` are in the same one. Partition k has those from ``bounds[k]``
    to ``bounds[k + 1]``.
    """

    documents: Int64s
    components: Int64s
    bounds: Int64s

    @classmethod
    def kept(cls, workspace: Workspace, find: Callable[[], Partitions]) -> Partitions:
        """Return those of an earlier run, which may have cut them otherwise; else find them."""
        return cls(**kept_arrays(workspace, _TASK, lambda: vars(find())))

    def keep(self, workspace: Workspace) -> None:
        """See that a later run has the same, before anything is stored by partition."""
        keep_arrays(workspace, _TASK, vars(self))

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def places(self, partition: int) -> slice:
        """Return where a partition's documents stand."""
        return slice(int(self.bounds[partition]), int(self.bounds[partition + 1]))

    def of_places(self, places: Int64s) -> Int64s:
        """Return the partitions of documents at these places."""
        return np.searchsorted(self.bounds, places, side="right") - 1

    def places_of_all(self, n_documents: int, are_wanted: Bools | None = None) -> Int64s:
        """Return the place of each document, -1 for one that has none or is not wanted."""
        places: Int64s = np.full(n_documents, -1, np.int64)
        wanted = (
            np.arange(len(self.documents)) if are_wanted is None else np.flatnonzero(are_wanted)
        )
        places[self.documents[wanted]] = wanted
        return places


# Takes of the rows of consecutive documents some, in the order in which they are named.
Pick = Callable[["pa.RecordBatch", Int64s], "pa.RecordBatch"]


def pick_placed(pick: Pick, batch: pa.RecordBatch, places: Int64s) -> pa.RecordBatch:
    """Pick the rows of documents that have a place, with that as first column, by which they go."""
    import pyarrow as pa

    rows = np.flatnonzero(places >= 0)
    rows = rows[np.argsort(places[rows])]
    picked = pick(batch, rows)
    columns = [pa.array(places[rows]), *picked.columns]
    return pa.RecordBatch.from_arrays(columns, names=[PLACE, *picked.schema.names])


PLACE = "place"
"""The column of rows that has the place of their document in all partitions."""


@dataclass(frozen=True)
class DocumentPartition:
    """Documents that are worked on together.

    Parameters
    ----------
    facts
        What the caller knows of them.
    rows
        Returns what was picked of their rows, in any order.
    read_sets
        Returns what is compared of those at some ascending places, given their numbers of tokens.
    has_sets
        Whether all of that is in memory in any case.
    runner
        Threads that work on the partition.
    """

    facts: Any
    rows: Callable[[], Iterator[pa.RecordBatch]]
    read_sets: Callable[[Int64s, Int64s], ShingleSets | WeightedSets]
    has_sets: bool
    runner: Runner

    def rows_by_place(self) -> pa.RecordBatch | None:
        """Return what was picked as one batch in the order of the places, None if it is nothing."""
        import pyarrow as pa

        batches = list(self.rows())
        if not batches:
            return None
        batch = pa.concat_batches(batches)
        return batch.take(pa.array(np.argsort(numbers_of(batch, PLACE))))


class Exchanged(ABC):
    """Rows of documents, at the partitions of these."""

    @abstractmethod
    def with_sets(self, are_wanted: Bools) -> Exchanged:
        """Read some of the documents again, and have what is compared of them beside the rows.

        ``are_wanted`` says which, in the order of the partitions.
        """

    @abstractmethod
    def work(
        self,
        stage: str,
        function: Callable[[DocumentPartition], Columns],
        facts: Callable[[int], Any],
    ) -> Iterator[Columns]:
        """Yield what a function makes of each partition, given ``facts`` of it by its number.

        A run that goes on has what an earlier one has made. Progress is that of a ``stage``.
        """


def read_sets_of(
    texts: Shuffle, partition: int, reading: ReadingPlan, places: Int64s, n_tokens: Int64s
) -> ShingleSets | WeightedSets:
    """Return what is compared of documents of a partition, of which there are texts."""
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
