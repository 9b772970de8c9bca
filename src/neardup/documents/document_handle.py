"""Change an index of documents, and merge its segments."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import accumulate
from logging import getLogger
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from neardup.documents.delta import Delta
from neardup.documents.document_segment import (
    DocumentBatch,
    DocumentSegment,
    DocumentSegmentWriter,
    new_segment,
)
from neardup.documents.open_documents import DeniedDocuments, OpenDocuments
from neardup.documents.queries import Queries, make_query, queries_of_texts
from neardup.documents.records import (
    NO_GONE,
    Id,
    digests_in,
    make_denied,
    make_records,
    pack_records,
)
from neardup.documents.scheme import KIND, DocumentScheme, restore_document_scheme
from neardup.errors import DeniedError, InvalidInputError, InvalidParameterError, NeardupError
from neardup.files.documents import ReadingPass, choose_id_column, join_ids, read_text_block
from neardup.files.problems import listed_names
from neardup.files.rows import ColumnNames, RowBlock, Source
from neardup.index.handle import IndexHandle, store_frequencies
from neardup.index.open_index import Addition, RemovalResult, RowPlaces, wanted_ids
from neardup.index.segments import Segment, pack_table, unpack_table
from neardup.index.store import Contents, Manifest
from neardup.passages.document_blocks import DocumentReading
from neardup.reading.sign import count_tokens, shingle_collections
from neardup.runs.runner import Runner
from neardup.tables import Bools, Int64s, TokenLists
from neardup.text.shingles import digest_token_lists
from neardup.text.weighting import DocumentFrequencies

_log = getLogger(__name__)


class DeniedDocument(NamedTuple):
    """A skipped document with the tokens of a denied one."""

    id: str | int
    denied_id: str | int
    file: str
    row: int


@dataclass(frozen=True)
class ReadDocuments:
    """Documents of a block with row ``numbers``, and skipped rows."""

    source: str
    numbers: Int64s
    batch: DocumentBatch
    skipped: list[tuple[str, int, str]] = field(default_factory=list)
    denied: list[DeniedDocument] = field(default_factory=list)

    @property
    def places(self) -> RowPlaces:
        """The rows of the documents."""
        return RowPlaces(((self.source, len(self.numbers)),), self.numbers)


def read_selected(
    source: Source,
    block: RowBlock,
    columns: ColumnNames,
    scheme: DocumentScheme,
    select: Bools,
    queries: Queries,
) -> ReadDocuments:
    """Read selected documents of a block that are signed already."""
    rows = read_text_block(source, block, columns, skip_bad=False, select=select)
    more = _user_columns(source, block, scheme.columns, select)
    records = make_records(rows.texts.cast(pa.large_string()), more)
    batch = DocumentBatch(rows.ids, queries, pack_records(records))
    return ReadDocuments(source.name, rows.numbers, batch)


def read_block(
    source: Source, block: RowBlock, columns: ColumnNames, index: OpenDocuments, skip_bad: bool
) -> ReadDocuments:
    """Read and sign the documents of a block that are not denied."""
    scheme = index.scheme
    rows = read_text_block(source, block, columns, skip_bad=skip_bad)
    texts = scheme.shingles.tokenizer.texts_in_index(rows.texts, rows.ids, block.language)
    queries = queries_of_texts(texts, scheme, with_sets=False)
    records = make_records(
        rows.texts.cast(pa.large_string()),
        _user_columns(source, block, scheme.columns, np.isin(block.numbers, rows.numbers)),
    )
    ids, numbers, found = rows.ids, rows.numbers, index.denied.find(queries)
    denied = [
        DeniedDocument(
            ids[text].as_py(),
            index.denied.ids[int(found[text])].as_py(),
            source.name,
            int(numbers[text]),
        )
        for text in np.flatnonzero(found >= 0).tolist()
    ]
    if denied:
        rest = np.flatnonzero(found < 0)
        ids, records = ids.take(pa.array(rest)), records.take(pa.array(rest))
        numbers, queries = numbers[rest], queries.take(rest)
    batch = DocumentBatch(ids, queries, pack_records(records))
    return ReadDocuments(source.name, numbers, batch, rows.skipped, denied)


def _user_columns(
    source: Source, block: RowBlock, names: Sequence[str], select: Bools
) -> pa.Table | None:
    if not names:
        return None
    table = block.some_columns(names, select)
    for name in names:
        if name not in table.column_names:
            found = listed_names(source.listed_names())
            message = f"there is no column {name!r}, which the index keeps; there are {found}"
            raise InvalidInputError(message, path=source.name)
    return table


# The most documents in rows of the database, and their bytes: all are unpacked to open the index.
MOST_PENDING = 256
_MOST_BYTES_PENDING = 1 << 22

# Documents in memory that are written together.
_WRITTEN_AT_ONCE = 4096

# Documents that were left out, in a row of the database; many small rows are joined.
_GONE_IN_ROW, _FEW_ROWS, _LEAST_IN_ROW = 4096, 64, 512

# The digest of documents without tokens.
_EMPTY = digest_token_lists(TokenLists(np.empty(0, np.uint64), np.zeros(2, np.int64))).tobytes()


@dataclass(frozen=True)
class Adding:
    """The next state of a locked index.

    ``index`` is the former state with the scheme of new documents. The ``writer`` takes documents
    with new ids; ``gone`` takes tables of documents that are left out for others.
    """

    index: OpenDocuments
    writer: DocumentSegmentWriter
    gone: list[pa.Table] = field(default_factory=list)


# Merging segments, so that there are never many.

# This many segments of one tier are merged into one of the next tier. So a document is rewritten
# once per tier, and a lookup searches fewer segments than this per tier.
FANOUT = 8
_LEAST = 1024


class DocumentHandle(IndexHandle[OpenDocuments]):
    """An open index of documents."""

    kind: ClassVar = KIND
    is_lazy: ClassVar = True

    # Unpacked rows of pending documents, so that only new rows have to be unpacked.
    _rows: tuple[bytes, ...] = ()
    _delta: Delta | None = None

    def restore(
        self, contents: Contents, frequencies: DocumentFrequencies | None
    ) -> DocumentScheme:
        """Restore the scheme, with its frequencies."""
        scheme = restore_document_scheme(contents.manifest.scheme, self.tokenizer)
        return scheme.with_frequencies(frequencies)

    def open_part(self, segment: Segment, restored: DocumentScheme) -> DocumentSegment:
        """Open the arrays of a segment."""
        return DocumentSegment(segment, restored)

    def view_of(
        self, contents: Contents, restored: DocumentScheme, parts: tuple[DocumentSegment, ...]
    ) -> OpenDocuments:
        """Combine all segments and the database's documents into an index."""
        rows, n = contents.pending, len(self._rows)
        if self._delta is None or self._delta.scheme is not restored or rows[:n] != self._rows:
            n, self._delta = 0, Delta(restored)
        for row in rows[n:]:
            self._delta.take_packed(row)
        self._rows = rows
        denied = DeniedDocuments.unpack(contents.denied)
        index = OpenDocuments(contents, restored, parts, contents.removed[:-1], denied)
        return index.with_pending(self._delta.fixed(), contents.removed[-1]) if rows else index

    @contextmanager
    def adding(
        self,
        index: OpenDocuments,
        runner: Runner,
        *,
        frequencies: DocumentFrequencies | None = None,
        first: int | None = None,
    ) -> Iterator[Adding]:
        """Make the next state of an index within ``changing``.

        All additions are committed at the end of the block, and none after an error. Pending
        documents, or all from segment ``first`` on, go first into the same segment. ``frequencies``
        decide the weights of shingles.
        """
        contents = index.contents
        if frequencies is not None:
            index = replace(index, scheme=index.scheme.with_frequencies(frequencies))
            # An addition without documents does not determine the frequencies.
            if frequencies.n_documents:
                contents = store_frequencies(self.folder, contents, frequencies)
        start = len(contents.manifest.segments) if first is None else first
        n_copied = len(index.segments) - start
        name = contents.manifest.free_name(0)
        with new_segment(self.folder, name, index.scheme, runner) as writer:
            for number in range(start, len(index.segments)):
                segment, rows = index.segments[number], index.live_rows(number)
                if isinstance(segment, Delta):
                    _write_delta(segment, rows, writer)
                else:
                    writer.add_segment(segment, rows)
                if first is not None:
                    runner.report("compact", number - start + 1, n_copied)
            new = Adding(index, writer)
            yield new
            records = [writer.finish()] if writer.n_documents else []
        if records or n_copied:
            contents = contents.with_segments(records, start)
        contents = self._with_gone(contents, new.gone)
        if contents is not index.contents:
            self.database.commit(contents)

    def commit_delta(
        self, index: OpenDocuments, delta: Delta, gone: Sequence[pa.Table], runner: Runner
    ) -> bool:
        """Commit documents in memory, and return whether they became a segment.

        Only within a block of ``changing``, with its index or that index without some documents. A
        few documents go into rows of the database, more of them into the file of a segment, which
        may have to be merged with others. ``gone`` are documents that were left out.
        """
        before = index.manifest.pending
        n, n_bytes = len(delta) + before.n_documents, delta.n_bytes + before.n_bytes
        if n > MOST_PENDING or n_bytes > _MOST_BYTES_PENDING:
            with self.adding(index, runner) as new:
                _write_delta(delta, np.arange(len(delta)), new.writer)
                new.gone.extend(gone)
            return True
        contents = self._with_gone(index.contents, gone)
        if len(delta):
            contents = contents.with_pending(delta.pack(), len(delta), delta.n_tokens)
        self.database.commit(contents)
        with self._lock:
            # Signed already: a view would unpack and sign them again.
            known, rows = self._delta, index.contents.pending
            if known is not None and known.scheme is delta.scheme and rows == self._rows:
                known.extend(delta)
                self._rows = contents.pending
        return False

    def add(self, sources: Sequence[Source], options: DocumentReading, runner: Runner) -> Addition:
        """Add documents, all of them or none.

        The first addition decides the inverse document frequencies, if shingles are weighted by
        them: then the input is read twice.
        """
        columns, skip_bad = choose_id_column(options.columns, sources), options.skip_bad
        with self.changing(runner) as index:
            scheme, frequencies = index.scheme, None
            if scheme.needs_frequencies:
                plan = scheme.reading_plan(columns, skip_bad=skip_bad)
                counted = shingle_collections([(sources, columns)], plan)
                frequencies = count_tokens("count", counted, runner)
            with self.adding(index, runner, frequencies=frequencies) as new:
                addition = Addition(new.index, columns, scheme.shingles.ngram)

                def read(source: Source, block: RowBlock) -> ReadDocuments:
                    return read_block(source, block, columns, new.index, skip_bad)

                for _, documents in ReadingPass("read", sources, runner).map(read, sources):
                    addition.denied += documents.denied
                    ids, n_tokens = documents.batch.ids, documents.batch.signed.n_tokens
                    addition.take(ids, documents.places, n_tokens, documents.skipped)
                    new.writer.add(documents.batch)
                addition.check_repeats()
        self.merge_tiers(runner)
        return addition

    def replace(
        self, identifier: Id, text: str, columns: dict[str, Any], runner: Runner
    ) -> RemovalResult:
        """Replace or add a document in one change."""
        start = time.perf_counter()
        with self.changing(runner) as index:
            check_decided(index.scheme)
            queries = make_query(text, index.scheme, identifier)
            check_not_denied(index, identifier, queries)
            delta = Delta(index.scheme)
            delta.add(identifier, text, columns, queries)
            wanted = wanted_ids([identifier])
            left = self.without(index, wanted, runner)
            contents, orphans = self._without_orphans(left.contents, wanted)
            self.commit_delta(replace(left, contents=contents), delta, [], runner)
        n_removed, n = index.n_documents - left.n_documents, left.n_documents + 1
        seconds = time.perf_counter() - start
        return RemovalResult(n_removed, n, seconds, orphans=_without_digests(orphans))

    def merge_tiers(self, runner: Runner) -> None:
        """Merge segments after an addition while there are too many.

        An error is logged and not raised: the addition is complete, and the next one tries again.
        """
        try:
            while count_to_merge(_sizes(self.database.read().manifest)):
                with self.changing(runner) as index:
                    sizes = _sizes(index.manifest)
                    if n := count_to_merge(sizes):
                        self._merge(index, len(sizes) - n, runner)
        except NeardupError as error:
            _log.warning("%s: segments were not put together: %s", self.folder, error)

    def _merge(self, index: OpenDocuments, first: int, runner: Runner) -> None:
        with self.adding(index, runner, first=first):
            pass

    def _after_removal(
        self, index: OpenDocuments, after: Contents, ids: pa.Array, *, deny: bool
    ) -> tuple[Contents, RemovalResult]:
        after, orphans = self._without_orphans(after, ids)
        if deny:
            after = _deny(index, after, ids, orphans)
        n_denied = after.manifest.denied.n_documents - index.manifest.denied.n_documents
        n, table = after.manifest.n_documents, _without_digests(orphans)
        return after, RemovalResult(len(ids), n, orphans=table, n_denied=n_denied)

    def _with_gone(self, contents: Contents, new: Sequence[pa.Table]) -> Contents:
        """Return the contents with documents that were left out."""
        new, record = [table for table in new if len(table)], contents.manifest.gone
        if not new:
            return contents
        is_anew = record.n_rows > _FEW_ROWS + record.n_documents // _LEAST_IN_ROW
        tables = [self._read_gone(), *new] if is_anew else new
        return contents.with_gone(*_pack_gone(tables), is_anew=is_anew)

    def _without_orphans(self, contents: Contents, ids: pa.Array) -> tuple[Contents, pa.Table]:
        """Return the contents without documents left out for ``ids``, and these."""
        known = self._read_gone()
        is_orphan = pc.is_in(known["kept_id"], value_set=ids)
        orphans = known.filter(is_orphan)
        if not len(orphans):
            return contents, orphans
        rest = known.filter(pc.invert(is_orphan))
        return contents.with_gone(*_pack_gone([rest]), is_anew=True), orphans

    def _read_gone(self) -> pa.Table:
        tables = map(unpack_table, self.database.read_gone())
        return pa.concat_tables([NO_GONE, *tables])


