"""Indexes as the service serves them: documents and passages behind one set of methods.

Texts that come with requests are handed on as rows in memory, never as names of files.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import pyarrow as pa

from neardup.errors import InvalidParameterError
from neardup.jobs.passages.align import align
from neardup.jobs.passages.result import PassageResult
from neardup.runtime.runner import Runner
from neardup.service.lanes import Deadline
from neardup.service.messages import (
    Alignment,
    DocumentRow,
    Found,
    Kind,
    Match,
    NamedText,
    NewDocument,
    NewIfNew,
    PassageRow,
    Query,
    Search,
)

if TYPE_CHECKING:
    from neardup.jobs.passages.passage_index import PassageIndex

# Documents of a page are read so many at a time, until their texts are long enough.
_DOCUMENTS_AT_ONCE = 16
# What says nothing of the index but where it lies.
_PRIVATE = ("folder",)


class Served(ABC):
    """An index with a name."""

    kind: ClassVar[Kind]

    def __init__(self, name: str, index: Any, *, is_writable: bool) -> None:
        self.name, self.index, self.is_writable = name, index, is_writable
        # One change at a time, whatever the number of threads.
        self.writing = threading.Lock()
        # When something was inserted that may not be durable yet, by the clock of ``monotonic``.
        self.last_insertion: float | None = None

    @abstractmethod
    def query(self, query: Query) -> list[Match]:
        """Look up one text among the documents."""

    @abstractmethod
    def search(self, search: Search, deadline: Deadline) -> Found:
        """Look up many texts."""

    @abstractmethod
    def align(self, alignment: Alignment, deadline: Deadline) -> Found:
        """Find the passages that documents share with those of the index."""

    @abstractmethod
    def insert(self, document: NewDocument) -> None:
        """Add one document."""

    @abstractmethod
    def insert_if_new(self, document: NewIfNew) -> str | int | None:
        """Add one document unless a similar one is there; return the id of that one."""

    @abstractmethod
    def commit(self) -> int:
        """Make durable what was inserted; return how many documents that were."""

    def add(self, rows: list[dict[str, Any]], deadline: Deadline) -> int:
        """Add some documents, all of them or none."""
        added = self.index.add(rows, id_column="id", workers=1, progress=deadline.progress)
        n_documents: int = added.n_documents
        return n_documents

    def remove(self, ids: Sequence[str | int]) -> tuple[int, int, list[dict[str, Any]]]:
        """Take documents out; return how many, how many are left, and which are orphans now."""
        removal = self.index.remove(ids)
        orphans = getattr(removal, "orphans", None)
        rows = orphans.to_pylist() if orphans is not None else []
        return removal.n_removed, removal.n_documents, rows

    def get(self, identifier: str) -> dict[str, Any] | None:
        """Return a document, or None."""
        document: dict[str, Any] | None = self.index.get(identifier)
        return document

    def documents(
        self, start: int, limit: int, most_characters: int
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Return documents whose texts are about as long as allowed, and where to go on."""
        found: list[dict[str, Any]] = []
        n_characters = 0
        while len(found) < limit:
            n_wanted = min(_DOCUMENTS_AT_ONCE, limit - len(found))
            some = self.index.documents(start + len(found), n_wanted)
            for document in some:
                n_characters += len(document.get("text") or "")
                if found and n_characters > most_characters:
                    return found, start + len(found)
                found.append(document)
            if len(some) < n_wanted:
                return found, None
        at_end = not self.index.documents(start + len(found), 1)
        return found, None if at_end else start + len(found)

    def info(self) -> dict[str, Any]:
        """Return what the index holds and how it was made."""
        return {key: value for key, value in self.index.info().items() if key not in _PRIVATE}

    def __len__(self) -> int:
        return len(self.index)

    def refresh(self) -> None:
        """See what other processes have changed."""
        self.index.refresh()

    def close(self) -> None:
        """Make durable what was inserted, at the end."""
        if self.is_writable:
            with self.writing:
                self.commit()


