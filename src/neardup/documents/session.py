"""Documents put into an index one at a time: in memory until they are committed."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from threading import RLock
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from neardup.documents import blocks
from neardup.documents.additions import Adding, adding
from neardup.documents.blocks import Block
from neardup.documents.index import DocumentHandle, OpenDocuments
from neardup.documents.lookup import find_answers
from neardup.documents.queries import (
    Found,
    Queries,
    Searchable,
    Sought,
    interleave,
    join_queries,
    join_sets,
    sets_of_texts,
)
from neardup.documents.reading import (
    Contents,
    DocumentBatch,
    make_batch,
    pack_rows,
    queries_of_texts,
)
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import (
    Cells,
    Id,
    as_cells,
    as_one_text,
    as_texts,
    checked_id,
    ids_of_values,
    join_cells,
    reason_of,
    runs_of_cells,
)
from neardup.errors import InvalidInputError, InvalidParameterError, NeardupError
from neardup.files.ids import common_id_type
from neardup.indexes.folder import remove_orphans
from neardup.indexes.handle import OpenFiles
from neardup.indexes.manifest import load_manifest
from neardup.matching.measures import Measure
from neardup.runs.runner import Runner
from neardup.tables import (
    Bools,
    Filters,
    Floats,
    Int64s,
    ShingleSets,
    Texts,
    Uint64s,
    WeightedSets,
)


@dataclass
class _Gone:
    """Documents that went for others, since the last commit."""

    ids: list[Id] = field(default_factory=list)
    kept_ids: list[str] = field(default_factory=list)
    digests: list[Uint64s] = field(default_factory=list)
    similarities: list[float] = field(default_factory=list)
    places: dict[bytes, list[int]] = field(default_factory=lambda: defaultdict(list))


class Pending(Searchable):
    """Documents in memory, which are found as those of a segment are; for one thread at a time."""

    def __init__(self, scheme: DocumentScheme) -> None:
        self._scheme = scheme
        self._rows: dict[str, int] = {}
        self._ids: list[Id] = []
        self._texts: list[str | None] = []
        self._cells: list[Cells] = []
        self._parts: list[Queries] = []
        # Sets of documents that have no text; those of texts are made when they are asked for.
        self._sets: dict[int, ShingleSets | WeightedSets] = {}
        self._n_signed = 0
        self._rows_of_keys: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._rows_of_digests: dict[bytes, list[int]] = defaultdict(list)
        self._n_listed = 0
        self._unlisted: list[Queries] = []
        self._gone = _Gone()

    @property
    def id_type(self) -> pa.DataType:
        """The type of the ids."""
        return common_id_type({ids_of_values(self._ids).type} if self._ids else ())

    def __len__(self) -> int:
        return self._n_signed

    def __contains__(self, identifier: Id) -> bool:
        """Whether a document has an id."""
        return str(identifier) in self._rows

    @property
    def n_documents(self) -> int:
        """Count the documents, signed or not."""
        return len(self._ids)

    @property
    def n_gone(self) -> int:
        """Count the documents that went for others."""
        return len(self._gone.ids)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to write."""
        return not (self._ids or self._gone.ids)

    def add(
        self,
        identifier: Id,
        text: str | None,
        columns: dict[str, Any],
        queries: Queries | None = None,
    ) -> None:
        """Take a document, whose id is new.

        ``queries`` are what is known of it already; a text is signed when that is needed.
        """
        if queries is None and text is not None:
            as_one_text(text)
        cells = as_cells(identifier, columns, self._scheme.columns)
        if queries is not None:
            self.sign()
            self._take(replace(queries, sets=None))
            self._n_signed += 1
        if queries is not None and queries.sets is not None and not self._has_text(text):
            self._sets[len(self._ids)] = queries.sets
        self._rows[str(identifier)] = len(self._ids)
        self._ids.append(identifier)
        # So that it is not read from here and missing from the files.
        self._texts.append(text if self._scheme.with_text else None)
        self._cells.append(cells)

    def went(self, identifier: Id, kept_id: str, digest: Uint64s, similarity: float) -> None:
        """Note that a document went for another one."""
        gone = self._gone
        gone.places[digest.tobytes()].append(len(gone.ids))
        gone.ids.append(identifier)
        gone.kept_ids.append(kept_id)
        gone.digests.append(digest)
        gone.similarities.append(similarity)

    def sign(self) -> None:
        """Sign the documents that were not signed yet."""
        waiting = self._texts[self._n_signed :]
        if waiting:
            texts = as_texts(waiting)
            queries = queries_of_texts(texts, self._scheme, with_sets=False)
            # Weighted ones are made in any case.
            self._take(replace(queries, sets=None))
            self._n_signed = len(self._texts)

    def write(self, adding: Adding) -> list[tuple[Id, str]]:
        """Put all documents into the next state of the index.

        Returns
        -------
        Documents that cannot be written, for some reason that nobody has thought of, and why; the
        others are.
        """
        self.sign()
        unwritable: list[tuple[Id, str]] = []
        for start, stop in runs_of_cells(self._cells):
            for batch in self._batches(start, stop, unwritable):
                adding.add(batch)
        gone = self._gone
        if gone.ids:
            digests: Uint64s = np.stack(gone.digests)
            similarities: Floats = np.array(gone.similarities)
            kept = pa.array(gone.kept_ids, pa.large_string())
            adding.went(ids_of_values(gone.ids), kept, digests, similarities)
        return unwritable

    def _batches(
        self, start: int, stop: int, unwritable: list[tuple[Id, str]]
    ) -> Iterator[DocumentBatch]:
        """Pack some rows: in one batch, unless one of them is in the way of the others."""
        try:
            batch = self._batch(start, stop)
        except MemoryError:
            raise
        except Exception as error:
            if stop - start == 1:
                unwritable.append((self._ids[start], reason_of(error)))
                return
            middle = (start + stop) // 2
            yield from self._batches(start, middle, unwritable)
            yield from self._batches(middle, stop, unwritable)
        else:
            yield batch

    def _batch(self, start: int, stop: int) -> DocumentBatch:
        contents = Contents(
            ids_of_values(self._ids[start:stop]),
            as_texts(self._texts[start:stop]),
            self._user_columns(start, stop),
        )
        rows = np.arange(start, stop)
        queries = self._queries()
        if stop - start < len(queries):
            queries = queries.take(rows)
        if self._sets:
            queries = replace(queries, sets=self.sets_of(rows))
        return make_batch(contents, queries, self._scheme)

    def find(self, sought: Sought) -> Found:
        """Find what texts share a band key with, and what is here, or went, with their digests."""
        self.prepare()
        candidates, copies, went = [], [], []
        of_keys, of_digests, gone = self._rows_of_keys, self._rows_of_digests, self._gone
        for query in np.flatnonzero(sought.is_wanted).tolist():
            keys = (sought.queries.keys[query] >> np.uint64(32)).tolist()
            own = [of_keys[band, key] for band, key in enumerate(keys) if (band, key) in of_keys]
            candidates += [(query, row) for row in sorted({row for rows in own for row in rows})]
            if sought.with_copies:
                digest = sought.queries.digests[query].tobytes()
                copies += [(query, row) for row in of_digests.get(digest, ())]
                went += [
                    (query, gone.kept_ids[place], gone.similarities[place])
                    for place in gone.places.get(digest, ())
                ]
        return Found(_pairs(candidates), _pairs(copies), went)

    def rows_of_ids(self, ids: pa.Array, _: Uint64s) -> tuple[Int64s, Int64s]:
        """Return which ids which rows have."""
        known = ((query, self._rows.get(name)) for query, name in enumerate(ids.to_pylist()))
        return _pairs([(query, row) for query, row in known if row is not None])

    def may_have_id(self, _: int) -> bool:
        """Return whether it may have an id."""
        return bool(self._rows)

    def filters_of(self, rows: Int64s) -> Filters:
        """Return the filters of some rows."""
        filters = self._queries().filters
        assert filters is not None
        cells = blocks.take_cells_of(filters.words, filters.offsets, rows)
        return Filters(*cells, filters.sizes[rows])

    def sets_of(self, rows: Int64s) -> ShingleSets | WeightedSets:
        """Return what the measure compares of some rows."""
        wanted = rows.tolist()
        own = [self._sets[row] for row in wanted if row in self._sets]
        texts = [self._texts[row] for row in wanted if row not in self._sets]
        found = sets_of_texts(Texts.from_arrow(as_texts(texts)), self._scheme)
        if not own:
            return found
        is_text: Bools = np.array([row not in self._sets for row in wanted])
        return interleave(found, reduce(join_sets, own), is_text)

    def ids_of(self, rows: Int64s) -> pa.Array:
        """Return the ids of some rows."""
        return pa.array([str(self._ids[row]) for row in rows.tolist()], pa.large_string())

    def id_of(self, row: int) -> str:
        """Return the id of one row, as text."""
        return str(self._ids[row])

    def block_of(self, row: int) -> tuple[Block, int]:
        """Return a block of one row."""
        queries = self._queries().take(np.array([row]))
        queries = replace(queries, sets=self._sets.get(row))
        texts = as_texts(self._texts[row : row + 1])
        packed = pack_rows(texts, self._user_columns(row, row + 1), queries)
        return blocks.unpack(packed.data[0], packed.raw_sizes[0]), 0

    def _has_text(self, text: str | None) -> bool:
        return text is not None and self._scheme.with_text

    def _take(self, queries: Queries) -> None:
        self._parts.append(queries)
        self._unlisted.append(queries)

    def _queries(self) -> Queries:
        """Return all documents that are signed, which are put together for that."""
        if len(self._parts) > 1:
            self._parts = [join_queries(self._parts)]
        return self._parts[0]

    def prepare(self) -> None:
        """Sign all documents, and have them found by their keys.

        After that any number of threads may look them up, until the next is taken.
        """
        self.sign()
        if self._n_listed == self._n_signed:
            return
        row = self._n_listed
        for part in self._unlisted:
            keys = (part.keys >> np.uint64(32)).tolist()
            for place, own in enumerate(keys):
                if part.n_tokens[place] > 0:
                    self._rows_of_digests[part.digests[place].tobytes()].append(row)
                    for band, key in enumerate(own):
                        self._rows_of_keys[band, key].append(row)
                row += 1
        self._unlisted = []
        self._n_listed = self._n_signed

    def _user_columns(self, start: int, stop: int) -> pa.Table | None:
        names = self._scheme.columns
        return join_cells(self._cells[start:stop], names) if names else None


