"""Queries looked up in an index of passages on executors: what an alignment and a search have.

Executors keep queries as segments, those of a task in a partition. Their tokens go to all parts of
an index that may have something for them, and are looked up there; what is found goes back to where
the queries are kept, and from there in their order to the driver.
"""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.engine.spark.cluster import Cluster, Failure, local_workspace
from neardup.engine.spark.read import Outbox, from_bytes, to_bytes
from neardup.errors import NeardupError
from neardup.passages.additions import gather_by
from neardup.passages.document_pairs import Extents, HiddenText, extents_in
from neardup.passages.index import OpenPassages
from neardup.passages.lookup import WindowPlan, tokens_at_a_time
from neardup.passages.matches import (
    Matches,
    Side,
    schema_of,
    side_in,
    side_table,
)
from neardup.passages.places import Placer
from neardup.passages.scheme import PassageScheme
from neardup.reading.signed_batches import numbers_of
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.stored_passages import Part, Stored, StoredDocuments, opened
from neardup.tables import Bools, Int64s, TokenLists, offsets_of
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    from pyspark.rdd import RDD

# Queries on their way.


@dataclass(frozen=True)
class SentQueries:
    """Some queries: their tokens, their numbers, and the number of the first window of each.

    ``are_frequent`` says which of their windows are left out, if any are.
    """

    tokens: TokenLists
    numbers: Int64s
    first_windows: Int64s
    are_frequent: Bools | None

    @property
    def n_tokens(self) -> int:
        """Tokens of all of them."""
        return len(self.tokens.values)

    @classmethod
    def join(cls, parts: Sequence[SentQueries]) -> SentQueries:
        """Put queries one behind the other."""
        sizes = np.concatenate([np.diff(part.tokens.offsets) for part in parts])
        offsets = offsets_of(sizes)
        frequent = [part.are_frequent for part in parts if part.are_frequent is not None]
        return cls(
            TokenLists(np.concatenate([part.tokens.values for part in parts]), offsets),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.first_windows for part in parts]),
            np.concatenate(frequent) if frequent else None,
        )


class Sending(NamedTuple):
    """Where the queries of a task go, and what is first among them.

    ``are_frequent`` are bits that say which of their windows are left out, if any are.
    """

    targets: range
    first: int
    first_window: int = 0
    are_frequent: bytes | None = None


class _Sent(NamedTuple):
    """The queries of a segment on their way: the files of their tokens, and what is first."""

    files: Sequence[bytes]
    first: int
    first_window: int
    are_frequent: bytes | None

    def read(self, windows: WindowPlan | None) -> SentQueries:
        """Return the queries."""
        vocabulary, tokens, offsets = (np.load(io.BytesIO(data)) for data in self.files)
        n_windows = _count_windows(windows, np.diff(offsets))
        ends = np.cumsum(n_windows)
        are_frequent = None
        if self.are_frequent is not None:
            packed = np.frombuffer(self.are_frequent, np.uint8)
            are_frequent = np.unpackbits(packed, count=int(n_windows.sum())).astype(np.bool_)
        return SentQueries(
            TokenLists(vocabulary[tokens], offsets),
            np.arange(self.first, self.first + len(n_windows)),
            self.first_window + ends - n_windows,
            are_frequent,
        )


_TOKEN_FILES = ("vocabulary.npy", "tokens.npy", "offsets.npy")


def _count_windows(windows: WindowPlan | None, sizes: Int64s) -> Int64s:
    """Return how many windows queries of some sizes have; none that are looked for as a whole."""
    return np.zeros(len(sizes), np.int64) if windows is None else windows.count_windows(sizes)


def _send(windows: WindowPlan | None, rows: Iterator[Any]) -> Iterator[tuple[int, _Sent]]:
    """Send the queries of a task to all parts that may have something for them."""
    sending: Sending = next(rows)
    first, done = sending.first, 0
    bits: Bools | None = None
    if sending.are_frequent is not None:
        bits = np.unpackbits(np.frombuffer(sending.are_frequent, np.uint8)).astype(np.bool_)
    for row in rows:
        n_windows = int(_count_windows(windows, row.sizes).sum())
        if row.record is not None:
            own = None if bits is None else np.packbits(bits[done : done + n_windows]).tobytes()
            files = [row.files[name] for name in _TOKEN_FILES]
            sent = _Sent(files, first, sending.first_window + done, own)
            for target in sending.targets:
                yield target, sent
        first += len(row.sizes)
        done += n_windows


# The look-up.


class Looked(NamedTuple):
    """Some queries, and what they share with a part; their windows were found ``n_hits`` times."""

    queries: SentQueries
    matches: Matches
    n_hits: int = 0


