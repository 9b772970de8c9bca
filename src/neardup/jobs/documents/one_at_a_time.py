"""Documents of an index one at a time: looked up, inserted, read."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import TracebackType
from typing import Any, Self

from neardup.documents.index import DocumentHandle
from neardup.documents.lookup import find_hits
from neardup.documents.queries import Queries
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import Id, checked_id, ids_of_values
from neardup.errors import InvalidParameterError
from neardup.jobs.documents.look_up import in_rank_order
from neardup.jobs.documents.one_text import Tokens, make_query
from neardup.jobs.documents.result import Match
from neardup.jobs.documents.session import InsertSession
from neardup.matching.measures import Measure
from neardup.options.documents import CommitOptions, DocumentSearchOptions
from neardup.options.kinds import Whole
from neardup.runs.runner import Runner
from neardup.text.tokenizers import named_tokenizer

_LIMIT = DocumentSearchOptions.known["limit"]


class OneAtATime:
    """What an index of documents does with single documents."""

    def __init__(self, handle: DocumentHandle, commit_every: int | None) -> None:
        self.handle = handle
        self._session = InsertSession(
            handle, CommitOptions.known["commit_every"].checked(commit_every)
        )

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
        self._check_columns(columns)
        scheme = self._scheme
        # A function or a file may refuse a text, and must do it now, not when it is committed.
        never_refuses = named_tokenizer(scheme.shingles.tokenizer.name) is not None
        if isinstance(text, str) and tokens is None and scheme.with_text and never_refuses:
            # Signed together with others when that is needed.
            self._session.insert(id, text, lambda _: None, columns)
            return
        self._session.insert(id, text, partial(make_query, text, tokens), columns)

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
            return scheme.measure_at(threshold), make_query(text, tokens, scheme)

        return self._session.insert_if_new(id, text, make, columns)

    def query(
        self,
        text: str | None = None,
        *,
        tokens: Tokens | None = None,
        threshold: str | float | Decimal | Fraction | None = None,
        limit: int | None = None,
    ) -> list[Match]:
        """Find the documents that are similar to a text.

        Parameters
        ----------
        text, tokens
            As for ``insert``.
        threshold
            Least similarity, not below that of the index, which None is; an exact decimal.
        limit
            Only so many, the most similar.

        Returns
        -------
        Pairs of ``id`` and ``similarity``, the most similar first, on a tie in the order in which
        documents were added. Each was compared exactly.
        """
        limit = _LIMIT.checked(limit)
        with self._session.shared() as view:
            measure = view.scheme.measure_at(threshold)
            query = make_query(text, tokens, view.scheme)
            hits = in_rank_order(find_hits(view, query, measure))
            if not len(hits):
                return []
            ids = view.list_ids(hits.documents[:limit])
        return [Match(*pair) for pair in zip(ids, hits.similarities[:limit].tolist(), strict=True)]

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

    def _check_columns(self, columns: dict[str, Any]) -> None:
        known = self._scheme.columns
        for name in columns:
            if name not in known:
                kept = ", ".join(known) if known else "none"
                message = f"the index keeps no column {name!r}; it keeps {kept}"
                raise InvalidParameterError(message, name)

    @property
    def _scheme(self) -> DocumentScheme:
        return self._session.scheme
