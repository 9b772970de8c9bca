"""The operations of the interface, a line each, and their description as OpenAPI 3.1."""

from __future__ import annotations

import http
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from neardup.index.snapshot import open_snapshot
from neardup.jobs.compare.compare import compare_texts
from neardup.jobs.compare.compare_result import CompareResult
from neardup.options.sketches import CompareOptions
from neardup.runs.runner import Runner
from neardup.service import messages as m
from neardup.service.bodies import Body, json_answer, parse, read_body
from neardup.service.bulk import NDJSON, change_many
from neardup.service.gate import ROUTE
from neardup.service.lanes import Deadline, Lane, Share
from neardup.service.messages import Name, ProblemDetails
from neardup.service.problems import PROBLEM_TYPE, Problem, busy, too_large
from neardup.service.served import Served
from neardup.service.service import Limits, Service
from neardup.service.tokens import GRANT, Role
from neardup.version import __version__

# Beyond, the index numbers of an answer would be larger than the texts that they are of.
_DOCUMENTS_SHARE = 4
# What a comparison may take on top of what its process has; texts of half a million characters need
# less, unless they repeat themselves over and over.
_COMPARE_BYTES = 1 << 29
# A single text up to this length is as light as a look-up; a longer one is heavy work.
_LIGHT_CHARACTERS = 100_000
_LONG = 3600.0


@dataclass(frozen=True)
class Call:
    """A request that was read and checked: which index it is about, and what it asks."""

    service: Service
    index: str | None
    asked: Any
    deadline: Deadline
    # What the answer takes of memory, while it is made too.
    share: Share

    @property
    def served(self) -> Served:
        """The index that is meant."""
        return self.service.find(self.index or "")


Stream = Callable[[Service, Request], Awaitable[Response]]
_JSON = "application/json"


@dataclass(frozen=True)
class Operation:
    """What can be asked for.

    ``asked`` is what comes as the body of a POST or PUT, else as parameters; ``statuses`` are
    problems that it has beside those of all. What is no one value of JSON is read and answered
    by a ``stream``, of which ``asked`` and ``answer`` say what is in it.
    """

    method: str
    path: str
    name: str
    summary: str
    run: Callable[[Call], Awaitable[Any]] | None
    answer: type
    asked: type | None = None
    statuses: tuple[int, ...] = ()
    role: Role = "read"
    stream: Stream | None = None
    media: str = _JSON
    answer_media: str = _JSON

    @property
    def has_body(self) -> bool:
        """Whether ``asked`` is a body."""
        return self.asked is not None and self.method in ("POST", "PUT")

    @property
    def is_of_index(self) -> bool:
        """Whether it is about one index."""
        return "{index}" in self.path


async def _contents(call: Call) -> m.Contents:
    indexes, may_write = call.service.indexes.values(), GRANT.get().may("write")

    def describe() -> list[m.IndexEntry]:
        return [
            m.IndexEntry(served.name, served.kind, len(served), served.is_writable and may_write)
            for served in indexes
        ]

    return m.Contents(__version__, await call.service.lookups.run(describe, call.deadline))


async def _info(call: Call) -> dict[str, Any]:
    found: dict[str, Any] = await call.service.lookups.run(call.served.info, call.deadline)
    return found | {"name": call.served.name, "kind": call.served.kind}


async def _query(call: Call) -> m.Matches:
    served, asked = call.served, call.asked
    lane = lane_of(call.service, [asked.text or ""])
    return await lane.run(lambda: served.query(asked), call.deadline)


def lane_of(service: Service, texts: Sequence[str]) -> Lane:
    """Return the lane on which texts are looked up: a long one, or many, are heavy work."""
    is_light = len(texts) == 1 and len(texts[0]) <= _LIGHT_CHARACTERS
    return service.lookups if is_light else service.heavy


async def _search(call: Call) -> m.Found:
    served, asked, service = call.served, call.asked, call.service
    _check_number(len(asked.queries), service.limits)
    texts = [query if isinstance(query, str) else query.text for query in asked.queries]
    lane = lane_of(service, texts)
    work = lambda: served.search(asked, call.deadline, call.share)  # noqa: E731
    return await lane.run(work, call.deadline)


