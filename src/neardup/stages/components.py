"""The stage components: connect contents by shared buckets, and pack them into partitions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from neardup.engine.engine import Engine, Read
from neardup.engine.partitions import (
    Columns,
    DocumentPartition,
    DocumentRows,
    Exchanged,
    Keys,
    Partitions,
)
from neardup.kernels.common.union_find import find_roots, union_edges
from neardup.matching.buckets import star_edges
from neardup.reading.catalogue import Catalogue
from neardup.reading.column_values import NO_KEY
from neardup.reading.first_pass import ContentTable, assign_firsts
from neardup.reading.second_pass import read_comparable
from neardup.reading.sign import ReadingPlan
from neardup.reading.signed_batches import (
    digests_of,
    filter_column,
    filters_of,
    take_filters,
    within_block,
)
from neardup.runs.runner import Runner
from neardup.tables import (
    Bools,
    Digests,
    Filters,
    Int64s,
    ShingleSets,
    Uint64s,
    WeightedSets,
)

if TYPE_CHECKING:
    import pyarrow as pa


# Documents of some collections, numbered together, and their contents.


class NumberedContents(ABC):
    """Documents of consecutive collections, grouped by equal content.

    A content is identified by its first document in keep order: ``firsts`` has it for each
    document, -1 for a document without tokens. ``ranks`` are the documents' positions in keep
    order, None if they are in keep order.
    """

    firsts: Int64s
    ranks: Int64s | None

    @property
    @abstractmethod
    def catalogues(self) -> tuple[Catalogue, ...]:
        """The collections, in the order of document numbers."""

    @property
    def is_content(self) -> Bools:
        """Mask of documents that represent a content."""
        is_content: Bools = self.firsts == np.arange(len(self.firsts))
        return is_content

    def count(self) -> int:
        """Count the contents."""
        return int(np.count_nonzero(self.is_content))

    def sorted_by_rank(self, documents: Int64s) -> Int64s:
        """Return some documents in keep order."""
        return documents[np.argsort(self.ranks_of(documents), kind="stable")]

    def ranks_of(self, documents: Int64s) -> Int64s:
        """Return the positions of documents in keep order."""
        return documents if self.ranks is None else self.ranks[documents]

    def n_tokens_of(self, documents: Int64s) -> Int64s:
        """Return the token counts of documents."""
        n_tokens: Int64s = np.empty(len(documents), np.int64)
        first = 0
        for catalogue in self.catalogues:
            is_here = (documents >= first) & (documents < first + len(catalogue))
            n_tokens[is_here] = catalogue.n_tokens[documents[is_here] - first]
            first += len(catalogue)
        return n_tokens

    def read_comparable(
        self, documents: Int64s, reading: ReadingPlan, runner: Runner
    ) -> ShingleSets | WeightedSets:
        """Read the compared sets of documents."""
        wanted = self.by_catalogue(self.places_of(documents))
        return read_comparable(self.catalogues, wanted, reading, runner)

    def places_of(self, documents: Int64s) -> Int64s:
        """Return each document's position among some, -1 for none."""
        places: Int64s = np.full(len(self.firsts), -1, np.int64)
        places[documents] = np.arange(len(documents))
        return places

    def by_catalogue(self, values: Int64s) -> list[Int64s]:
        """Split an array over all documents into one per collection."""
        return np.split(values, np.cumsum([len(each) for each in self.catalogues])[:-1])


# Memory of a candidate in addition to its keys, filter and set.
_OVERHEAD = 120


# Memory per document while equal digests are grouped, or equal keys of a band.
_COPIES_BYTES, _BAND_BYTES = 110, 60


def find_firsts(engine: Engine, read: Read, ranks: Int64s | None) -> Int64s:
    """Find the first document with the same tokens, -1 without tokens.

    The first has the least rank, or with None the least number. Documents with different blocking
    keys do not match, and a document without a key matches none.
    """
    is_filled = np.concatenate([each.n_tokens for each in read.catalogues]) > 0
    blocking = read.known.blocking_keys()
    if blocking is not None:
        is_filled &= blocking != NO_KEY
    firsts: Int64s = np.where(is_filled, np.arange(len(is_filled)), -1)
    keys = Keys(_list_digests, 1, _COPIES_BYTES)
    for documents, contents in engine.meet(read, {}, keys, _number_copies):
        assign_firsts(documents, contents, ranks, firsts)
    return firsts


