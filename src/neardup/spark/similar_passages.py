"""Similar passages on executors: they read, keep tokens, index them, and look texts up.

Documents that a task has read stay with it as tokens. The driver tells of the texts that are to be
indexed, or looked up, no more than what is left of them; their tokens go from task to task. Parts
of an index are consecutive documents in keep order, a segment each. What texts are like comes to
the driver, which has all tokens in a file, and decides in keep order by the rule of threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.errors import NeardupError
from neardup.files.rows import RowBlock, Source
from neardup.jobs.cut.passages import FoundSpans, Reading, cut_passages
from neardup.jobs.cut.plan import CutJobPlan
from neardup.jobs.cut.spans import CutSpans
from neardup.matching.join import cut_runs
from neardup.passages.additions import block_of_tokens, segment_tokens_within
from neardup.passages.cut_texts import CutTexts
from neardup.passages.lookup import Later, WindowFinder, WindowHits, tokens_within
from neardup.passages.searched import HowSearched, SearchedTexts, Views, report_to_nobody
from neardup.reading.sign import ListedBlock, ReadingPlan, listed
from neardup.reading.signed_batches import numbers_of
from neardup.reading.token_pass import TOKENS_SHARE, hash_tokens, token_lists
from neardup.runs.arrays import GrowingArray
from neardup.runs.exchange import Shuffle
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.cluster import Cluster, Failure, local_workspace
from neardup.spark.read import ReadTasks, from_bytes, read_on_executors, to_bytes
from neardup.spark.spans import (
    Writing,
    cutting,
    planned_collections,
    read_again_on_executors,
)
from neardup.spark.stored_passages import Part, opened, store_block
from neardup.tables import Bytes, Int64s, TokenLists, Uint64s, offsets_of

if TYPE_CHECKING:
    from pyspark.rdd import RDD

# Share of the driver's memory for what texts are like that were looked up together, and texts whose
# finds are read again together.
_FOUND_SHARE, _TEXTS_AT_ONCE = 0.15, 1 << 12
# On executors texts are looked up in so many batches, unless these would be of fewer tokens. The
# driver foresees what is new of each by a cut of that alone: many batches leave it little, but a
# job takes long.
BATCHES, LEAST_BATCH = 16, 1 << 20
# Parts of an index for each task that runs at the same time, so that these end together, unless
# they would be of fewer tokens: to look up in twice as many parts takes about half as much again.
PARTS_A_SLOT, LEAST_PART = 2, 1 << 20
_numbers = count()

_TOKENS = "tokens"
_NOTHING: Int64s = np.empty(0, np.int64)


def find_similar_passages(
    cluster: Cluster,
    sources: Sequence[Source],
    against: Sequence[Source],
    plan: CutJobPlan,
    workspace: Workspace,
    runner: Runner,
) -> tuple[FoundSpans, Writing]:
    """Find the passages that go for a similar one, and say how they are cut."""
    kept: list[RDD[Any]] = []
    try:
        read = partial(_ReadOnExecutors, cluster, kept)
        found = cut_passages(sources, against, plan, workspace, runner, read)
    finally:
        for rows in kept:
            rows.unpersist()
    _, own, spans, _ = found
    assert isinstance(spans, CutSpans)
    return found, cutting(cluster, spans, own.columns.texts, plan)


@dataclass(frozen=True, kw_only=True)
class _TokenBlock(ListedBlock):
    """A block's documents and their tokens."""

    tokens: TokenLists