async def _align(call: Call) -> m.Found:
    served, asked, service = call.served, call.asked, call.service
    _check_number(len(asked.documents), service.limits)
    work = lambda: served.align(asked, call.deadline, call.share)  # noqa: E731
    return await service.heavy.run(work, call.deadline)


async def _document(call: Call) -> dict[str, Any]:
    served, asked = call.served, call.asked
    found = await call.service.lookups.run(lambda: served.get(asked.id), call.deadline)
    if found is None:
        message = f"index {served.name!r} has no document {asked.id!r}"
        raise Problem(404, message)
    return found


async def _documents(call: Call) -> m.Documents:
    served, asked = call.served, call.asked
    most = call.service.limits.body_bytes // _DOCUMENTS_SHARE
    page = await call.service.lookups.run(lambda: served.page(asked, most), call.deadline)
    is_whole = asked.cursor is None and asked.where is None and page.cursor is not None
    following = asked.start + len(page.documents) if is_whole else None
    return m.Documents(page.documents, following, page.cursor)


async def _compare(call: Call) -> dict[str, Any]:
    result = await compare_two(call.service, call.asked, call.deadline)
    return await call.service.transfers.run(result.to_dict, call.deadline)


async def compare_two(
    service: Service,
    asked: m.Comparison,
    deadline: Deadline,
    names: tuple[str, str] = ("a", "b"),
) -> CompareResult:
    """Compare two texts on the lane of heavy work."""
    most = service.limits.compared_characters
    for name, text in zip(names, (asked.a, asked.b), strict=True):
        if len(text) > most:
            message = (
                f"text {name} has {len(text):,} characters, and texts of up to {most:,} are "
                "compared; `neardup compare` takes longer ones"
            )
            raise too_large(message)
    asked_of = {
        name: value
        for name in CompareOptions.known
        if (value := getattr(asked, name, None)) is not None
    }
    options = CompareOptions(**asked_of, edit_limit=service.limits.edit_characters)
    work = partial(_compare_texts, (asked.a, asked.b), options, names)
    return await service.heavy.run(
        lambda: service.processes.run(work, deadline, most_bytes=_COMPARE_BYTES), deadline
    )


def _compare_texts(
    texts: tuple[str, str], options: CompareOptions, names: tuple[str, str]
) -> CompareResult:
    """Compare two texts, in a process of its own."""
    return compare_texts(texts, options, names=names, runner=Runner(1))


async def _insert(call: Call) -> m.Inserted:
    served, asked = call.served, call.asked
    work = lambda: served.insert(asked)  # noqa: E731
    await call.service.write(served, work, call.deadline, durable=asked.durable)
    return m.Inserted(1)


async def _insert_if_new(call: Call) -> m.InsertedIfNew:
    served, asked = call.served, call.asked
    work = lambda: served.insert_if_new(asked)  # noqa: E731
    found = await call.service.write(served, work, call.deadline, durable=asked.durable)
    return m.InsertedIfNew(found is None, found)


async def _add(call: Call) -> m.Added:
    served, asked = call.served, call.asked
    _check_number(len(asked.documents), call.service.limits)
    rows = [{**d.columns, "id": d.id, "text": d.text} for d in asked.documents]
    work = lambda: served.add(rows, call.deadline)  # noqa: E731
    return m.Added(*await call.service.write(served, work, call.deadline))


async def _remove(call: Call) -> m.Removed:
    served, asked = call.served, call.asked
    _check_number(len(asked.ids), call.service.limits)
    if not asked.deny:
        return await call.service.remove(served, asked.ids, call.deadline)
    # What each denies is told apart.
    work = lambda: served.remove(asked.ids, deny=True)  # noqa: E731
    return await call.service.write(served, work, call.deadline)


async def _replace(call: Call) -> m.Replaced:
    served, asked = call.served, call.asked
    return await call.service.write(served, lambda: served.replace(asked), call.deadline)


