"""Index of documents, changed in bulk or one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple, Self

import pyarrow as pa

from neardup.documents.delta import Delta
from neardup.documents.document_handle import (
    DocumentHandle,
    check_decided,
    check_new,
    check_not_denied,
)
from neardup.documents.open_documents import OpenDocuments, best_hits, in_rank_order
from neardup.documents.queries import Queries, make_query
from neardup.documents.records import Id, checked_id, make_gone
from neardup.documents.scheme import DocumentScheme
from neardup.engine.opening import open_engine
from neardup.errors import InvalidParameterError, NeardupError
from neardup.files.inputs import as_documents, resolve_inputs
from neardup.index.open_index import RemovalResult
from neardup.index.store import create_index
from neardup.jobs.index.base_index import Index
from neardup.jobs.search import search_documents
from neardup.options.choices import ColumnNames, Data, DocumentMeasure, DocumentPreset, Number
from neardup.options.document_options import DocumentSchemeOptions, DocumentSearchOptions
from neardup.options.groups import ReadOptions, RunOptions, TextOptions
from neardup.options.kinds import Flag, as_folder
from neardup.options.option import merge
from neardup.reading.sign import rows_where
from neardup.results import DocumentSearchResult, Match, Matches
from neardup.runs.runner import Runner
from neardup.stages.options import make_document_scheme, with_warning


class _Insertions(NamedTuple):
    """Uncommitted insertions into an index, and its write lock."""

    base: OpenDocuments
    delta: Delta
    gone: list[pa.Table]
    lock: ExitStack


class DocumentIndex(Index[DocumentHandle]):
    """A folder for similarity search of documents.

    Make one with ``create`` or ``open``. Readers and one writer at a time may use a folder; readers
    see the insertions of this object, and the commits of others. Every result is compared exactly.
    Any number of threads may use one object.

    Documents come in with ``add``, many at once, or with ``insert`` and ``insert_if_new``, one at a
    time; the latter are durable after ``commit``. Until then this object holds the write lock, for
    which others wait up to their ``timeout``.

    Examples
    --------
    >>> import neardup, tempfile
    >>> folder = tempfile.mkdtemp() + "/index"
    >>> index = neardup.DocumentIndex.create(
    ...     folder, threshold="0.5", text=neardup.TextOptions(ngram=1)
    ... )
    >>> index.insert("a", "the cat sat on the mat")
    >>> index.query("the cat sat on a mat")
    [Match(id='a', similarity=0.8333333333333334)]
    >>> index.insert_if_new("b", "a cat sat on the mat")
    'a'
    >>> index.commit()
    1
    """

    _opened = DocumentHandle
    _workers = 1

    def __init__(self, handle: DocumentHandle) -> None:
        super().__init__(handle)
        self._lock = RLock()
        # From the first insertion to the commit.
        self._waiting: _Insertions | None = None

    @classmethod
    def create(
        cls,
        folder: str | Path,
        *,
        threshold: Number | None = None,
        measure: DocumentMeasure | None = None,
        columns: ColumnNames | None = None,
        preset: DocumentPreset | None = None,
        recall: Number | None = None,
        num_perm: int | None = None,
        bands: tuple[int, int] | str | None = None,
        text: TextOptions | None = None,
    ) -> DocumentIndex:
        """Make an empty index.

        Parameters
        ----------
        folder
            New, or empty.
        threshold
            Least similarity that can be searched, in (0, 1], an exact decimal. None: 0.8.
        measure
            As of ``deduplicate``; the text that is searched is the first of a directed measure.
        columns
            Columns of the input that are kept with each document.
        preset, recall, num_perm, bands
            As of ``deduplicate``.
        text
            Tokens and shingles; idf is counted over the documents of the first addition.

        Raises
        ------
        OutputExistsError, WriteError
            If the folder is in use, or cannot be made.
        """
        options = merge(DocumentSchemeOptions, locals())
        create_index(as_folder(folder), make_document_scheme(options).describe())
        return cls.open(folder, tokenizer=options.tokenizer)

    def insert(
        self,
        id: Id,  # noqa: A002 - the name of the column everywhere
        text: str,
        **columns: Any,
    ) -> None:
        """Insert a document, found at once and durable after ``commit``.

        Parameters
        ----------
        id
            A string or a whole number that no document of the index has.
        text
            The document.
        **columns
            Values of the columns that the index keeps.
        """
        self._check_columns(columns)
        identifier = checked_id(id)
        with self._inserting(identifier, text) as (waiting, queries):
            check_new(self._view(), identifier)
            waiting.delta.add(identifier, text, columns, queries)

    def replace(
        self,
        id: Id,  # noqa: A002
        text: str,
        **columns: Any,
    ) -> RemovalResult:
        """Replace the document with an id, or insert a document.

        Readers see the change at once. It and earlier insertions are durable when this returns. The
        document becomes the last one.

        Parameters
        ----------
        id, text, **columns
            As for ``insert``.

        Returns
        -------
        As ``remove``; ``n_removed`` is 0 for a new id.
        """
        self._check_columns(columns)
        with self._lock:
            self.commit()
            return self._handle.replace(checked_id(id), text, columns, Runner(1))

    def insert_if_new(
        self,
        id: Id,  # noqa: A002
        text: str,
        *,
        threshold: str | float | Decimal | Fraction | None = None,
        **columns: Any,
    ) -> Id | None:
        """Insert a document unless the index has a similar one.

        Lookup and insertion are one step. A sequence of calls keeps what ``deduplicate`` keeps.

        Parameters
        ----------
        id, text, **columns
            As for ``insert``.
        threshold
            As for ``query``.

        Returns
        -------
        The id of the first exact copy, else of the most similar document, the first on a tie. None
        if the document was inserted.
        """
        self._check_columns(columns)
        identifier = checked_id(id)
        self._scheme.measure_at(threshold)
        with self._inserting(identifier, text) as (waiting, queries):
            index, measure = self._view(), waiting.base.scheme.measure_at(threshold)
            best = best_hits(index.lookup(queries, measure), queries, measure)
            if not len(best):
                check_new(index, identifier)
                waiting.delta.add(identifier, text, columns, queries)
                return None
            (kept_id,) = index.list_ids(best.documents)
            # A document that comes again is not a duplicate of itself.
            if str(kept_id) != str(identifier):
                ids, kept_ids = (pa.array([str(name)]) for name in (identifier, kept_id))
                gone = make_gone(ids, kept_ids, queries.digests, best.similarities)
                waiting.gone.append(gone)
            return kept_id

    def query(
        self, text: str, *, threshold: Number | None = None, limit: int | None = None
    ) -> Matches:
        """Find the documents that are similar to a text.

        Parameters
        ----------
        text
            As for ``insert``.
        threshold
            Least similarity, an exact decimal, not below that of the index. None: the threshold
            of the index.
        limit
            Return at most this many documents, the most similar first.

        Returns
        -------
        Pairs of ``id`` and ``similarity``, the most similar first, on a tie in insertion order.
        Each was compared exactly. ``n_matches`` of the list counts all similar documents.
        """
        options = DocumentSearchOptions(threshold=threshold, limit=limit)
        view, n = self._view(), options.limit
        measure = view.scheme.measure_at(options.threshold)
        hits = in_rank_order(view.lookup(make_query(text, view.scheme), measure))
        ids = view.list_ids(hits.documents[:n])
        matches = map(Match, ids, hits.similarities[:n].tolist())
        return Matches(matches, n_matches=len(hits))

    def commit(self) -> int:
        """Commit all insertions, and return the number of inserted documents."""
        return self._settle(Runner(1))

    def close(self) -> None:
        """Commit all insertions, and release the lock."""
        self.commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is None:
            self.commit()
        else:
            with self._lock:
                self._end()

    def search(
        self,
        queries: Data,
        threshold: Number | None = None,
        *,
        limit: int | None = None,
        with_columns: bool = False,
        read: ReadOptions | None = None,
        run: RunOptions | None = None,
    ) -> DocumentSearchResult:
        """Find the documents that are similar to each query.

        Parameters
        ----------
        queries
            A text, or documents in any form that ``deduplicate`` takes. A string is a text: name a
            file by a ``Path``.
        threshold, limit
            As of ``query``, for each query.
        with_columns
            Add the kept columns, as ``doc_NAME``.
        read, run
            Input, and threads or Spark.

        Returns
        -------
        ``matches`` (query_id, doc_id, similarity; in the order of queries, the most similar first)
        and a ``summary`` with counts, skipped rows and the predicted recall.
        """
        options = merge(DocumentSearchOptions, locals())
        with_columns = Flag().checked("with_columns", with_columns)
        sources = rows_where(resolve_inputs(as_documents(queries), options), options.where)
        with open_engine(run, sources) as engine:
            index = self._handle.share(self._view())
            result = search_documents(engine, index, sources, options, with_columns=with_columns)
        return with_warning(result)

    @property
    def _scheme(self) -> DocumentScheme:
        waiting = self._waiting
        return (waiting.base if waiting else self._handle.view(Runner(1))).scheme

    def _view(self) -> OpenDocuments:
        waiting = self._waiting
        if waiting is None:
            return self._handle.view(Runner(1))
        if not len(waiting.delta):
            return waiting.base
        return waiting.base.with_pending(waiting.delta.fixed())

    def _settle(self, runner: Runner) -> int:
        """Write all insertions, release the lock, and return their number.

        If it fails, the insertions stay, and can be committed again.
        """
        with self._lock:
            waiting = self._waiting
            if waiting is None:
                return 0
            try:
                has_segment = self._handle.commit_delta(*waiting[:3], runner)
            except BaseException:
                # An interrupt may come when all is stored.
                with suppress(NeardupError):
                    found = self._handle.database.read().manifest
                    if found.generation > waiting.base.manifest.generation:
                        self._end()
                raise
            self._end()
            if has_segment:
                self._handle.merge_tiers(runner)
            return waiting.delta.n_documents

    @contextmanager
    def _inserting(self, identifier: Id, text: str) -> Iterator[tuple[_Insertions, Queries]]:
        """Sign a document and hold the write lock for insertion.

        The write lock is released at once if the only document was refused.
        """
        # Before the lock: it takes time, and a bad text is refused whoever writes.
        scheme = self._scheme
        queries = make_query(text, scheme, identifier)
        with self._lock:
            waiting = self._waiting or self._begin()
            try:
                # Another process may have made the first addition, which decides weights.
                if waiting.base.scheme is not scheme:
                    queries = make_query(text, waiting.base.scheme, identifier)
                check_not_denied(waiting.base, identifier, queries)
                yield waiting, queries
            finally:
                if not (len(waiting.delta) or waiting.gone):
                    self._end()

    def _begin(self) -> _Insertions:
        with ExitStack() as stack:
            index = stack.enter_context(self._handle.changing(Runner(1)))
            check_decided(index.scheme)
            self._waiting = _Insertions(index, Delta(index.scheme), [], stack.pop_all())
        return self._waiting

    def _end(self) -> None:
        try:
            if self._waiting is not None:
                self._waiting.lock.close()
        finally:
            self._waiting = None

    def _check_columns(self, columns: dict[str, Any]) -> None:
        known = self._scheme.columns
        for name in columns:
            if name not in known:
                kept = ", ".join(known) if known else "none"
                message = f"the index keeps no column {name!r}; it keeps {kept}"
                raise InvalidParameterError(message, name)
