"""Answers: JSON, and problems as JSON or as a page, by what was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.responses import Response

from neardup.reports.page import source_of, templates_of
from neardup.service.bodies import LIGHT_BYTES
from neardup.service.problems import PROBLEM_TYPE, Problem

if TYPE_CHECKING:
    from starlette.types import Scope

    from neardup.service.lanes import Deadline, Lane, Share


_TEMPLATES = __package__


def style_sheet() -> str:
    """Return the style sheet: that of two texts side by side, and ours."""
    return source_of("compare.css") + source_of("page.css", _TEMPLATES)


def script() -> str:
    """Return the script, made in the same way."""
    return source_of("compare.js") + source_of("page.js", _TEMPLATES)


_ENCODER = msgspec.json.Encoder()
_JSON = "application/json"
# A number or a name, as bytes of JSON.
_PLAIN_BYTES = 20
_END = object()


async def json_answer(value: Any, share: Share, lane: Lane, deadline: Deadline) -> Response:
    """Write a value as JSON, a large one in a thread and where there is memory for it."""

    def write() -> Response:
        return _weighed(Response(_ENCODER.encode(value), media_type=_JSON), share)

    return write() if _is_light(value) else await lane.run(write, deadline)


async def text_answer(
    template: str, share: Share, lane: Lane, deadline: Deadline, **values: Any
) -> Response:
    """Write a page with texts, in a thread and where there is memory for it."""
    return await lane.run(lambda: _weighed(page_answer(template, **values), share), deadline)


def page_answer(template: str, status: int = 200, **values: Any) -> Response:
    """Write a page that is small whatever is asked for."""
    page = templates_of(_TEMPLATES).get_template(template).render(**values)
    return Response(page, status, media_type="text/html")


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


def _weighed(answer: Response, share: Share) -> Response:
    """Return an answer for which there is room until it is sent; a small one always finds it."""
    if len(answer.body) > LIGHT_BYTES:
        share.grow(len(answer.body))
    return answer


def _is_light(value: Any) -> bool:
    """Return whether a value is soon written; only the beginning of a large one is looked at."""
    n_bytes, inside = 0, [iter([value])]
    while inside and n_bytes <= LIGHT_BYTES:
        part = next(inside[-1], _END)
        if part is _END:
            inside.pop()
            continue
        n_bytes += len(part) if isinstance(part, str) else _PLAIN_BYTES
        if isinstance(part, dict):
            inside.append(iter(part.values()))
        elif isinstance(part, list | tuple):
            inside.append(iter(part))
        elif isinstance(part, msgspec.Struct):
            inside.append(iter([getattr(part, name) for name in part.__struct_fields__]))
    return n_bytes <= LIGHT_BYTES
