"""Decide which documents stay, by copies and buckets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engine.engine import (
    PLACE,
    Columns,
    DocumentPartition,
    DocumentRows,
    Engine,
    Exchanged,
    Keys,
    Partitions,
    Read,
)
from neardup.files.rows import Source
from neardup.kernels.bucket.components import find_roots, union_edges
from neardup.matching.buckets import list_full_keys, list_prefixes, sieve_components, star_edges
from neardup.matching.measures import CandidateSets
from neardup.matching.survivors import Progress, choose_survivors, join_components
from neardup.reading.catalogue import Catalogue, KeepPolicy
from neardup.reading.passes import ContentTable, assign_firsts, read_comparable
from neardup.reading.sign import (
    NO_KEY,
    ReadingPlan,
    SignedBatches,
    digests_of,
    filter_column,
    filters_of,
    keys_of,
    numbers_of,
    sign_block,
    take_filters,
    with_blocking_keys,
)
from neardup.runs.runner import Runner
from neardup.stages.options import DedupPlan, other_columns_of
from neardup.tables import (
    AnyArray,
    Assignment,
    Bools,
    Digests,
    Filters,
    IndexKeepers,
    Int64s,
    Removals,
    ShingleSets,
    Uint64s,
    WeightedSets,
)


@dataclass(frozen=True)
class NumberedContents:
    """Documents of collections, numbered together and grouped by content.

    A content is identified by its first document in keep order: ``firsts`` has it for each
    document, -1 for a document without tokens. ``ranks`` are the documents' positions in keep
    order, None if they are in keep order.
    """

    catalogues: tuple[Catalogue, ...]
    firsts: Int64s
    ranks: Int64s | None = None

    @property
    def is_content(self) -> Bools:
        """Mask of documents that represent a content."""
        is_content: Bools = self.firsts == np.arange(len(self.firsts))
        return is_content

    def count(self) -> int:
        """Count the distinct contents."""
        return int(np.count_nonzero(self.is_content))

    def sorted_by_rank(self, documents: Int64s) -> Int64s:
        """Return some documents in keep order."""
        return documents[np.argsort(self.ranks_of(documents), kind="stable")]

    def ranks_of(self, documents: Int64s) -> Int64s:
        """Return the positions of documents in keep order."""
        return documents if self.ranks is None else self.ranks[documents]

    def n_tokens_of(self, documents: Int64s) -> Int64s:
        """Return the token counts of documents."""
        n_tokens = np.concatenate([each.n_tokens for each in self.catalogues])
        return n_tokens[documents].astype(np.int64)

    def read_comparable(
        self, documents: Int64s, reading: ReadingPlan, runner: Runner
    ) -> ShingleSets | WeightedSets:
        """Read the compared sets of documents."""
        return read_comparable(self.catalogues, self.places_of(documents), reading, runner)

    def places_of(self, documents: Int64s) -> Int64s:
        """Return each document's position among some, -1 for none."""
        places: Int64s = np.full(len(self.firsts), -1, np.int64)
        places[documents] = np.arange(len(documents))
        return places


@dataclass(frozen=True)
class IndexRemovals:
    """Documents removed in favour of an index document.

    ``documents`` ascend, and ``keepers`` are their index documents. A document that stays becomes
    the keeper instead if it is more similar than the index document.
    """

    documents: Int64s
    keepers: IndexKeepers

    @classmethod
    def of(cls, batches: SignedBatches) -> IndexRemovals:
        """Collect the signed documents with a keeper."""
        documents, keepers = [np.empty(0, np.int64)], []
        for start, batch in batches.index_keepers():
            rows = np.flatnonzero(batch.documents >= 0)
            documents.append(start + rows)
            keepers.append(batch.take(rows))
        return cls(np.concatenate(documents), IndexKeepers.joined(keepers))

    @cached_property
    def index_documents(self) -> Int64s:
        """Distinct index documents that replace others, ascending."""
        return np.unique(self.keepers.documents)

    @property
    def places(self) -> Int64s:
        """Positions of the keepers in ``index_documents``."""
        return np.searchsorted(self.index_documents, self.keepers.documents)

    def of_documents(self, documents: Int64s) -> IndexKeepers:
        """Return the keepers of documents, -1 without a keeper."""
        own = self.documents
        if not len(own):
            return IndexKeepers.none(len(documents))
        places = np.minimum(np.searchsorted(own, documents), len(own) - 1)
        keepers = self.keepers.take(places)
        keepers.documents[own[places] != documents] = -1
        return keepers