def _list_digests(documents: DocumentRows, _: int) -> Columns:
    digests = digests_of(documents.rows)
    filled = np.flatnonzero(digests.is_filled)
    low, high = digests.values.T
    return {"key": low[filled], "high": high[filled], "document": documents.first + filled}


def _number_copies(kinds: Iterator[Iterable[Columns]]) -> tuple[Int64s, Int64s]:
    """Return the documents with a copy, and the number of their content."""
    table = ContentTable()
    documents, contents = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for columns in chain.from_iterable(kinds):
        values = np.column_stack([columns["key"], columns["high"]])
        digests = Digests(values, np.ones(len(values), np.bool_))
        contents.append(table.number(digests).numbers)
        documents.append(columns["document"])
    numbers = np.concatenate(contents)
    are_shared = (np.bincount(numbers, minlength=1) > 1)[numbers]
    return np.concatenate(documents)[are_shared], numbers[are_shared]


# Role of a document in its bucket: not a content, connected to others, or not to be compared with
# other documents of this role.
_NO_CONTENT, _MEETS, _IS_IGNORED = range(3)


def find_components(
    engine: Engine,
    read: Read,
    contents: NumberedContents,
    n_bands: int,
    are_ignored: Bools | None = None,
) -> Int64s:
    """Find the first document of each component; other documents are their own.

    Contents are connected if they share a full 64-bit band key, directly or through others. Two
    documents that ``are_ignored`` are not connected directly.
    """
    roles = np.where(contents.is_content, _MEETS, _NO_CONTENT).astype(np.int8)
    if are_ignored is not None:
        roles[contents.is_content & are_ignored] = _IS_IGNORED
    parents: Int64s = np.arange(len(roles), dtype=np.int64)
    keys = Keys(_list_band, n_bands, _BAND_BYTES)
    for firsts, members in engine.meet(read, {"role": roles}, keys, _connect, "bucket"):
        union_edges(parents, firsts, members)
    find_roots(parents)
    return parents


def _list_band(documents: DocumentRows, band: int) -> Columns:
    roles = documents.given["role"]
    rows = np.flatnonzero(roles != _NO_CONTENT)
    keys = within_block(documents.rows, f"key_{band}")[rows]
    return {
        "key": keys,
        "document": documents.first + rows,
        "is_ignored": roles[rows] == _IS_IGNORED,
    }


def _connect(bands: Iterator[Iterable[Columns]]) -> tuple[Int64s, Int64s]:
    """Return edges between documents with the same key in a band; for several bands, a forest."""
    found = [_star_edges_of(list(parts)) for parts in bands]
    if len(found) == 1:
        return found[0]
    firsts, members = map(np.concatenate, zip(*found, strict=True))
    documents, places = np.unique(np.concatenate([firsts, members]), return_inverse=True)
    parents: Int64s = np.arange(len(documents), dtype=np.int64)
    union_edges(parents, places[: len(firsts)], places[len(firsts) :])
    find_roots(parents)
    joined = np.flatnonzero(parents != np.arange(len(parents)))
    return documents[parents[joined]], documents[joined]


def _star_edges_of(parts: Sequence[Columns]) -> tuple[Int64s, Int64s]:
    if not parts:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    keys, documents, ignored = (
        np.concatenate([part[name] for part in parts]) for name in ("key", "document", "is_ignored")
    )
    firsts, members = star_edges(keys, are_ignored=ignored)
    return documents[firsts], documents[members]