def _pack_gone(tables: Sequence[pa.Table]) -> tuple[list[bytes], int]:
    """Pack documents that were left out, and count them."""
    table = pa.concat_tables(tables)
    parts = range(0, len(table), _GONE_IN_ROW)
    packed = [pack_table(table.slice(start, _GONE_IN_ROW).combine_chunks()) for start in parts]
    return packed, len(table)


def _without_digests(orphans: pa.Table) -> pa.Table:
    """Return the orphans of a removal, each once for a keeper."""
    # An addition that is repeated notes again the documents that were left out.
    pairs = list(zip(orphans["id"].to_pylist(), orphans["kept_id"].to_pylist(), strict=True))
    firsts = {pair: row for row, pair in reversed(list(enumerate(pairs)))}
    return orphans.drop_columns("digest").take(pa.array(sorted(firsts.values()), pa.int64()))


def _write_delta(delta: Delta, rows: Int64s, writer: DocumentSegmentWriter) -> None:
    """Write documents in memory, in runs with uniform column types."""
    for start in range(0, len(rows), _WRITTEN_AT_ONCE):
        for own, records in delta.runs(rows[start : start + _WRITTEN_AT_ONCE]):
            ids = delta.ids_of(own).cast(delta.id_type)
            writer.add(DocumentBatch(ids, delta.signed(own), pack_records(records)))