@dataclass(frozen=True)
class DedupContents(NumberedContents):
    """Contents of a collection and of its reference collection.

    Documents of ``other`` are numbered before ``own``; all of them stay. If an index takes its
    place, ``index_removals`` lists the documents with a keeper there; exact copies of index
    documents are not compared again.
    """

    index_removals: IndexRemovals | None = None

    @property
    def own(self) -> Catalogue:
        """The collection whose documents may be removed."""
        return self.catalogues[1]

    @property
    def other(self) -> Catalogue:
        """The documents of the reference collection."""
        return self.catalogues[0]

    @property
    def is_content(self) -> Bools:
        """Mask of documents that represent a content to be compared."""
        is_content = super().is_content
        if (removals := self.index_removals) is not None:
            is_content[removals.documents[removals.keepers.are_copies]] = False
        return is_content

    @property
    def n_reference(self) -> int:
        """Number of documents before ``own`` in an ``Assignment``: others, or index documents."""
        removals = self.index_removals
        return len(self.other if removals is None else removals.index_documents)

    def count(self) -> int:
        """Count all contents, including contents settled by the index."""
        return int(np.count_nonzero(super().is_content))

    def in_keep_order(self) -> Int64s:
        """Return the contents' documents, fixed documents first."""
        return self.sorted_by_rank(np.flatnonzero(self.is_content))

    def count_fixed(self, documents: Int64s) -> int:
        """Count the documents that stay in any case."""
        return int(np.count_nonzero(documents < len(self.other)))

    def are_decided(self) -> Bools:
        """Mask documents that stay, or are removed, whatever the comparisons.

        Two decided documents need no comparison with each other.
        """
        marks: Bools = np.arange(len(self.firsts)) < len(self.other)
        if self.index_removals is not None:
            marks[self.index_removals.documents] = True
        return marks


def sign_documents(
    engine: Engine, sources: Sequence[Source], against: Sequence[Source], plan: DedupPlan
) -> Read:
    """Read all documents once, first the other collection."""
    others = replace(plan.reading.without_ranks(other_columns_of(plan.options)), look_up=None)
    return engine.read([(against, others), (sources, plan.reading)], sign_block)


def find_contents(read: Read, keep: KeepPolicy, *, with_index: bool) -> DedupContents:
    """Find each content's first document in keep order."""
    other, own = read.catalogues
    ranks: Int64s | None = None
    if not keep.is_by_input:
        order = keep.order(len(own), own.lengths, own.order)
        ranks = np.arange(len(other) + len(own), dtype=np.int64)
        ranks[len(other) + order] = np.arange(len(other), len(ranks))
    firsts = find_firsts(read, ranks)
    index_removals = IndexRemovals.of(read.signed) if with_index else None
    return DedupContents(read.catalogues, firsts, ranks, index_removals)


# Memory per document while equal digests are grouped, or equal keys of a band.
_COPIES_BYTES, _BAND_BYTES = 110, 60


def find_firsts(read: Read, ranks: Int64s | None) -> Int64s:
    """Find the first document with the same tokens.

    A document without tokens has -1. The first has the least rank, or with None the least number.
    Documents with different blocking keys do not match, and a document without a key matches none.
    """
    is_filled = np.concatenate([each.n_tokens for each in read.catalogues]) > 0
    blocking = read.signed.blocking_keys()
    if blocking is not None:
        is_filled &= blocking != NO_KEY
    firsts: Int64s = np.where(is_filled, np.arange(len(is_filled)), -1)
    keys = Keys(_list_digests, 1, _COPIES_BYTES)
    for documents, contents in read.group_by_keys({}, keys, _number_copies):
        assign_firsts(documents, contents, ranks, firsts)
    return firsts


def _list_digests(documents: DocumentRows, _: int) -> Columns:
    digests = digests_of(documents.rows)
    filled = np.flatnonzero(digests.is_filled)
    low, high = digests.values.T
    return {"key": low[filled], "high": high[filled], "document": documents.first + filled}


def _number_copies(kinds: Iterator[Columns]) -> tuple[Int64s, Int64s]:
    [columns] = kinds
    values = np.column_stack([columns["key"], columns["high"]])
    numbers = ContentTable().number(Digests(values, np.ones(len(values), np.bool_))).numbers
    are_shared = (np.bincount(numbers, minlength=1) > 1)[numbers]
    return columns["document"][are_shared], numbers[are_shared]


