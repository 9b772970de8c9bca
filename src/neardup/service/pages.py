"""The page for people: forms that work without a script, filled in and answered here."""

from __future__ import annotations

import contextlib
import hmac
import re
import secrets
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from neardup.errors import InvalidInputError, NeardupError
from neardup.jobs.compare.compare_result import (
    CompareResult,
    Range,
    links_of,
)
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
from neardup.service.gate import ROUTE, SESSION_COOKIE
from neardup.service.lanes import Deadline, Share
from neardup.service.operations import compare_two, lane_of
from neardup.service.problems import Problem, problem_of
from neardup.service.served import Served, ServedPassages
from neardup.service.service import Service
from neardup.service.tokens import Tokens

# Shared parts of a text and of a document, cut out with some text around.

_AROUND = 80
_MOST_SHOWN = 600
_OPENING = 300


class Piece(NamedTuple):
    """Some of a shared part: ``is_new`` where the other lacks it, None where it is left out."""

    text: str
    is_new: bool | None


@dataclass(frozen=True)
class Excerpt:
    """A part of a text, in pieces, with what stands before and behind it."""

    before: str
    pieces: list[Piece]
    after: str


@dataclass(frozen=True)
class Shared:
    """What a text and a document have in common in one place."""

    similarity: float
    of_text: Excerpt
    of_document: Excerpt


def cut_out(text: str, place: Range, changes: Sequence[Range] = ()) -> Excerpt:
    """Cut a part out of a text, without the middle if it is long.

    ``changes`` are the ranges in it that the other text lacks, ascending.
    """
    start, stop = place
    half = _MOST_SHOWN // 2
    shown = [(start, stop)]
    if stop - start > _MOST_SHOWN:
        shown = [(start, start + half), (stop - half, stop)]
    pieces: list[Piece] = []
    for begin, end in shown:
        if pieces:
            pieces.append(Piece("", None))
        at = begin
        for first, last in changes:
            first, last = max(first, at), min(last, end)
            if first < last:
                pieces += [Piece(text[at:first], False), Piece(text[first:last], True)]
                at = last
        pieces.append(Piece(text[at:end], False))
    before, after = text[max(start - _AROUND, 0) : start], text[stop : stop + _AROUND]
    if start > _AROUND:
        before = f"…{before}"
    if len(text) > stop + _AROUND:
        after = f"{after}…"
    return Excerpt(before, pieces, after)


# What fits on a page; a button leads on to as many more.
_MOST_DOCUMENTS = 20
_MOST_PARTS = 10
# Of so many documents are shared parts looked for: each takes some tenths of a second.
_MOST_COMPARED = 5
# Passages are looked for at these: the text as a whole, and parts of it.
_USUAL, _USUAL_OF_PARTS = "0.8", "0.5"


@dataclass
class Hit:
    """A document with something of the text; of passages it is the best of them that is similar."""

    id: str | int
    similarity: float
    columns: dict[str, Any] = field(default_factory=dict)
    opening: str = ""
    parts: list[Shared] = field(default_factory=list)
    n_parts: int = 0


@dataclass(frozen=True)
class Answer:
    """What an index has of the text.

    ``least`` is the similarity that was asked for. ``hits`` are those of ``n_hits`` documents that
    come behind ``n_before``, which earlier pages have; ``n_next`` are on the next one, to which a
    ``cursor`` leads in an index of documents. Where there is nothing, ``nearest`` is what comes
    nearest, if anything does. ``note`` says why there is nothing, or not all.
    """

    index: str
    kind: m.Kind
    least: str
    n_before: int = 0
    hits: list[Hit] = field(default_factory=list)
    n_hits: int = 0
    n_next: int = 0
    cursor: str | None = None
    nearest: Hit | None = None
    note: str = ""


@dataclass(frozen=True)
class About:
    """An index as the page describes it; ``least`` is what it looks for if nothing else is said."""

    name: str
    kind: m.Kind
    n_documents: int
    least: str
    columns: Sequence[str]
    is_writable: bool


