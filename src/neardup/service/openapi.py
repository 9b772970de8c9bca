"""The description of the interface as OpenAPI 3.1, made of the operations and their messages."""

from __future__ import annotations

import http
from collections.abc import Callable, Coroutine
from functools import cache
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.service.answers import json_answer
from neardup.service.bodies import Body, parse, read_body
from neardup.service.gate import ROUTE
from neardup.service.lanes import Deadline
from neardup.service.messages import Name, ProblemDetails
from neardup.service.operations import OPERATIONS, Call, Operation
from neardup.service.problems import PROBLEM_TYPE, Problem
from neardup.service.service import Service
from neardup.version import __version__

# Endpoints of the operations: a request read and checked, worked on, and answered as JSON.

Endpoint = Callable[[Request], Coroutine[Any, Any, Response]]

_JSON = "application/json"


def make_routes(service: Service) -> list[Route]:
    """Make the routes of all operations."""
    return [
        Route(operation.path, _make_endpoint(operation, service), methods=[operation.method])
        for operation in OPERATIONS
    ]


def _make_endpoint(operation: Operation, service: Service) -> Endpoint:
    read = _body_reader(operation, service) if operation.method == "POST" else _read_parameters

    async def endpoint(request: Request) -> Response:
        request.scope[ROUTE] = operation.path
        deadline = service.deadline()
        asked = None if operation.asked is None else await read(request, operation.asked, deadline)
        share = service.answers.share(request.scope)
        call = Call(service, request.path_params.get("index"), asked, deadline, share)
        return await json_answer(await operation.run(call), share, service.transfers, deadline)

    return endpoint


def _body_reader(
    operation: Operation, service: Service
) -> Callable[[Request, type, Deadline], Coroutine[Any, Any, Any]]:
    decoder = msgspec.json.Decoder(operation.asked)
    limits = service.limits

    def decode(body: Body) -> Any:
        try:
            return decoder.decode(body)
        except msgspec.ValidationError as error:
            message = f"the body does not fit: {error}; /openapi.json lists the fields"
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
    401: "A token is needed.",
    403: "The index is served for reading, or a page of another site sent the request.",
    404: "There is no such index, or no such document.",
    408: "The body did not arrive in time.",
    413: "The body, a text or the answer is too large, or there are too many.",
    415: "The body is not sent as JSON.",
    421: "The service does not answer under this name.",
    422: "A field or parameter is wrong.",
    500: "The index cannot be read or written.",
    503: "There is no room for the request now.",
    504: "The work took too long.",
}


def _problems_of(operation: Operation) -> list[int]:
    statuses = set(operation.statuses)
    if operation.path == "/ready":
        statuses |= {503}
    if operation.path.startswith("/v1"):
        statuses |= set(_OF_ALL) | set(_OF_WORK if operation.path != "/v1" else ())
    if operation.method == "POST":
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
            "content": {"application/json": {"schema": by_type[operation.answer]}},
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
    if operation.asked is not None and operation.method == "POST":
        content = {"application/json": {"schema": by_type[operation.asked]}}
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