# Role of a document in its bucket: not a content, a content to be connected, or a decided content,
# which is not connected to other decided ones.
_NO_CONTENT, _IS_CONTENT, _IS_DECIDED = range(3)


def find_components(
    read: Read, contents: NumberedContents, n_bands: int, are_decided: Bools | None = None
) -> Int64s:
    """Find the first document of each document's component.

    Contents are connected if they share a full 64-bit band key, directly or through others. Two
    documents that ``are_decided`` are not connected directly.
    """
    roles = np.where(contents.is_content, _IS_CONTENT, _NO_CONTENT).astype(np.int8)
    if are_decided is not None:
        roles[contents.is_content & are_decided] = _IS_DECIDED
    parents: Int64s = np.arange(len(roles), dtype=np.int64)
    keys = Keys(_list_band, n_bands, _BAND_BYTES)
    for firsts, members in read.group_by_keys({"role": roles}, keys, _connect, "bucket"):
        union_edges(parents, firsts, members)
    find_roots(parents)
    return parents


def _list_band(documents: DocumentRows, band: int) -> Columns:
    roles = documents.given["role"]
    rows = np.flatnonzero(roles != _NO_CONTENT)
    keys = with_blocking_keys(documents.rows, f"key_{band}")[rows]
    return {
        "key": keys,
        "document": documents.first + rows,
        "is_decided": roles[rows] == _IS_DECIDED,
    }


def _connect(bands: Iterator[Columns]) -> tuple[Int64s, Int64s]:
    """Return edges of equal keys, a forest for several bands."""
    edges = []
    for columns in bands:
        documents = columns["document"]
        firsts, members = star_edges(columns["key"], are_ignored=columns["is_decided"])
        edges.append((documents[firsts], documents[members]))
    if len(edges) == 1:
        return edges[0]
    firsts, members = map(np.concatenate, zip(*edges, strict=True))
    documents, places = np.unique(np.concatenate([firsts, members]), return_inverse=True)
    parents: Int64s = np.arange(len(documents), dtype=np.int64)
    union_edges(parents, places[: len(firsts)], places[len(firsts) :])
    find_roots(parents)
    joined = np.flatnonzero(parents != np.arange(len(parents)))
    return documents[parents[joined]], documents[joined]


# Memory of a candidate in addition to its keys, filter and set.
_OVERHEAD = 120


def bytes_of(n_tokens: Int64s, reading: ReadingPlan) -> Int64s:
    """Return the memory of compared documents, given their token counts."""
    n_shingles = np.maximum(n_tokens - reading.shingles.ngram + 1, 1)
    n_bands = reading.banding.bands if reading.banding else 0
    return (16 if reading.weighted else 8) * n_shingles + 8 * n_bands + _OVERHEAD


