"""Answers: JSON, and problems as JSON or as a page, by what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from neardup.service.problems import PROBLEM_TYPE, Problem
from neardup.service.templates import render

if TYPE_CHECKING:
    from starlette.types import Scope

_ENCODER = msgspec.json.Encoder()
_JSON = "application/json"


def json_answer(value: Any, status: int = 200) -> Response:
    """Write a value as JSON."""
    return Response(_ENCODER.encode(value), status, media_type=_JSON)


def page_answer(template: str, status: int = 200, **values: Any) -> Response:
    """Write a page."""
    return Response(render(template, **values), status, media_type="text/html")


def problem_answer(scope: Scope, problem: Problem) -> Response:
    """Write a problem, for people as a page."""
    if is_for_people(scope):
        template = "sign_in.html" if problem.status == 401 else "problem.html"
        answer = page_answer(template, problem.status, problem=problem)
    else:
        content = _ENCODER.encode(problem.to_dict())
        answer = Response(content, problem.status, media_type=PROBLEM_TYPE)
    answer.headers.update(problem.headers)
    return answer


def is_for_people(scope: Scope) -> bool:
    """Return whether a request comes from the page, or from somebody who looks for it."""
    path = scope["path"]
    accepts = dict(scope["headers"]).get(b"accept", b"")
    return not path.startswith("/v1") and b"text/html" in accepts
