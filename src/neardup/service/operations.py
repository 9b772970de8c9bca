"""Operations, their functions, and their OpenAPI 3.1 description."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import msgspec

from neardup.errors import InvalidParameterError
from neardup.options.choices import IndexKind
from neardup.options.groups import ReadOptions, RunOptions
from neardup.service import messages as m
from neardup.service import worker_processes
from neardup.service.requests import PROBLEM_TYPE, UNREADABLE, Problem, Role
from neardup.service.served_index import ServedIndex
from neardup.service.worker_processes import ARROW
from neardup.version import __version__

JSON = "application/json"
# An answer without a limit of rows.
_MOST_MATCHES = 100_000
_PAGE_CHARACTERS = 4_000_000

Work = Literal["read", "write", "process"]
"""Where an operation runs.

``read`` in a thread that is left behind at the deadline, ``write`` in a thread that is waited for,
``process`` in a worker process that is killed at the deadline.
"""


@dataclass(frozen=True)
class Operation:
    """A request that the service answers.

    ``method``, ``path``, ``name`` and ``summary`` are as in OpenAPI. ``run`` takes the index, or
    all indexes, and the request; in a ``process`` it takes the request, and a function that opens
    the index. ``asked`` is the type of a POST or PUT body, else of parameters. The token needs
    ``role``; ``work`` is where ``run`` is called. ``kind`` is the kind of indexes with this
    operation, None for both; ``media`` are the types of the answer.
    """

    method: str
    path: str
    name: str
    summary: str
    run: Callable[..., Any]
    answer: type
    asked: type | None = None
    role: Role = "read"
    work: Work = "read"
    kind: IndexKind | None = None
    media: tuple[str, ...] = (JSON,)

    @property
    def has_body(self) -> bool:
        """Return whether the request has a body."""
        return self.asked is not None and self.method in ("POST", "PUT")

    @property
    def is_of_index(self) -> bool:
        """Return whether the operation is about one index."""
        return "{index}" in self.path

    def check_kind(self, served: ServedIndex) -> None:
        """Raise an error if the index is of another kind."""
        if self.kind in (None, served.kind):
            return
        instead = {"query": "; POST .../search instead", "insert": "; POST .../add instead"}
        if served.kind == "documents":
            instead = {"align": "; POST .../search instead"}
        message = (
            f"{self.name} is not possible in an index of {served.kind}{instead.get(self.name, '')}"
        )
        raise InvalidParameterError(message)


def _list_indexes(indexes: Sequence[ServedIndex], _: None) -> m.IndexList:
    entries = [
        m.IndexEntry(s.name, s.kind, 0 if s.trouble else len(s.index), s.is_writable)
        for s in indexes
    ]
    return m.IndexList(__version__, entries)


def _info(served: ServedIndex, _: None) -> dict[str, Any]:
    info = {key: value for key, value in served.index.info().items() if key != "folder"}
    return info | {"name": served.name, "kind": served.kind}


def _query(served: ServedIndex, asked: m.Query) -> m.SimilarDocuments:
    options = msgspec.structs.asdict(asked)
    if asked.limit is None:
        options["limit"] = _MOST_MATCHES
    matches = served.index.query(**options)
    return m.SimilarDocuments([m.SimilarDocument(*match) for match in matches], matches.n_matches)


def _get(served: ServedIndex, asked: m.One) -> dict[str, Any]:
    document: dict[str, Any] | None = served.index.get(asked.id)
    if document is None:
        message = f"index {served.name!r} has no document {asked.id!r}"
        raise Problem(404, message)
    return document


def _documents(served: ServedIndex, asked: m.Page) -> m.DocumentPage:
    index, start = served.index, asked.start
    documents = index.documents(start, asked.limit, most_characters=_PAGE_CHARACTERS)
    stop = start + len(documents)
    return m.DocumentPage(documents, stop if documents and stop < len(index) else None)


def _insert(served: ServedIndex, asked: m.NewDocument) -> m.Inserted:
    served.index.insert(asked.id, asked.text, **_columns(asked.columns))
    # Durable before it is acknowledged.
    served.index.commit()
    return m.Inserted(1)


def _insert_if_new(served: ServedIndex, asked: m.NewIfNew) -> m.InsertedIfNew:
    similar_to: m.Id | None = served.index.insert_if_new(
        asked.id, asked.text, threshold=asked.threshold, **_columns(asked.columns)
    )
    served.index.commit()
    return m.InsertedIfNew(similar_to is None, similar_to)


def _replace(served: ServedIndex, asked: m.NewDocument) -> m.Removed:
    if asked.columns and served.kind != "documents":
        message = "an index of passages takes a text without columns"
        raise InvalidParameterError(message)
    result = served.index.replace(asked.id, asked.text, **_columns(asked.columns))
    return _removed(result.summary)


def _add(served: ServedIndex, asked: m.DocumentsToAdd) -> m.Added:
    rows = [
        {**_columns(document.columns), "id": document.id, "text": document.text}
        for document in asked.documents
    ]
    addition = served.index.add(rows, read=ReadOptions(id_column="id"), run=RunOptions(workers=1))
    return m.Added(addition.n_documents, len(addition.denied))


def _remove(served: ServedIndex, asked: m.Ids) -> m.Removed:
    return _removed(served.index.remove(asked.ids, deny=asked.deny).summary)


def _compact(served: ServedIndex, _: m.Nothing) -> m.Compacted:
    summary = served.index.compact(run=RunOptions(workers=1)).summary
    return m.Compacted(summary["segments"], summary["documents"], summary["freed_bytes"])


def _health(indexes: Sequence[ServedIndex], _: None) -> m.Health:
    return m.Health("ok")


def _ready(indexes: Sequence[ServedIndex], _: None) -> m.Health:
    for served in indexes:
        try:
            # Looks at the state that other processes have committed.
            len(served.index)
        except UNREADABLE as error:
            served.note_unreadable(error)
    if troubles := [served.trouble for served in indexes if served.trouble]:
        raise Problem(503, f"{'; '.join(troubles)}; the log has the reason")
    return m.Health("ok")


def _columns(columns: dict[str, Any]) -> dict[str, Any]:
    """Return columns not named like parameters."""
    for name in ("id", "text", "threshold"):
        if name in columns:
            message = f"columns must not have the name {name!r}, which is a field of its own"
            raise InvalidParameterError(message)
    return columns


def _removed(summary: dict[str, Any]) -> m.Removed:
    denied, orphans = summary.get("denied", 0), summary.get("orphans", [])
    return m.Removed(summary["removed"], summary["documents"], denied, orphans)


_INDEX = "/v1/indexes/{index}"
_WRITE: Any = {"role": "write", "work": "write"}
_DOCUMENTS: Any = {"kind": "documents"}
_PROCESS: Any = {"work": "process"}
_TABLE: Any = {"work": "process", "media": (JSON, ARROW)}


def _operations() -> tuple[Operation, ...]:
    # Short lines, so that the table can be read.
    op, worker = Operation, worker_processes
    query, document = f"{_INDEX}/query", f"{_INDEX}/document"
    insert, insert_if_new = f"{_INDEX}/insert", f"{_INDEX}/insert-if-new"
    new = {**_WRITE, **_DOCUMENTS}
    # fmt: off
    return (
        op("GET", "/v1", "contents", "List the indexes.", _list_indexes, m.IndexList),
        op("GET", _INDEX, "info", "Describe an index.", _info, dict[str, Any]),
        op("POST", query, "query", "Look up one text among documents.",
           _query, m.SimilarDocuments, m.Query, **_DOCUMENTS),
        op("POST", f"{_INDEX}/search", "search", "Look up texts among documents or passages.",
           worker.search, m.FoundRows, m.Search, **_TABLE),
        op("POST", f"{_INDEX}/align", "align", "Find passages that texts share with an index.",
           worker.align_texts, m.FoundRows, m.Alignment, kind="passages", **_TABLE),
        op("POST", "/v1/compare", "compare", "Compare two texts.",
           worker.compare_texts, m.Compared, m.Comparison, **_PROCESS),
        op("GET", document, "get", "Get a document by its id.", _get, dict[str, Any], m.One),
        op("GET", f"{_INDEX}/documents", "documents", "List documents in order of addition.",
           _documents, m.DocumentPage, m.Page),
        op("POST", insert, "insert", "Insert a document.",
           _insert, m.Inserted, m.NewDocument, **new),
        op("POST", insert_if_new, "insert_if_new", "Insert a document unless one is similar.",
           _insert_if_new, m.InsertedIfNew, m.NewIfNew, **new),
        op("PUT", document, "replace", "Replace a document, or insert it.",
           _replace, m.Removed, m.NewDocument, **_WRITE),
        op("POST", f"{_INDEX}/add", "add", "Add documents, all or none.",
           _add, m.Added, m.DocumentsToAdd, **_WRITE),
        op("POST", f"{_INDEX}/remove", "remove", "Remove documents, all or none.",
           _remove, m.Removed, m.Ids, **_WRITE),
        op("POST", f"{_INDEX}/compact", "compact", "Write an index anew without removed documents.",
           _compact, m.Compacted, m.Nothing, **_WRITE),
        op("GET", "/health", "health", "Report that the service runs.", _health, m.Health),
        op("GET", "/ready", "ready", "Report whether all indexes can be read.", _ready, m.Health),
    )
    # fmt: on


OPERATIONS = _operations()

_DESCRIPTION = (
    "Finds documents and passages that are similar to a text, in indexes that `neardup index build`"
    " makes. Every similarity is verified exactly."
)


@cache
def describe() -> bytes:
    """Return the OpenAPI description of all operations as JSON."""
    types = [kind for operation in OPERATIONS for kind in (operation.asked, operation.answer)]
    named = [kind for kind in dict.fromkeys([*types, m.ProblemDetails]) if kind is not None]
    schemas, components = msgspec.json.schema_components(
        named, ref_template="#/components/schemas/{name}"
    )
    by_type = dict(zip(named, schemas, strict=True))
    by_type[bytes] = {"type": "string", "format": "binary"}
    problem = {
        "description": "An error, with its reason as detail.",
        "content": {PROBLEM_TYPE: {"schema": by_type[m.ProblemDetails]}},
    }
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        described = _describe(operation, by_type, components)
        paths.setdefault(operation.path, {})[operation.method.lower()] = described
    document = {
        "openapi": "3.1.0",
        "info": {"title": "neardup", "version": __version__, "description": _DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {"Problem": problem},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        # A service without a file of tokens needs none.
        "security": [{}, {"token": []}],
    }
    return msgspec.json.encode(document)


def _describe(
    operation: Operation, by_type: dict[type, dict[str, Any]], components: dict[str, Any]
) -> dict[str, Any]:
    binary = by_type[bytes]
    content = {
        media: {"schema": binary if media == ARROW else by_type[operation.answer]}
        for media in operation.media
    }
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": {
            "200": {"description": "OK", "content": content},
            "default": {"$ref": "#/components/responses/Problem"},
        },
    }
    parameters = []
    if operation.is_of_index:
        name = {"type": "string", "description": "Name of the index, as GET /v1 lists it."}
        parameters.append({"name": "index", "in": "path", "required": True, "schema": name})
    if operation.asked is not None and operation.has_body:
        body = {JSON: {"schema": by_type[operation.asked]}}
        described["requestBody"] = {"required": True, "content": body}
    elif operation.asked is not None:
        asked = components[operation.asked.__name__]
        parameters += [
            {"name": name, "in": "query", "required": name in asked["required"], "schema": schema}
            for name, schema in asked["properties"].items()
        ]
    if parameters:
        described["parameters"] = parameters
    return described