def _describe(served: Served, *, is_writable: bool) -> About:
    scheme: dict[str, Any] = {}
    # Of an index that is damaged the page has the name still.
    with contextlib.suppress(NeardupError):
        scheme = served.info().get("scheme", {})
    least = _USUAL if served.kind == "passages" else scheme.get("threshold", "")
    return About(
        served.name,
        served.kind,
        len(served),
        # A fraction, in the digits of a form.
        f"{float(Fraction(least)):.4g}" if least else "",
        scheme.get("columns", ()),
        is_writable,
    )


async def _describe_all(service: Service, deadline: Deadline) -> list[About]:
    # Who asks is known here, and not in a thread.
    indexes = [(served, service.may_write(served)) for served in service.indexes.values()]
    return await service.lookups.run(
        lambda: [_describe(served, is_writable=may) for served, may in indexes], deadline
    )


@dataclass(frozen=True)
class Asked:
    """What is looked for; ``where`` is a condition on documents, if any.

    Of one index ``n_before`` documents may have been shown, behind the last of which ``cursor``
    leads.
    """

    text: str
    threshold: str
    where: str
    n_before: int = 0
    cursor: str | None = None


async def find_everything(
    service: Service, indexes: Sequence[About], asked: Asked, deadline: Deadline, share: Share
) -> list[Answer]:
    """Look a text up in some indexes; what one cannot answer, the others may.

    Those that have something of it come first.
    """
    answers = []
    for about in indexes:
        served = service.find(about.name)
        blank = Answer(served.name, served.kind, asked.threshold or about.least, asked.n_before)
        answer: dict[str, Any]
        try:
            if isinstance(served, ServedPassages) and asked.where:
                answer = {"note": "A condition is on documents that are found as a whole."}
            elif isinstance(served, ServedPassages):
                answer = await _find_passages(service, served, asked, deadline, share)
            else:
                answer = await _find_documents(service, served, asked, deadline)
        except NeardupError as error:
            answer = {"note": problem_of(error).detail}
        answers.append(replace(blank, **answer))
    return sorted(answers, key=lambda answer: not answer.hits)


async def _find_documents(
    service: Service, served: Served, asked: Asked, deadline: Deadline
) -> dict[str, Any]:
    text, where, n_before = asked.text, asked.where or None, asked.n_before
    least, limit = asked.threshold or "index", _MOST_DOCUMENTS
    query = m.Query(text=text, threshold=least, limit=limit, where=where, cursor=asked.cursor)
    lane = lane_of(service, [text])
    found = await lane.run(lambda: served.query(query), deadline)
    if not found.matches and not n_before:
        most_similar = m.Query(text=text, threshold=None, limit=1, where=where)
        nearest = (await lane.run(lambda: served.query(most_similar), deadline)).matches
        return {"nearest": Hit(nearest[0].id, nearest[0].similarity) if nearest else None}
    hits = [Hit(match.id, match.similarity) for match in found.matches]
    n_behind = found.n_matches - n_before - len(hits)
    # Whatever has come or gone since the pages before: the cursor knows whether there are more.
    n_next = 0 if found.cursor is None else min(max(n_behind, 1), _MOST_DOCUMENTS)
    compared: list[tuple[Hit, str]] = []

    def keep(hit: Hit, document: str) -> None:
        if document and len(compared) < _MOST_COMPARED:
            compared.append((hit, document))

    await _read_each(service, served, hits, keep, deadline)
    note = ""
    for hit, document in compared:
        try:
            result = await compare_two(service, m.Comparison(a=text, b=document), deadline)
        except Problem as problem:
            note = f"Not all shared parts are shown: {problem.detail}"
            break
        links = links_of(result)
        hit.n_parts = len(links)
        hit.parts = [
            Shared(
                link.similarity,
                cut_out(text, link.a, link.changes_a),
                cut_out(document, link.b, link.changes_b),
            )
            for link in links[:_MOST_PARTS]
        ]
    counts = {"n_hits": found.n_matches, "n_next": n_next, "cursor": found.cursor}
    return {"hits": hits, "note": note, **counts}


