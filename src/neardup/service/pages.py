"""The page for people: forms that work without a script, filled in and answered here."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from neardup.errors import NeardupError
from neardup.jobs.compare.compare_result import CompareResult, links_of, shared_sentence
from neardup.reports.compare import mark_texts
from neardup.service import messages as m
from neardup.service.bodies import (
    page_answer,
    parse,
    read_body,
    read_form,
    script,
    style_sheet,
    text_answer,
)
from neardup.service.gate import ROUTE, SESSION_COOKIE, Tokens
from neardup.service.lanes import Deadline, Share
from neardup.service.operations import compare_two, lane_of
from neardup.service.problems import Problem, problem_of
from neardup.service.served import Served, ServedPassages
from neardup.service.service import Service

# Shared parts of a text and of a document, cut out with some text around.

_AROUND = 80
_MOST_SHOWN = 600


@dataclass(frozen=True)
class Excerpt:
    """A part of a text, with what stands before and behind it.

    ``is_cut`` says that the middle of the part is left out where ``tail`` begins.
    """

    before: str
    part: str
    tail: str
    after: str

    @property
    def is_cut(self) -> bool:
        """Whether the middle of the part is left out."""
        return bool(self.tail)


@dataclass(frozen=True)
class Shared:
    """What a text and a document have in common in one place."""

    similarity: float
    of_text: Excerpt
    of_document: Excerpt


def cut_out(text: str, start: int, stop: int) -> Excerpt:
    """Cut a part out of a text."""
    part, tail = text[start:stop], ""
    if len(part) > _MOST_SHOWN:
        half = _MOST_SHOWN // 2
        part, tail = part[:half], part[-half:]
    before = text[max(start - _AROUND, 0) : start]
    return Excerpt(before, part, tail, text[stop : stop + _AROUND])


def shared_part(
    similarity: float, text: str, of_text: tuple[int, int], document: str, place: tuple[int, int]
) -> Shared:
    """Cut a shared part out of a text and of a document."""
    return Shared(similarity, cut_out(text, *of_text), cut_out(document, *place))


# What fits on a page; the interface returns as many as are asked for.
_MOST_DOCUMENTS = 20
_MOST_PARTS = 10
# Of so many documents are shared parts looked for: each takes some tenths of a second.
_MOST_COMPARED = 5


@dataclass
class Hit:
    """A document with something of the text; ``similarity`` is None where only parts are."""

    id: str | int
    similarity: float | None
    document: str | None = None
    parts: list[Shared] = field(default_factory=list)
    n_parts: int = 0


@dataclass(frozen=True)
class Answer:
    """What an index has of the text; ``note`` says why there is nothing, or not all."""

    index: str
    kind: m.Kind
    hits: list[Hit]
    note: str = ""


async def find_everything(
    service: Service,
    indexes: list[Served],
    text: str,
    threshold: str,
    deadline: Deadline,
    share: Share,
) -> list[Answer]:
    """Look a text up in some indexes; what one cannot answer, the others may."""
    answers = []
    for served in indexes:
        find = _find_passages if served.kind == "passages" else _find_documents
        try:
            answers.append(await find(service, served, text, threshold, deadline, share))
        except NeardupError as error:
            answers.append(Answer(served.name, served.kind, [], str(error)))
    return answers


async def _find_documents(
    service: Service, served: Served, text: str, threshold: str, deadline: Deadline, share: Share
) -> Answer:
    asked = m.Query(text=text, threshold=threshold or "index", limit=_MOST_DOCUMENTS)
    lane = lane_of(service, [text])
    matches = await lane.run(lambda: served.query(asked), deadline)
    hits = [Hit(match.id, match.similarity) for match in matches]
    note = ""
    for hit in hits[:_MOST_COMPARED]:
        document = await _text_of(service, served, hit.id, deadline)
        if not document:
            continue
        hit.document = document
        try:
            result = await compare_two(service, m.Comparison(a=text, b=document), deadline)
        except Problem as problem:
            note = f"not all shared parts are shown: {problem.detail}"
            break
        hit.n_parts = len(result.passages)
        hit.parts = [
            shared_part(p.similarity, text, p.a, document, p.b)
            for p in result.passages[:_MOST_PARTS]
        ]
    return Answer(served.name, served.kind, hits, note)


async def _find_passages(
    service: Service, served: Served, text: str, threshold: str, deadline: Deadline, share: Share
) -> Answer:
    assert isinstance(served, ServedPassages)
    asked = m.Search(queries=[text], threshold=threshold or None)
    lane = lane_of(service, [text])
    found = await lane.run(lambda: served.search(asked, deadline, share), deadline)
    if not found.passages:
        # As a whole it is in no document; parts of it may be.
        shared = m.Alignment(documents=[text], threshold=threshold or "0.5")
        found = await service.heavy.run(lambda: served.align(shared, deadline, share), deadline)
    hits: dict[str | int, Hit] = {}
    for row in found.passages:
        hit = hits.setdefault(row.doc_id, Hit(row.doc_id, None))
        hit.n_parts += 1
        if len(hits) > _MOST_DOCUMENTS or len(hit.parts) == _MOST_PARTS:
            continue
        if hit.document is None:
            hit.document = await _text_of(service, served, row.doc_id, deadline)
        place, of_text = (row.doc_start, row.doc_end), (row.query_start, row.query_end)
        hit.parts.append(shared_part(row.similarity, text, of_text, hit.document or "", place))
    most_first = sorted(hits.values(), key=_best_part, reverse=True)
    return Answer(served.name, served.kind, most_first[:_MOST_DOCUMENTS])


def _best_part(hit: Hit) -> float:
    return max((part.similarity for part in hit.parts), default=0.0)


async def _text_of(
    service: Service, served: Served, identifier: str | int, deadline: Deadline
) -> str | None:
    document: dict[str, Any] | None = await service.lookups.run(
        lambda: served.get(str(identifier)), deadline
    )
    return None if document is None else document.get("text")


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
    sides = mark_texts(result.texts, links_of(result))
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