async def _bulk(service: Service, request: Request) -> Response:
    return await change_many(service, service.find(request.path_params["index"]), request)


async def _commit(call: Call) -> m.Committed:
    served = call.served
    return m.Committed(await call.service.write(served, served.commit, call.deadline))


async def _compact(call: Call) -> m.Compacted:
    served = call.served
    call.service.check_writable(served)
    return await call.service.maintain(served.compact)


async def _snapshot(service: Service, request: Request) -> Response:
    served = service.find(request.path_params["index"])
    if served.is_writable and served.n_uncommitted:
        # What was inserted is a part of it.
        await service.change(served, served.commit)
    snapshot = await service.maintain(lambda: open_snapshot(Path(served.index.folder)))
    # Parts are read where large answers are written: a disk may be slow.
    parts = snapshot.parts()

    async def read() -> AsyncIterator[bytes]:
        try:
            while (
                part := await service.transfers.run(
                    lambda: next(parts, None), Deadline(_LONG), is_own=True
                )
            ) is not None:
                yield part
        finally:
            # Not the parts, of which a thread may be reading one for somebody who has gone.
            snapshot.close()

    headers = {
        "content-length": str(snapshot.n_bytes),
        "content-disposition": f"attachment; filename*=UTF-8''{quote(served.name)}.tar",
    }
    return StreamingResponse(read(), media_type=_TAR, headers=headers)


async def _health(_: Call) -> m.Health:
    return m.Health("ok")


async def _ready(call: Call) -> m.Health:
    status = call.service.status
    if status != "ok":
        raise busy(f"the service is {status}")
    if troubles := call.service.troubles():
        raise busy("; ".join(troubles))
    return m.Health(status)


def _check_number(n_texts: int, limits: Limits) -> None:
    if n_texts > limits.texts:
        message = (
            f"{n_texts:,} texts or ids, and a request may have {limits.texts:,}; send fewer at a "
            "time"
        )
        raise too_large(message)


_INDEX = "/v1/indexes/{index}"
_TAR = "application/x-tar"
_INSERT: Any = {"statuses": (403, 409, 507), "role": "write"}
_WRITE: Any = {"statuses": (403, 507), "role": "write"}
OPERATIONS = (
    Operation("GET", "/v1", "contents", "List what is here.", _contents, m.Contents),
    Operation("GET", _INDEX, "info", "Describe an index.", _info, dict[str, Any]),
    Operation(
        *("POST", f"{_INDEX}/query", "query", "Look up one text among documents."),
        *(_query, m.Matches, m.Query),
    ),
    Operation(
        *("POST", f"{_INDEX}/search", "search", "Look up texts: similar documents or passages."),
        *(_search, m.Found, m.Search),
    ),
    Operation(
        *("POST", f"{_INDEX}/align", "align", "Find the passages that documents share with it."),
        *(_align, m.Found, m.Alignment),
    ),
    Operation(
        *("GET", f"{_INDEX}/document", "get", "Get a document by its id."),
        *(_document, dict[str, Any], m.One),
    ),
    Operation(
        *("GET", f"{_INDEX}/documents", "documents", "List documents in order of addition."),
        *(_documents, m.Documents, m.Page),
    ),
    Operation(
        *("POST", "/v1/compare", "compare", "Compare two texts.", _compare, m.Compared),
        m.Comparison,
    ),
    Operation(
        *("POST", f"{_INDEX}/insert", "insert", "Insert a document."),
        *(_insert, m.Inserted, m.NewDocument),
        **_INSERT,
    ),
    Operation(
        *("POST", f"{_INDEX}/insert-if-new", "insert_if_new", "Insert a document if it is new."),
        *(_insert_if_new, m.InsertedIfNew, m.NewIfNew),
        **_INSERT,
    ),
    Operation(
        *("POST", f"{_INDEX}/add", "add", "Add documents, all or none, durably."),
        *(_add, m.Added, m.Addition),
        **_INSERT,
    ),
    Operation(
        *("POST", f"{_INDEX}/bulk", "bulk", "Change many documents: a line of JSON for each."),
        *(None, m.Changed, m.Change),
        **_WRITE,
        stream=_bulk,
        media=NDJSON,
        answer_media=NDJSON,
    ),
    Operation(
        *("POST", f"{_INDEX}/remove", "remove", "Remove documents, all or none."),
        *(_remove, m.Removed, m.Ids),
        **_WRITE,
    ),
    Operation(
        *("PUT", f"{_INDEX}/document", "replace", "Replace a document, or insert it, durably."),
        *(_replace, m.Replaced, m.Replacement),
        **_WRITE,
    ),
    Operation(
        *("POST", f"{_INDEX}/commit", "commit", "Make durable what was inserted."),
        *(_commit, m.Committed, m.Nothing),
        **_WRITE,
    ),
    Operation(
        *("POST", f"{_INDEX}/compact", "compact", "Write an index anew without what was removed."),
        *(_compact, m.Compacted, m.Nothing),
        **_WRITE,
    ),
    Operation(
        *("GET", f"{_INDEX}/snapshot", "snapshot", "Get a committed state of an index as a tar."),
        *(None, bytes),
        **_WRITE,
        stream=_snapshot,
        answer_media=_TAR,
    ),
    Operation("GET", "/health", "health", "Say that the service runs.", _health, m.Health),
    Operation("GET", "/ready", "ready", "Say whether requests are answered.", _ready, m.Health),
)