async def _find_passages(
    service: Service, served: ServedPassages, asked: Asked, deadline: Deadline, share: Share
) -> dict[str, Any]:
    text, n_before = asked.text, asked.n_before
    query = m.Search(queries=[text], threshold=asked.threshold or _USUAL)
    lane = lane_of(service, [text])
    found = await lane.run(lambda: served.search(query, deadline, share), deadline)
    if not found.passages:
        # As a whole it is in no document; parts of it may be.
        shared = m.Alignment(documents=[text], threshold=asked.threshold or _USUAL_OF_PARTS)
        found = await service.heavy.run(lambda: served.align(shared, deadline, share), deadline)
    rows_of: dict[str | int, list[m.PassageRow]] = {}
    for row in found.passages:
        rows_of.setdefault(row.doc_id, []).append(row)
    hits = [
        Hit(identifier, max(row.similarity for row in rows), n_parts=len(rows))
        for identifier, rows in rows_of.items()
    ]
    n_hits, beyond = len(hits), n_before + _MOST_DOCUMENTS
    hits = sorted(hits, key=lambda hit: -hit.similarity)[n_before:beyond]
    note = ""
    if found.cursor is not None:
        note = (
            f"The text has {found.n_rows:,} passages here; these are documents of the first ones."
        )

    def cut(hit: Hit, document: str) -> None:
        hit.parts = [
            Shared(
                row.similarity,
                cut_out(text, (row.query_start, row.query_end)),
                cut_out(document, (row.doc_start, row.doc_end)),
            )
            for row in rows_of[hit.id][:_MOST_PARTS]
        ]

    await _read_each(service, served, hits, cut, deadline)
    n_next = max(min(n_hits - beyond, _MOST_DOCUMENTS), 0)
    return {"hits": hits, "n_hits": n_hits, "n_next": n_next, "note": note}


async def _read_each(
    service: Service,
    served: Served,
    hits: list[Hit],
    use: Callable[[Hit, str], None],
    deadline: Deadline,
) -> None:
    """Note the columns and the beginning of each document, and have its text used.

    One text goes before the next is read, for twenty of the longest are much.
    """

    def read() -> None:
        for hit in hits:
            document = served.get(str(hit.id)) or {}
            text = document.get("text") or ""
            hit.columns, hit.opening = _columns_of(document), _opening(text)
            use(hit, text)

    await service.lookups.run(read, deadline)


