"""What the page shows for a text: documents and passages that are like it, with shared parts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from neardup.errors import NeardupError
from neardup.service import messages as m
from neardup.service.lanes import Deadline, Share
from neardup.service.operations import compare_two, lane_of
from neardup.service.problems import Problem
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
    asked = m.Query(text=text, threshold=threshold or None, limit=_MOST_DOCUMENTS)
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
