"""Documents put into an index one at a time: in memory until they are committed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import RLock
from typing import Any

from neardup.documents.delta import Delta
from neardup.documents.index import DocumentHandle, DocumentRemovalResult, find_orphans
from neardup.documents.lookup import find_answers, find_denied
from neardup.documents.queries import Queries, Tokens, make_query
from neardup.documents.scheme import DocumentScheme
from neardup.documents.values import Id, checked_id
from neardup.documents.view import OpenDocuments
from neardup.errors import DeniedError, InvalidInputError, InvalidParameterError, NeardupError
from neardup.index.index import wanted_ids
from neardup.runs.runner import Runner


class InsertSession:
    """Holds the write lock of an index from the first insertion to the commit.

    So a question and the insertion after it are one step for all others. For any number of threads.

    Parameters
    ----------
    handle
        The index.
    commit_every
        Commit after so many documents, including those left out; None leaves it to the user.
    """

    def __init__(self, handle: DocumentHandle, commit_every: int | None) -> None:
        self._handle, self._commit_every = handle, commit_every
        self._lock = RLock()
        self._runner = Runner(1)
        self._stack: ExitStack | None = None
        self._base: OpenDocuments | None = None
        self._delta: Delta | None = None

    @property
    def scheme(self) -> DocumentScheme:
        """How documents are signed."""
        return (self._base or self._handle.latest(self._runner)).scheme

    @contextmanager
    def shared(self) -> Iterator[OpenDocuments]:
        """Give the index with all that was inserted.

        While something waits for the commit one thread at a time looks at it.
        """
        if self._delta is None:
            yield self._handle.latest(self._runner)
            return
        with self._lock:
            yield self._view()

    def _view(self) -> OpenDocuments:
        base, delta = self._base, self._delta
        if base is None or delta is None:
            return self._handle.latest(self._runner)
        return base.with_pending(delta) if len(delta) else base

    def insert(
        self, identifier: Id, text: str | None, tokens: Tokens | None, columns: dict[str, Any]
    ) -> None:
        """Take a document; it is found at once, and durable when it is committed.

        A denied one is refused.
        """
        identifier = checked_id(identifier)
        with self._inserting(identifier, text, tokens) as (base, delta, queries):
            _check_not_denied(base, identifier, queries)
            _check_new(base, delta, identifier)
            delta.add(identifier, text, columns, queries)

    def replace(
        self, identifier: Id, text: str | None, tokens: Tokens | None, columns: dict[str, Any]
    ) -> DocumentRemovalResult:
        """Take a document instead of the one with its id, if there is one, in one durable change.

        Earlier insertions are committed first.
        """
        identifier = checked_id(identifier)
        with self._lock:
            self.commit(self._runner)
            with self._handle.changing(self._runner) as index:
                _check_decided(index.scheme)
                queries = make_query(text, tokens, index.scheme, identifier)
                _check_not_denied(index, identifier, queries)
                delta = Delta(index.scheme)
                delta.add(identifier, text, columns, queries)
                wanted = wanted_ids([identifier])
                orphans, _ = find_orphans(index, wanted)
                found = index.rows_of_ids(wanted)
                n_removed = sum(len(rows) for _, rows in found)
                left = index.without(found) if n_removed else index
                self._handle.put_away(left, delta, self._runner)
                n_left = index.n_documents - n_removed + 1
                return DocumentRemovalResult(n_removed, n_left, orphans=orphans)

    def insert_if_new(
        self,
        identifier: Id,
        text: str | None,
        tokens: Tokens | None,
        threshold: Any,
        columns: dict[str, Any],
    ) -> Id | None:
        """Take a document unless it is similar to one that is there; return the id of that one."""
        identifier = checked_id(identifier)
        self.scheme.measure_at(threshold)
        with self._inserting(identifier, text, tokens) as (base, delta, queries):
            index = self._view()
            answers = find_answers(index, queries, base.scheme.measure_at(threshold))
            document, similarity = int(answers.documents[0]), float(answers.similarities[0])
            if document < 0:
                _check_new(base, delta, identifier)
                delta.add(identifier, text, columns, queries)
                return None
            if document >= index.first_denied:
                (denied_id,) = index.ids_gone_for(answers.documents).cast("string").to_pylist()
                is_exact = bool(answers.are_copies[0])
                raise DeniedError.of(identifier, denied_id, similarity, exact=is_exact)
            (kept_id,) = index.list_ids(answers.documents)
            # A document that comes again is not a duplicate of itself.
            if str(kept_id) != str(identifier):
                delta.went(identifier, str(kept_id), queries.digests[0], similarity)
            return kept_id

    def commit(self, runner: Runner) -> int:
        """Write all insertions, and release the lock; return the number of documents.

        If it fails, they are still there, and can be committed again.
        """
        with self._lock:
            if self._delta is None:
                return 0
            assert self._base is not None
            n_documents, has_segment = self._delta.n_documents, False
            try:
                has_segment = self._handle.put_away(self._base, self._delta, runner)
            except BaseException:
                # An interrupt may come when all is stored.
                with suppress(NeardupError):
                    contents = self._handle.database.read()
                    if contents.manifest.generation > self._base.manifest.generation:
                        self._end()
                raise
            self._end()
            if has_segment:
                self._handle.merge_tiers(runner)
            return n_documents

    def discard(self) -> None:
        """Forget all insertions that were not committed, and release the lock."""
        with self._lock:
            self._end()

    @contextmanager
    def _inserting(
        self, identifier: Id, text: str | None, tokens: Tokens | None
    ) -> Iterator[tuple[OpenDocuments, Delta, Queries]]:
        """Sign a document and hold the write lock; commit after the block if much waits.

        If nothing waits, as where the only document was refused, nobody would ask for a commit:
        the write lock is released at once.
        """
        # Before the lock: it takes time, and a bad text is refused whoever writes.
        scheme = self.scheme
        queries = make_query(text, tokens, scheme, identifier)
        with self._lock:
            if self._delta is None:
                self._begin()
            base, delta = self._base, self._delta
            assert base is not None
            assert delta is not None
            try:
                # Another process may have made the first addition, which decides weights.
                if base.scheme is not scheme:
                    queries = make_query(text, tokens, base.scheme, identifier)
                yield base, delta, queries
            finally:
                n_waiting = delta.n_documents + delta.n_gone
                if not n_waiting:
                    self._end()
            if self._commit_every is not None and n_waiting >= self._commit_every:
                self.commit(self._runner)

    def _begin(self) -> None:
        """Take the write lock."""
        with ExitStack() as stack:
            self._base = stack.enter_context(self._handle.changing(self._runner))
            _check_decided(self._base.scheme)
            self._delta, self._stack = Delta(self._base.scheme), stack.pop_all()

    def _end(self) -> None:
        # Until the handle sees what was committed, others wait for the lock to look at it here.
        try:
            if self._stack is not None:
                self._stack.close()
        finally:
            self._stack = self._base = self._delta = None


def _check_new(base: OpenDocuments, delta: Delta, identifier: Id) -> None:
    name = str(identifier)
    if delta.may_have_id(name, 0) or base.has_id(name):
        message = (
            f"id {identifier!r} is in the index already; ids must differ. Replace the old "
            "document with `replace` (over HTTP, PUT), remove it first, or choose another id"
        )
        raise InvalidInputError(message, is_known_id=True)


def _check_decided(scheme: DocumentScheme) -> None:
    """Check that the weights of shingles are known."""
    if scheme.needs_frequencies:
        assert scheme.weighted is not None
        message = (
            f"idf {scheme.weighted.weighting.idf} is counted over the documents of the first "
            "addition; add some with `add` before you insert one"
        )
        raise InvalidParameterError(message, "idf")


def _check_not_denied(index: OpenDocuments, identifier: Id, queries: Queries) -> None:
    if index.denied is None:
        return
    found = find_denied(index, queries, index.scheme.measure, queries.is_filled)
    if len(found.texts):
        (denied_id,) = index.denied.ids_of(found.rows).to_pylist()
        is_exact, similarity = bool(found.are_exact[0]), float(found.similarities[0])
        raise DeniedError.of(identifier, denied_id, similarity, exact=is_exact)
