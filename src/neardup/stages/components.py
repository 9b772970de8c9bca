"""The stage components: contents that hang together by shared buckets, packed into partitions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise, product
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
from neardup.reading.first_pass import ContentTable, assign_firsts, part_of
from neardup.reading.second_pass import add_texts, collector_of, read_comparable, read_texts
from neardup.reading.sign import ReadingPlan
from neardup.reading.signed_batches import (
    SignedBatches,
    digests_of,
    filter_column,
    filters_of,
    numbers_of,
    take_filters,
    within_block,
)
from neardup.runs.exchange import Shuffle
from neardup.runs.runner import Runner
from neardup.tables import (
    Bools,
    Digests,
    Filters,
    Int64s,
    ShingleSets,
    Texts,
    Uint64s,
    WeightedSets,
)

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.runs.work import Workspace

# Documents of some collections, numbered together, and which of them have the same content.


class NumberedContents(ABC):
    """The documents of some collections, one behind the other, and their contents.

    A content is known by its first document in keep order: ``firsts`` has that of each document, -1
    for one without tokens. ``ranks`` are the documents' places in keep order, None if that is their
    own.
    """

    firsts: Int64s
    ranks: Int64s | None

    @property
    @abstractmethod
    def catalogues(self) -> tuple[Catalogue, ...]:
        """The collections, in the order in which their documents are numbered."""

    @property
    def is_content(self) -> Bools:
        """Which documents stand for a content."""
        is_content: Bools = self.firsts == np.arange(len(self.firsts))
        return is_content

    def count(self) -> int:
        """Count the contents."""
        return int(np.count_nonzero(self.is_content))

    def sorted_by_rank(self, documents: Int64s) -> Int64s:
        """Return some documents in keep order."""
        return documents[np.argsort(self.ranks_of(documents), kind="stable")]

    def ranks_of(self, documents: Int64s) -> Int64s:
        """Return the places of some documents in keep order."""
        return documents if self.ranks is None else self.ranks[documents]

    def n_tokens_of(self, documents: Int64s) -> Int64s:
        """Return how many tokens some documents have."""
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
        """Read what the measure compares of some documents."""
        wanted = self.by_catalogue(self.places_of(documents))
        return read_comparable(self.catalogues, wanted, reading, runner)

    def places_of(self, documents: Int64s) -> Int64s:
        """Return each document's place among some, -1 for none."""
        places: Int64s = np.full(len(self.firsts), -1, np.int64)
        places[documents] = np.arange(len(documents))
        return places

    def by_catalogue(self, values: Int64s) -> list[Int64s]:
        """Cut an array that has a value for each document into one for each collection."""
        return np.split(values, np.cumsum([len(each) for each in self.catalogues])[:-1])


# Memory of a document whose key in a band is sorted, and the share that all workers take for that.
_SORTING_BYTES = 60
_SORTING_SHARE = 0.4

# The share of the memory that all partitions take that are worked on at the same time.
_PARTITION_SHARE = 0.4

# Memory of a candidate beside its keys, its filter and its set.
_OVERHEAD = 120


# Memory of a document while others of the same digest are looked for, or of the same key in a band.
_COPIES_BYTES, _BAND_BYTES = 110, 60


def find_firsts(engine: Engine, read: Read, ranks: Int64s | None) -> Int64s:
    """Find for each document the first one of the same tokens, -1 for one without tokens.

    The first is the one of the least rank; None: of the least number. With blocking keys documents
    of different ones have not the same tokens, and one without a key has none.
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
    """List the digests of documents that have tokens."""
    digests = digests_of(documents.rows)
    filled = np.flatnonzero(digests.is_filled)
    low, high = digests.values.T
    return {"key": low[filled], "high": high[filled], "document": documents.first + filled}


def _number_copies(kinds: Iterator[Iterable[Columns]]) -> tuple[Int64s, Int64s]:
    """Return the documents that are not the only ones of their content, and this as a number."""
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


# What a document is to others that share a bucket with it: none, one of them, or one of those that
# need not meet each other.
_NO_CONTENT, _MEETS, _IS_IGNORED = range(3)


def find_components(
    engine: Engine,
    read: Read,
    contents: NumberedContents,
    n_bands: int,
    are_ignored: Bools | None = None,
) -> Int64s:
    """Find for each document the first one of its component, itself if it is no content.

    Contents are of one component that share a band key, all 64 bits of it, or are connected by
    others that do. Documents that ``are_ignored`` do not meet each other.
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
    """List the keys of contents in a band."""
    roles = documents.given["role"]
    rows = np.flatnonzero(roles != _NO_CONTENT)
    keys = within_block(documents.rows, f"key_{band}")[rows]
    return {
        "key": keys,
        "document": documents.first + rows,
        "is_ignored": roles[rows] == _IS_IGNORED,
    }