@dataclass(frozen=True, kw_only=True)
class Looking(ABC):
    """How tasks look queries up, within some memory, and what they tell of passages.

    ``windows`` are those that queries are cut into; None: they are looked for as a whole.
    ``has_texts`` says whether passages have their texts, ``has_extents`` whether there are extents;
    see ``extents_of``.
    """

    scheme: PassageScheme
    frequencies: DocumentFrequencies | None
    memory: int
    windows: WindowPlan | None = None
    has_texts: bool = False
    placer: Placer | None = None
    has_extents: bool = False
    hidden: HiddenText | None = None

    @abstractmethod
    def look_up(
        self,
        part: Part,
        index: OpenPassages,
        queries: Iterable[SentQueries],
        workspace: Workspace,
        runner: Runner,
    ) -> Iterator[Looked]:
        """Look queries up in a part, which is open as an index."""


@dataclass(frozen=True)
class Told:
    """What the queries of a task share with an index, in their order.

    ``places`` and ``extents`` are as of ``jobs.align.found.Found``; the latter has rows only where
    somebody wants them.
    """

    passages: pa.Table
    places: Int64s
    extents: Extents
    n_hits: int


@dataclass(frozen=True, kw_only=True)
class KeptQueries:
    """Queries, and parts of what they are looked up in, as executors keep them.

    ``stored`` are rows of the segments of the ``parts``, unless these are of an index.
    """

    cluster: Cluster
    parts: list[Part]
    queries: StoredDocuments
    stored: RDD[Any] | None = None

    def sent(self, windows: WindowPlan | None, sendings: Sequence[Sending]) -> RDD[Any]:
        """Send queries to the parts that may have something for them.

        Each partition has its number and the part, what is stored of it, and queries.
        """
        cluster, n = self.cluster, len(self.parts)
        attached = cluster.attach(sendings, self.queries.rows)
        placed = cluster.place(cluster.work(partial(_send, windows), attached), n)
        if self.stored is not None:
            placed = self.stored.union(placed)
        return cluster.attach(list(enumerate(self.parts)), placed)

    def find(
        self, stage: str, how: Looking, sendings: Sequence[Sending], kept: PassageScheme
    ) -> Iterator[Told]:
        """Look queries up, and bring what is found, task after task.

        ``kept`` is the scheme by which the queries are stored.
        """
        cluster, queries = self.cluster, self.queries
        found = cluster.work(
            partial(_look_up, how, queries.starts),
            self.sent(how.windows, sendings),
            keep=(stage, cluster.task_bytes),
        )
        placed = cluster.place(found, len(queries.sizes)).union(queries.rows)
        attached = cluster.attach(list(enumerate(queries.starts[:-1].tolist())), placed)
        spelled = cluster.bring_once(cluster.work(partial(_spell, how, kept), attached))
        schema = schema_of(with_text=how.has_texts, with_places=how.placer is not None)
        for _, rows in groupby(spelled, key=lambda row: row[0][0]):
            tables = [schema.empty_table()]
            places = [np.empty((0, len(_PLACES)), np.int64)]
            extents = [np.empty((0, len(_EXTENTS)), np.int64)]
            n_hits = 0
            for (_, hits), data in rows:
                n_hits += hits
                if data:
                    batch = from_bytes(data)
                    tables.append(pa.Table.from_batches([batch.select(schema.names)]))
                    places.append(_stacked(batch, _PLACES))
                    if how.has_extents:
                        extents.append(_stacked(batch, _EXTENTS))
            yield Told(
                pa.concat_tables(tables), np.concatenate(places), np.concatenate(extents), n_hits
            )


# Columns of what is found beside those of the passages.
_PLACES = ("query", "query_token", "document", "doc_token")
_SIDES = ("query", "doc")
_MEASURES = ("from", "to", "size")
_EXTENTS = tuple(f"{side}_{name}" for side in _SIDES for name in _MEASURES)


def _stacked(batch: pa.RecordBatch, names: Sequence[str]) -> Int64s:
    return np.stack([numbers_of(batch, name) for name in names], axis=1)


@contextmanager
def asked_in(
    how: Looking, part: Part, rows: Iterator[Any]
) -> Iterator[tuple[OpenPassages, Iterator[SentQueries], Workspace, Runner]]:
    """Open a part, and give as many queries at a time as are best, with what a look-up needs."""
    with (
        local_workspace(how.memory) as workspace,
        Runner(1) as runner,
        opened(part, how.scheme, how.frequencies, workspace, rows) as (index, others),
    ):
        queries = (sent.read(how.windows) for _, sent in others)
        n_tokens = tokens_at_a_time([index], workspace, runner)
        yield index, gather_by(SentQueries.join, queries, n_tokens), workspace, runner