def _pairs(found: list[tuple[int, int]]) -> tuple[Int64s, Int64s]:
    if not found:
        return Found().copies
    pairs: Int64s = np.array(found, np.int64).reshape(-1, 2)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


T = TypeVar("T")


class InsertSession:
    """Holds the write lock of an index from the first insertion to the commit.

    So nothing changes in between but by it, and what it asks and then inserts is one step for all
    others. For any number of threads.

    Parameters
    ----------
    handle
        The index.
    commit_every
        Commit after so many documents, also those that went for others; None leaves it to the user.
    """

    def __init__(self, handle: DocumentHandle, commit_every: int | None) -> None:
        self._handle, self._commit_every = handle, commit_every
        self._lock = RLock()
        self._runner = Runner(1)
        self._stack: ExitStack | None = None
        self._files: OpenFiles | None = None
        self._base: OpenDocuments | None = None
        self._pending: Pending | None = None

    @property
    def n_pending(self) -> int:
        """Documents that are not committed yet."""
        return 0 if self._pending is None else self._pending.n_documents

    @property
    def scheme(self) -> DocumentScheme:
        """How documents are signed."""
        return (self._base or self._handle.latest(self._runner)).scheme

    @contextmanager
    def shared(self) -> Iterator[OpenDocuments]:
        """Give the index with what was inserted behind it.

        While something waits for the commit one thread at a time looks at it.
        """
        if self._pending is None:
            yield self._handle.latest(self._runner)
            return
        with self._lock:
            yield self._view()

    def _view(self) -> OpenDocuments:
        base, pending = self._base, self._pending
        if base is None or pending is None:
            return self._handle.latest(self._runner)
        pending.prepare()
        return base.with_tail(pending) if len(pending) else base

    def insert(
        self,
        identifier: Id,
        text: str | None,
        make: Callable[[DocumentScheme], Queries | None],
        columns: dict[str, Any],
    ) -> None:
        """Take a document; it is found at once, and durable when it is committed.

        ``make`` works out what is known of it by a scheme; None, if it is signed by its text.
        """
        identifier = checked_id(identifier)
        with self._inserting(make) as (pending, queries):
            self._check_new(identifier)
            pending.add(identifier, text, columns, queries)

    def insert_if_new(
        self,
        identifier: Id,
        text: str | None,
        make: Callable[[DocumentScheme], tuple[Measure, Queries]],
        columns: dict[str, Any],
    ) -> Id | None:
        """Take a document unless it is similar to one that is there; returns the id of that one."""
        identifier = checked_id(identifier)
        with self._inserting(make) as (pending, (measure, queries)):
            index = self._view()
            answers = find_answers(index, queries, measure)
            document = int(answers.documents[0])
            if document < 0:
                self._check_new(identifier)
                pending.add(identifier, text, columns, queries)
                return None
            (found,) = index.list_ids(answers.documents)
            # A document that comes again has not gone for another.
            if str(found) != str(identifier):
                similarity = float(answers.similarities[0])
                pending.went(identifier, str(found), queries.digests[0], similarity)
            return found

    def commit(self, runner: Runner) -> int:
        """Write what was inserted, and let go of the lock; returns the number of documents.

        If it fails, they are still there, and can be committed again.
        """
        with self._lock:
            if self._stack is None:
                return 0
            assert self._files is not None
            assert self._pending is not None
            n_documents = self._pending.n_documents
            unwritable: list[tuple[Id, str]] = []
            try:
                if not self._pending.is_empty:
                    with adding(self._handle, self._files, runner) as new:
                        unwritable = self._pending.write(new)
            except BaseException:
                self._clean_up()
                raise
            self._end()
            if unwritable:
                named = "; ".join(f"{identifier!r}: {why}" for identifier, why in unwritable[:3])
                message = (
                    f"{len(unwritable)} of {n_documents} documents cannot be written and are left "
                    f"out, insert them otherwise ({named}); the others are durable"
                )
                raise InvalidInputError(message)
            return n_documents

    def _clean_up(self) -> None:
        """Leave nothing of a commit that has failed in the way of the next one."""
        assert self._files is not None
        with contextlib.suppress(NeardupError):
            folder, before = self._handle.folder, self._files.manifest
            current = load_manifest(folder)
            if current == before:
                remove_orphans(folder, current, before)
            else:
                # All is stored: the very last step has failed, or an interrupt came late.
                self._end()

    def discard(self) -> None:
        """Forget what was not committed, and let go of the lock."""
        with self._lock:
            self._end()

    @contextmanager
    def _inserting(self, make: Callable[[DocumentScheme], T]) -> Iterator[tuple[Pending, T]]:
        """Hold the write lock, and commit behind the block if much waits.

        If nothing waits, as where the only document was refused, nobody would ask for a commit:
        the write lock is let go at once.
        """
        # Before the lock: it takes time, and what it refuses is refused whoever writes.
        scheme = self.scheme
        made = make(scheme)
        with self._lock:
            pending = self._begin()
            try:
                # Another process may have made the first addition, which decides weights.
                assert self._base is not None
                if self._base.scheme is not scheme:
                    made = make(self._base.scheme)
                yield pending, made
            finally:
                if pending.is_empty:
                    self._end()
            self._commit_if_many()

    def _begin(self) -> Pending:
        """Take the write lock, if it is not held yet."""
        if self._pending is None:
            stack = ExitStack()
            files = stack.enter_context(self._handle.changing(self._runner))
            try:
                base = self._handle.read(files)
                if base.scheme.needs_frequencies:
                    message = (
                        f"idf {base.scheme.weighted.weighting.idf} is counted over the documents "  # type: ignore[union-attr]
                        "of the first addition; add some with `add` before you insert one"
                    )
                    raise InvalidParameterError(message, "idf")
            except BaseException:
                stack.close()
                raise
            self._stack, self._files, self._base = stack, files, base
            self._pending = Pending(base.scheme)
        return self._pending

    def _end(self) -> None:
        # Until the handle sees what was committed, others wait for the lock to look at it here.
        try:
            if self._stack is not None:
                self._stack.close()
        finally:
            self._stack = self._files = self._base = self._pending = None

    def _check_new(self, identifier: Id) -> None:
        assert self._pending is not None
        assert self._base is not None
        if identifier in self._pending or self._base.has_id(str(identifier)):
            message = (
                f"id {identifier!r} is in the index already; ids must differ. Remove the old "
                "document first, or choose another id"
            )
            raise InvalidInputError(message)

    def _commit_if_many(self) -> None:
        if self._commit_every is None or self._pending is None:
            return
        if self._pending.n_documents + self._pending.n_gone >= self._commit_every:
            self.commit(self._runner)