def _columns_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns that have something in them."""
    return {
        name: value
        for name, value in document.items()
        if name not in ("id", "text") and value not in (None, "")
    }


def _opening(text: str) -> str:
    return f"{text[:_OPENING]}…" if len(text) > _OPENING else text


_FORM = "application/x-www-form-urlencoded"
_ON_A_PAGE = 25
# What a page shows by other characters, so that a form would send these back.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# As many as a form may have fields, beside the others.
_MOST_COLUMNS = 12
# Anybody may send it, so it is no larger than a token and soon here.
_SIGN_IN_BYTES = 4096
_SIGN_IN_SECONDS = 5.0
_SIGN_IN = "/sign-in"
_STATIC = {"cache-control": "no-cache"}

Fields = Mapping[str, str]
View = Callable[[Service, Request, Fields, Deadline], Coroutine[Any, Any, Response]]


def make_page_routes(service: Service, tokens: Tokens) -> list[Route]:
    """Make the routes of the page, and of what it loads."""
    seal = Seal()

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
        view("/add", partial(_add, seal), "GET", "POST"),
        view("/remove", partial(_remove, seal), "GET", "POST"),
        view(_SIGN_IN, partial(_sign_in, tokens), "GET", "POST"),
        view("/sign-out", partial(_sign_out, tokens), "POST"),
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
    values["is_signed_in"] = SESSION_COOKIE in request.cookies
    return await text_answer(template, share, service.transfers, deadline, **values)


async def _find(service: Service, request: Request, fields: Fields, deadline: Deadline) -> Response:
    text, chosen = fields.get("text", ""), fields.get("index", "")
    threshold, where = (fields.get(name, "").strip() for name in ("threshold", "where"))
    indexes = await _describe_all(service, deadline)
    answers = None
    if request.method == "POST" and text.strip():
        if chosen:
            service.find(chosen)
        number, cursor = fields.get("before", ""), fields.get("cursor") or None
        n_before = int(number) if re.fullmatch("[0-9]{1,9}", number) else 0
        answers = await find_everything(
            service,
            [about for about in indexes if chosen in ("", about.name)],
            Asked(text, threshold, where, n_before, cursor),
            deadline,
            service.answers.share(request.scope),
        )
    return await _show(
        *(service, request, deadline, "find.html"),
        indexes=indexes,
        text=text,
        chosen=chosen,
        threshold=threshold,
        where=where,
        columns_kept=list(dict.fromkeys(chain(*(about.columns for about in indexes))))[
            :_MOST_COLUMNS
        ],
        answers=answers,
    )


async def _browse(
    service: Service, request: Request, fields: Fields, deadline: Deadline
) -> Response:
    served = service.find(fields.get("index", next(iter(service.indexes), "")))
    number = fields.get("number", "").strip() or "1"
    if not (number.isascii() and number.isdecimal() and len(number) < 16 and int(number)):
        message = "number must be that of a document, from 1"
        raise Problem(422, message, "InvalidParameterError")
    start, most = int(number) - 1, service.limits.body_bytes
    documents, following = await service.lookups.run(
        lambda: served.documents(start, _ON_A_PAGE, most), deadline
    )
    indexes = await _describe_all(service, deadline)
    about = next(about for about in indexes if about.name == served.name)
    return await _show(
        *(service, request, deadline, "browse.html"),
        about=about,
        indexes=indexes,
        start=start,
        documents=[
            (document["id"], _opening(document.get("text") or ""), _columns_of(document))
            for document in documents
        ],
        # Numbers of documents at which other pages begin.
        earlier=max(start - _ON_A_PAGE, 0) + 1 if start else None,
        later=None if following is None else following + 1,
        last=max(about.n_documents - _ON_A_PAGE, 0) + 1,
    )


async def _document(
    service: Service, request: Request, fields: Fields, deadline: Deadline
) -> Response:
    served, identifier = service.find(fields.get("index", "")), fields.get("id", "").strip()
    document = await service.lookups.run(lambda: served.get(identifier), deadline)
    if document is None:
        missing = {"index": served.name, "identifier": identifier, "status": 404}
        return await _show(service, request, deadline, "missing.html", **missing)
    return await _show(
        *(service, request, deadline, "document.html"),
        index=served.name,
        identifier=identifier,
        text=document.get("text"),
        columns=_columns_of(document),
        indexes=list(service.indexes),
        is_writable=service.may_write(served),
        is_new="new" in fields,
    )


class Seal:
    """Marks forms that change an index, so that no page but ours can send them.

    What a browser says of the page that sends a form is looked at before; some say nothing. A mark
    is good for the session that it was made for, in this process.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)

    def mark(self, request: Request) -> str:
        """Return the mark of the forms that answer a request."""
        session = request.cookies.get(SESSION_COOKIE, "")
        return hmac.new(self._key, session.encode(), "sha256").hexdigest()

    def check(self, request: Request, fields: Fields) -> None:
        """Refuse a form that was not made here for who sends it."""
        if not hmac.compare_digest(self.mark(request).encode(), fields.get("mark", "").encode()):
            message = "this form is not of this page, or is too old; open it again, and send it"
            raise Problem(403, message)


def _find_writable(service: Service, name: str) -> Served:
    served = service.find(name)
    service.check_writable(served)
    return served