def pack_components(
    roots: Int64s,
    contents: NumberedContents,
    reading: ReadingPlan,
    room: int | None,
    n_least: int = 1,
    are_packed: Bools | None = None,
) -> Partitions:
    """Pack components into partitions, in the order of their first documents.

    Parameters
    ----------
    roots
        First document of each document's component.
    contents
        Contents in the components.
    reading
        Plan that defines the memory per document.
    room
        Maximum bytes of a partition for comparisons, None for no limit. A larger component gets its
        own partition.
    n_least
        Least number of partitions of similar size.
    are_packed
        Documents that are packed although their component has no other document.
    """
    has_place = contents.is_content & ~(np.bincount(roots, minlength=len(roots)) == 1)[roots]
    if are_packed is not None:
        has_place |= are_packed
    documents = contents.sorted_by_rank(np.flatnonzero(has_place))
    order = np.argsort(roots[documents], kind="stable")
    documents = documents[order]
    components = roots[documents]
    ends = np.flatnonzero(np.diff(components, append=-1)) + 1
    n_tokens = contents.n_tokens_of(documents)
    costs: Int64s = np.concatenate([[0], np.cumsum(bytes_of(n_tokens, reading))])
    evenly = -(-int(costs[-1]) // n_least)
    bounds = _cut(ends, costs[ends], evenly if room is None else min(evenly, room))
    for start, stop in pairwise(bounds.tolist()):
        # In keep order within the partition, across components.
        order = np.argsort(contents.ranks_of(documents[start:stop]))
        documents[start:stop] = documents[start:stop][order]
        components[start:stop] = components[start:stop][order]
    return Partitions(documents, components, bounds)


def bytes_of(n_tokens: Int64s, reading: ReadingPlan) -> Int64s:
    """Return the memory of compared documents, given their token counts."""
    n_shingles = np.maximum(n_tokens - reading.shingles.ngram + 1, 1)
    n_bands = reading.banding.bands if reading.banding else 0
    return (16 if reading.weighted else 8) * n_shingles + 8 * n_bands + _OVERHEAD


def _cut(ends: Int64s, costs: Int64s, capacity: int) -> Int64s:
    bounds, before = [0], 0
    while bounds[-1] < (ends[-1] if len(ends) else 0):
        last = int(np.searchsorted(costs, before + capacity, side="right")) - 1
        last = max(last, int(np.searchsorted(ends, bounds[-1], side="right")))
        bounds.append(int(ends[last]))
        before = int(costs[last])
    return np.array(bounds, np.int64)


# The stage exchange: send keys, filters and texts of candidates to their partitions.


@dataclass(frozen=True)
class Candidates:
    """Keys and filters of a partition's documents, in keep order.

    ``keys`` has shape (n, n_bands); ``filters`` may be None.
    """

    keys: Uint64s
    filters: Filters | None

    def __len__(self) -> int:
        return len(self.keys)


def exchange_candidates(
    engine: Engine, read: Read, partitions: Partitions, n_bands: int
) -> Exchanged:
    """Send keys and filters of all candidates to their partitions."""
    return engine.exchange("keys", read, partial(_pick_candidates, n_bands), partitions)


def _pick_candidates(n_bands: int, batch: pa.RecordBatch, rows: Int64s) -> pa.RecordBatch:
    """Pick keys, grouped by document, and filters of some documents of a batch."""
    import pyarrow as pa

    keys: Uint64s = np.empty((len(rows), n_bands), np.uint64)
    for band, of_band in enumerate(keys.T):
        of_band[:] = within_block(batch, f"key_{band}")[rows]
    columns = {"keys": pa.FixedSizeListArray.from_arrays(pa.array(keys.ravel()), n_bands)}
    filters = filters_of(batch)
    if filters is not None:
        taken = take_filters(filters, rows)
        columns |= {"filter": filter_column(taken), "filter_sizes": pa.array(taken.sizes)}
    return pa.RecordBatch.from_pydict(columns)


def candidates_in(partition: DocumentPartition, n_bands: int) -> Candidates:
    """Return keys and filters of the documents of a partition."""
    batch = partition.rows_by_place()
    if batch is None:
        return Candidates(np.empty((0, n_bands), np.uint64), None)
    return candidates_of(batch, n_bands)


def candidates_of(batch: pa.RecordBatch, n_bands: int) -> Candidates:
    """Return keys and filters from rows of ``candidate_rows``, in the same order."""
    values = batch.column("keys").flatten().to_numpy().reshape(-1, n_bands)
    return Candidates(values, filters_of(batch))