# Endpoints of the operations: a request read and checked, worked on, and answered as JSON.

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]


def make_routes(service: Service) -> list[Route]:
    """Make the routes of all operations, one for each path, which so knows all its methods."""
    paths: dict[str, dict[str, Endpoint]] = {}
    for operation in OPERATIONS:
        endpoint = _make_endpoint(operation, service)
        paths.setdefault(operation.path, {})[operation.method] = endpoint

    def dispatching(endpoints: dict[str, Endpoint]) -> Endpoint:
        async def dispatch(request: Request) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            return await endpoints[method](request)

        return dispatch

    return [
        Route(path, dispatching(endpoints), methods=list(endpoints))
        for path, endpoints in paths.items()
    ]


def _make_endpoint(operation: Operation, service: Service) -> Endpoint:
    if (stream := operation.stream) is not None:

        async def streaming(request: Request) -> Response:
            request.scope[ROUTE] = operation.path
            GRANT.get().check(operation.role)
            return await stream(service, request)

        return streaming
    run = operation.run
    assert run is not None
    read = _body_reader(operation, service) if operation.has_body else _read_parameters

    async def endpoint(request: Request) -> Response:
        request.scope[ROUTE] = operation.path
        GRANT.get().check(operation.role)
        deadline = service.deadline()
        asked = None if operation.asked is None else await read(request, operation.asked, deadline)
        share = service.answers.share(request.scope)
        call = Call(service, request.path_params.get("index"), asked, deadline, share)
        return await json_answer(await run(call), share, service.transfers, deadline)

    return endpoint


def _body_reader(
    operation: Operation, service: Service
) -> Callable[[Request, type, Deadline], Coroutine[Any, Any, Any]]:
    asked = operation.asked
    decoder = msgspec.json.Decoder(asked)
    limits = service.limits

    def decode(body: Body) -> Any:
        try:
            return decoder.decode(body)
        except msgspec.ValidationError as error:
            why = m.misfit_of(error, asked)
            message = f"the body does not fit: {why}; /openapi.json lists the fields"
            raise Problem(422, message, "InvalidInputError") from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise Problem(400, f"the body is no JSON: {error}", "InvalidInputError") from None

    async def read(request: Request, _: type, deadline: Deadline) -> Any:
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != _JSON:
            message = f"the body must be JSON: send it with `Content-Type: {_JSON}`"
            raise Problem(415, message)
        body = await read_body(request, limits.body_bytes, limits.seconds, service.bodies)
        return await parse(body, decode, service.transfers, deadline)

    return read