def _connect(bands: Iterator[Iterable[Columns]]) -> tuple[Int64s, Int64s]:
    """Return edges that connect documents of the same key in a band; of several bands a forest."""
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


def find_components_of_batches(
    batches: SignedBatches,
    contents: NumberedContents,
    workspace: Workspace,
    runner: Runner,
    are_ignored: Bools | None = None,
) -> Int64s:
    """Find for each document the first one of its component, itself if it is no content.

    Contents are of one component that share a band key, all 64 bits of it, or are connected by
    others that do. Documents that ``are_ignored`` do not meet each other.
    """
    documents, n_documents = np.flatnonzero(contents.is_content), len(contents.firsts)
    n_bands = batches.n_bands
    n_passes = workspace.passes(
        n_documents * _SORTING_BYTES * min(runner.workers, n_bands), _SORTING_SHARE
    )
    parents: Int64s = np.arange(n_documents, dtype=np.int64)
    work = product(range(n_bands), range(n_passes))
    edges = partial(_band_edges, batches, documents, n_passes, are_ignored)
    for done, (firsts, members) in enumerate(runner.map(edges, work), 1):
        union_edges(parents, firsts, members)
        runner.report("bucket", done, n_bands * n_passes)
    find_roots(parents)
    return parents


def _band_edges(
    batches: SignedBatches,
    documents: Int64s,
    n_passes: int,
    are_ignored: Bools | None,
    work: tuple[int, int],
) -> tuple[Int64s, Int64s]:
    """Return edges between documents of equal keys of one band, those in one range of keys."""
    band, number = work
    keys, wanted = [np.empty(0, np.uint64)], [np.empty(0, np.int64)]
    for start, values in batches.band(band):
        first, last = np.searchsorted(documents, [start, start + len(values)])
        own = documents[first:last]
        own_keys = values[own - start]
        if n_passes > 1:
            is_wanted = part_of(own_keys, n_passes) == number
            own, own_keys = own[is_wanted], own_keys[is_wanted]
        keys.append(own_keys)
        wanted.append(own)
    numbers = np.concatenate(wanted)
    ignored = None if are_ignored is None else are_ignored[numbers]
    firsts, members = star_edges(np.concatenate(keys), are_ignored=ignored)
    return numbers[firsts], numbers[members]