class _ReadOnExecutors(Reading):
    """Both collections as executors keep them; ``kept`` is told what these keep."""

    def __init__(
        self,
        cluster: Cluster,
        kept: list[RDD[Any]],
        sources: Sequence[Source],
        against: Sequence[Source],
        plan: CutJobPlan,
        workspace: Workspace,
        _: Runner,
    ) -> None:
        collections = planned_collections(sources, against, plan)
        read = read_on_executors(collections, _hash_block, cluster, workspace)
        kept.append(read.rows)
        self._cluster, self._kept, self._read = cluster, kept, read
        self.catalogues = read.catalogues[0], read.catalogues[1]
        with GrowingArray("tokens", np.uint64, workspace, share=TOKENS_SHARE) as values:
            for _, data in cluster.bring(cluster.work(_give_tokens, read.rows)):
                values.append(np.frombuffer(data, np.uint64))
        self.tokens = token_lists(self.catalogues, values.array)
        self.read_again = partial(read_again_on_executors, read, plan, cluster)

    def searched(
        self, texts: CutTexts, numbers: Int64s, how: HowSearched, _: Path, workspace: Workspace
    ) -> SearchedTexts:
        return _SearchedOnExecutors(
            texts, numbers, how, self._cluster, self._read, self._kept, workspace
        )


def _hash_block(block: RowBlock, reading: ReadingPlan) -> _TokenBlock:
    parsed = block.parse(reading.columns, skip_bad=reading.skip_bad)
    n_tokens, parts = hash_tokens(parsed.text, reading.shingles.tokenizer)
    known = listed(block, parsed, n_tokens, with_lengths=reading.with_lengths)
    values = np.concatenate([np.empty(0, np.uint64), *(part.values for part in parts)])
    offsets = offsets_of(n_tokens)
    return _TokenBlock(**vars(known), tokens=TokenLists(values, offsets))


def _give_tokens(rows: Iterator[Any]) -> Iterator[tuple[None, bytes]]:
    for row in rows:
        yield None, row.found.tokens.values.tobytes()


# Texts that go from where they are kept to parts of an index.


class _Sending(NamedTuple):
    """Texts of a task that are sent: their documents, counted from its first one, ascending.

    ``masks`` are packed, of those rows that have lost something. Each goes to the parts from
    ``firsts`` to ``stops`` (exclusive), with what ``columns`` say of it.
    """

    documents: Int64s
    masks: dict[int, Bytes]
    firsts: Int64s
    stops: Int64s
    columns: dict[str, Any]


def _send(rows: Iterator[Any]) -> Iterator[tuple[int, bytes]]:
    """Send the texts of a task to the parts that they are for, some rows of each block."""
    sending: _Sending = next(rows)
    done = 0
    for row in rows:
        tokens: TokenLists = row.found.tokens
        bounds = [done, done + len(tokens)]
        start, stop = np.searchsorted(sending.documents, bounds).tolist()
        if start < stop:
            documents = sending.documents[start:stop] - done
            masks = [sending.masks.get(k) for k in range(start, stop)]
            columns = {name: values[start:stop] for name, values in sending.columns.items()}
            batch = pa.RecordBatch.from_pydict(
                columns | {_TOKENS: _left_of(tokens, documents, masks)}
            )
            firsts, stops = sending.firsts[start:stop], sending.stops[start:stop]
            for part in range(int(firsts.min()), int(stops.max())):
                wanted = np.flatnonzero((firsts <= part) & (part < stops))
                if len(wanted):
                    yield part, to_bytes(batch.take(pa.array(wanted)))
        done += len(tokens)


def _left_of(
    tokens: TokenLists, documents: Int64s, masks: Sequence[Bytes | None]
) -> pa.LargeListArray:
    """Return the tokens that are left of some documents."""
    found = []
    for document, mask in zip(documents.tolist(), masks, strict=True):
        whole = tokens.values[tokens.offsets[document] : tokens.offsets[document + 1]]
        if mask is not None:
            whole = whole[np.unpackbits(mask, count=len(whole)).view(np.bool_)]
        found.append(whole)
    sizes = [len(each) for each in found]
    offsets = offsets_of(sizes)
    return pa.LargeListArray.from_arrays(offsets, np.concatenate(found))


def _by(batch: pa.RecordBatch, name: str) -> pa.RecordBatch:
    """Return the rows by the numbers in a column."""
    return batch.take(pa.array(np.argsort(numbers_of(batch, name))))