def _look_up(
    how: Looking, starts: Int64s, rows: Iterator[Any]
) -> Iterator[tuple[int, bytes | int | Failure]]:
    """Look queries up in a part, and send what they share with it to where they are kept.

    ``starts`` are the first documents there. How often something was found goes to the first task.
    """
    number, part = next(rows)
    outbox, n_hits = Outbox(), 0
    try:
        with asked_in(how, part, rows) as (index, queries, workspace, runner):
            for block, matches, n_found in how.look_up(part, index, queries, workspace, runner):
                n_hits += n_found
                if len(matches):
                    batch = _found_in(how, part, index, block.numbers[matches.queries], matches)
                    tasks = np.searchsorted(starts, numbers_of(batch, "query"), side="right") - 1
                    yield from outbox.add(batch, tasks)
            yield from outbox.rest()
            yield 0, n_hits
    except NeardupError as error:
        yield 0, Failure.of(number, None, error)


def _found_in(
    how: Looking, part: Part, index: OpenPassages, numbers: Int64s, found: Matches
) -> pa.RecordBatch:
    """Return passages of queries of some numbers, with all there is to know of their documents."""
    columns: dict[str, Any] = {
        "query": numbers,
        "query_token": found.query_starts,
        "query_stop": found.query_stops,
        "document": found.documents + part.first,
        "doc_token": found.starts,
        "similarity": found.similarities,
    }
    columns |= _side(how, "doc", index, found.documents, found.starts, found.stops)
    return pa.RecordBatch.from_pydict(columns)


def _side(
    how: Looking,
    name: str,
    index: OpenPassages,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
) -> dict[str, Any]:
    """Return the columns of one side of passages."""
    side = side_in(index, documents, starts, stops, with_text=how.has_texts, placer=how.placer)
    columns: dict[str, Any] = {
        f"{name}_id": side.ids,
        f"{name}_start": side.starts,
        f"{name}_end": side.stops,
    }
    if side.texts is not None:
        columns[f"{name}_text"] = pa.array(side.texts, pa.large_string())
    if side.places is not None:
        columns[f"{name}_place"] = side.places
    if how.has_extents:
        extents = extents_in(index, documents, side.starts, side.stops, how.hidden)
        columns |= {f"{name}_{each}": extents[:, i] for i, each in enumerate(_MEASURES)}
    return columns


def _side_of(columns: dict[str, Any], name: str) -> Side:
    ids, starts, stops = (columns[f"{name}_{each}"] for each in ("id", "start", "end"))
    return Side(ids, starts, stops, columns.get(f"{name}_text"), columns.get(f"{name}_place"))


# Passages that come to the driver together.
_AT_ONCE = 1 << 14


def _spell(
    how: Looking, kept: PassageScheme, rows: Iterator[Any]
) -> Iterator[tuple[tuple[int, int], bytes] | Failure]:
    """Give all passages of the queries of a task, in their order, and how often one was found."""
    number, first = next(rows)
    n_hits, batches, stored = 0, list[pa.RecordBatch](), rows
    for row in rows:
        if isinstance(row, Stored):
            stored = chain([row], rows)
            break
        if isinstance(row[1], Failure):
            yield row[1]
        elif isinstance(row[1], int):
            n_hits += row[1]
        else:
            batches.append(from_bytes(row[1]))
    yield (number, n_hits), b""
    if not batches:
        return
    found = pa.concat_batches(batches)
    # What is the same in all of these is of one message, and in order there.
    order = [numbers_of(found, name) for name in ("doc_token", "document", "query_token", "query")]
    found = found.take(pa.array(np.lexsort(order)))
    with (
        local_workspace(how.memory) as workspace,
        opened(Part(first), kept, None, workspace, stored) as (index, _),
    ):
        for start in range(0, len(found), _AT_ONCE):
            some = found.slice(start, _AT_ONCE)
            yield (number, 0), to_bytes(_spelled(how, index, first, some))


def _spelled(
    how: Looking, index: OpenPassages, first: int, found: pa.RecordBatch
) -> pa.RecordBatch:
    """Return passages with all there is to know of their queries, too."""
    columns = {name: found.column(name) for name in found.schema.names}
    queries, starts, stops = (
        numbers_of(found, name) for name in ("query", "query_token", "query_stop")
    )
    columns |= _side(how, "query", index, queries - first, starts, stops)
    query, document = (_side_of(columns, name) for name in _SIDES)
    table = side_table(query, document, numbers_of(found, "similarity"))
    kept = (*_PLACES, *(_EXTENTS if how.has_extents else ()))
    for name in kept:
        table = table.append_column(name, pa.array(columns[name]))
    return table.combine_chunks().to_batches()[0]
