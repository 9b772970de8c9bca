"""Changing an index of documents: they come in and go, segments are put together."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents import blocks
from neardup.documents.denied import batch_of, known_of, known_of_digests
from neardup.documents.index import DocumentHandle, OpenDocuments
from neardup.documents.lookup import find_denied
from neardup.documents.pending import Pending, Searchable
from neardup.documents.queries import Queries
from neardup.documents.reading import (
    Deny,
    PackedBlock,
    pack_cells,
    read_documents,
)
from neardup.documents.segment import DocumentSegment, columns_of_gone
from neardup.documents.segment_writer import DocumentSegmentWriter, new_segment
from neardup.documents.values import Id
from neardup.errors import InvalidInputError, NeardupError
from neardup.files.ids import as_text, choose_id_column
from neardup.files.passes import ReadingPass
from neardup.files.rows import Source
from neardup.index.changes import (
    Addition,
    CompactionResult,
    RemovalResult,
    check_all_found,
    store_next,
    wanted_ids,
    without,
)
from neardup.index.handle import OpenFiles, store_frequencies
from neardup.index.store import PendingRecord, SegmentRecord, free_name
from neardup.passages.documents import PassageReading
from neardup.reading.sign import count_tokens, counted_shingles
from neardup.runs.progress import counted, job_logger
from neardup.runs.runner import Runner
from neardup.tables import Floats, Int64s, Texts, Uint32s, Uint64s
from neardup.text.weighting import DocumentFrequencies

# Writing segments of an index anew, as one, without what was taken out of them.

# Rows whose filters and digests are copied at once.
_ROWS_AT_ONCE = 1 << 16

_LOW32 = np.uint64(0xFFFFFFFF)
_NOTHING: Uint32s = np.empty(0, np.uint32)


def compact_index(handle: DocumentHandle, runner: Runner) -> CompactionResult:
    """Write an index anew as one segment, without removed documents; answers stay the same.

    Texts are not tokenised again. Memory does not grow with them.
    """
    with handle.changing(runner) as files:
        n_before = files.manifest.n_bytes
        if files.manifest.pending.n_removed:
            # Rows can only be left out of a segment.
            with adding(handle, files, runner):
                pass
    with handle.changing(runner) as files:
        before = files.manifest
        if before.pending.n_rows or len(before.segments) > 1 or any(map(len, files.removed)):
            merge_segments(handle, files, 0, runner)
        after = handle.reopen(runner).manifest
        # A segment may take more than the pending documents that it was.
        n_freed = max(0, n_before - after.n_bytes)
        return CompactionResult(len(after.segments), after.n_documents, n_freed)


def merge_segments(handle: DocumentHandle, files: OpenFiles, first: int, runner: Runner) -> None:
    """Put the last segments together, from a number on, in a block of ``handle.changing``.

    Pending documents, of which none is removed, come with them if all are put together.
    """
    manifest, index = files.manifest, handle.read(files)
    name, stop = free_name(manifest, 0), len(manifest.segments)
    merged: list[SegmentRecord] = []
    with new_segment(handle.folder, name, index.scheme, runner) as writer:
        copying = _Copying(index, writer)
        for number in range(first, stop):
            copying.copy(number)
            runner.report("compact", number - first + 1, stop - first)
        if not first and not manifest.pending.n_removed:
            _add_waiting(Adding(index, writer))
            manifest = replace(manifest, pending=PendingRecord())
        if writer.n_documents or writer.n_gone:
            merged.append(writer.finish(name))
    manifest = replace(manifest, segments=(*manifest.segments[:first], *merged))
    removed = [*files.removed[:first], *([_NOTHING] * len(merged)), files.removed[-1]]
    store_next(handle.database, manifest, removed)


class _Copying:
    """Copies segments, one behind the other; blocks that lost nothing are copied as they are."""

    def __init__(self, index: OpenDocuments, writer: DocumentSegmentWriter) -> None:
        self._index, self._writer = index, writer

    def copy(self, number: int) -> None:
        segment = self._index.segments[number]
        assert isinstance(segment, DocumentSegment)
        live = self._index.live_rows(number)
        first = self._writer.n_documents
        n_tokens = self._copy_blocks(segment, live)
        self._copy_columns(segment, live, n_tokens)
        self._writer.lists.sources.append(
            _renumbered(segment, live, first, self._index.scheme.banding.bands)
        )
        self._copy_gone(segment, number)

    def _copy_blocks(self, segment: DocumentSegment, live: Int64s) -> int:
        """Copy the blocks of live rows; returns how many tokens all of these have."""
        starts = segment.blocks.first_rows
        bounds = np.searchsorted(live, starts)
        n_lost_tokens = 0
        for number in range(segment.blocks.n_blocks):
            start, n_rows = int(starts[number]), int(starts[number + 1] - starts[number])
            rows = live[bounds[number] : bounds[number + 1]] - start
            data, raw_size = segment.blocks.packed(number)
            if len(rows) == n_rows:
                self._writer.blocks.append([PackedBlock(data.tobytes(), n_rows, raw_size)])
                continue
            block = blocks.unpack(data, raw_size)
            n_lost_tokens += int(block.n_tokens.sum() - block.n_tokens[rows].sum())
            if len(rows):
                self._writer.blocks.append(pack_cells(*block.take(rows)))
        return segment.n_tokens - n_lost_tokens

    def _copy_columns(self, segment: DocumentSegment, live: Int64s, n_tokens: int) -> None:
        has_filters = self._index.scheme.has_filters
        for start in range(0, len(live), _ROWS_AT_ONCE):
            rows = live[start : start + _ROWS_AT_ONCE]
            filters = segment.filters_of(rows) if has_filters else None
            ids = Texts.from_arrow(segment.ids_of(rows))
            # All tokens with the first rows.
            of_rows = 0 if start else n_tokens
            digests = segment.digests_of(rows)
            self._writer.add_columns(digests, filters, ids, segment.id_type, of_rows)

    def _copy_gone(self, segment: DocumentSegment, number: int) -> None:
        """Copy what went for documents that are still there."""
        for ids, kept_ids, digests, similarities in gone_of(segment):
            keepers = self._index.documents_of_ids(kept_ids)
            end = self._index.first_documents[number + 1]
            is_there = (keepers >= 0) & (keepers < end)
            ids, kept_ids = (each.filter(pa.array(is_there)) for each in (ids, kept_ids))
            self._writer.add_gone(ids, kept_ids, digests[is_there], similarities[is_there])


def gone_of(segment: Searchable) -> Iterator[tuple[pa.Array, pa.Array, Uint64s, Floats]]:
    """Yield ids, kept ids, digests and similarities of gone documents, block by block."""
    if isinstance(segment, Pending):
        gone = segment.gone()
        if gone is not None:
            yield as_text(gone[0]), *gone[1:]
        return
    assert isinstance(segment, DocumentSegment)
    if segment.gone is None:
        return
    for number in range(segment.gone.n_blocks):
        yield columns_of_gone(segment.gone.read(number))


def _renumbered(
    segment: DocumentSegment, live: Int64s, first: int, n_bands: int
) -> Callable[[int], Uint64s]:
    """Return what reads a list of a segment with the numbers that its rows have now."""
    are_all = len(live) == len(segment)
    now: Int64s = np.full(0 if are_all else len(segment), -1, np.int64)
    if not are_all:
        now[live] = np.arange(first, first + len(live))

    def read(number: int) -> Uint64s:
        # Behind these is the list of those that went, which is made anew.
        entries = segment.lists.read(number) if number < n_bands + 2 else np.empty(0, np.uint64)
        if are_all:
            return entries + np.uint64(first)
        rows = now[(entries & _LOW32).astype(np.int64)]
        is_live = rows >= 0
        run: Uint64s = (entries[is_live] & ~_LOW32) | rows[is_live].astype(np.uint64)
        return run

    return read


# Which segments are put together after an addition, so that there are never many.

_log = job_logger(__name__)

# So many segments of a size become one of the next. Each document is written again as often as it
# goes up; a look-up goes through one less at most for each size.
FANOUT = 8
_LEAST = 1024


def merge_tiers(handle: DocumentHandle, runner: Runner) -> None:
    """Put segments together after an addition, as long as there are too many.

    An error is logged and not raised: what was added before is there, and the next addition tries
    again.
    """
    try:
        while count_to_merge(_sizes(handle.reopen(runner))):
            with handle.changing(runner) as files:
                sizes = _sizes(files)
                if n := count_to_merge(sizes):
                    merge_segments(handle, files, len(sizes) - n, runner)
    except NeardupError as error:
        _log.warning("%s: segments were not put together: %s", handle.folder, error)


def _sizes(files: OpenFiles) -> list[int]:
    return [record.n_documents for record in files.manifest.segments]


def count_to_merge(sizes: Sequence[int]) -> int:
    """Count the last segments that are to become one, by their numbers of documents; 0 for none.

    Only neighbours, because documents keep their order. So a small segment in front of a larger one
    goes with that.
    """
    # Sizes up to 1,024 are of tier 0, up to 8 times as many of tier 1, and so on.
    tiers = [max(0, math.ceil(math.log(max(size, 1) / _LEAST, FANOUT))) for size in sizes]
    tiers = [*accumulate(reversed(tiers), max)][::-1]
    for tier in sorted(set(tiers)):
        if tiers.count(tier) >= FANOUT:
            return len(tiers) - tiers.index(tier)
    return 0


# Taking documents out of an index.

_ORPHANS = pa.schema(
    [("id", pa.large_string()), ("kept_id", pa.large_string()), ("similarity", pa.float64())]
)


@dataclass(frozen=True, repr=False, kw_only=True)
class DocumentRemovalResult(RemovalResult):
    """What was taken out of an index of documents, with what had gone for that.

    ``orphans`` lists documents that are not in the index because they went for one that was taken
    out now: ``id``, ``kept_id`` and ``similarity``. Who wants them has to add them again, unless
    they were denied: ``n_denied`` documents, those of them that have tokens, are left out from now
    on.
    """

    orphans: pa.Table
    n_denied: int = 0

    @property
    def summary(self) -> dict[str, Any]:
        """Counts, orphans and seconds, as plain values."""
        return {
            **super().summary,
            "denied": self.n_denied,
            "orphans": self.orphans.to_pylist(),
        }

    def __repr__(self) -> str:
        """Return the class and the counts."""
        return f"{super().__repr__()[:-1]}, {counted(len(self.orphans), 'orphan')})"


def remove_documents(
    handle: DocumentHandle, ids: Iterable[str | int], runner: Runner, *, deny: bool = False
) -> DocumentRemovalResult:
    """Take documents out; all of them or none.

    ``deny``: they are left out where they come again, and so is what had gone for them.
    """
    wanted = wanted_ids(ids)
    with handle.changing(runner) as files:
        index, manifest = handle.read(files), files.manifest
        found = index.rows_of_ids(wanted)
        check_all_found(wanted, found)
        orphans, digests = find_orphans(index, wanted)
        n_denied = 0
        if deny and len(wanted):
            n_before = 0 if index.denied is None else len(index.denied)
            record = _deny(handle, index, wanted, orphans["id"], digests, runner)
            n_denied = (0 if record is None else record.n_documents) - n_before
            manifest = replace(manifest, denied=record)
        # Their rows stay on the disk until their segments are written anew.
        if len(wanted):
            store_next(handle.database, manifest, without(files.removed, found))
        n_left = manifest.n_documents - len(wanted)
        return DocumentRemovalResult(len(wanted), n_left, orphans=orphans, n_denied=n_denied)


def replace_document(
    handle: DocumentHandle, files: OpenFiles, pending: Pending, identifier: Id, runner: Runner
) -> DocumentRemovalResult:
    """Put one document in the place of that with its id, if there is one, in one change.

    In a block of ``handle.changing``.
    """
    index = handle.read(files)
    wanted = wanted_ids([identifier])
    orphans, _ = find_orphans(index, wanted)
    found = index.rows_of_ids(wanted)
    n_removed = sum(len(rows) for _, rows in found)
    unwritable: list[tuple[Id, str]] = []
    pending.pack(unwritable)
    if unwritable:
        message = f"document {identifier!r} cannot be written: {unwritable[0][1]}"
        raise InvalidInputError(message)
    contents = replace(files.contents, removed=without(files.removed, found))
    put_away(
        handle,
        replace(files, contents=contents),
        pending,
        unwritable,
        runner,
        has_lost=n_removed > 0,
    )
    return DocumentRemovalResult(n_removed, index.n_documents - n_removed + 1, orphans=orphans)


def _deny(
    handle: DocumentHandle,
    index: OpenDocuments,
    ids: pa.Array,
    orphan_ids: pa.ChunkedArray,
    orphan_digests: Uint64s,
    runner: Runner,
) -> SegmentRecord | None:
    """Write what is known of denied documents, with some more, each digest once; None: nothing."""
    name, scheme, known = free_name(index.manifest, 0), index.scheme, set[bytes]()
    with new_segment(handle.folder, name, scheme, runner) as writer:
        if index.denied is not None:
            every = np.arange(len(index.denied), dtype=np.int64)
            known.update(digest.tobytes() for digest in index.denied.digests_of(every))
            before = replace(index, segments=(index.denied,), removed=(_NOTHING,))
            _Copying(before, writer).copy(0)
        documents = index.documents_of_ids(ids)
        documents = np.sort(documents[documents >= 0])
        orphans = orphan_ids.combine_chunks(), known_of_digests(orphan_digests, scheme)
        for new_ids, queries in (*known_of(index, documents), orphans):
            rows = []
            for row, digest in enumerate(each.tobytes() for each in queries.digests):
                if digest not in known:
                    known.add(digest)
                    rows.append(row)
            taken = new_ids.take(pa.array(rows, pa.int64()))
            writer.add(batch_of(taken, queries.take(np.array(rows, np.int64)), scheme))
        return writer.finish(name) if writer.n_documents else None


def find_orphans(index: OpenDocuments, ids: pa.Array) -> tuple[pa.Table, Uint64s]:
    """Return the documents that went for some of the index, which are given by their ids.

    The digests, of shape (n, 2), are those of the table's rows.
    """
    parts, found = [_ORPHANS.empty_table()], [np.empty((0, 2), np.uint64)]
    for number, segment in enumerate(index.segments):
        for gone_ids, kept_ids, digests, similarities in gone_of(segment):
            keepers = index.documents_of_ids(kept_ids)
            is_there = (keepers >= 0) & (keepers < index.first_documents[number + 1])
            mask = pc.and_(pc.is_in(kept_ids, value_set=ids), pa.array(is_there))
            columns = [gone_ids, kept_ids, pa.array(similarities)]
            parts.append(pa.table(columns, _ORPHANS).filter(mask))
            found.append(digests[mask.to_numpy(zero_copy_only=False)])
    every = pa.concat_tables(parts)
    # Who repeats an addition notes again what went.
    pairs = zip(every["id"].to_pylist(), every["kept_id"].to_pylist(), strict=True)
    firsts = {pair: place for place, pair in reversed(list(enumerate(pairs)))}
    rows: Int64s = np.array(sorted(firsts.values()), np.int64)
    return every.take(pa.array(rows)), np.concatenate(found)[rows]


# The most documents that wait in the database, and bytes of these: who opens an index unpacks them.
MOST_PENDING = 256
_MOST_BYTES_PENDING = 1 << 22


@dataclass(frozen=True)
class Adding:
    """The next state of an index whose write lock is held; there is nothing of it before it ends.

    ``index`` is the state before, with the scheme that documents are signed by. The ``writer``
    takes documents whose ids are new, and those that went for others.
    """

    index: OpenDocuments
    writer: DocumentSegmentWriter


@contextmanager
def adding(
    handle: DocumentHandle,
    files: OpenFiles,
    runner: Runner,
    *,
    frequencies: DocumentFrequencies | None = None,
) -> Iterator[Adding]:
    """Make the next state of an index, within a block of ``handle.changing``.

    What was added is there when the block ends, all of it; nothing, if an error ends it. Pending
    documents come before it into the same segment. ``frequencies`` are those that decide what
    shingles weigh from now on.
    """
    manifest, index = files.manifest, handle.read(files)
    if frequencies is not None:
        index = replace(index, scheme=index.scheme.with_frequencies(frequencies))
        record = store_frequencies(handle.folder, free_name(manifest, 1), frequencies)
        manifest = replace(manifest, frequencies=record)
    name, removed = free_name(manifest, 0), [*files.removed[:-1]]
    with new_segment(handle.folder, name, index.scheme, runner) as writer:
        new = Adding(index, writer)
        _add_waiting(new)
        yield new
        if writer.n_documents or writer.n_gone:
            segments = (*manifest.segments, writer.finish(name))
            manifest = replace(manifest, segments=segments, pending=PendingRecord())
            # Pending documents are the first of the segment.
            removed.append(files.removed[-1])
    if manifest != files.manifest:
        store_next(handle.database, manifest, [*removed, _NOTHING])


def _add_waiting(new: Adding) -> None:
    """Add the documents that are pending, if there are any."""
    if new.index.segments and isinstance(new.index.segments[-1], Pending):
        _add_pending(new, new.index.segments[-1], [])


def _add_pending(new: Adding, pending: Pending, unwritable: list[tuple[Id, str]]) -> None:
    for batch in pending.batches(unwritable):
        new.writer.add(batch)
    gone = pending.gone()
    if gone is not None:
        new.writer.add_gone(*gone)


def put_away(
    handle: DocumentHandle,
    files: OpenFiles,
    pending: Pending,
    unwritable: list[tuple[Id, str]],
    runner: Runner,
    *,
    has_lost: bool = False,
) -> bool:
    """Make documents in memory durable; return whether they are in a segment.

    In a block of ``handle.changing``, whose files may have lost some documents. A few go into
    the database as one row, where a segment is nine files, which are put together with others later
    on. Those that cannot be written are listed, with why; the others are.
    """
    before = files.manifest.pending
    n = sum(each.n_documents + each.n_gone for each in (pending, before))
    if n > MOST_PENDING or pending.n_bytes + before.n_bytes > _MOST_BYTES_PENDING:
        with adding(handle, files, runner) as new:
            _add_pending(new, pending, unwritable)
        return True
    data = pending.pack(unwritable)
    if data:
        n_written = pending.n_documents - len(unwritable)
        record = before.with_row(data, n_written, pending.n_tokens, pending.n_gone)
        removed = files.removed if has_lost else None
        store_next(handle.database, replace(files.manifest, pending=record), removed, [data])
    return False


def _denying(index: OpenDocuments) -> Deny | None:
    """Return what tells denied texts, at the threshold of an index; None if none are."""
    denied = index.denied
    if denied is None:
        return None

    def deny(queries: Queries) -> tuple[Int64s, list[str], list[float], list[bool]]:
        every = np.ones(len(queries), np.bool_)
        found = find_denied(index, queries, index.scheme.measure, every)
        ids = denied.ids_of(found.rows).to_pylist()
        return found.texts, ids, found.similarities.tolist(), found.are_exact.tolist()

    return deny


def add_documents(
    handle: DocumentHandle, sources: Sequence[Source], how: PassageReading, runner: Runner
) -> Addition:
    """Add documents, all of them or none.

    The first addition decides the inverse document frequencies, if shingles are weighted by them:
    then the input is read twice.
    """
    columns, skip_bad = choose_id_column(how.columns, sources), how.skip_bad
    with handle.changing(runner) as files:
        scheme = handle.read(files).scheme
        frequencies = None
        if scheme.needs_frequencies:
            plan = scheme.reading_plan(columns, skip_bad=skip_bad)
            counted = counted_shingles([(sources, columns)], plan)
            frequencies = count_tokens("count", counted, runner)
            # No documents decide nothing.
            frequencies = frequencies if frequencies.n_documents else None
        with adding(handle, files, runner, frequencies=frequencies) as new:
            addition = Addition(new.index, columns, scheme.shingles.ngram)
            reading = ReadingPass("read", sources, runner)
            deny = _denying(new.index)
            for documents in read_documents(
                sources, columns, new.index.scheme, reading, skip_bad=skip_bad, deny=deny
            ):
                addition.denied += documents.denied
                batch = documents.batch
                addition.take(batch.ids, documents.places, batch.n_tokens, documents.skipped)
                new.writer.add(batch)
            addition.check_repeats()
    merge_tiers(handle, runner)
    return addition