class ServedDocuments(Served):
    """An index of documents."""

    kind = "documents"

    def query(self, query: Query) -> list[Match]:
        """Look up one text, or its tokens."""
        check_text_or_tokens(query)
        found = self.index.query(
            query.text, tokens=query.tokens, threshold=query.threshold, limit=query.limit
        )
        return [Match(identifier, similarity) for identifier, similarity in found]

    def search(self, search: Search, deadline: Deadline) -> Found:
        """Look up many texts."""
        for option in ("recall", "hits", "report"):
            if getattr(search, option) is not None:
                message = f"{option} has no effect in an index of documents; leave it out"
                raise InvalidParameterError(message)
        if search.with_text:
            message = "with_text has no effect in an index of documents; leave it out"
            raise InvalidParameterError(message)
        ids, rows = _query_rows(search.queries)
        result = self.index.search(
            rows, search.threshold, id_column="id", workers=1, progress=deadline.progress
        )
        table: pa.Table = result.table
        found = [
            DocumentRow(ids[int(row["query_id"])], row["doc_id"], row["similarity"])
            for row in table.slice(0, search.limit).to_pylist()
        ]
        return Found(self.kind, len(table), found, [], result.summary)

    def align(self, alignment: Alignment, deadline: Deadline) -> NoReturn:
        """Refuse: whole documents are found."""
        message = "an index of documents has no passages; POST /v1/indexes/NAME/search instead"
        raise InvalidParameterError(message)

    def insert(self, document: NewDocument) -> None:
        """Insert a document; it is durable after ``commit``."""
        check_text_or_tokens(document)
        self.index.insert(
            document.id, document.text, tokens=document.tokens, **_checked(document.columns)
        )
        self.last_insertion = time.monotonic()

    def add(self, rows: list[dict[str, Any]], deadline: Deadline) -> int:
        """Add some documents; a column that one lacks is null there."""
        columns = self.index.handle.view(Runner(1)).scheme.columns
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
        found: str | int | None = self.index.insert_if_new(
            document.id,
            document.text,
            tokens=document.tokens,
            threshold=document.threshold,
            **_checked(document.columns),
        )
        self.last_insertion = time.monotonic()
        return found

    def commit(self) -> int:
        """Make durable what was inserted."""
        self.last_insertion = None
        n_documents: int = self.index.commit()
        return n_documents


class ServedPassages(Served):
    """An index of passages."""

    kind = "passages"
    index: PassageIndex

    def query(self, query: Query) -> NoReturn:
        """Refuse: passages are searched."""
        message = "an index of passages finds no documents; POST /v1/indexes/NAME/search instead"
        raise InvalidParameterError(message)

    def search(self, search: Search, deadline: Deadline) -> Found:
        """Look up the passages of many texts."""
        ids, rows = _query_rows(search.queries)
        result = self.index.search(
            rows,
            "0.8" if search.threshold is None else search.threshold,
            recall=search.recall,
            hits=search.hits,
            report=search.report or "best",
            with_text=search.with_text,
            id_column="id",
            workers=1,
            progress=deadline.progress,
        )
        return self._found(result, ids, search.limit)

    def align(self, alignment: Alignment, deadline: Deadline) -> Found:
        """Find the passages that documents share with those of the index."""
        ids, rows = _query_rows(alignment.documents)
        result = align(
            rows,
            self.index,
            threshold="0.5" if alignment.threshold is None else alignment.threshold,
            min_tokens=alignment.min_tokens,
            with_text=alignment.with_text,
            id_column="id",
            workers=1,
            progress=deadline.progress,
        )
        return self._found(result, ids, alignment.limit)

    def _found(self, result: PassageResult, ids: Sequence[str | int], limit: int) -> Found:
        found = [
            PassageRow(**row | {"query_id": ids[int(row["query_id"])]})
            for row in result.passages.slice(0, limit).to_pylist()
        ]
        return Found(self.kind, len(result.passages), [], found, result.summary)

    def insert(self, document: NewDocument) -> None:
        """Add one document; it is durable at once."""
        if document.text is None or document.tokens is not None or document.columns:
            message = "text is all that an index of passages takes; leave out tokens and columns"
            raise InvalidParameterError(message)
        self.index.add([{"id": document.id, "text": document.text}], id_column="id", workers=1)

    def insert_if_new(self, document: NewIfNew) -> NoReturn:
        """Refuse: only whole documents are new or not."""
        message = "an index of passages does not know what is new; use an index of documents"
        raise InvalidParameterError(message)

    def commit(self) -> int:
        """Do nothing: every change of an index of passages is durable at once."""
        return 0


def check_text_or_tokens(request: Query | NewDocument) -> None:
    """Make sure that there is a text or tokens.

    Raises
    ------
    InvalidParameterError
        If there is neither, or both.
    """
    if (request.text is None) == (request.tokens is None):
        message = "text or tokens must be given, one of them"
        raise InvalidParameterError(message)


def _query_rows(
    queries: Sequence[str | NamedText],
) -> tuple[list[str | int], list[dict[str, Any]]]:
    """Return the ids of queries, and rows in which they are numbered."""
    ids = [number if isinstance(q, str) else q.id for number, q in enumerate(queries)]
    texts = [q if isinstance(q, str) else q.text for q in queries]
    return ids, [{"id": number, "text": text} for number, text in enumerate(texts)]


def _checked(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns that can go in beside the id, the text and the options.

    Raises
    ------
    InvalidParameterError
        If one has a name that something else has.
    """
    for name in ("id", "text", "tokens", "threshold"):
        if name in columns:
            message = f"columns must not have the name {name!r}, which something else has"
            raise InvalidParameterError(message)
    return columns
