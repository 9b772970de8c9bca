"""Pages on which several people judge pairs, and the file in which what they say is kept."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal
from urllib.parse import quote

import msgspec
import pyarrow as pa
from filelock import FileLock, Timeout
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from neardup.errors import InvalidInputError, InvalidParameterError, ReadError, WriteError
from neardup.jobs.review.merge import agreed
from neardup.outputs.table_text import WRITERS
from neardup.reports.pairs.judgements import (
    DISAGREED,
    LABEL,
    NOTE,
    OF_REVIEWER,
    OF_REVIEWERS_NOTE,
    UNJUDGED,
)
from neardup.reports.pairs.review import served_review
from neardup.runs.disk import store_file
from neardup.runs.runner import Runner
from neardup.service.bodies import read_body
from neardup.service.gate import ROUTE
from neardup.service.problems import Problem
from neardup.service.service import Service
from neardup.service.tokens import GRANT
from neardup.stages.tables import open_labels

_ENDING = ".labels.csv"
_PATH = "/reviews/{name}"
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_MOST_BYTES = 16_000
# Rows that are made anew with a judgement: of 1000 that takes as long as to store 10,000.
_BLOCK = 256
_MOST_IN_NAME, _MOST_REVIEWERS, _MOST_IN_NOTE = 60, 100, 2000


class Said(msgspec.Struct, forbid_unknown_fields=True):
    """What somebody says of a pair, by its place in the page."""

    reviewer: str
    pair: int
    label: Literal["", "yes", "no", "unsure", "disagreed"]
    note: str = ""


class Review:
    """A page of pairs, and what people have said of these.

    The file of labels is as `neardup review --merge` writes it: a row for each pair that somebody
    has judged, and columns for each of them. It is written anew, and safely, with each judgement;
    as text, its rows are kept in blocks, of which a judgement changes one.

    Parameters
    ----------
    page
        What `neardup review` has written. Labels are beside it: those of ``judge.html`` in
        ``judge.labels.csv``.
    """

    def __init__(self, page: Path) -> None:
        try:
            made = served_review(page.read_text(encoding="utf-8"))
        except OSError as error:
            raise ReadError(error.strerror or str(error), path=str(page)) from None
        except UnicodeDecodeError:
            made = None
        if made is None:
            message = "this is no page of pairs to be judged; make one with `neardup review`"
            raise InvalidInputError(message, path=str(page))
        self._pairs, html = made
        policy = _POLICY.search(html)
        assert policy is not None
        self.name, self.page = page.stem, html.encode()
        self.policy = f"{policy[1].replace('&#39;', chr(39))}; frame-ancestors 'none'"
        self.labels = page.with_name(page.stem + _ENDING)
        self._lock = FileLock(
            self.labels.with_name(f".{self.labels.name}.lock"), thread_local=False
        )
        try:
            self._lock.acquire(timeout=0)
        except Timeout:
            message = f"another service keeps labels in {self.labels}; end it, or copy the page"
            raise WriteError(message) from None
        self._words: dict[str, dict[tuple[str, str], str]] = {}
        self._notes: dict[str, dict[tuple[str, str], str]] = {}
        self._similarities = {(a, b): value for a, b, value in self._pairs}
        if self.labels.exists():
            self._recall()
        self._every = list(self._similarities)
        self._number_of = {pair: number for number, pair in enumerate(self._every)}
        self._blocks = self._written()

    @property
    def address(self) -> str:
        """Where the page is, below the address of the service."""
        return _PATH.format(name=quote(self.name, safe=""))

    def close(self) -> None:
        """Let others keep labels there."""
        self._lock.release()

    def _recall(self) -> None:
        """Read what was said before; what is said of other pairs stays in the file."""
        with Runner(1) as runner:
            judged = open_labels(self.labels, runner)
        if len(judged.ids_a) and not judged.said:
            message = (
                f"these labels do not say whose they are in columns {OF_REVIEWER}NAME; give the "
                "file another name, and what is said from now on begins a new one"
            )
            raise InvalidInputError(message, path=str(self.labels))
        pairs = judged.pairs()
        for pair, value in zip(pairs, judged.similarities.tolist(), strict=True):
            self._similarities.setdefault(pair, None if value != value else value)
        for name, words in judged.said.items():
            self._words[name] = {p: word for p, word in zip(pairs, words, strict=True) if word}
        for name, notes in judged.remarks.items():
            self._notes[name] = {p: note for p, note in zip(pairs, notes, strict=True) if note}

    def said_by(self, reviewer: str) -> list[tuple[int, str, str]]:
        """Return what somebody has said of pairs of the page: place, word and note."""
        words, notes = self._words.get(reviewer, {}), self._notes.get(reviewer, {})
        return [
            (place, words.get((a, b), UNJUDGED), notes.get((a, b), ""))
            for place, (a, b, _) in enumerate(self._pairs)
            if (a, b) in words or (a, b) in notes
        ]

    def keep(self, said: Said) -> None:
        """Keep what somebody says of a pair, on the disk when this returns."""
        reviewer = said.reviewer.strip()
        if not reviewer.isprintable() or not 0 < len(reviewer) <= _MOST_IN_NAME:
            message = f"a reviewer has a name of 1 to {_MOST_IN_NAME} characters"
            raise Problem(422, message, "InvalidInputError")
        if not 0 <= said.pair < len(self._pairs) or len(said.note) > _MOST_IN_NOTE:
            message = "there is no such pair, or the note is too long; load the page again"
            raise Problem(422, message, "InvalidInputError")
        if reviewer not in self._words and len(self._words) >= _MOST_REVIEWERS:
            message = f"{_MOST_REVIEWERS} people judge these pairs, and there is room for no more"
            raise Problem(422, message, "InvalidInputError")
        a, b, _ = self._pairs[said.pair]
        word = UNJUDGED if said.label == DISAGREED else said.label
        known, is_new = (self._words, self._notes), reviewer not in self._words
        before = [own.get(reviewer, {}).get((a, b), "") for own in known]
        try:
            self._set(reviewer, (a, b), (word, said.note))
            # Somebody new has a column in all of them.
            changed = None if is_new else self._number_of[a, b] // _BLOCK
            blocks = self._written(changed)
            store_file(self.labels, *blocks)
        except BaseException:
            # What the file does not have is not kept.
            self._set(reviewer, (a, b), before)
            if is_new:
                del self._words[reviewer], self._notes[reviewer]
            raise
        self._blocks = blocks

    def _set(self, reviewer: str, pair: tuple[str, str], values: Sequence[str]) -> None:
        for known, value in zip((self._words, self._notes), values, strict=True):
            own = known.setdefault(reviewer, {})
            own.pop(pair, None)
            if value:
                own[pair] = value

    def _written(self, changed: int | None = None) -> list[bytes]:
        """Return the file: its header, and blocks of rows in the order of the page.

        Only the block of a number is made anew, if one is given.
        """
        header = self._as_text([])
        if changed is not None:
            blocks = self._blocks.copy()
            blocks[1 + changed] = self._block(changed)[len(header) :]
            return blocks
        n_blocks = -(-len(self._every) // _BLOCK)
        return [header, *(self._block(number)[len(header) :] for number in range(n_blocks))]

    def _block(self, number: int) -> bytes:
        return self._as_text(self._every[number * _BLOCK : (number + 1) * _BLOCK])

    def _as_text(self, pairs: Sequence[tuple[str, str]]) -> bytes:
        """Return what was said of some pairs, behind the header of the file."""
        told = [own for known in (self._words, self._notes) for own in known.values()]
        every = [pair for pair in pairs if any(pair in own for own in told)]
        words = [[own[pair] for own in self._words.values() if pair in own] for pair in every]
        notes = [
            "; ".join(dict.fromkeys(own[pair] for own in self._notes.values() if pair in own))
            for pair in every
        ]
        columns: dict[str, Any] = {
            "id_a": [a for a, _ in every],
            "id_b": [b for _, b in every],
            LABEL: [agreed(each) if each else UNJUDGED for each in words],
            "similarity": pa.array(map(self._similarities.get, every), pa.float64()),
            NOTE: notes,
        }
        for begin, known in ((OF_REVIEWER, self._words), (OF_REVIEWERS_NOTE, self._notes)):
            for name, own in known.items():
                columns[f"{begin}{name}"] = pa.array(map(own.get, every), pa.string())
        content = io.BytesIO()
        WRITERS["csv"](pa.table(columns), content)
        return content.getvalue()


def open_reviews(pages: Sequence[Path]) -> list[Review]:
    """Open pages that `neardup review` has written, each under the name of its file."""
    names = [page.stem for page in pages]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        message = f"two pages are called {twice!r}; give one of the files another name"
        raise InvalidParameterError(message, "review")
    return [Review(page) for page in pages]


_DECODER = msgspec.json.Decoder(Said)
_ENCODER = msgspec.json.Encoder()


def make_review_routes(service: Service, reviews: Sequence[Review]) -> list[Route]:
    """Make the routes of pages, and of what is said there.

    They show documents, so a token must be for everything; to judge takes the role of writing.
    """
    known = {review.name: review for review in reviews}

    def find(request: Request, path: str) -> Review:
        request.scope[ROUTE] = path
        GRANT.get().check_everything()
        try:
            return known[request.path_params["name"]]
        except KeyError:
            raise Problem(404, "there is no such page of pairs") from None

    async def page(request: Request) -> Response:
        review = find(request, _PATH)
        headers = {"content-security-policy": review.policy}
        return Response(review.page, media_type="text/html", headers=headers)

    async def labels(request: Request) -> Response:
        review = find(request, f"{_PATH}/labels")
        deadline = service.deadline()
        if request.method == "GET":
            reviewer = request.query_params.get("reviewer", "").strip()
            # Where nothing is written meanwhile.
            said = await service.writes.run(lambda: review.said_by(reviewer), deadline)
            return Response(_ENCODER.encode(said), media_type="application/json")
        GRANT.get().check("write")
        body = await read_body(request, _MOST_BYTES, service.limits.seconds, service.bodies)
        try:
            given = _DECODER.decode(body)
        except msgspec.MsgspecError as error:
            raise Problem(422, f"what is said of a pair cannot be read: {error}") from None
        await service.writes.run(lambda: review.keep(given), deadline, may_leave=False)
        return Response(status_code=204)

    return [
        Route(_PATH, page),
        Route(f"{_PATH}/labels", labels, methods=["GET", "POST"]),
    ]
