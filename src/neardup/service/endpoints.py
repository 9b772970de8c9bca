"""Endpoints of the operations: a request read and checked, worked on, and answered as JSON."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.service.answers import json_answer
from neardup.service.bodies import Body, parse, read_body
from neardup.service.gate import ROUTE
from neardup.service.lanes import Deadline
from neardup.service.operations import OPERATIONS, Call, Operation
from neardup.service.problems import Problem
from neardup.service.service import Service

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