def pack_components(
    roots: Int64s,
    contents: NumberedContents,
    reading: ReadingPlan,
    room: int | None,
    n_least: int = 1,
    are_packed: Bools | None = None,
) -> Partitions:
    """Pack components into partitions, in the order of their firsts.

    Parameters
    ----------
    roots
        First document of each document's component.
    contents
        Whose components they are.
    reading
        Says how much is compared of a document.
    room
        Bytes that a partition may take when its documents are compared, None if that does not
        matter. A component that takes more has a partition of its own.
    n_least
        Partitions of about the same size that there should be at least.
    are_packed
        Documents that are packed though they are alone in their component.
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
        # In keep order within the partition, whatever the component.
        order = np.argsort(contents.ranks_of(documents[start:stop]))
        documents[start:stop] = documents[start:stop][order]
        components[start:stop] = components[start:stop][order]
    return Partitions(documents, components, bounds)


def bytes_of(n_tokens: Int64s, reading: ReadingPlan) -> Int64s:
    """Return how much memory documents of so many tokens take when they are compared."""
    n_shingles = np.maximum(n_tokens - reading.shingles.ngram + 1, 1)
    n_bands = reading.banding.bands if reading.banding else 0
    return (16 if reading.weighted else 8) * n_shingles + 8 * n_bands + _OVERHEAD


def room_of_partition(workspace: Workspace, n_at_once: int) -> int | None:
    """Return how many bytes a partition may take while others are in memory beside it.

    None if all stays in memory in any case.
    """
    return None if workspace.work is None else workspace.share(_PARTITION_SHARE) // n_at_once


def _cut(ends: Int64s, costs: Int64s, capacity: int) -> Int64s:
    """Cut components that end at these places, costs added up, into runs within a capacity."""
    bounds, before = [0], 0
    while bounds[-1] < (ends[-1] if len(ends) else 0):
        last = int(np.searchsorted(costs, before + capacity, side="right")) - 1
        last = max(last, int(np.searchsorted(ends, bounds[-1], side="right")))
        bounds.append(int(ends[last]))
        before = int(costs[last])
    return np.array(bounds, np.int64)


# The stage exchange: keys, filters and texts of candidates go to the partitions they belong to.

# Shares of the memory: of keys and filters of all candidates, or of those that wait to be written.
_KEYS_SHARE = 0.25
_WAITING_SHARE = 0.2

# What files take at least, by which disks are found too small before the work: of all columns of
# candidates, some of which stay behind, and of text, which is compressed.
_LEAST_OF_KEYS = 0.7
_LEAST_OF_TEXT = 0.4

# Text of the documents of one file of a work folder; a run that was killed loses so much.
_FILE_BYTES = 1_000_000_000


@dataclass(frozen=True)
class Candidates:
    """What the stages need to know of some documents of a partition, in keep order.

    ``keys`` has shape (n, n_bands); ``filters`` is None where there are none.
    """

    keys: Uint64s
    filters: Filters | None

    def __len__(self) -> int:
        return len(self.keys)


def exchange_candidates(
    engine: Engine, read: Read, partitions: Partitions, n_bands: int
) -> Exchanged:
    """Bring keys and filters of all candidates to their partitions."""
    return engine.exchange("keys", read, partial(_pick_candidates, n_bands), partitions)


def _pick_candidates(n_bands: int, batch: pa.RecordBatch, rows: Int64s) -> pa.RecordBatch:
    """Take keys, those of a document together, and filters of some documents of a batch."""
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


def exchange_keys(
    batches: SignedBatches,
    contents: NumberedContents,
    partitions: Partitions,
    workspace: Workspace,
    runner: Runner,
) -> Shuffle:
    """Bring keys and filters of all candidates to their partitions."""
    bytes_of_all = sum(batch.nbytes for _, batch in batches)
    in_memory = batches.is_in_memory and workspace.fits(bytes_of_all, _KEYS_SHARE)
    shuffle = Shuffle("keys", workspace, len(partitions), in_memory=in_memory, share=_WAITING_SHARE)
    if shuffle.done():
        return shuffle
    if not in_memory:
        partitions.keep(workspace)
        share = len(partitions.documents) / max(1, len(contents.firsts))
        workspace.require_disk(int(_LEAST_OF_KEYS * share * bytes_of_all))
    places = contents.places_of(partitions.documents)

    def rows_of(item: tuple[int, pa.RecordBatch]) -> tuple[pa.RecordBatch, Int64s]:
        start, batch = item
        own_places = places[start : start + len(batch)]
        rows = np.flatnonzero(own_places >= 0)
        rows = rows[np.argsort(own_places[rows])]
        keys, filters = batches.bands_of(batch, rows)
        own_places = own_places[rows]
        rows = np.arange(len(rows))
        return candidate_rows(own_places, rows, keys.T, filters), partitions.of_places(own_places)

    with shuffle:
        for batch, of_rows in runner.map(rows_of, batches):
            shuffle.add(batch, of_rows)
    return shuffle


def read_candidates(keys: Shuffle, partition: int, n_bands: int) -> Candidates:
    """Return keys and filters of a partition's documents."""
    import pyarrow as pa

    batches = list(keys.read(partition))
    if not batches:
        return Candidates(np.empty((0, n_bands), np.uint64), None)
    batch = pa.concat_batches(batches)
    batch = batch.take(pa.array(np.argsort(numbers_of(batch, "place"))))
    return candidates_of(batch, n_bands)