def pack_components(
    roots: Int64s,
    contents: NumberedContents,
    reading: ReadingPlan,
    room: int | None,
    n_least: int = 1,
    are_always_placed: Bools | None = None,
) -> Partitions:
    """Pack components into partitions, ordered by first documents.

    ``roots`` are the first documents of each document's component. Comparisons of a partition take
    at most ``room`` bytes, unless one component takes more. There are about ``n_least`` partitions
    of similar size, or more. Documents that ``are_always_placed`` have a place although their
    component has no other document.
    """
    has_place = contents.is_content & ~(np.bincount(roots, minlength=len(roots)) == 1)[roots]
    if are_always_placed is not None:
        has_place |= are_always_placed
    documents = contents.sorted_by_rank(np.flatnonzero(has_place))
    documents = documents[np.argsort(roots[documents], kind="stable")]
    components = roots[documents]
    ends = np.flatnonzero(np.diff(components, append=-1)) + 1
    costs: Int64s = np.cumsum(bytes_of(contents.n_tokens_of(documents), reading))
    evenly = -(-int(costs[-1] if len(costs) else 0) // n_least)
    bounds = _cut(ends, costs[ends - 1], evenly if room is None else min(evenly, room))
    for start, stop in pairwise(bounds.tolist()):
        # In keep order within the partition, across components.
        order = np.argsort(contents.ranks_of(documents[start:stop]))
        documents[start:stop] = documents[start:stop][order]
        components[start:stop] = components[start:stop][order]
    return Partitions(documents, components, bounds)


def _cut(ends: Int64s, costs: Int64s, capacity: int) -> Int64s:
    bounds, before = [0], 0
    while bounds[-1] < (ends[-1] if len(ends) else 0):
        last = int(np.searchsorted(costs, before + capacity, side="right")) - 1
        last = max(last, int(np.searchsorted(ends, bounds[-1], side="right")))
        bounds.append(int(ends[last]))
        before = int(costs[last])
    return np.array(bounds, np.int64)


def exchange_candidates(read: Read, partitions: Partitions, n_bands: int) -> Exchanged:
    """Send keys and filters of all candidates to their partitions."""
    return read.exchange("keys", partial(_pick_candidates, n_bands), partitions)


def _pick_candidates(n_bands: int, batch: pa.RecordBatch, rows: Int64s) -> pa.RecordBatch:
    keys = keys_of(batch, n_bands, rows)
    columns = {"keys": pa.FixedSizeListArray.from_arrays(pa.array(keys.ravel()), n_bands)}
    filters = filters_of(batch)
    if filters is not None:
        taken = take_filters(filters, rows)
        columns |= {"filter": filter_column(taken), "filter_sizes": pa.array(taken.sizes)}
    return pa.RecordBatch.from_pydict(columns)


def candidates_in(partition: DocumentPartition, n_bands: int) -> tuple[Uint64s, Filters | None]:
    """Return keys, of shape (n, n_bands), and filters of a partition."""
    batches = list(partition.rows())
    if not batches:
        return np.empty((0, n_bands), np.uint64), None
    batch = pa.concat_batches(batches)
    batch = batch.take(pa.array(np.argsort(numbers_of(batch, PLACE))))
    return batch.column("keys").flatten().to_numpy().reshape(-1, n_bands), filters_of(batch)


# Survivors: contents that share a bucket, or all contents, are compared in keep order.


def choose_by_buckets(
    engine: Engine, read: Read, contents: DedupContents, plan: DedupPlan
) -> Removals:
    """Decide contents that share a bucket, in several stages."""
    n_bands, room = plan.banding.bands, engine.limits.partition_bytes
    are_decided = contents.are_decided()

    def find_partitions() -> Partitions:
        # A component may be connected through two decided contents.
        skipped = None if plan.joins_components else are_decided
        roots = find_components(read, contents, n_bands, skipped)
        return pack_components(roots, contents, plan.reading, room, engine.limits.least_partitions)

    with engine.stage("bucket") as note:
        partitions = Partitions.load_or_find(engine.workspace, find_partitions)
        candidates = exchange_candidates(read, partitions, n_bands)
        note(candidates=len(partitions.documents))

    def sieved_in(number: int) -> tuple[int, Int64s, Bools]:
        within = partitions.places(number)
        documents = partitions.documents[within]
        return within.start, partitions.components[within], are_decided[documents]

    with engine.stage("sieve") as note:
        components: Int64s = np.full(len(partitions.documents), -1, np.int64)
        for remaining in candidates.work("sieve", partial(_sieve_partition, plan), sieved_in):
            components[remaining["places"]] = remaining["components"]
        is_remaining = components >= 0
        note(candidates=int(is_remaining.sum()))
    with engine.stage("compare"):
        candidates = candidates.with_sets(is_remaining)

    n_tokens = contents.n_tokens_of(partitions.documents)

    def remaining_in(number: int) -> _Remaining:
        within = partitions.places(number)
        places = np.flatnonzero(is_remaining[within]) + within.start
        documents, removals = partitions.documents[places], contents.index_removals
        return _Remaining(
            within.start,
            places,
            documents,
            components[places],
            n_tokens[places],
            contents.count_fixed(documents),
            None if removals is None else removals.of_documents(documents),
        )

    with engine.stage("choose") as note:
        # Maximum elements of a partition in memory.
        capacity = None if room is None else room // (16 if plan.reading.weighted else 8)
        choose = partial(_choose_in_partition, plan, capacity)
        parts = candidates.work("choose", choose, remaining_in)
        removals = Removals.joined([Removals.from_arrays(part) for part in parts])
        note(compared=removals.n_compared, similar=removals.n_verified)
    return removals


def _sieve_partition(plan: DedupPlan, partition: DocumentPartition) -> dict[str, AnyArray]:
    """Return candidates that may be similar, and their new components."""
    start, components, are_decided = partition.facts
    keys, filters = candidates_in(partition, plan.banding.bands)
    firsts = sieve_components(
        components,
        keys,
        filters,
        plan.measure,
        are_fixed=are_decided,
        with_fixed=plan.joins_components,
        either_way=plan.joins_components,
    )
    remaining = np.flatnonzero(np.bincount(firsts, minlength=len(firsts))[firsts] > 1)
    return {"places": remaining + start, "components": firsts[remaining] + start}


class _Remaining(NamedTuple):
    """Candidate contents of a partition that passed the sieve, in keep order.

    Each has its position in ``places``, counted from the partition's ``start``. The first
    ``n_fixed`` stay in any case, and contents with one of the ``index_keepers`` are removed.
    """

    start: int
    places: Int64s
    documents: Int64s
    components: Int64s
    n_tokens: Int64s
    n_fixed: int
    index_keepers: IndexKeepers | None


def _choose_in_partition(
    plan: DedupPlan, capacity: int | None, partition: DocumentPartition
) -> dict[str, AnyArray]:
    remaining: _Remaining = partition.facts
    if not len(remaining.documents):
        return Removals.joined([]).as_arrays()
    keys, _ = candidates_in(partition, plan.banding.bands)

    def read_some(numbers: Int64s) -> ShingleSets | WeightedSets:
        return partition.read_sets(remaining.places[numbers], remaining.n_tokens[numbers])

    candidates = CandidateSets(
        list_full_keys(keys[remaining.places - remaining.start], remaining.components),
        remaining.n_tokens,
        read_some,
        remaining.n_fixed,
        capacity,
        are_in_memory=partition.has_sets,
    )
    removals = _choose(candidates, plan, remaining.index_keepers)
    return removals.renumbered(remaining.documents).as_arrays()


def choose_exactly(contents: DedupContents, plan: DedupPlan, runner: Runner) -> Removals:
    """Decide all contents exactly, by their common elements."""
    documents = contents.in_keep_order()
    with runner.stage("compare"):
        sets = contents.read_comparable(documents, plan.reading, runner)
        lists = list_prefixes(sets, plan.measure)
    with runner.stage("choose") as note:
        candidates = CandidateSets.of_sets(lists, sets, contents.count_fixed(documents))

        def report(done: int) -> None:
            runner.report("choose", done, len(documents))

        removals = _choose(candidates, plan, progress=report).renumbered(documents)
        note(compared=removals.n_compared, similar=removals.n_verified)
    return removals


def _choose(
    candidates: CandidateSets,
    plan: DedupPlan,
    index_keepers: IndexKeepers | None = None,
    progress: Progress = None,
) -> Removals:
    removals = choose_survivors(
        candidates, plan.measure, index_keepers=index_keepers, progress=progress
    )
    if plan.joins_components:
        removals = join_components(candidates, plan.measure, removals, progress=progress)
    return removals


def assign(contents: DedupContents, removals: Removals) -> Assignment:
    """Extend the removals of contents to all documents.

    An exact copy follows its content: if it stays, the content's first document stays and replaces
    its copies; if it is removed, all its documents get the same keeper.
    """
    n_other, by_index = len(contents.other), contents.index_removals
    keeper_of: Int64s = np.full(len(contents.firsts), -1, np.int64)
    similarity_of = np.full(len(contents.firsts), np.nan)
    # Keepers are numbered with index documents first, which contents do not include.
    n_of_index = contents.n_reference - n_other
    if by_index is not None:
        keeper_of[by_index.documents] = by_index.places
        similarity_of[by_index.documents] = by_index.keepers.similarities
    keeper_of[removals.documents] = n_of_index + removals.keepers
    similarity_of[removals.documents] = removals.similarities

    firsts = contents.firsts[n_other:]
    filled = np.flatnonzero(firsts >= 0)
    first = firsts[filled]
    exact = np.zeros(len(firsts), np.bool_)
    exact[filled] = (keeper_of[first] < 0) & (first != filled + n_other)
    keepers: Int64s = np.full(len(firsts), -1, np.int64)
    keepers[filled] = keeper_of[first]
    keepers[exact] = n_of_index + firsts[exact]
    similarities = np.full(len(firsts), np.nan)
    similarities[filled] = similarity_of[first]
    similarities[exact] = 1.0
    if by_index is not None:
        exact[by_index.documents] = by_index.keepers.are_copies
    return Assignment(keepers, similarities, exact)
