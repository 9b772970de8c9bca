"""Bodies of requests, read within a size and a time, and of answers: JSON, or a page."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np
from starlette.responses import Response

from neardup.reports.page import source_of, templates_of
from neardup.service.problems import PROBLEM_TYPE, Problem, too_large

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Scope

    from neardup.service.lanes import Budget, Deadline, Lane, Share

T = TypeVar("T")
Body = bytes | bytearray

# To parse or to write so much takes no longer than to hand it to a thread.
LIGHT_BYTES = 64_000
_DRAIN_SECONDS = 2.0
# In the scope of a request: whether its body has been received to the end.
IS_READ = "neardup.is_read"
# A body, and the text that is made of it, of which a character may need four bytes.
_TIMES_IN_MEMORY = 4
_VALUE_BYTES = 64
_MOST_FIELDS = 20
# Percent signs are looked for in so many bytes at a time: their places need eight times the room.
_PIECE_BYTES = 1 << 20
_HOW_TO_SEND = "send fewer texts at a time, or raise --max-body of `neardup serve`"
# What the characters that are digits of base 16 are worth; 16 for all others.
_HEX = np.full(256, 16, np.uint8)
_HEX[np.frombuffer(b"0123456789abcdef", np.uint8)] = np.arange(16)
_HEX[np.frombuffer(b"ABCDEF", np.uint8)] = np.arange(10, 16)


async def read_body(
    request: Request,
    most_bytes: int,
    seconds: float,
    budget: Budget,
    how_to_send: str = _HOW_TO_SEND,
) -> Body:
    """Read the body of a request, as far as there is memory for all."""
    share = budget.share(request.scope)
    declared = request.headers.get("content-length", "")
    body = None
    if not (declared.isdecimal() and int(declared) > most_bytes):
        try:
            async with asyncio.timeout(seconds):
                body = await _collect(request, most_bytes, share)
        except TimeoutError:
            message = f"the body did not arrive within {seconds:g} s; send it faster, or less"
            raise Problem(408, message, headers={"connection": "close"}) from None
    if body is None:
        await drain(request)
        message = f"the body is larger than {most_bytes:,} bytes; {how_to_send}"
        raise too_large(message)
    if len(body) > LIGHT_BYTES:
        # Of numbers and empty lists a body can hold far more than it has bytes.
        n_values = sum(body.count(mark) for mark in (b",", b"[", b"{"))
        share.grow(n_values * _VALUE_BYTES)
    return body


async def parse(body: Body, read: Callable[[Body], T], lane: Lane, deadline: Deadline) -> T:
    """Return what a function makes of a body; of a large one it makes it in a thread."""
    if len(body) <= LIGHT_BYTES:
        return read(body)
    return await lane.run(lambda: read(body), deadline)


def read_form(body: Body) -> dict[str, str]:
    """Return the fields of a form as browsers send it, the last one of each name."""
    if not body.isascii() or body.count(b"&") >= _MOST_FIELDS:
        raise Problem(400, "the form cannot be read")
    pairs = [pair.partition(b"=") for pair in body.split(b"&") if pair]
    # Browsers send every line end as two characters.
    return {_unescaped(name): _unescaped(value).replace("\r\n", "\n") for name, _, value in pairs}


def _unescaped(text: Body) -> str:
    """Undo the escapes of a form; with arrays, as a text may be nothing but escapes."""
    pieces, start = [], 0
    while start < len(text):
        stop = min(start + _PIECE_BYTES, len(text))
        # An escape is not cut.
        stop = next((at for at in (stop - 1, stop - 2) if text[at : at + 1] == b"%"), stop)
        stop = stop if stop > start else len(text)
        codes = np.frombuffer(text[start:stop], np.uint8).copy()
        codes[codes == ord("+")] = ord(" ")
        places = np.flatnonzero(codes[:-2] == ord("%"))
        high, low = _HEX[codes[places + 1]], _HEX[codes[places + 2]]
        are_escapes = (high < 16) & (low < 16)
        places = places[are_escapes]
        codes[places] = high[are_escapes] * 16 + low[are_escapes]
        stay = np.ones(len(codes), bool)
        stay[places + 1] = stay[places + 2] = False
        pieces.append(codes[stay].tobytes())
        start = stop
    return b"".join(pieces).decode(errors="replace")


async def _collect(request: Request, most_bytes: int, share: Share) -> Body | None:
    """Read a body to its end; return None if it is too large."""
    # Grows in place: parts that are joined at the end are there twice.
    body, is_more = bytearray(), True
    while is_more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise Problem(400, "the body ended before it was complete")
        part: bytes = message.get("body", b"")
        is_more = message.get("more_body", False)
        if not body and not is_more:
            return part if len(part) <= most_bytes else None
        n_before = max(len(body), LIGHT_BYTES)
        body += part
        if len(body) > most_bytes:
            return None
        # Small bodies always find room, so that look-ups go on whatever else is sent.
        if len(body) > n_before:
            try:
                share.grow((len(body) - n_before) * _TIMES_IN_MEMORY)
            except Problem as problem:
                # The rest is not read.
                problem.headers = {**problem.headers, "connection": "close"}
                await drain(request)
                raise
    return body


async def drain(request: Request) -> None:
    """Throw away for a moment what still comes.

    A connection that is closed while the other side still sends takes the answer with it.
    """
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            while not request.scope.get(IS_READ):
                await request.receive()


_TEMPLATES = __package__


def style_sheet() -> str:
    """Return the style sheet: that of two texts side by side, that of reports, and ours."""
    of_reports = map(source_of, ("compare.css", "page.css"))
    return "".join([*of_reports, source_of("page.css", _TEMPLATES)])


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
