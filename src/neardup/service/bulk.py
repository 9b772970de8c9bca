"""Many changes in one request: a line of JSON each, and a line in answer to each.

Lines are taken as they arrive, some at a time: these are made durable together, and then the next
are read. Answers wait in a temporary file until the last line has come, because most clients read
nothing before they have sent all. So neither memory nor the number of lines has to be bounded.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from neardup.errors import InvalidInputError, NeardupError
from neardup.service import messages as m
from neardup.service.bodies import drain
from neardup.service.lanes import Share
from neardup.service.problems import Problem, problem_of
from neardup.service.served import Served
from neardup.service.service import Service

NDJSON = "application/x-ndjson"
# So many lines, or bytes of them, are made durable together.
_LINES_AT_ONCE, _BYTES_AT_ONCE = 1000, 1 << 22
# Bytes of a line, the text in it, and what is made of that for the index.
_TIMES_IN_MEMORY = 4
# Answers that stay in memory.
_SPOOL_BYTES = 1 << 20
_PART_BYTES = 1 << 16

_DECODER = msgspec.json.Decoder(m.Change)
_DECODER_OF_IDS = msgspec.json.Decoder(m.Named)
_ENCODER = msgspec.json.Encoder()


async def change_many(service: Service, served: Served, request: Request) -> Response:
    """Make all changes of a request, and answer to each."""
    service.check_writable(served)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != NDJSON:
        message = f"the body must be lines of JSON: send it with `Content-Type: {NDJSON}`"
        raise Problem(415, message)
    share = service.bodies.share(request.scope)
    # Ends with the generator that reads it, or with this request.
    spool = tempfile.SpooledTemporaryFile(_SPOOL_BYTES)  # noqa: SIM115
    lines = _Lines(request, service.limits.body_bytes, service.limits.seconds, share)
    headers = {}
    try:
        async for group in lines.groups():
            answers = await service.change(served, partial(_change_some, served, group))
            spool.write(answers)
    except BaseException:
        spool.close()
        raise
    if lines.problem is not None:
        spool.write(_line(m.Changed(lines.n_read + 1, None, done=False, **_said(lines.problem))))
        headers = {"connection": "close"}
    spool.seek(0)

    async def parts() -> AsyncIterator[bytes]:
        with spool:
            while part := spool.read(_PART_BYTES):
                yield part

    return StreamingResponse(parts(), media_type=NDJSON, headers=headers)


class _Lines:
    """The lines of a body, as they come.

    ``n_read`` were read so far; ``problem`` says why the rest was not, if so.
    """

    def __init__(self, request: Request, most_bytes: int, seconds: float, share: Share) -> None:
        self._request, self._most, self._seconds, self._share = request, most_bytes, seconds, share
        self._n_taken = self.n_read = 0
        self.problem: Problem | None = None

    async def groups(self) -> AsyncIterator[list[tuple[int, bytes]]]:
        """Yield so many lines as are made durable together, with their numbers.

        Empty ones are left out, but counted.
        """
        buffer, group, n_bytes, is_more = bytearray(), list[tuple[int, bytes]](), 0, True
        while is_more and self.problem is None:
            try:
                async with asyncio.timeout(self._seconds):
                    message = await self._request.receive()
            except TimeoutError:
                detail = f"the next line did not arrive within {self._seconds:g} s"
                self.problem = Problem(408, f"{detail}; the rest was not read")
                break
            if message["type"] == "http.disconnect":
                return
            is_more = message.get("more_body", False)
            # What is held of a long line is not gone through again.
            *lines, rest = message.get("body", b"").split(b"\n")
            if lines:
                lines[0], buffer = bytes(buffer) + lines[0], bytearray()
            buffer += rest
            if not is_more:
                lines.append(bytes(buffer))
                buffer.clear()
            for line in lines:
                if len(line) > self._most:
                    self._refuse()
                    break
                self.n_read += 1
                if not line.strip():
                    continue
                group.append((self.n_read, line))
                n_bytes += len(line)
                if len(group) == _LINES_AT_ONCE or n_bytes >= _BYTES_AT_ONCE:
                    yield group
                    group, n_bytes = [], 0
            if len(buffer) > self._most:
                self._refuse()
            self._take(n_bytes + len(buffer))
        if group:
            yield group
        if self.problem is not None:
            await drain(self._request)

    def _refuse(self) -> None:
        message = f"the line is larger than {self._most:,} bytes; the rest was not read"
        self.problem = Problem(413, message, "InvalidInputError")

    def _take(self, n_bytes: int) -> None:
        """Have room in memory for what is held."""
        if n_bytes > self._n_taken and self.problem is None:
            try:
                self._share.grow((n_bytes - self._n_taken) * _TIMES_IN_MEMORY)
            except Problem as problem:
                self.problem = Problem(problem.status, f"{problem.detail}; the rest was not read")
            self._n_taken = n_bytes


def _change_some(served: Served, lines: Sequence[tuple[int, bytes]]) -> bytes:
    """Make some changes durable; return the answers, a line each."""
    answers: list[m.Changed | None] = [None] * len(lines)
    changes: list[tuple[int, m.Change]] = []
    for place, (row, line) in enumerate(lines):
        try:
            changes.append((place, _DECODER.decode(line)))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            said = _said(
                InvalidInputError(f"the line does not fit: {m.misfit_of(error, m.Change)}")
            )
            answers[place] = m.Changed(row, _id_in(line), done=False, **said)
    outcomes = served.change_many([change for _, change in changes])
    failed: dict[str, str] | None = None
    try:
        if served.n_uncommitted:
            served.commit()
    except NeardupError as error:
        problem = problem_of(error)
        failed = _said(Problem(503, f"inserted, but not durable yet: {problem.detail}"))
    for (place, change), outcome in zip(changes, outcomes, strict=True):
        row = lines[place][0]
        if isinstance(outcome, NeardupError | Problem):
            answers[place] = m.Changed(row, change.id, done=False, **_said(outcome))
        elif failed is not None:
            answers[place] = m.Changed(row, change.id, done=False, **failed)
        else:
            answers[place] = m.Changed(row, change.id, outcome is None, similar_to=outcome)
    return b"".join(_line(answer) for answer in answers)


def _id_in(line: bytes) -> m.Id | None:
    """Return the id in a line that does not fit, if it has one."""
    try:
        return _DECODER_OF_IDS.decode(line).id
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _line(answer: Any) -> bytes:
    return _ENCODER.encode(answer) + b"\n"


def _said(error: NeardupError | Problem) -> dict[str, str]:
    problem = error if isinstance(error, Problem) else problem_of(error)
    return {"error": problem.error, "detail": problem.detail}