async def _read_parameters(request: Request, asked: type, _: Deadline) -> Any:
    pairs = request.query_params.multi_items()
    if len(dict(pairs)) < len(pairs):
        raise Problem(422, "a parameter is given twice; give each once", "InvalidParameterError")
    try:
        return msgspec.convert(dict(pairs), asked, strict=False)
    except msgspec.ValidationError as error:
        message = f"the parameters do not fit: {error}"
        raise Problem(422, message, "InvalidParameterError") from None


_DESCRIPTION = (
    "Finds documents and passages that are like a text, in indexes made by `neardup index build`. "
    "Every similarity is verified exactly."
)
# What a request of each kind can come to, beside its own problems.
_OF_ALL = (401, 421, 500)
_OF_WORK = (404, 413, 422, 503, 504)
_OF_BODIES = (400, 403, 408, 413, 415, 422)
_MEANINGS = {
    400: "The body is no JSON, or ended early.",
    401: "A token is needed, or the one that was sent is not known.",
    403: "The index is served for reading, the token may not do it, or a page of another site "
    "sent the request.",
    404: "There is no such index, or no such document.",
    408: "The body did not arrive in time.",
    409: "The index has a document with this id already.",
    413: "The body, a text or the answer is too large, or there are too many.",
    415: "The body is not sent as JSON.",
    421: "The service does not answer under this name.",
    422: "A field or parameter is wrong.",
    500: "The index cannot be read or written.",
    503: "There is no room for the request now.",
    504: "The work took too long.",
    507: "There is no room for it on the disk.",
}


def _problems_of(operation: Operation) -> list[int]:
    statuses = set(operation.statuses)
    if operation.path == "/ready":
        statuses |= {503}
    if operation.path.startswith("/v1"):
        statuses |= set(_OF_ALL) | set(_OF_WORK if operation.path != "/v1" else ())
    if operation.has_body:
        statuses |= set(_OF_BODIES)
    return sorted(statuses)


@cache
def describe() -> bytes:
    """Return the description as JSON."""
    types = [kind for operation in OPERATIONS for kind in (operation.asked, operation.answer)]
    named = [kind for kind in dict.fromkeys([*types, ProblemDetails]) if kind is not None]
    schemas, components = msgspec.json.schema_components(
        [*named, Name], ref_template="#/components/schemas/{name}"
    )
    by_type = dict(zip(named, schemas, strict=False))
    by_type[bytes] = {"type": "string", "format": "binary"}
    problem = {"content": {PROBLEM_TYPE: {"schema": by_type[ProblemDetails]}}}
    paths: dict[str, dict[str, Any]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _describe_operation(
            operation, by_type, components, schemas[-1]
        )
    document = {
        "openapi": "3.1.0",
        "info": {"title": "neardup", "version": __version__, "description": _DESCRIPTION},
        "paths": paths,
        "components": {
            "schemas": components,
            "responses": {
                str(status): {"description": meaning, **problem}
                for status, meaning in _MEANINGS.items()
            },
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        # Without a file of tokens, none is needed.
        "security": [{}, {"token": []}],
    }
    return msgspec.json.encode(document)


def _describe_operation(
    operation: Operation,
    by_type: dict[type, dict[str, Any]],
    components: dict[str, Any],
    name_schema: dict[str, Any],
) -> dict[str, Any]:
    answers: dict[str, Any] = {
        "200": {
            "description": http.HTTPStatus.OK.phrase,
            "content": {operation.answer_media: {"schema": by_type[operation.answer]}},
        }
    }
    for status in _problems_of(operation):
        answers[str(status)] = {"$ref": f"#/components/responses/{status}"}
    described: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.summary,
        "responses": answers,
    }
    parameters = []
    if operation.is_of_index:
        parameters.append({"name": "index", "in": "path", "required": True, "schema": name_schema})
    if operation.asked is not None and operation.has_body:
        content = {operation.media: {"schema": by_type[operation.asked]}}
        described["requestBody"] = {"required": True, "content": content}
    elif operation.asked is not None:
        asked = components[operation.asked.__name__]
        parameters += [
            {"name": name, "in": "query", "required": name in asked["required"], "schema": schema}
            for name, schema in asked["properties"].items()
        ]
    if parameters:
        described["parameters"] = parameters
    return described
