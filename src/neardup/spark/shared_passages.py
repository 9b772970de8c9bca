"""``neardup.spark.align``: shared passages, looked up as ``jobs.align`` looks them up in threads.

Executors read documents and keep them as segments of an index, those of a task in a partition. The
tokens of queries go to all partitions that may have something for them, and are looked up there;
what is found goes back to where the queries are kept, and from there in their order to the driver.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from itertools import chain, groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from neardup.documents.other import resolve_other
from neardup.errors import NeardupError
from neardup.files.ids import common_id_type
from neardup.files.resolve import resolve_inputs
from neardup.files.rows import RowBlock, Source
from neardup.jobs.align.align import align_collections
from neardup.jobs.align.looked_up import Aligned, Asked, LookUp, later_than
from neardup.jobs.align.other import (
    Made,
    Other,
    choose_other,
    no_other,
)
from neardup.jobs.align.plan import choose_options
from neardup.options.choices import Data, DataOrIndex
from neardup.options.groups import ProgressOptions, WorkspaceOptions
from neardup.options.option import argument, but, takes
from neardup.options.passages import AlignOptions, AlignSchemeOptions, IgnoreOptions
from neardup.options.together import GroupArguments
from neardup.passages.additions import gather_by, segment_tokens_within
from neardup.passages.align import Aligner, AlignmentPlan, make_window_scheme
from neardup.passages.document_pairs import HiddenText, extents_in
from neardup.passages.documents import PassageReading, read_document_block
from neardup.passages.index import OpenPassages, PassageHandle
from neardup.passages.lookup import WindowPlan, tokens_at_a_time
from neardup.passages.matches import (
    SCHEMA,
    SCHEMA_WITH_TEXT,
    Matches,
    Side,
    excerpts,
    side_in,
    side_table,
)
from neardup.passages.scheme import PassageScheme
from neardup.reading.signed_batches import numbers_of
from neardup.reading.where import rows_where
from neardup.results import PassageResult
from neardup.runs.runner import Runner
from neardup.runs.work import Workspace
from neardup.spark.cluster import (
    Cluster,
    Failure,
    Piece,
    local_workspace,
    spark_errors,
)
from neardup.spark.frequencies import count_on_executors
from neardup.spark.read import Outbox, count_filtered, from_bytes, to_bytes
from neardup.spark.session import ON_DRIVER, SESSION, SHARED_FILES, cluster_of
from neardup.spark.stored_passages import (
    NO_SIZES,
    Part,
    Stored,
    StoredDocuments,
    Storing,
    opened,
    parts_of,
    store_on_executors,
)
from neardup.stages.hints import with_warning
from neardup.stages.workspaces import open_workspace
from neardup.tables import Bools, Int64s, TokenLists
from neardup.text.weighting import DocumentFrequencies

if TYPE_CHECKING:
    from pyspark.rdd import RDD

    from neardup.stages.hints import Flood


def align_on_spark(
    current_cluster: Callable[[], Cluster],
    sources: Sequence[Source],
    other: Other,
    options: AlignOptions,
    workspace: Workspace,
    runner: Runner,
    ignore: Sequence[Source] = (),
) -> PassageResult:
    """Align as ``align_collections``; ``runner`` and ``workspace`` are the driver's.

    The driver reads the text that is ignored, and keeps all passages. Executors are looked for when
    they are needed.
    """
    of_session = cache(current_cluster)
    on_executors = partial(_on_executors, of_session)
    with spark_errors():
        count_filtered(of_session, sources)
        result = align_collections(sources, other, options, workspace, runner, ignore, on_executors)
    result.summary.update({"engine": "spark", "workers": of_session().slots})
    return result


# The look-up.


@dataclass(frozen=True)
class _Looking:
    """How tasks look queries up."""

    scheme: PassageScheme
    frequencies: DocumentFrequencies | None
    plan: AlignmentPlan
    options: AlignOptions
    hidden: HiddenText | None
    is_one: bool
    memory: int


@dataclass(frozen=True)
class _Queries:
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
    def join(cls, parts: Sequence[_Queries]) -> _Queries:
        """Put queries one behind the other."""
        sizes = np.concatenate([np.diff(part.tokens.offsets) for part in parts])
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        frequent = [part.are_frequent for part in parts if part.are_frequent is not None]
        return cls(
            TokenLists(np.concatenate([part.tokens.values for part in parts]), offsets),
            np.concatenate([part.numbers for part in parts]),
            np.concatenate([part.first_windows for part in parts]),
            np.concatenate(frequent) if frequent else None,
        )


class _Sent(NamedTuple):
    """The queries of a segment on their way: the files of their tokens, and what is first."""

    files: Sequence[bytes]
    first: int
    first_window: int
    are_frequent: bytes | None

    def read(self, windows: WindowPlan) -> _Queries:
        """Return the queries."""
        vocabulary, tokens, offsets = map(_array, self.files)
        n_windows = windows.count_windows(np.diff(offsets))
        ends = np.cumsum(n_windows)
        are_frequent = None
        if self.are_frequent is not None:
            packed = np.frombuffer(self.are_frequent, np.uint8)
            are_frequent = np.unpackbits(packed, count=int(n_windows.sum())).astype(np.bool_)
        return _Queries(
            TokenLists(vocabulary[tokens], offsets),
            np.arange(self.first, self.first + len(n_windows)),
            self.first_window + ends - n_windows,
            are_frequent,
        )


_TOKEN_FILES = ("vocabulary.npy", "tokens.npy", "offsets.npy")


def _array(data: bytes) -> Any:
    return np.load(io.BytesIO(data))


class _Sending(NamedTuple):
    """Where the queries of a task go, and what is first among them; see ``_Sent``."""

    targets: range
    first: int
    first_window: int
    are_frequent: bytes | None


@contextmanager
def _on_executors(
    current_cluster: Callable[[], Cluster], asked: Asked, workspace: Workspace, runner: Runner
) -> Iterator[LookUp]:
    """Have executors read all documents, as far as they are not in an index."""
    cluster, other = current_cluster(), asked.other
    storing = partial(
        Storing,
        n_tokens=segment_tokens_within(Workspace(cluster.task_bytes)),
        memory=cluster.task_bytes,
    )
    kept: list[StoredDocuments] = []
    try:
        if isinstance(other, PassageHandle):
            index = other.view(runner)
            parts = parts_of(index, other.folder.absolute(), cluster.slots)
            scheme, frequencies, sizes = index.scheme, index.frequencies, index.document_sizes()
            id_type, made = index.id_type, Made()
        else:
            scheme, frequencies = make_window_scheme(other.min_tokens, **other.scheme), None
            if scheme.weighting.idf != "unary":
                with runner.stage("count"):
                    listing = partial(_list_tokens, scheme, other.read)
                    frequencies = count_on_executors([other.sources], listing, cluster)
            with runner.stage("read") as note:
                how = storing(scheme, frequencies, other.read)
                indexed = store_on_executors(other.sources, how, cluster, are_indexed=True)
                kept.append(indexed)
                sizes = np.concatenate([NO_SIZES, *indexed.sizes])
                note(documents=len(sizes), tokens=int(sizes.sum()))
            parts = [Part(first) for first in indexed.starts[:-1].tolist()]
            id_type = common_id_type(set().union(*indexed.id_types))
            made = indexed.made
            idf = other.idf_for(len(sizes))
            scheme = scheme if idf is None else scheme.weighed_by(idf)
        if not asked.is_one:
            # Nobody looks for their windows.
            how = storing(scheme.without_hashes(), frequencies, asked.read)
            kept.append(store_on_executors(asked.sources, how, cluster, are_indexed=False))
        yield _OnExecutors(
            scheme,
            sizes,
            id_type,
            made,
            asked=asked,
            frequencies=frequencies,
            cluster=cluster,
            parts=parts,
            queries=kept[-1],
            stored=None if isinstance(other, PassageHandle) else kept[0].rows,
        )
    finally:
        for documents in kept:
            documents.rows.unpersist()


def _list_tokens(
    scheme: PassageScheme, read: PassageReading, piece: Piece, block: RowBlock
) -> TokenLists:
    return read_document_block(piece.source, block, scheme.tokenizer, read).tokens


@dataclass(kw_only=True)
class _OnExecutors(LookUp):
    """Queries and what they are looked up in, as executors keep them.

    ``stored`` are rows of the segments of the ``parts``, unless these are of an index.
    """

    asked: Asked
    frequencies: DocumentFrequencies | None
    cluster: Cluster
    parts: list[Part]
    queries: StoredDocuments
    stored: RDD[Any] | None

    def find(self, plan: AlignmentPlan, flood: Flood) -> Iterator[Aligned]:
        """Look all queries up, and bring what is found; nobody looks at some of them before."""
        asked, cluster, queries = self.asked, self.cluster, self.queries
        how = _Looking(
            self.scheme,
            self.frequencies,
            plan,
            asked.options,
            asked.hidden,
            asked.is_one,
            cluster.task_bytes,
        )
        sizes = [plan.windows.count_windows(each) for each in queries.sizes]
        n_windows = np.array([each.sum() for each in sizes], np.int64)
        self.counts.windows = int(n_windows.sum())
        frequent: Sequence[bytes | None] = [None] * len(n_windows)
        if plan.max_documents is not None:
            frequent = self._find_frequent(how, n_windows)
        found = cluster.work(
            partial(_look_up, how, queries.starts),
            self._attached(how, n_windows, frequent),
            keep=("align", cluster.task_bytes),
        )
        placed = cluster.place(found, len(n_windows)).union(queries.rows)
        attached = cluster.attach(list(enumerate(queries.starts[:-1].tolist())), placed)
        # Queries of another collection have been stored without.
        scheme = self.scheme if asked.is_one else self.scheme.without_hashes()
        spelled = cluster.bring_once(cluster.work(partial(_spell, how, scheme), attached))
        schema = SCHEMA_WITH_TEXT if asked.options.has_texts else SCHEMA
        for number, (_, rows) in enumerate(groupby(spelled, key=lambda row: row[0][0])):
            tables = [schema.empty_table()]
            places = [np.empty((0, len(_PLACES)), np.int64)]
            extents = [np.empty((0, len(_EXTENTS)), np.int64)]
            for (_, hits), data in rows:
                self.counts.hits += hits
                if data:
                    batch = from_bytes(data)
                    tables.append(pa.Table.from_batches([batch.select(schema.names)]))
                    places.append(_stacked(batch, _PLACES))
                    if asked.options.summary is not None:
                        extents.append(_stacked(batch, _EXTENTS))
            yield Aligned(
                queries.sizes[number],
                common_id_type(queries.id_types[number]),
                pa.concat_tables(tables),
                np.concatenate(places),
                None if asked.options.summary is None else np.concatenate(extents),
                queries.n_ignored[number],
                queries.skipped[number],
            )

    def _attached(
        self,
        how: _Looking,
        n_windows: Int64s,
        frequent: Sequence[bytes | None],
        *,
        everywhere: bool = False,
    ) -> RDD[Any]:
        """Send queries to the parts that may have something for them, with what is looked up in."""
        cluster, queries, n = self.cluster, self.queries, len(self.parts)
        # What stands before a document of one collection does not find it.
        only_later = self.asked.is_one and not self.asked.options.most_times and not everywhere
        firsts = (np.cumsum(n_windows) - n_windows).tolist()
        sendings = [
            _Sending(range(number if only_later else 0, n), first, first_window, bits)
            for number, (first, first_window, bits) in enumerate(
                zip(queries.starts[:-1].tolist(), firsts, frequent, strict=True)
            )
        ]
        sending = partial(_send, how.plan.windows)
        sent = cluster.work(sending, cluster.attach(sendings, queries.rows))
        placed = cluster.place(sent, n)
        if self.stored is not None:
            placed = self.stored.union(placed)
        return cluster.attach(list(enumerate(self.parts)), placed)

    def _find_frequent(self, how: _Looking, n_windows: Int64s) -> list[bytes]:
        """Return for the windows of each task, as bits, which of them too many documents have."""
        cluster = self.cluster
        bounds = np.concatenate([[0], np.cumsum(n_windows)])
        nothing = [None] * len(n_windows)
        attached = self._attached(how, n_windows, nothing, everywhere=True)
        keep = "align", cluster.task_bytes
        counts = cluster.work(partial(_count_documents, how, bounds), attached, keep=keep)
        ranges = list(pairwise(bounds.tolist()))
        placed = cluster.attach(ranges, cluster.place(counts, len(ranges)))
        assert how.plan.max_documents is not None
        summing = partial(_sum_documents, how.plan.max_documents)
        bits = []
        for n_frequent, data in cluster.bring_once(cluster.work(summing, placed)):
            self.counts.frequent_windows += n_frequent
            bits.append(data)
        return bits


# Columns of what is found beside those of the passages.
_PLACES = ("query", "query_token", "document", "doc_token")
_SIDES = ("query", "doc")
_MEASURES = ("from", "to", "size")
_EXTENTS = tuple(f"{side}_{name}" for side in _SIDES for name in _MEASURES)


def _stacked(batch: pa.RecordBatch, names: Sequence[str]) -> Int64s:
    return np.stack([numbers_of(batch, name) for name in names], axis=1)


def _send(windows: WindowPlan, rows: Iterator[Any]) -> Iterator[tuple[int, _Sent]]:
    """Send the queries of a task to all parts that may have something for them."""
    sending: _Sending = next(rows)
    first, done = sending.first, 0
    bits: Bools | None = None
    if sending.are_frequent is not None:
        bits = np.unpackbits(np.frombuffer(sending.are_frequent, np.uint8)).astype(np.bool_)
    for row in rows:
        n_windows = int(windows.count_windows(row.sizes).sum())
        if row.record is not None:
            own = None if bits is None else np.packbits(bits[done : done + n_windows]).tobytes()
            files = [row.files[name] for name in _TOKEN_FILES]
            sent = _Sent(files, first, sending.first_window + done, own)
            for target in sending.targets:
                yield target, sent
        first += len(row.sizes)
        done += n_windows


@contextmanager
def _aligning(
    how: _Looking, part: Part, rows: Iterator[Any]
) -> Iterator[tuple[Aligner, OpenPassages, Iterator[_Queries]]]:
    """Open a part, and give its aligner and as many queries at a time as are best."""
    with (
        local_workspace(how.memory) as workspace,
        Runner(1) as runner,
        opened(part, how.scheme, how.frequencies, workspace, rows) as (index, others),
    ):
        aligner = Aligner(index, how.plan, workspace, runner)
        queries = (sent.read(how.plan.windows) for _, sent in others)
        n_tokens = tokens_at_a_time([index], workspace, runner)
        yield aligner, index, gather_by(_Queries.join, queries, n_tokens)


def _count_documents(
    how: _Looking, bounds: Int64s, rows: Iterator[Any]
) -> Iterator[tuple[int, bytes | Failure]]:
    """Send in how many documents of a part windows are found; ``bounds`` are those of tasks."""
    number, part = next(rows)
    outbox = Outbox()
    try:
        with _aligning(how, part, rows) as (aligner, _, queries):
            for block in queries:
                counts = aligner.count_documents(block.tokens)
                n_windows = how.plan.windows.count_windows(np.diff(block.tokens.offsets))
                starts = np.cumsum(n_windows) - n_windows
                windows = np.arange(len(counts)) + np.repeat(
                    block.first_windows - starts, n_windows
                )
                found = np.flatnonzero(counts)
                columns = {"window": windows[found], "documents": counts[found]}
                tasks = np.searchsorted(bounds, windows[found], side="right") - 1
                yield from outbox.add(pa.RecordBatch.from_pydict(columns), tasks)
            yield from outbox.rest()
    except NeardupError as error:
        yield 0, Failure.of(number, None, error)


def _sum_documents(most: int, rows: Iterator[Any]) -> Iterator[tuple[int, bytes] | Failure]:
    """Give which windows of a task are found in too many documents of all parts, as bits."""
    start, stop = next(rows)
    counts: Int64s = np.zeros(stop - start, np.int64)
    for _, data in rows:
        if isinstance(data, Failure):
            yield data
            continue
        batch = from_bytes(data)
        np.add.at(counts, numbers_of(batch, "window") - start, numbers_of(batch, "documents"))
    are_frequent = counts > most
    yield int(are_frequent.sum()), np.packbits(are_frequent).tobytes()


def _look_up(
    how: _Looking, starts: Int64s, rows: Iterator[Any]
) -> Iterator[tuple[int, bytes | int | Failure]]:
    """Look queries up in a part, and send what they share with it to where they are kept.

    ``starts`` are the first documents there. How often something was found goes to the first task.
    """
    number, part = next(rows)
    outbox = Outbox()
    try:
        with _aligning(how, part, rows) as (aligner, index, queries):
            for block in queries:
                later = later_than(block.numbers - part.first, how.options) if how.is_one else None
                matches = aligner.align(block.tokens, lambda _: None, later, block.are_frequent)
                if len(matches):
                    batch = _found_in(how, part, index, block.numbers[matches.queries], matches)
                    tasks = np.searchsorted(starts, numbers_of(batch, "query"), side="right") - 1
                    yield from outbox.add(batch, tasks)
            yield from outbox.rest()
            yield 0, aligner.counts.hits
    except NeardupError as error:
        yield 0, Failure.of(number, None, error)


def _found_in(
    how: _Looking, part: Part, index: OpenPassages, numbers: Int64s, found: Matches
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
    how: _Looking,
    name: str,
    index: OpenPassages,
    documents: Int64s,
    starts: Int64s,
    stops: Int64s,
) -> dict[str, Any]:
    """Return the columns of one side of passages."""
    side = side_in(index, documents, starts, stops, with_text=how.options.has_texts)
    columns: dict[str, Any] = {
        f"{name}_id": side.ids,
        f"{name}_start": side.starts,
        f"{name}_end": side.stops,
    }
    if side.texts is not None:
        columns[f"{name}_text"] = pa.array(side.texts, pa.large_string())
    if how.options.summary is not None:
        extents = extents_in(index, documents, side.starts, side.stops, how.hidden)
        columns |= {f"{name}_{each}": extents[:, i] for i, each in enumerate(_MEASURES)}
    return columns


def _side_of(columns: dict[str, Any], name: str) -> Side:
    ids, starts, stops = (columns[f"{name}_{each}"] for each in ("id", "start", "end"))
    return Side(ids, starts, stops, columns.get(f"{name}_text"))


# Passages that come to the driver together.
_AT_ONCE = 1 << 14


def _spell(
    how: _Looking, scheme: PassageScheme, rows: Iterator[Any]
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
        opened(Part(first), scheme, None, workspace, stored) as (index, _),
    ):
        for start in range(0, len(found), _AT_ONCE):
            some = found.slice(start, _AT_ONCE)
            yield (number, 0), to_bytes(_spelled(how, index, first, some))


def _spelled(
    how: _Looking, index: OpenPassages, first: int, found: pa.RecordBatch
) -> pa.RecordBatch:
    """Return passages with all there is to know of their queries, too."""
    columns = {name: found.column(name) for name in found.schema.names}
    queries, starts, stops = (
        numbers_of(found, name) for name in ("query", "query_token", "query_stop")
    )
    columns |= _side(how, "query", index, queries - first, starts, stops)
    query, document = (_side_of(columns, name) for name in _SIDES)
    table = side_table(query, document, numbers_of(found, "similarity"))
    if how.options.excerpt is not None:
        table = excerpts(table, how.options.excerpt)
    kept = (*_PLACES, *(_EXTENTS if how.options.summary is not None else ()))
    for name in kept:
        table = table.append_column(name, pa.array(columns[name]))
    return table.combine_chunks().to_batches()[0]


class _Arguments(
    AlignSchemeOptions,
    IgnoreOptions,
    WorkspaceOptions,
    ProgressOptions,
    GroupArguments,
    kw_only=False,
):
    session: Any = argument(SESSION)
    a: Data = argument(SHARED_FILES)
    b: DataOrIndex | None = argument(
        "Other documents, in files as well, or a ``PassageIndex`` or the path of one, which all "
        "executors reach under the same path. None: those of ``a`` are compared with each other, "
        "each pair once; the earlier one is the query.",
        default=None,
    )
    differs = but(**ON_DRIVER)


@takes(_Arguments)
def align(given: _Arguments) -> PassageResult:
    """Find all passages that two collections share, or one, as ``neardup.align``, on executors.

    Rows are the same.

    Returns
    -------
    ``passages`` and a ``summary``, as ``neardup.align`` does.

    Raises
    ------
    InvalidParameterError
        For an option out of range, or a session without a ``SparkContext``.
    InvalidInputError
        For a bad row or a repeated id, and for data in memory.
    ReadError
        For a file or an index that cannot be read.
    EngineError
        If Spark cannot finish.

    Notes
    -----
    The driver keeps the passages, some 150 bytes each, and their texts; of each document that is
    indexed its id. Text that is ignored is read by it, too, wherever that is.
    """
    b = given.b
    options, chosen = choose_options(given, ("a", "b"), has_other=b is not None)
    resolve = partial(
        resolve_other, resolve=partial(resolve_inputs, options=options), tokenizer=given.tokenizer
    )
    workspace = open_workspace(given.memory, given.work)
    with Runner(None, given.progress, "align") as runner, workspace:
        sources = rows_where(resolve_inputs(given.a, options), options.where)
        templates = () if given.ignore is None else resolve_inputs(given.ignore, options)
        if b is None:
            other: Other = no_other(sources, options, chosen)
        else:
            other = choose_other(b, resolve, options, chosen, sources)
        of_session = partial(cluster_of, given.session)
        result = align_on_spark(of_session, sources, other, options, workspace, runner, templates)
    return with_warning(result)
