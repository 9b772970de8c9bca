"""The stage exchange: keys, filters and texts of candidates go to the partitions they belong to."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from neardup.jobs.stages.components import Partitions
from neardup.jobs.stages.contents import NumberedContents
from neardup.reading.second_pass import add_texts, collector_of, read_texts
from neardup.reading.sign import ReadingPlan
from neardup.reading.signed_batches import SignedBatches, filter_column, filters_of, numbers_of
from neardup.runtime.runner import Runner
from neardup.storage.shuffle import Shuffle
from neardup.tables import Bools, Filters, Int64s, ShingleSets, Texts, Uint64s, WeightedSets

if TYPE_CHECKING:
    import pyarrow as pa

    from neardup.storage.work import Workspace

# Shares of the memory: of keys and filters of all candidates, or of those that wait to be written.
KEYS_SHARE = 0.25
WAITING_SHARE = 0.2

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


def exchange_keys(
    batches: SignedBatches, contents: NumberedContents, partitions: Partitions, workspace: Workspace
) -> Shuffle:
    """Bring keys and filters of all candidates to their partitions."""
    bytes_of_all = sum(batch.nbytes for _, batch in batches)
    in_memory = batches.is_in_memory and workspace.fits(bytes_of_all, KEYS_SHARE)
    shuffle = Shuffle("keys", workspace, len(partitions), in_memory=in_memory, share=WAITING_SHARE)
    if shuffle.done():
        return shuffle
    if not in_memory:
        partitions.keep(workspace)
        share = len(partitions.documents) / max(1, len(contents.firsts))
        workspace.require_disk(int(_LEAST_OF_KEYS * share * bytes_of_all))
    places = contents.places_of(partitions.documents)
    with shuffle:
        for start, keys, filters in batches.bands():
            own_places = places[start : start + keys.shape[1]]
            rows = np.flatnonzero(own_places >= 0)
            rows = rows[np.argsort(own_places[rows])]
            batch = candidate_rows(own_places[rows], rows, keys.T, filters)
            shuffle.add(batch, partitions.of_places(own_places[rows]))
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
        share=WAITING_SHARE,
        compression="lz4",
        weight_of_file=_FILE_BYTES,
    )
    places = contents.places_of(partitions.documents)
    places[partitions.documents[~is_live]] = -1
    wanted = contents.by_catalogue(places)

    def to_batch(texts: Texts, own_places: Int64s, _: str) -> tuple[pa.RecordBatch, Int64s]:
        order = np.argsort(own_places)
        rows = texts.to_arrow().take(pa.array(order))
        found = own_places[order]
        batch = pa.RecordBatch.from_pydict({"place": found, "text": rows})
        return batch, partitions.of_places(found)

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
    collector = collector_of(n_tokens, reading)

    def find(batch: pa.RecordBatch) -> tuple[Int64s, Bools]:
        found = numbers_of(batch, "place")
        own = np.searchsorted(places, found)
        return own, places[np.minimum(own, len(places) - 1)] == found

    def add(batch: pa.RecordBatch) -> None:
        own, is_wanted = find(batch)
        column = batch.column("text")
        if not is_wanted.all():
            column, own = column.filter(is_wanted), own[is_wanted]
        add_texts(collector, Texts.from_arrow(column), own, "an input")

    batches = texts.read(partition, lambda batch: bool(find(batch)[1].any()))
    for _ in map(add, batches) if runner is None else runner.map(add, batches):
        pass
    return collector.sets