def candidate_rows(
    places: Int64s, rows: Int64s, keys: Uint64s, filters: Filters | None
) -> pa.RecordBatch:
    """Return places, keys and filters of some rows of a block; ``keys`` has all rows."""
    import pyarrow as pa

    values = pa.array(np.ascontiguousarray(keys[rows]).ravel())
    columns = {
        "place": places,
        "keys": pa.FixedSizeListArray.from_arrays(values, keys.shape[1]),
    }
    if filters is not None:
        columns["filter"] = filter_column(filters).take(pa.array(rows))
        columns["filter_sizes"] = filters.sizes[rows]
    return pa.RecordBatch.from_pydict(columns)


def candidates_of(batch: pa.RecordBatch, n_bands: int) -> Candidates:
    """Return keys and filters of what ``candidate_rows`` has made, in the order of the rows."""
    values = batch.column("keys").flatten().to_numpy().reshape(-1, n_bands)
    return Candidates(values, filters_of(batch))


def exchange_texts(
    contents: NumberedContents,
    partitions: Partitions,
    is_live: Bools,
    reading: ReadingPlan,
    workspace: Workspace,
    runner: Runner,
) -> Shuffle:
    """Read the texts of live documents again and bring them to their partitions."""
    import pyarrow as pa

    shuffle = Shuffle(
        "texts",
        workspace,
        len(partitions),
        in_memory=False,
        share=_WAITING_SHARE,
        compression="lz4",
        weight_of_file=_FILE_BYTES,
    )
    places = contents.places_of(partitions.documents)
    places[partitions.documents[~is_live]] = -1
    wanted = contents.by_catalogue(places)

    def to_batch(texts: Texts, own_places: Int64s, _: str) -> tuple[pa.RecordBatch, Int64s]:
        order = np.argsort(own_places)
        found = own_places[order]
        batch = pa.RecordBatch.from_pydict({"place": own_places, **texts.columns()})
        return batch.take(pa.array(order)), partitions.of_places(found)

    partitions.keep(workspace)
    done = Counter(shuffle.done())
    if not done:
        workspace.require_disk(int(_LEAST_OF_TEXT * _text_bytes(contents, places >= 0)))
    with shuffle:
        for key, (batch, of_rows) in read_texts(
            contents.catalogues, wanted, reading, runner, to_batch, done
        ):
            shuffle.add(batch, of_rows, key, batch.nbytes)
    return shuffle


def _text_bytes(contents: NumberedContents, is_wanted: Bools) -> float:
    """Estimate the bytes of the texts of some documents, of a mean length of token."""
    wanted = contents.n_tokens_of(np.flatnonzero(is_wanted)).sum()
    every = sum(int(np.maximum(each.n_tokens, 0).sum()) for each in contents.catalogues)
    return float(wanted / max(1, every) * sum(each.text_bytes for each in contents.catalogues))


def read_sets(
    texts: Shuffle,
    partition: int,
    places: Int64s,
    n_tokens: Int64s,
    reading: ReadingPlan,
    runner: Runner | None = None,
) -> ShingleSets | WeightedSets:
    """Return what is compared of documents of a partition: those at these places, ascending.

    In the threads of the runner, if there is one.
    """
    import pyarrow as pa

    collector = collector_of(n_tokens, reading)

    def find(batch: pa.RecordBatch) -> tuple[Int64s, Bools]:
        found = numbers_of(batch, "place")
        own = np.searchsorted(places, found)
        return own, places[np.minimum(own, len(places) - 1)] == found

    def add(batch: pa.RecordBatch) -> None:
        own, is_wanted = find(batch)
        if not is_wanted.all():
            batch, own = batch.filter(pa.array(is_wanted)), own[is_wanted]
        add_texts(collector, Texts.of_columns(batch), own, "an input")

    batches = texts.read(partition, lambda batch: bool(find(batch)[1].any()))
    for _ in map(add, batches) if runner is None else runner.map(add, batches):
        pass
    return collector.sets