async def _add(
    seal: Seal, service: Service, request: Request, fields: Fields, deadline: Deadline
) -> Response:
    """Take a document, show it once more with what is like it, and add it if that is wished."""
    served = _find_writable(service, fields.get("index", ""))
    about = await service.lookups.run(lambda: _describe(served, is_writable=True), deadline)
    identifier, text = fields.get("id", "").strip(), fields.get("text", "")
    names = about.columns[:_MOST_COLUMNS]
    columns = {name: fields.get(f"column_{at}", "") for at, name in enumerate(names)}
    given = {name: value for name, value in columns.items() if value}
    step, nearest, error, status = "write", None, "", 200
    if request.method == "POST":
        seal.check(request, fields)
        try:
            # Of the longest texts that takes some tenths of a second.
            known = await service.lookups.run(
                lambda: _check_new(served, identifier, text, columns), deadline
            )
            if fields.get("step") == "add":
                work = lambda: served.add([{"id": known, "text": text, **given}], deadline)  # noqa: E731
                _, n_denied = await service.write(served, work, deadline)
                if not n_denied:
                    asked = urlencode({"index": served.name, "id": identifier, "new": 1})
                    return RedirectResponse(f"/document?{asked}", 303)
                error = "The index denies this document: it was removed, and is not to come back."
            elif fields.get("step") == "check":
                if served.kind == "documents":
                    most_similar = m.Query(text=text, threshold=None, limit=1)
                    lane = lane_of(service, [text])
                    found = (await lane.run(lambda: served.query(most_similar), deadline)).matches
                    nearest = Hit(found[0].id, found[0].similarity) if found else None
                step = "check"
        except (NeardupError, Problem) as failure:
            # Nothing that was typed is lost.
            problem = failure if isinstance(failure, Problem) else problem_of(failure)
            error, status = problem.detail, problem.status
    return await _show(
        *(service, request, deadline, "add.html"),
        status=422 if error and status == 200 else status,
        about=about,
        mark=seal.mark(request),
        identifier=identifier,
        text=text,
        columns=columns,
        given=given,
        step=step,
        nearest=nearest,
        error=error,
    )


def _check_new(served: Served, identifier: str, text: str, columns: Mapping[str, str]) -> str | int:
    """Make sure that a document may go in; return its id in the type that others have."""
    message = ""
    if not (identifier and text.strip()):
        message = "A document needs an id and a text."
    elif any(map(_CONTROL.search, (identifier, text, *columns.values()))):
        message = "There are control characters in it, which a form cannot hold; use /v1."
    elif served.get(identifier) is not None:
        message = f"There is a document {identifier!r} in the index already."
    else:
        first, _ = served.documents(0, 1, 1)
        if not first or isinstance(first[0]["id"], str):
            return identifier
        if identifier.isascii() and identifier.removeprefix("-").isdecimal():
            return int(identifier)
        message = "The ids of this index are whole numbers."
    raise InvalidInputError(message)


async def _remove(
    seal: Seal, service: Service, request: Request, fields: Fields, deadline: Deadline
) -> Response:
    """Show what would be removed, and remove it if that is wished."""
    served = _find_writable(service, fields.get("index", ""))
    document = await _get(service, served.name, fields.get("id", ""), deadline)
    removed = None
    if request.method == "POST":
        seal.check(request, fields)
        deny = "deny" in fields
        removed = await service.write(
            served, lambda: served.remove([document["id"]], deny=deny), deadline
        )
    return await _show(
        *(service, request, deadline, "remove.html"),
        index=served.name,
        kind=served.kind,
        mark=seal.mark(request),
        identifier=document["id"],
        opening=_opening(document.get("text") or ""),
        removed=removed,
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
    links = links_of(result)
    sides = mark_texts(result.texts, links)
    shares = result.differences.share_a, result.differences.share_b
    return {
        "jaccard": result["jaccard"].exact,
        "n_passages": len(links),
        "sides": [
            {"side": side, "name": name, "share": share, "marked": marked}
            for side, name, share, marked in zip("ab", result.names, shares, sides, strict=True)
        ],
    }


async def _sign_in(
    tokens: Tokens, _: Service, request: Request, fields: Fields, __: Deadline
) -> Response:
    if request.method == "GET":
        return page_answer("sign_in.html", problem=None)
    grant = tokens.grant_of(fields.get("token", "").strip().encode())
    if grant is None:
        problem = Problem(401, "this is not a token of the service; ask whoever runs it for one")
        return page_answer("sign_in.html", 401, problem=problem)
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        SESSION_COOKIE,
        tokens.make_session(grant),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


async def _sign_out(
    tokens: Tokens, _: Service, request: Request, __: Fields, ___: Deadline
) -> Response:
    tokens.end_session(request.cookies.get(SESSION_COOKIE, ""))
    answer = RedirectResponse(_SIGN_IN, 303)
    answer.delete_cookie(SESSION_COOKIE)
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
