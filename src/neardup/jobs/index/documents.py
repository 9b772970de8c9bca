"""The index of documents as users see it: many at once, or one at a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, overload

import numpy as np

from neardup.documents.index import DocumentHandle, OpenDocuments
from neardup.documents.lookup import SharedIndex, find_estimated, find_hits, in_rank_order
from neardup.documents.one_text import Tokens, make_query
from neardup.documents.queries import Queries
from neardup.documents.scheme import DocumentScheme
from neardup.documents.session import InsertSession
from neardup.documents.values import Id, checked_id, ids_of_values
from neardup.engine.threads import ThreadEngine
from neardup.errors import InvalidParameterError
from neardup.files.resolve import as_documents, resolve_inputs
from neardup.index.store import create_index
from neardup.jobs.index.index import AnyIndex
from neardup.jobs.search.documents import (
    hits_where,
    minhash_of,
    search_documents,
    search_sketches,
)
from neardup.matching.measures import Measure
from neardup.options.choices import Data, Number
from neardup.options.documents import (
    CommitOptions,
    DocumentSchemeOptions,
    DocumentSearchOptions,
    FoundOptions,
    MostOptions,
)
from neardup.options.groups import TextReadingOptions, WhereOptions, WorkerOptions
from neardup.options.kinds import Whole
from neardup.options.option import argument, option, takes
from neardup.options.together import ReadArgument, RunArgument, TextArgument
from neardup.reading.where import Condition, rows_where
from neardup.results import DocumentSearchResult, Match, Matches, MatchWithColumns
from neardup.runs.runner import Runner
from neardup.runs.work import IN_MEMORY
from neardup.stages.hints import with_warning
from neardup.stages.index_changes import DocumentRemovalResult
from neardup.stages.options import make_document_scheme
from neardup.stages.sketches import Sketches
from neardup.text.tokenizers import named_tokenizer

_LIMIT = DocumentSearchOptions.known["limit"]


class _Creating(DocumentSchemeOptions, TextArgument, kw_only=False):
    folder: str | Path = argument("New, or empty.")


class _Opening(CommitOptions, kw_only=False):
    folder: str | Path = argument("Where it is.")


class _Searching(
    WhereOptions,
    MostOptions,
    TextReadingOptions,
    WorkerOptions,
    ReadArgument,
    RunArgument,
    kw_only=False,
):
    queries: Data | Sketches = argument(
        "A text, or documents in any form that ``deduplicate`` takes. A string is always a "
        "text: a file is named by a ``Path``. Or sketches of kind ``minhash``, as for ``query``: "
        "what is found are estimates then."
    )
    threshold: Number | None = option(DocumentSearchOptions.known["threshold"], default=None)
    doc_where: str | None = option(FoundOptions.known["doc_where"], default=None)
    with_columns: bool = option(FoundOptions.known["with_columns"], default=False)


class DocumentIndex(AnyIndex[DocumentHandle, DocumentRemovalResult]):
    """A folder in which documents are found that are similar to a text.

    Make one with ``create`` or ``open``. Readers and one writer at a time may use a folder; readers
    see what this object has inserted, and what others have committed. Every answer is compared
    exactly. Any number of threads may use one object.

    Documents come in with ``add``, many at once, or with ``insert`` and ``insert_if_new``, one at a
    time; the latter are durable after ``commit``, or every ``commit_every`` documents. Until then
    this object holds the write lock, for which others wait up to their ``timeout``.

    Examples
    --------
    >>> import neardup, tempfile
    >>> folder = tempfile.mkdtemp() + "/index"
    >>> index = neardup.DocumentIndex.create(folder, threshold="0.5", ngram=1)
    >>> index.insert("a", "the cat sat on the mat")
    >>> index.query("the cat sat on a mat")
    [Match(id='a', similarity=0.8333333333333334)]
    >>> index.insert_if_new("b", "a cat sat on the mat")
    'a'
    >>> index.commit()
    1
    """

    _workers = 1

    @takes(_Opening)
    def __init__(self, given: _Opening) -> None:
        folder, follows = Path(given.folder), given.refresh == "auto"
        handle = DocumentHandle(folder, given.tokenizer, timeout=given.timeout, follows=follows)
        super().__init__(folder, handle)
        self._session = InsertSession(handle, given.commit_every)

    @classmethod
    @takes(_Creating)
    def create(cls, given: _Creating) -> DocumentIndex:
        """Make an empty index.

        Raises
        ------
        InvalidParameterError
            For an option out of range.
        OutputExistsError, WriteError
            If the folder is in use, or cannot be made.
        """
        scheme = make_document_scheme(given.part(DocumentSchemeOptions))
        create_index(Path(given.folder), scheme.describe())
        return cls(given.folder, tokenizer=given.tokenizer)

    @classmethod
    @takes(_Opening)
    def open(cls, given: _Opening) -> DocumentIndex:
        """Open an index; what is large is checked where it is touched.

        Raises
        ------
        ReadError, IndexFormatError
            If there is none; if it is damaged, of a newer version, or an index of passages.
        """
        opened = cls(**vars(given))
        opened.refresh()
        return opened

    def insert(
        self,
        id: Id,  # noqa: A002 - the name of the column everywhere
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        **columns: Any,
    ) -> None:
        """Insert a document, which is found at once and durable after ``commit``.

        Parameters
        ----------
        id
            A string or a whole number that no document of the index has.
        text
            The document.
        tokens
            Its tokens instead, in order; or a set, each element of which is taken for a shingle; or
            a mapping of tokens to how often they occur, where the index counts or weighs tokens
            and ``ngram`` is 1: ``{"a": 2, "b": 1}`` finds what ``["a", "a", "b"]`` does. With tf
            raw the numbers need not be whole: they are weights, times the index's idf.
        **columns
            Values of the columns that the index keeps.
        """
        self._session.insert(id, text, self._maker(id, text, tokens, columns), columns)

    def replace(
        self,
        id: Id,  # noqa: A002
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        **columns: Any,
    ) -> DocumentRemovalResult:
        """Put a document in the place of the one with its id, or insert it if there is none.

        At once for whoever looks, and durable when this returns, as is what was inserted before. It
        is the last document then.

        Parameters
        ----------
        id, text, tokens, **columns
            As for ``insert``.

        Returns
        -------
        As ``remove``: ``n_removed`` is 0 if there was none, and ``orphans`` had gone for the old
        one.
        """
        start = time.perf_counter()
        make = self._maker(id, text, tokens, columns)
        removal = self._session.replace(id, text, make, columns)
        return DocumentRemovalResult(**vars(removal), seconds=time.perf_counter() - start)

    def _maker(
        self, identifier: Id, text: str | None, tokens: Tokens | None, columns: dict[str, Any]
    ) -> Callable[[DocumentScheme], Queries | None]:
        """Return what works out of a document what is looked up, or leaves it to the text."""
        self._check_columns(columns)
        scheme = self._session.scheme
        # A function or a file may refuse a text, and must do it now, not when it is committed.
        never_refuses = named_tokenizer(scheme.shingles.tokenizer.name) is not None
        if isinstance(text, str) and tokens is None and scheme.with_text and never_refuses:
            # Signed together with others when that is needed.
            return lambda _: None
        return partial(make_query, text, tokens, identifier=identifier)

    def insert_if_new(
        self,
        id: Id,  # noqa: A002
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        threshold: str | float | Decimal | Fraction | None = None,
        **columns: Any,
    ) -> Id | None:
        """Insert a document unless one is there that it is similar to, in one step.

        A sequence of these gives what ``deduplicate`` gives for the same documents in that order.

        Parameters
        ----------
        id, text, tokens, **columns
            As for ``insert``.
        threshold
            As for ``query``.

        Returns
        -------
        The id of the most similar document, the first on a tie; of an exact copy that of the first
        copy, or of what that one went for. None if the document was inserted.
        """
        self._check_columns(columns)

        def make(scheme: DocumentScheme) -> tuple[Measure, Queries]:
            return scheme.measure_at(threshold), make_query(text, tokens, scheme, id)

        return self._session.insert_if_new(id, text, make, columns)

    @overload
    def query(
        self,
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        sketch: Sketches | None = None,
        threshold: str | float | Decimal | Fraction | None = "index",
        limit: int | None = None,
        top: int | None = None,
        cursor: str | None = None,
        where: str | None = None,
        with_columns: Literal[False] = False,
    ) -> Matches[Match]: ...

    @overload
    def query(
        self,
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        sketch: Sketches | None = None,
        threshold: str | float | Decimal | Fraction | None = "index",
        limit: int | None = None,
        top: int | None = None,
        cursor: str | None = None,
        where: str | None = None,
        with_columns: Literal[True],
    ) -> Matches[MatchWithColumns]: ...

    def query(
        self,
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        sketch: Sketches | None = None,
        threshold: str | float | Decimal | Fraction | None = "index",
        limit: int | None = None,
        top: int | None = None,
        cursor: str | None = None,
        where: str | None = None,
        with_columns: bool = False,
    ) -> Matches[Match] | Matches[MatchWithColumns]:
        """Find the documents that are similar to a text.

        Parameters
        ----------
        text, tokens
            As for ``insert``.
        sketch
            A sketch of kind ``minhash`` instead, made with the index's options of shingles and its
            seed, of as many values as its bands and rows have together or more; in an index of
            measure ``jaccard``. Similarities are estimates then, from the signature alone.
        threshold
            Least similarity, not below that of the index, which ``"index"`` is; an exact decimal.
            None, which needs a ``limit``, is none, as with ``top``.
        limit
            Only so many, the most similar.
        top
            Only so many, the most similar of all that can be found: also below the threshold of the
            index, where the less are found the less similar they are, see ``recall_at``. A
            ``threshold`` may be any then, and is none if it is not given.
        cursor
            Go on behind the documents that an answer had up to its ``limit`` or ``top``, and whose
            ``cursor`` it is. Whatever comes and goes meanwhile, no document that stays comes twice
            or is passed over.
        where
            Only documents that meet this condition on ``id``, ``text`` and the columns that the
            index keeps, such as ``lang = 'de'``; ``limit`` and ``top`` count these.
        with_columns
            With what the index keeps of their columns, as ``columns``.

        Returns
        -------
        Pairs of ``id`` and ``similarity``, the most similar first, on a tie in the order in which
        documents were added. Each was compared exactly, unless a sketch was given. The list has a
        ``cursor``, None if there are no more, and ``n_matches``, which counts all that are similar.
        """
        most = MostOptions(limit=limit, top=top)
        condition = None if where is None else Condition(where)
        if sum(each is not None for each in (text, tokens, sketch)) != 1:
            message = "give one of text, tokens and sketch"
            raise InvalidParameterError(message, "text", "tokens", "sketch")
        with self._session.shared() as view:
            measure = _measure_for(view.scheme, threshold, most)
            if sketch is None:
                query = make_query(text, tokens, view.scheme)
                asked = query.digests.tobytes()
                hits = find_hits(view, query, measure)
            else:
                minhash = minhash_of(sketch, view.scheme, "sketch")
                if len(sketch) != 1:
                    message = (
                        f"sketch must be that of one text, got those of {len(sketch)}; search "
                        "takes any number of them"
                    )
                    raise InvalidParameterError(message, "sketch")
                asked = sketch.rows.values.tobytes()
                hits = find_estimated(view, sketch.rows, minhash, measure.threshold)
            hits = in_rank_order(hits_where(view, hits, condition))
            n_matches, n = len(hits), most.number
            if cursor is not None:
                (least,), first = view.behind(cursor, 1, asked=asked)
                is_tie = (hits.similarities == least) & (hits.documents >= first)
                hits = hits.take(np.flatnonzero((hits.similarities < least) | is_tie))
            documents, similarities = hits.documents[:n], hits.similarities[:n].tolist()
            following = None
            if len(documents) < len(hits):
                last = int(documents[-1])
                following = view.cursor_at(last, similarities[-1], asked=asked)
            ids = view.list_ids(documents)
            if not with_columns:
                found = map(Match, ids, similarities)
                return Matches(found, cursor=following, n_matches=n_matches)
            order = np.argsort(documents)
            columns = dict(zip(order.tolist(), view.read_each(documents[order]), strict=True))
        kept = [{name: columns[at][name] for name in view.columns} for at in range(len(ids))]
        matches = map(MatchWithColumns, ids, similarities, kept)
        return Matches(matches, cursor=following, n_matches=n_matches)

    def recall_at(self, similarity: str | float | Decimal | Fraction) -> float:
        """Return the least probability that a document of a similarity is found by its text.

        Of a similarity at the threshold of the index it is the recall that it was made for or more.
        Below that it falls, and ``query`` without a threshold misses as many.
        """
        scheme = self._session.scheme
        return scheme.predicted_recall(type(scheme.measure).parse(similarity))

    def get(self, id: Id) -> dict[str, Any] | None:  # noqa: A002
        """Return the document of an id, None if there is none.

        Its ``id``, its ``text`` (None where the index keeps none) and the user's columns.
        """
        with self._session.shared() as view:
            document = view.documents_of_ids(ids_of_values([checked_id(id)]))
            return next(view.read_each(document)) if document[0] >= 0 else None

    def documents(self, start: int = 0, limit: int = 50) -> list[dict[str, Any]]:
        """Return some documents as ``get`` does, in the order in which they were added.

        ``start`` counts the documents that are there, from 0.
        """
        limit = _LIMIT.given(limit)
        start = Whole(0).checked("start", start)
        with self._session.shared() as view:
            return list(view.read_each(view.live(start, limit)))

    def __contains__(self, id: Id) -> bool:  # noqa: A002
        """Return whether there is a document of this id."""
        with self._session.shared() as view:
            return view.has_id(str(checked_id(id)))

    def commit(self) -> int:
        """Make durable what was inserted, and let others write; returns the number of documents."""
        return self._session.commit(Runner(1))

    def close(self) -> None:
        """Commit what was inserted."""
        self.commit()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Commit what was inserted; forget it if an error ends the block."""
        if kind is None:
            self.commit()
        else:
            self._session.discard()

    @takes(_Searching)
    def search(self, given: _Searching) -> DocumentSearchResult:
        """Find the documents that are similar to each of many texts.

        Returns
        -------
        ``matches`` (query_id, doc_id, similarity; in the order of queries, the most similar first)
        and a ``summary`` with counts, skipped rows and the predicted recall; with ``top`` that of a
        document as similar as the least of all that were found. Of sketches similarities are
        estimates, with their standard ``error`` and a 95 % interval from ``low`` to ``high``, as
        ``estimate`` has them.

        Raises
        ------
        InvalidParameterError, InvalidInputError, ReadError, IndexFormatError
            As ``deduplicate``, and if what was touched of the index is damaged.
        SketchMismatchError
            If sketches were made with other shingles or another seed than the index.
        """
        options, with_columns = given.part(DocumentSearchOptions), given.with_columns
        condition = None if given.doc_where is None else Condition(given.doc_where)
        with Runner(given.workers, given.progress, "search") as runner:
            if isinstance(given.queries, Sketches):
                with self._session.shared() as view:
                    return search_sketches(
                        view, given.queries, options, runner, condition, with_columns=with_columns
                    )
            sources = rows_where(
                resolve_inputs(as_documents(given.queries), options), options.where
            )
            with self._session.shared() as view:
                result = search_documents(
                    ThreadEngine(runner, IN_MEMORY),
                    SharedIndex(self.folder, view),
                    sources,
                    options,
                    condition,
                    with_columns=with_columns,
                )
        return with_warning(result)

    def _shared(self) -> AbstractContextManager[OpenDocuments]:
        return self._session.shared()

    def _settle(self, runner: Runner) -> None:
        self._session.commit(runner)

    def _check_columns(self, columns: dict[str, Any]) -> None:
        known = self._session.scheme.columns
        for name in columns:
            if name not in known:
                kept = ", ".join(known) if known else "none"
                message = f"the index keeps no column {name!r}; it keeps {kept}"
                if name == "columns":
                    message += ". A column is given by its own name, as NAME=VALUE or **columns"
                raise InvalidParameterError(message, name)


def _measure_for(scheme: DocumentScheme, threshold: Number | None, most: MostOptions) -> Measure:
    """Return the measure of a query, with the least similarity that is asked for."""
    if most.top is not None:
        return scheme.measure_of_top(None if threshold == "index" else threshold)
    if threshold == "index":
        return scheme.measure
    if threshold is not None:
        return scheme.measure_at(threshold)
    if most.limit is None:
        message = "threshold None, which is none, needs a limit: the most similar are found"
        raise InvalidParameterError(message, "threshold", "limit")
    return scheme.measure_of_top(None)
