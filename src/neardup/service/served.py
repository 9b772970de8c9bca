"""Indexes as the service serves them: documents and passages behind one set of methods.

Texts that come with requests are handed on as rows in memory, never as names of files.
"""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar, Literal, NoReturn, TypeVar

import pyarrow as pa

from neardup.errors import InvalidParameterError, NeardupError
from neardup.jobs.align.align import align
from neardup.jobs.index import index
from neardup.jobs.index.passages import PassageIndex
from neardup.passages.index import PassageHandle
from neardup.runs.runner import Runner
from neardup.service.batches import Rows, look_up_some
from neardup.service.lanes import Deadline, Share
from neardup.service.messages import (
    Alignment,
    Change,
    Compacted,
    DocumentRow,
    Found,
    Id,
    Kind,
    Match,
    Matches,
    NewDocument,
    NewIfNew,
    Page,
    PassageRow,
    Query,
    Removed,
    Replaced,
    Replacement,
    Search,
)
from neardup.service.problems import Problem, busy, reason_of
from neardup.service.processes import Processes

T = TypeVar("T")

# What was inserted is made durable when the first of it is so old, so that others may write, too,
# or when it is so much that a commit costs each document next to nothing.
_COMMIT_SECONDS = 9.0
_COMMIT_DOCUMENTS = 1000
_COMMIT_CHARACTERS = 1 << 25
# Of a look-up that names no limit.
_MOST_MATCHES = 100_000
# A commit that has failed is tried again after a pause, each twice as long as the one before.
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
# What says nothing of the index but where it lies.
_PRIVATE = ("folder",)


