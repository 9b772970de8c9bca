"""The page for people: forms that work without a script, filled in and answered here."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from neardup.errors import NeardupError
from neardup.jobs.compare.compare_result import CompareResult, shared_sentence
from neardup.reports.compare import mark_texts
from neardup.service import messages as m
from neardup.service.answers import page_answer, script, style_sheet, text_answer
from neardup.service.bodies import parse, read_body, read_form
from neardup.service.finding import find_everything
from neardup.service.gate import ROUTE, SESSION_COOKIE, Tokens
from neardup.service.lanes import Deadline
from neardup.service.operations import compare_two
from neardup.service.problems import Problem, problem_of
from neardup.service.service import Service

_FORM = "application/x-www-form-urlencoded"
_ON_A_PAGE = 25
# Anybody may send it, so it is no larger than a token and soon here.
_SIGN_IN_BYTES = 4096
_SIGN_IN_SECONDS = 5.0
_SIGN_IN = "/sign-in"
_STATIC = {"cache-control": "no-cache"}

Fields = Mapping[str, str]
View = Callable[[Service, Request, Fields, Deadline], Coroutine[Any, Any, Response]]


def make_page_routes(service: Service, tokens: Tokens) -> list[Route]:
    """Make the routes of the page, and of what it loads."""

    def view(path: str, function: View, *methods: str) -> Route:
        async def endpoint(request: Request) -> Response:
            request.scope[ROUTE] = path
            deadline = service.deadline()
            fields = await _read_fields(request, service, deadline)
            return await function(service, request, fields, deadline)

        return Route(path, endpoint, methods=methods or ("GET",))

    return [
        view("/", _find, "GET", "POST"),
        view("/browse", _browse),
        view("/document", _document),
        view("/compare", _compare, "GET", "POST"),
        view(_SIGN_IN, partial(_sign_in, tokens), "GET", "POST"),
        view("/page.css", partial(_static, style_sheet, "text/css")),
        view("/page.js", partial(_static, script, "text/javascript")),
    ]


async def _read_fields(request: Request, service: Service, deadline: Deadline) -> Fields:
    """Read the fields of a form, or the parameters of an address."""
    if request.method != "POST":
        return request.query_params
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise Problem(415, f"the page sends forms as {_FORM}; programs use /v1")
    limits = service.limits
    if request.scope[ROUTE] == _SIGN_IN:
        seconds = min(limits.seconds, _SIGN_IN_SECONDS)
        how_to_send = "send a token and nothing else"
        body = await read_body(request, _SIGN_IN_BYTES, seconds, service.bodies, how_to_send)
    else:
        # A character of a text may take three times its room in a form.
        most_bytes = 3 * limits.body_bytes
        body = await read_body(request, most_bytes, limits.seconds, service.bodies)
    return await parse(body, read_form, service.transfers, deadline)


async def _show(
    service: Service, request: Request, deadline: Deadline, template: str, **values: Any
) -> Response:
    share = service.answers.share(request.scope)
    return await text_answer(template, share, service.transfers, deadline, **values)


async def _find(service: Service, request: Request, fields: Fields, deadline: Deadline) -> Response:
    text, chosen = fields.get("text", ""), fields.get("index", "")
    threshold = fields.get("threshold", "").strip()
    answers = None
    if request.method == "POST" and text.strip():
        indexes = [service.find(chosen)] if chosen else list(service.indexes.values())
        share = service.answers.share(request.scope)
        answers = await find_everything(service, indexes, text, threshold, deadline, share)
    return await _show(
        *(service, request, deadline, "find.html"),
        indexes=service.indexes.values(),
        text=text,
        chosen=chosen,
        threshold=threshold,
        answers=answers,
    )


async def _browse(
    service: Service, request: Request, fields: Fields, deadline: Deadline
) -> Response:
    served = service.find(fields.get("index", next(iter(service.indexes))))
    start = fields.get("start", "0")
    if not (start.isascii() and start.isdecimal() and len(start) < 16):
        raise Problem(422, "start must be a whole number", "InvalidParameterError")
    first = int(start)
    most = service.limits.body_bytes
    (documents, following), n_documents = await service.lookups.run(
        lambda: (served.documents(first, _ON_A_PAGE, most), len(served)), deadline
    )
    return await _show(
        *(service, request, deadline, "browse.html"),
        served=served,
        indexes=service.indexes.values(),
        start=first,
        documents=documents,
        following=following,
        earlier=max(first - _ON_A_PAGE, 0) if first else None,
        n_documents=n_documents,
    )


async def _document(
    service: Service, request: Request, fields: Fields, deadline: Deadline
) -> Response:
    name, identifier = fields.get("index", ""), fields.get("id", "")
    document = await _get(service, name, identifier, deadline)
    others = {key: value for key, value in document.items() if key not in ("id", "text")}
    return await _show(
        *(service, request, deadline, "document.html"),
        index=name,
        identifier=identifier,
        text=document.get("text"),
        columns=others,
        indexes=service.indexes.values(),
    )


async def _compare(
    service: Service, request: Request, fields: Fields, deadline: Deadline
) -> Response:
    texts, names = [], []
    for side in "ab":
        text, name = fields.get(f"text_{side}", ""), "pasted text"
        if identifier := fields.get(f"id_{side}", ""):
            document = await _get(service, fields.get(f"index_{side}", ""), identifier, deadline)
            text, name = document.get("text") or "", identifier
        texts.append(text)
        names.append(name)
    text_a, text_b = texts
    shown, error = None, ""
    if text_a and text_b:
        try:
            asked = m.Comparison(a=text_a, b=text_b)
            result = await compare_two(service, asked, deadline, (names[0], names[1]))
        except NeardupError as failure:
            error = problem_of(failure).detail
        else:
            shown = await service.transfers.run(lambda: _side_by_side(result), deadline)
    values = {"texts": texts, "fields": fields, "shown": shown, "error": error}
    return await _show(service, request, deadline, "compare.html", **values)


def _side_by_side(result: CompareResult) -> dict[str, Any]:
    """Return what the page shows of two texts that were compared."""
    sides = mark_texts(result.texts, result.links())
    return {
        "note": shared_sentence(result),
        "jaccard": result["jaccard"].exact,
        "passages": result.passages,
        "sides": [
            {"side": side, "name": name, "marked": marked}
            for side, name, marked in zip("ab", result.names, sides, strict=True)
        ],
    }


async def _sign_in(
    tokens: Tokens, _: Service, request: Request, fields: Fields, __: Deadline
) -> Response:
    if request.method == "GET":
        return page_answer("sign_in.html", problem=None)
    if not tokens.are_right(fields.get("token", "").strip().encode()):
        problem = Problem(401, "this is not a token of the service; ask whoever runs it for one")
        return page_answer("sign_in.html", 401, problem=problem)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        SESSION_COOKIE,
        tokens.make_session(),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


async def _static(
    content: Callable[[], str], kind: str, _: Service, __: Request, ___: Fields, ____: Deadline
) -> Response:
    return Response(content(), media_type=kind, headers=_STATIC)


async def _get(service: Service, name: str, identifier: str, deadline: Deadline) -> dict[str, Any]:
    served = service.find(name)
    document = await service.lookups.run(lambda: served.get(identifier), deadline)
    if document is None:
        raise Problem(404, f"index {name!r} has no document {identifier!r}")
    return document