def _lists_of(batch: pa.RecordBatch) -> TokenLists:
    """Return the tokens of the texts that were sent."""
    column = batch.column(_TOKENS)
    values: Uint64s = column.flatten().to_numpy()
    offsets = column.offsets.to_numpy()
    return TokenLists(values, (offsets - offsets[0]).astype(np.int64))


@dataclass(frozen=True)
class _Index:
    """An index on executors: the first document of each part, that behind the last, segments."""

    bounds: Int64s
    segments: RDD[Any]


@dataclass(frozen=True)
class _Looking:
    """How tasks make segments and look texts up, within some memory."""

    how: HowSearched
    memory: int


class _SearchedOnExecutors(SearchedTexts):
    """Texts that executors keep, index, and look up.

    ``numbers`` are those of the texts' documents, which were ``read``.
    """

    def __init__(
        self,
        texts: CutTexts,
        numbers: Int64s,
        how: HowSearched,
        cluster: Cluster,
        read: ReadTasks,
        kept: list[RDD[Any]],
        workspace: Workspace,
    ) -> None:
        self._texts, self._numbers = texts, numbers
        self._cluster, self._read, self._kept = cluster, read, kept
        self._workspace = workspace
        self._looking = _Looking(how, cluster.task_bytes)
        self._indexes: list[_Index] = []
        self._sizes, self._n_new = texts.sizes(), 0

    @property
    def tokens_at_a_time(self) -> int:
        """As many as the memory has room for, and of those that are new no more than a part."""
        most = tokens_within(self._workspace)
        if not self._texts.n_others:
            n_tokens = int(self._sizes.sum())
            foreseen = max(n_tokens // BATCHES, LEAST_BATCH)
            most = min(most, foreseen * n_tokens // max(self._n_new, 1))
        return max(most, 2)

    def add(self, views: Views) -> None:
        """Index texts where they meet, in parts of about equal size."""
        sizes, cluster = self._sizes[views.texts], self._cluster
        self._n_new = int(sizes.sum())
        evenly = self._n_new // (PARTS_A_SLOT * cluster.slots)
        most = segment_tokens_within(Workspace(cluster.task_bytes))
        runs = [stop for _, stop in cut_runs(sizes, min(max(evenly, LEAST_PART), most))]
        bounds = np.array([0, *runs], np.int64)
        rows = np.arange(len(views))
        parts = np.searchsorted(bounds, rows, side="right") - 1
        placed = self._sent(views, parts, parts + 1, {"row": rows}, len(runs))
        indexing = partial(_index, self._looking)
        segments = cluster.stored(cluster.work(indexing, placed, is_laid_out=True))
        self._kept.append(segments)
        self._indexes.append(_Index(bounds, segments))

    def find(self, number: int, views: Views, later: Later) -> Iterator[WindowHits]:
        """Look texts up in all parts of an index that may have something for them."""
        index, cluster = self._indexes[number], self._cluster
        n_parts = len(index.bounds) - 1
        firsts = np.searchsorted(index.bounds, later.firsts, side="right") - 1
        columns = {
            "query": np.arange(len(views)),
            "first": later.firsts,
            "is_own": later.are_own,
        }
        queries = self._sent(views, firsts, np.full(len(views), n_parts), columns, n_parts)
        parts = list(enumerate(index.bounds[:-1].tolist()))
        attached = cluster.attach(parts, index.segments.union(queries))
        looked_up = cluster.work(partial(_look_up, self._looking), attached)
        n_groups = -(-len(views) // _TEXTS_AT_ONCE)
        found = Shuffle(
            f"hits-{next(_numbers)}",
            self._workspace,
            n_groups,
            in_memory=None,
            share=_FOUND_SHARE,
        )
        with found:
            for _, data in cluster.bring_once(looked_up):
                batch = from_bytes(data)
                found.add(batch, numbers_of(batch, "query") // _TEXTS_AT_ONCE)
        try:
            for group in range(n_groups):
                first = group * _TEXTS_AT_ONCE
                stop = min(first + _TEXTS_AT_ONCE, len(views))
                yield from _hits_of(list(found.read(group)), first, stop)
        finally:
            # Who asks need not want them all.
            found.discard()

    def _sent(
        self,
        views: Views,
        firsts: Int64s,
        stops: Int64s,
        columns: dict[str, Any],
        n_parts: int,
    ) -> RDD[Any]:
        """Send texts from where they are kept to parts; see ``_Sending``."""
        documents = self._numbers[views.texts]
        order = np.argsort(documents, kind="stable")
        ordered = documents[order]
        payloads = []
        for start, stop in self._read.ranges:
            rows = order[slice(*np.searchsorted(ordered, [start, stop]).tolist())]
            masks = {
                place: views.masks[row].bits
                for place, row in enumerate(rows.tolist())
                if row in views.masks
            }
            own = {name: values[rows] for name, values in columns.items()}
            payloads.append(
                _Sending(documents[rows] - start, masks, firsts[rows], stops[rows], own)
            )
        rows = self._cluster.attach(payloads, self._read.rows)
        return self._cluster.place(self._cluster.work(_send, rows), n_parts)


def _hits_of(batches: Sequence[pa.RecordBatch], first: int, stop: int) -> Iterator[WindowHits]:
    """Yield what some texts are like, as a look-up in all parts at once would find it."""
    if not batches:
        yield from (WindowHits.of_none() for _ in range(first, stop))
        return
    batch = pa.concat_batches(batches)
    # What is the same in all of these is of one message, and in order there.
    keys = [numbers_of(batch, name) for name in ("documents", "query_starts", "query")]
    order = np.lexsort(keys)
    bounds = np.searchsorted(keys[-1][order], np.arange(first, stop + 1))
    columns = [batch.column(each.name).to_numpy()[order] for each in fields(WindowHits)]
    for start, end in pairwise(bounds.tolist()):
        yield WindowHits(*(column[start:end] for column in columns))


# What tasks do with the texts of a part.


def _index(looking: _Looking, rows: Iterator[tuple[int, bytes]]) -> Iterator[Any]:
    """Make a segment of the texts of a part, which come in any order."""
    received = list(rows)
    part = received[0][0]
    batch = _by(pa.concat_batches([from_bytes(data) for _, data in received]), "row")
    scheme = looking.how.scheme
    block = block_of_tokens(scheme.shingle(_lists_of(batch)))
    with local_workspace(looking.memory) as workspace, workspace.passing_folder() as folder:
        try:
            yield store_block(part, block, folder, "s", scheme, None)
        except NeardupError as error:
            yield Failure.of(part, None, error)


def _look_up(looking: _Looking, rows: Iterator[Any]) -> Iterator[tuple[None, bytes] | Failure]:
    """Look texts up in the segment of a part, whose first document is known."""
    number, first = next(rows)
    how = looking.how
    try:
        with (
            local_workspace(looking.memory) as workspace,
            Runner(1) as runner,
            opened(Part(first), how.scheme, None, workspace, rows) as (index, queries),
        ):
            finder = WindowFinder(index, how.windows, workspace, runner)
            for row in queries:
                if isinstance(row, Failure):
                    yield row
                    return
                # What is told of them is by query, too.
                batch = _by(from_bytes(row[1]), "query")
                firsts = numbers_of(batch, "first") - first
                are_own = batch.column("is_own").to_numpy(zero_copy_only=False) & (firsts >= 0)
                later = Later(np.maximum(firsts, 0), are_own)
                lists = how.scheme.shingle(_lists_of(batch))
                found = finder.find(lists, later, report_to_nobody)
                yield None, to_bytes(_told(list(found), numbers_of(batch, "query"), first))
    except NeardupError as error:
        yield Failure.of(number, None, error)


def _told(found: Sequence[WindowHits], queries: Int64s, first: int) -> pa.RecordBatch:
    """Return what texts are like in a part, counting its documents in the whole index."""
    hits = WindowHits.joined(found)
    own = {
        "documents": hits.documents + first,
        "query": np.repeat(queries, [len(each) for each in found]),
    }
    return pa.RecordBatch.from_pydict(vars(hits) | own)