class Served(ABC):
    """An index with a name.

    It knows what was inserted and is not durable yet, and what is the matter with it: ``troubles``
    has a reason for each of ``refresh`` and ``commit`` that failed the last time.
    """

    kind: ClassVar[Kind]
    processes: Processes
    """Those of the service, for what may take long."""

    def __init__(self, name: str, index: Any, *, is_writable: bool) -> None:
        self.name, self.index, self.is_writable = name, index, is_writable
        self._n_documents = 0
        # One change at a time, whatever the number of threads.
        self.writing = threading.Lock()
        self.troubles: dict[Literal["refresh", "commit"], str] = {}
        self.n_failed_commits = 0
        # Times are of the clock of ``monotonic``.
        self.last_commit = time.monotonic()
        self.n_uncommitted = self._n_characters = 0
        self._commit_at, self._pause = 0.0, 0.0
        # By a compaction, for which no change waits long.
        self.is_rewritten = False

    @abstractmethod
    def query(self, query: Query) -> Matches:
        """Look up one text among the documents."""

    @abstractmethod
    def search(self, search: Search, deadline: Deadline, share: Share) -> Found:
        """Look up many texts; the answer takes its share of memory while it is made."""

    @abstractmethod
    def align(self, alignment: Alignment, deadline: Deadline, share: Share) -> Found:
        """Find the passages that documents share with those of the index; as ``search``."""

    @abstractmethod
    def insert(self, document: NewDocument) -> None:
        """Add one document."""

    @abstractmethod
    def insert_if_new(self, document: NewIfNew) -> str | int | None:
        """Add one document unless a similar one is there; return the id of that one."""

    @abstractmethod
    def replace(self, document: Replacement) -> Replaced:
        """Put a document in the place of the one with its id, durably."""

    def change_many(
        self, changes: Sequence[Change]
    ) -> list[str | int | NeardupError | Problem | None]:
        """Make some changes, each by itself, durable after ``commit``.

        Returns
        -------
        None for each, or the id of what a document is similar to, or what went wrong.
        """
        outcomes: list[str | int | NeardupError | Problem | None] = []
        for is_removal, run in groupby(changes, lambda change: change.op == "remove"):
            if is_removal:
                done = self.remove_each([[change.id] for change in run])
                outcomes += [None if isinstance(each, Removed) else each for each in done]
            else:
                outcomes += [self._attempt(partial(self._change, change)) for change in run]
        return outcomes

    def _change(self, change: Change) -> str | int | None:
        if change.op == "insert-if-new":
            return self.insert_if_new(change)
        if change.op == "insert":
            self.insert(change)
        else:
            self.replace(change)
        return None

    @property
    def is_commit_due(self) -> bool:
        """Whether what was inserted has waited long enough, or is enough, to be made durable."""
        is_late = time.monotonic() >= self._commit_at
        if "commit" in self.troubles:
            return is_late
        is_much = (
            self.n_uncommitted >= _COMMIT_DOCUMENTS or self._n_characters >= _COMMIT_CHARACTERS
        )
        return self.n_uncommitted > 0 and (is_late or is_much)

    def commit(self) -> int:
        """Make durable what was inserted; return how many documents that were.

        If that fails, whatever the reason, it is noted, and due again after a while.
        """
        try:
            n_documents: int = self.index.commit()
        except Exception as error:
            self.n_failed_commits += 1
            self.troubles["commit"] = reason_of(error)
            self._pause = min(2 * self._pause or _FIRST_PAUSE, _LONGEST_PAUSE)
            self._commit_at = time.monotonic() + self._pause
            raise
        self.troubles.pop("commit", None)
        self.n_uncommitted = self._n_characters = 0
        self._pause, self.last_commit = 0.0, time.monotonic()
        return n_documents

    def _note_insertion(self, document: NewDocument) -> None:
        """Note that a document, or what it went for, is not durable yet."""
        if not self.n_uncommitted:
            self._commit_at = time.monotonic() + _COMMIT_SECONDS
        self.n_uncommitted += 1
        self._n_characters += len(document.text or "")

    def _commit_before(self) -> None:
        """Make durable what was inserted, before a change that is durable itself."""
        if self.n_uncommitted:
            self.commit()

    def add(self, rows: list[dict[str, Any]], deadline: Deadline) -> tuple[int, int]:
        """Add some documents, all of them or none; return how many, and how many are denied."""
        self._commit_before()
        added = self.index.add(rows, id_column="id", workers=1, progress=deadline.progress)
        self.last_commit = time.monotonic()
        return added.n_documents, len(added.denied)

    def remove(self, ids: Sequence[str | int], *, deny: bool) -> Removed:
        """Take documents out, and have them not come back where they are denied."""
        self._commit_before()
        summary = self.index.remove(ids, deny=deny).summary
        self.last_commit = time.monotonic()
        # Of passages nothing had gone for others.
        more = summary.get("denied", 0), summary.get("orphans", [])
        return Removed(summary["removed"], summary["documents"], *more)

    def remove_each(
        self, requests: Sequence[Sequence[str | int]]
    ) -> list[Removed | NeardupError | Problem]:
        """Take out what several requests name, each all or none, in one change.

        What an id is missing for, or named before, is refused as it is by itself.
        """
        names = [set(map(str, ids)) for ids in requests]
        taken = set[str]()
        together = []
        for number, own in enumerate(names):
            if taken.isdisjoint(own) and all(each in self.index for each in own):
                together.append(number)
                taken |= own
        outcomes: list[Removed | NeardupError | Problem | None] = [None] * len(requests)
        if len(together) > 1:
            with contextlib.suppress(NeardupError):
                every = self.remove(sorted(taken), deny=False)
                n_left = every.documents + every.removed
                for number in together:
                    own = names[number]
                    n_left -= len(own)
                    orphans = [each for each in every.orphans if str(each["kept_id"]) in own]
                    outcomes[number] = Removed(len(own), n_left, 0, orphans)
        return [
            self._attempt(partial(self.remove, ids, deny=False)) if outcome is None else outcome
            for ids, outcome in zip(requests, outcomes, strict=True)
        ]

    @staticmethod
    def _attempt(work: Callable[[], T]) -> T | NeardupError | Problem:
        try:
            return work()
        except (NeardupError, Problem) as error:
            return error

    def compact(self) -> Compacted:
        """Write the index anew without what was removed."""
        with self.writing:
            self.is_rewritten = True
            try:
                self._commit_before()
                summary = self.index.compact(workers=1).summary
                self.last_commit = time.monotonic()
            finally:
                self.is_rewritten = False
        return Compacted(summary["segments"], summary["documents"], summary["freed_bytes"])

    def get(self, identifier: str) -> dict[str, Any] | None:
        """Return a document, or None."""
        document: dict[str, Any] | None = self.index.get(identifier)
        return document

    def documents(
        self, start: int, limit: int, most_characters: int
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Return documents whose texts are about as long as allowed, and where to go on."""
        found, cursor = self.page(Page(start=start, limit=limit), most_characters)
        return found, None if cursor is None else start + len(found)

    def page(self, asked: Page, most_characters: int) -> index.Page:
        """Return documents whose texts are about as long as allowed, and the cursor behind them."""
        found: index.Page = self.index.page(
            asked.limit,
            start=asked.start,
            cursor=asked.cursor,
            where=asked.where,
            most_characters=most_characters,
        )
        return found

    def info(self) -> dict[str, Any]:
        """Return what the index holds and how it was made."""
        return {key: value for key, value in self.index.info().items() if key not in _PRIVATE}

    def __len__(self) -> int:
        # Of an index that is damaged, as many as there were: lists of all indexes have it still.
        with contextlib.suppress(NeardupError):
            self._n_documents = len(self.index)
        return self._n_documents

    def refresh(self) -> None:
        """See what other processes have changed; if that fails, what was seen before is kept."""
        try:
            self.index.refresh()
        except Exception as error:
            self.troubles["refresh"] = reason_of(error)
            raise
        self.troubles.pop("refresh", None)

    def close(self) -> None:
        """Make durable what was inserted, at the end."""
        if self.is_writable:
            with self.writing:
                self.commit()


class ServedDocuments(Served):
    """An index of documents."""

    kind = "documents"

    def query(self, query: Query) -> Matches:
        """Look up one text, or its tokens."""
        check_text_or_tokens(query)
        limit = query.limit
        if limit is None and query.top is None and query.threshold is not None:
            limit = _MOST_MATCHES
        found = self.index.query(
            query.text,
            tokens=query.tokens,
            threshold=query.threshold,
            limit=limit,
            top=query.top,
            cursor=query.cursor,
            where=query.where,
            with_columns=query.with_columns,
        )
        return Matches([Match(*match) for match in found], found.n_matches, found.cursor)

    def search(self, search: Search, deadline: Deadline, share: Share) -> Found:
        """Look up many texts."""
        for option in ("recall", "hits"):
            if getattr(search, option) is not None:
                message = f"{option} has no effect in an index of documents; leave it out"
                raise InvalidParameterError(message)
        if search.with_text:
            message = "with_text has no effect in an index of documents; leave it out"
            raise InvalidParameterError(message)

        def look_up(rows: list[dict[str, Any]]) -> tuple[pa.Table, Mapping[str, Any]]:
            result = self.index.search(
                rows,
                search.threshold,
                top=search.top,
                doc_where=search.doc_where,
                with_columns=search.with_columns,
                id_column="id",
                workers=1,
                progress=deadline.progress,
            )
            return result.table, result.summary

        found = look_up_some(self.index, search.queries, look_up, _document_row, search, share)
        names = self._columns if search.with_columns else []
        return Found(self.kind, found.n_found, found.first, [], found.summary, names, found.cursor)

    @property
    def _columns(self) -> list[str]:
        """The columns that the index keeps."""
        return list(self.index._handle.view(Runner(1)).scheme.columns)  # noqa: SLF001 - its own

    def align(self, alignment: Alignment, deadline: Deadline, share: Share) -> NoReturn:
        """Refuse: whole documents are found."""
        message = "an index of documents has no passages; POST /v1/indexes/NAME/search instead"
        raise InvalidParameterError(message)

    def insert(self, document: NewDocument) -> None:
        """Insert a document; it is durable after ``commit``."""
        check_text_or_tokens(document)
        self._check_commits()
        self.index.insert(
            document.id, document.text, tokens=document.tokens, **_checked(document.columns)
        )
        self._note_insertion(document)

    def add(self, rows: list[dict[str, Any]], deadline: Deadline) -> tuple[int, int]:
        """Add some documents; a column that one lacks is null there."""
        columns = self._columns
        for row in rows:
            unknown = row.keys() - {"id", "text", *columns}
            if unknown:
                kept = ", ".join(columns) or "none"
                message = f"the index keeps no column {min(unknown)!r}; it keeps {kept}"
                raise InvalidParameterError(message)
        return super().add([{**dict.fromkeys(columns), **row} for row in rows], deadline)

    def insert_if_new(self, document: NewIfNew) -> str | int | None:
        """Insert a document unless a similar one is there."""
        check_text_or_tokens(document)
        self._check_commits()
        found: str | int | None = self.index.insert_if_new(
            document.id,
            document.text,
            tokens=document.tokens,
            threshold=document.threshold,
            **_checked(document.columns),
        )
        self._note_insertion(document)
        return found

    def replace(self, document: Replacement) -> Replaced:
        """Put a document in the place of the one with its id, or insert it."""
        check_text_or_tokens(document)
        self._commit_before()
        summary = self.index.replace(
            document.id, document.text, tokens=document.tokens, **_checked(document.columns)
        ).summary
        self.last_commit = time.monotonic()
        return Replaced(summary["removed"] > 0, summary["documents"], summary["orphans"])

    def _check_commits(self) -> None:
        """Take nothing more, for memory is all there is for it, while commits fail."""
        if reason := self.troubles.get("commit"):
            message = (
                f"what was inserted before cannot be made durable ({reason}), so nothing more is "
                "taken; it is tried again and again: come back when /ready says ok"
            )
            raise busy(message)


class ServedPassages(Served):
    """An index of passages."""

    kind = "passages"
    index: PassageIndex

    def query(self, query: Query) -> NoReturn:
        """Refuse: passages are searched."""
        message = "an index of passages finds no documents; POST /v1/indexes/NAME/search instead"
        raise InvalidParameterError(message)

    def search(self, search: Search, deadline: Deadline, share: Share) -> Found:
        """Look up the passages of many texts."""
        for option in ("top", "doc_where", "with_columns"):
            if getattr(search, option):
                message = f"{option} has no effect in an index of passages; leave it out"
                raise InvalidParameterError(message)
        return self._apart(_search_passages, search, deadline, share)

    def align(self, alignment: Alignment, deadline: Deadline, share: Share) -> Found:
        """Find the passages that documents share with those of the index."""
        return self._apart(_align_passages, alignment, deadline, share)

    def _apart(
        self,
        find: Callable[[PassageIndex, Any], Rows],
        asked: Any,
        deadline: Deadline,
        share: Share,
    ) -> Found:
        """Look for passages in a process that ends at the deadline.

        Every change of an index of passages is durable, so that the process sees all there is.
        """
        index = self.index
        work = partial(_in_process, find, index.folder, index._handle.tokenizer, asked)  # noqa: SLF001
        rows = self.processes.run(work, deadline)
        share.grow(rows.n_bytes)
        return Found(self.kind, rows.n_found, [], rows.first, rows.summary, cursor=rows.cursor)

    def insert(self, document: NewDocument) -> None:
        """Add one document; it is durable at once."""
        row = {"id": document.id, "text": _only_text(document)}
        self.index.add([row], id_column="id", workers=1)

    def insert_if_new(self, document: NewIfNew) -> NoReturn:
        """Refuse: only whole documents are new or not."""
        message = "an index of passages does not know what is new; use an index of documents"
        raise InvalidParameterError(message)

    def change_many(
        self, changes: Sequence[Change]
    ) -> list[str | int | NeardupError | Problem | None]:
        """Make some changes; additions all at once, unless one is in the way of the others."""
        if len(changes) > 1 and all(
            change.op == "insert" and not change.columns and change.tokens is None
            for change in changes
        ):
            rows = [{"id": change.id, "text": change.text} for change in changes]
            with contextlib.suppress(NeardupError):
                self.index.add(rows, id_column="id", workers=1)
                return [None] * len(changes)
        return super().change_many(changes)

    def replace(self, document: Replacement) -> Replaced:
        """Put a document in the place of the one with its id, or add it; durable at once."""
        text = _only_text(document)
        summary = self.index.replace(document.id, text).summary
        self.last_commit = time.monotonic()
        return Replaced(summary["removed"] > 0, summary["documents"], [])

    def commit(self) -> int:
        """Do nothing: every change of an index of passages is durable at once."""
        return 0


class _Every(frozenset[str]):
    """A set that has everything."""

    def __contains__(self, _: object) -> bool:
        return True


class _CheckedHandle(PassageHandle):
    """An index whose files the service has read and checked already: sizes are enough here."""

    unread = _Every()


# In each process that looks for passages: indexes as they were opened, by folder and tokenizer.
_OPEN: dict[tuple[Path, Any], PassageIndex] = {}


def _in_process(
    find: Callable[[PassageIndex, Any], Rows], folder: Path, tokenizer: Any, asked: Any
) -> Rows:
    """Look for passages in an index as it is now; if it is damaged, as it was seen before."""
    index = _OPEN.get((folder, tokenizer))
    if index is None:
        index = PassageIndex(folder, tokenizer=tokenizer)
        index._handle = _CheckedHandle(folder, tokenizer)  # noqa: SLF001 - another one
        index.refresh()
        _OPEN[folder, tokenizer] = index
    else:
        with contextlib.suppress(NeardupError):
            index.refresh()
    return find(index, asked)


def _search_passages(index: PassageIndex, search: Search) -> Rows:
    def look_up(rows: list[dict[str, Any]]) -> tuple[pa.Table, Mapping[str, Any]]:
        result = index.search(
            rows,
            "0.8" if search.threshold is None else search.threshold,
            recall=search.recall,
            hits=search.hits,
            with_text=search.with_text,
            id_column="id",
            workers=1,
        )
        return result.passages, result.summary

    return look_up_some(index, search.queries, look_up, PassageRow, search)


def _align_passages(index: PassageIndex, alignment: Alignment) -> Rows:
    def look_up(rows: list[dict[str, Any]]) -> tuple[pa.Table, Mapping[str, Any]]:
        result = align(
            rows,
            index,
            threshold="0.5" if alignment.threshold is None else alignment.threshold,
            min_tokens=alignment.min_tokens,
            with_text=alignment.with_text,
            id_column="id",
            workers=1,
        )
        return result.passages, result.summary

    # Each call goes through the whole index.
    texts = alignment.documents
    return look_up_some(index, texts, look_up, PassageRow, alignment, at_once=len(texts))


def _document_row(query_id: Id, doc_id: Id, similarity: float, **columns: Any) -> DocumentRow:
    own = {name.removeprefix("doc_"): value for name, value in columns.items()}
    return DocumentRow(query_id, doc_id, similarity, own or None)


def check_text_or_tokens(request: Query | NewDocument | Replacement) -> None:
    """Make sure that there is a text or tokens."""
    if (request.text is None) == (request.tokens is None):
        message = "text or tokens must be given, one of them"
        raise InvalidParameterError(message)


def _only_text(document: Replacement) -> str:
    """Return the text of a document for an index of passages."""
    if document.text is None or document.tokens is not None or document.columns:
        message = "text is all that an index of passages takes; leave out tokens and columns"
        raise InvalidParameterError(message)
    return document.text


def _checked(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns that can go in beside the id, the text and the options."""
    for name in ("id", "text", "tokens", "threshold"):
        if name in columns:
            message = f"columns must not have the name {name!r}, which something else has"
            raise InvalidParameterError(message)
    return columns
