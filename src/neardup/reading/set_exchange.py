"""What documents are compared by, exchanged by extent and read again, some documents at a time.

Documents go to classes by their extent, the number of their elements or their total weight: so a
join that bounds the extents of similar documents by each other reads few classes at a time. What
fits stays in memory, and the rest goes to files of the work folder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np

from neardup.kernels.text import shingles
from neardup.matching.join import Compared, cut_runs
from neardup.reading.block_exchange import BlockExchange, Sorted
from neardup.reading.signed_batches import numbers_of
from neardup.tables import Int64s, ShingleSets, TokenLists, Uint64s, WeightedSets, offsets_of
from neardup.text.shingles import digest_sets, digest_token_lists
from neardup.text.weighting import digest_weighted_sets

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.runner import Runner
    from neardup.runs.work import Workspace

# The share of the memory in which sets may stay, or wait to be written. Joined all at once they
# take three to eight times as much.
_SETS_SHARE = 0.15

# Extents from which on classes begin: eight for each time that the extent doubles.
_CLASSES = np.unique((2 ** (np.arange(8 * 62) / 8)).astype(np.int64))

# Elements that are digested at a time.
_AT_ONCE = 1 << 16

# Of elements, which are hashes, those below this are counted: one in so many.
ONE_IN = 1 << 12
# Batches of which they are put together.
_AT_ONCE_COUNTED = 256
_COUNTED_BELOW = np.uint64(2**64 // ONE_IN)


class SetExchange:
    """What documents of some collections are compared by: sets, weighted sets or strings.

    Parameters
    ----------
    make
        Makes it of the tokens of some documents.
    workspace
        Says how much memory there is.
    """

    def __init__(self, make: Callable[[TokenLists], Compared], workspace: Workspace) -> None:
        self.make = make
        self.rows = BlockExchange("sets", workspace, len(_CLASSES), share=_SETS_SHARE)
        self._kind = make(TokenLists(np.empty(0, np.uint64), np.zeros(1, np.int64)))

    def sort(self, parts: Sequence[Compared]) -> tuple[Sorted, int]:
        """Make rows of what documents of a block are compared by, numbered from 0."""
        import pyarrow as pa

        none = np.empty(0, np.int64)
        extents = np.concatenate([none, *map(_extents_of, parts)])
        sizes = np.concatenate([none, *(_layout(part)[1] for part in parts)])
        classes = classes_of(extents)
        # An empty set is similar to nothing.
        documents = np.flatnonzero(extents > 0)
        documents = documents[np.argsort(classes[documents].astype(np.uint16), kind="stable")]
        offsets = offsets_of(sizes[documents])
        starts: Int64s = np.zeros(len(extents), np.int64)
        starts[documents] = offsets[:-1]
        sizes = np.where(extents > 0, sizes, 0)
        columns = {"document": documents}
        if isinstance(self._kind, WeightedSets):
            columns["extent"] = extents[documents]
        for name, column in self._columns(parts):
            values: Uint64s = np.empty(int(offsets[-1]), np.uint64)
            stop = 0
            for part, own in zip(parts, column, strict=True):
                start, stop = stop, stop + len(part)
                where = slice(start, stop)
                shingles.copy_sets(own, _layout(part)[0], sizes[where], values, starts[where])
            columns[name] = pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(values))
        batch = pa.RecordBatch.from_pydict(columns)
        return (batch, classes[documents]), len(extents)

    def _columns(self, parts: Sequence[Compared]) -> Iterator[tuple[str, list[Uint64s]]]:
        yield "values", [part.values for part in parts]
        if isinstance(self._kind, WeightedSets):
            weights = (part.weights for part in parts if isinstance(part, WeightedSets))
            yield "weights", [own.view(np.uint64) for own in weights]

    def measure(self, n_documents: int) -> tuple[Int64s, Int64s, int]:
        """Return the size and the extent of each document, and about how many elements differ."""
        sizes, extents, sample = self.measure_rows(self.rows.shuffle.read_all(), n_documents)
        return sizes, extents, ONE_IN * len(sample)

    def measure_rows(
        self, rows: Iterable[pa.RecordBatch], n_documents: int
    ) -> tuple[Int64s, Int64s, Uint64s]:
        """Return sizes and extents as ``measure``, and one in ``ONE_IN`` of all elements."""
        sizes: Int64s = np.zeros(n_documents, np.int64)
        extents = np.zeros(n_documents, np.int64) if self._is_weighted else sizes
        counted, found = np.empty(0, np.uint64), list[Uint64s]()
        for batch in rows:
            documents, offsets, values = _lists_of(batch, "values")
            sizes[documents] = np.diff(offsets)
            if self._is_weighted:
                extents[documents] = numbers_of(batch, "extent")
            own = values[offsets[0] : offsets[-1]]
            found.append(own[own < _COUNTED_BELOW])
            if len(found) == _AT_ONCE_COUNTED:
                counted, found = np.unique(np.concatenate([counted, *found])), []
        counted = np.unique(np.concatenate([counted, *found]))
        return sizes, extents, counted

    @property
    def _is_weighted(self) -> bool:
        return isinstance(self._kind, WeightedSets)

    def only_sizes(self, sizes: Int64s, extents: Int64s) -> Compared:
        """Return sets, or strings, that have no elements but these sizes and extents."""
        nothing = np.empty(0, np.uint64)
        starts = np.broadcast_to(np.int64(0), len(sizes))
        if isinstance(self._kind, TokenLists):
            return TokenLists(nothing, offsets_of(sizes))
        if isinstance(self._kind, ShingleSets):
            return ShingleSets(nothing, starts, sizes)
        return WeightedSets(nothing, nothing.view(np.int64), starts, sizes, extents)

    def read(
        self,
        documents: Int64s,
        sizes: Int64s,
        extents: Int64s,
        runner: Runner,
        *,
        are_all: bool,
    ) -> Compared:
        """Return what some documents, which ascend, are compared by.

        ``sizes`` and ``extents`` are theirs. What is in memory may go once ``are_all`` that will
        be read.
        """
        if not len(documents):
            return self.only_sizes(sizes, extents)
        offsets = offsets_of(sizes)
        columns = {"values": np.empty(int(offsets[-1]), np.uint64)}
        if self._is_weighted:
            columns["weights"] = np.empty(int(offsets[-1]), np.uint64)

        def is_wanted(batch: pa.RecordBatch) -> bool:
            found = numbers_of(batch, "document")
            return bool(found[-1] >= documents[0] and found[0] <= documents[-1])

        def add(batch: pa.RecordBatch) -> None:
            found = numbers_of(batch, "document")
            places = np.minimum(np.searchsorted(documents, found), len(documents) - 1)
            rows = np.flatnonzero(documents[places] == found)
            places = places[rows]
            for name, target in columns.items():
                _, starts, values = _lists_of(batch, name)
                shingles.copy_sets(values, starts[rows], sizes[places], target, offsets[places])

        shuffle = self.rows.shuffle
        if are_all:
            for batch in shuffle.read_all(let_go=True):
                add(batch)
        else:
            classes = np.unique(classes_of(extents)).tolist()
            wanted = chain.from_iterable(shuffle.read(each, is_wanted) for each in classes)
            for _ in runner.map(add, wanted):
                pass
        values = columns["values"]
        if isinstance(self._kind, TokenLists):
            return TokenLists(values, offsets)
        if isinstance(self._kind, ShingleSets):
            return ShingleSets(values, offsets[:-1], sizes)
        weights = columns["weights"].view(np.int64)
        return WeightedSets(values, weights, offsets[:-1], sizes, extents)


def classes_of(extents: Int64s) -> Int64s:
    """Return the class of each extent, -1 for 0."""
    classes: Int64s = np.searchsorted(_CLASSES, extents, side="right") - 1
    return classes


def _layout(part: Compared) -> tuple[Int64s, Int64s]:
    """Return where the elements of each document begin, and how many they are."""
    if isinstance(part, TokenLists):
        return part.offsets[:-1], np.diff(part.offsets)
    return part.starts, part.sizes


def _extents_of(part: Compared) -> Int64s:
    """Return how large each document is: its elements, or their weight."""
    return part.totals if isinstance(part, WeightedSets) else _layout(part)[1]


def _lists_of(batch: pa.RecordBatch, name: str) -> tuple[Int64s, Int64s, Uint64s]:
    """Return documents, where the list of each begins and the last one ends, and all values."""
    column = batch.column(name)
    return numbers_of(batch, "document"), column.offsets.to_numpy(), column.values.to_numpy()


def digest_compared(compared: Compared) -> Uint64s:
    """Digest what each document is compared by to 128 bits, shape (n, 2): equal where that is.

    Some at a time, because it may be copied for that.
    """
    if isinstance(compared, TokenLists):
        return digest_token_lists(compared)
    digests: Uint64s = np.empty((len(compared), 2), np.uint64)
    for start, stop in cut_runs(compared.sizes, _AT_ONCE):
        own = compared.take(np.arange(start, stop))
        if isinstance(own, ShingleSets):
            digests[start:stop] = digest_sets(own)
        else:
            digests[start:stop] = digest_weighted_sets(own)
    return digests