def _sizes(manifest: Manifest) -> list[int]:
    return [record.n_documents for record in manifest.segments]


def count_to_merge(sizes: Sequence[int]) -> int:
    """Count the last segments to merge, given their document counts.

    0 for none. Only neighbours are merged, because documents keep their order. So a small segment
    in front of a larger one counts in the tier of the larger one.
    """
    # Sizes up to 1,024 are of tier 0, up to 8 times as many of tier 1, and so on.
    tiers = [max(0, math.ceil(math.log(max(size, 1) / _LEAST, FANOUT))) for size in sizes]
    tiers = [*accumulate(reversed(tiers), max)][::-1]
    for tier in sorted(set(tiers)):
        if tiers.count(tier) >= FANOUT:
            return len(tiers) - tiers.index(tier)
    return 0


def _deny(index: OpenDocuments, contents: Contents, ids: pa.Array, orphans: pa.Table) -> Contents:
    """Return the contents with denied documents, each digest once.

    Documents without tokens are similar to nothing and not denied.
    """
    documents = np.sort(index.documents_of_ids(ids))
    names = join_ids([index.ids_of(documents), orphans["id"].combine_chunks()])
    digests = np.concatenate([index.digests_of(documents), digests_in(orphans)])
    known, new = {_EMPTY, *index.denied.numbers}, []
    for row, digest in enumerate(map(np.ndarray.tobytes, digests)):
        if digest not in known:
            known.add(digest)
            new.append(row)
    if not new:
        return contents
    packed = [pack_table(make_denied(names.take(pa.array(new)), digests[new]))]
    denied = contents.manifest.denied.with_rows(packed, len(new))
    manifest = replace(contents.manifest, denied=denied)
    return replace(contents, manifest=manifest, denied=(*contents.denied, *packed))


def check_new(index: OpenDocuments, identifier: Id) -> None:
    """Raise if an index has an id."""
    if index.has_id(str(identifier)):
        message = (
            f"id {identifier!r} is in the index already; ids must differ. Replace the old "
            "document with `replace` (over HTTP, PUT), remove it first, or choose another id"
        )
        raise InvalidInputError(message, is_known_id=True)


def check_decided(scheme: DocumentScheme) -> None:
    """Check that the weights of shingles are known."""
    if scheme.needs_frequencies:
        assert scheme.weighted is not None
        message = (
            f"idf {scheme.weighted.weighting.idf} is counted over the documents of the first "
            "addition; add some with `add` before you insert one"
        )
        raise InvalidParameterError(message, "idf")


def check_not_denied(index: OpenDocuments, identifier: Id, queries: Queries) -> None:
    """Raise if a document is denied."""
    number = int(index.denied.find(queries)[0])
    if number >= 0:
        raise DeniedError.of(identifier, str(index.denied.ids[number]))
