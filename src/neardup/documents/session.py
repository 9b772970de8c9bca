"""Documents put into an index one at a time: in memory until they are committed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import RLock
from typing import Any, TypeVar

from neardup.documents.additions import (
    DocumentRemovalResult,
    merge_tiers,
    put_away,
    replace_document,
)
from neardup.documents.index import DocumentHandle, OpenDocuments
from neardup.documents.lookup import find_answers, find_denied
from neardup.documents.one_text import make_query
from neardup.documents.pending import Pending
from neardup.documents.queries import Queries
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import Id, checked_id
from neardup.errors import DeniedError, InvalidInputError, InvalidParameterError, NeardupError
from neardup.index.handle import OpenFiles
from neardup.matching.measures import Measure
from neardup.runs.runner import Runner

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
        return base.with_pending(pending) if len(pending) else base

    def insert(
        self,
        identifier: Id,
        text: str | None,
        make: Callable[[DocumentScheme], Queries | None],
        columns: dict[str, Any],
    ) -> None:
        """Take a document; it is found at once, and durable when it is committed.

        ``make`` works out what is known of it by a scheme; None, if it is signed by its text. A
        denied one is refused.
        """
        identifier = checked_id(identifier)
        with self._inserting(make) as (pending, queries):
            assert self._base is not None
            queries = _unless_denied(self._base, identifier, text, queries)
            self._check_new(identifier)
            pending.add(identifier, text, columns, queries)

    def replace(
        self,
        identifier: Id,
        text: str | None,
        make: Callable[[DocumentScheme], Queries | None],
        columns: dict[str, Any],
    ) -> DocumentRemovalResult:
        """Take a document instead of the one with its id, if there is one, as ``insert``.

        Both happen at once, for readers and if the machine fails, and are durable; so is what was
        inserted before.
        """
        identifier = checked_id(identifier)
        with self._lock:
            self.commit(self._runner)
            with self._handle.changing(self._runner) as files:
                index = self._handle.read(files)
                _check_decided(index.scheme)
                queries = _unless_denied(index, identifier, text, make(index.scheme))
                pending = Pending(index.scheme)
                pending.add(identifier, text, columns, queries)
                return replace_document(self._handle, files, pending, identifier, self._runner)

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
            if document >= index.first_denied:
                (denied_id,) = index.ids_gone_for(answers.documents).cast("string").to_pylist()
                is_exact, similarity = bool(answers.are_copies[0]), float(answers.similarities[0])
                raise DeniedError.of(identifier, denied_id, similarity, exact=is_exact)
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
            pending = self._pending
            assert pending is not None
            n_documents = pending.n_documents
            unwritable: list[tuple[Id, str]] = []
            has_segment = False
            try:
                if not pending.is_empty:
                    has_segment = put_away(self._handle, self._files, pending, unwritable, runner)
            except BaseException:
                # An interrupt may come when all is stored.
                with contextlib.suppress(NeardupError):
                    contents = self._handle.database.read()
                    if contents.manifest.generation > self._files.manifest.generation:
                        self._end()
                raise
            self._end()
            if has_segment:
                merge_tiers(self._handle, runner)
            if unwritable:
                named = "; ".join(f"{identifier!r}: {why}" for identifier, why in unwritable[:3])
                message = (
                    f"{len(unwritable)} of {n_documents} documents cannot be written and are left "
                    f"out, insert them otherwise ({named}); the others are durable"
                )
                raise InvalidInputError(message)
            return n_documents

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
                _check_decided(base.scheme)
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
                f"id {identifier!r} is in the index already; ids must differ. Replace the old "
                "document with `replace` (over HTTP, PUT), remove it first, or choose another id"
            )
            raise InvalidInputError(message, is_known_id=True)

    def _commit_if_many(self) -> None:
        if self._commit_every is None or self._pending is None:
            return
        if self._pending.n_documents + self._pending.n_gone >= self._commit_every:
            self.commit(self._runner)


def _check_decided(scheme: DocumentScheme) -> None:
    """Make sure that it is known what shingles weigh."""
    if scheme.needs_frequencies:
        assert scheme.weighted is not None
        message = (
            f"idf {scheme.weighted.weighting.idf} is counted over the documents of the first "
            "addition; add some with `add` before you insert one"
        )
        raise InvalidParameterError(message, "idf")


def _unless_denied(
    index: OpenDocuments, identifier: Id, text: str | None, queries: Queries | None
) -> Queries | None:
    """Return what is known of a document, unless it must not come back."""
    if index.denied is None:
        return queries
    scheme = index.scheme
    queries = make_query(text, None, scheme, identifier) if queries is None else queries
    found = find_denied(index, queries, scheme.measure, queries.is_filled)
    if len(found.texts):
        (denied_id,) = index.denied.ids_of(found.rows).to_pylist()
        is_exact, similarity = bool(found.are_exact[0]), float(found.similarities[0])
        raise DeniedError.of(identifier, denied_id, similarity, exact=is_exact)
    return queries
