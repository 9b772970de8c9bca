"""The application: routes, the gate before them, and what becomes of errors."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import cast

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.errors import NeardupError
from neardup.service.answers import problem_answer
from neardup.service.gate import ROUTE, Access, Gate
from neardup.service.openapi import describe, make_routes
from neardup.service.pages import make_page_routes
from neardup.service.problems import Problem, problem_of
from neardup.service.records import METRICS_TYPE, Log
from neardup.service.service import Service


def make_app(service: Service, access: Access) -> Gate:
    """Make the application of a service; it starts and stops the service."""

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    async def openapi(request: Request) -> Response:
        request.scope[ROUTE] = "/openapi.json"
        return Response(describe(), media_type="application/json")

    async def metrics(request: Request) -> Response:
        request.scope[ROUTE] = "/metrics"
        text = await service.lookups.run(service.metrics.to_text, service.deadline())
        return Response(text, headers={"content-type": METRICS_TYPE})

    routes = [
        *make_routes(service),
        *make_page_routes(service, access.tokens),
        Route("/openapi.json", openapi),
        Route("/metrics", metrics),
    ]
    app = Starlette(
        routes=routes,
        lifespan=life,
        exception_handlers={
            Problem: _answer_problem,
            NeardupError: partial(_answer_error, service.log),
            HTTPException: _answer_http,
            UnicodeEncodeError: _answer_surrogate,
            Exception: partial(_answer_defect, service.log),
        },
    )
    app.router.redirect_slashes = False
    # Outside of all else, so that answers about defects go through it too.
    return Gate(
        *(app,),
        access=access,
        places=service.places,
        log=service.log,
        metrics=service.metrics,
        seconds=service.limits.seconds,
    )


async def _answer_problem(request: Request, error: Exception) -> Response:
    return problem_answer(request.scope, cast("Problem", error))


async def _answer_error(log: Log, request: Request, error: Exception) -> Response:
    problem = problem_of(cast("NeardupError", error))
    if problem.status >= 500:
        # Errors of files; none of these has a text of a request in it.
        log.failure("error", error, route=request.scope.get(ROUTE), detail=str(error))
    return problem_answer(request.scope, problem)


async def _answer_http(request: Request, error: Exception) -> Response:
    found = cast("HTTPException", error)
    details = {
        404: "there is nothing here; /openapi.json lists what there is",
        405: "this address does not take this method; /openapi.json says which it takes",
    }
    detail = details.get(found.status_code, found.detail)
    return problem_answer(
        request.scope, Problem(found.status_code, detail, headers=found.headers or {})
    )


async def _answer_surrogate(request: Request, _: Exception) -> Response:
    message = "a text or id is not valid Unicode: it has half of a surrogate pair"
    return problem_answer(request.scope, Problem(422, message, "InvalidInputError"))


async def _answer_defect(log: Log, request: Request, error: Exception) -> Response:
    """Answer for an error that should not have been; the log says where it arose."""
    log.failure("defect", error, route=request.scope.get(ROUTE))
    message = "the service failed; its log says where"
    return problem_answer(request.scope, Problem(500, message))
