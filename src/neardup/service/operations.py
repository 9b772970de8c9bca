"""The operations of the interface, a line each: where, what goes in, what comes out, what for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from neardup.jobs.compare.compare import compare_texts
from neardup.jobs.compare.compare_result import CompareResult
from neardup.options.sketches import CompareOptions
from neardup.runs.runner import Runner
from neardup.service import messages as m
from neardup.service.lanes import Deadline, Lane, Share
from neardup.service.problems import Problem, busy, too_large
from neardup.service.served import Served
from neardup.service.service import Limits, Service
from neardup.version import __version__

# Beyond, the index numbers of an answer would be larger than the texts that they are of.
_DOCUMENTS_SHARE = 4
# What a comparison may take on top of what its process has; texts of half a million characters need
# less, unless they repeat themselves over and over.
_COMPARE_BYTES = 1 << 29
# A single text up to this length is as light as a look-up; a longer one is heavy work.
_LIGHT_CHARACTERS = 100_000


@dataclass(frozen=True)
class Call:
    """A request that was read and checked: which index it is about, and what it asks."""

    service: Service
    index: str | None
    asked: Any
    deadline: Deadline
    # What the answer takes of memory, while it is made too.
    share: Share

    @property
    def served(self) -> Served:
        """The index that is meant."""
        return self.service.find(self.index or "")


@dataclass(frozen=True)
class Operation:
    """What can be asked for.

    ``asked`` is what comes as the body of a POST, or as the parameters of a GET; ``statuses`` are
    problems that it has beside those of all.
    """

    method: str
    path: str
    name: str
    summary: str
    run: Callable[[Call], Awaitable[Any]]
    answer: type
    asked: type | None = None
    statuses: tuple[int, ...] = ()

    @property
    def is_of_index(self) -> bool:
        """Whether it is about one index."""
        return "{index}" in self.path


async def _contents(call: Call) -> m.Contents:
    def describe() -> list[m.IndexEntry]:
        return [
            m.IndexEntry(served.name, served.kind, len(served), served.is_writable)
            for served in call.service.indexes.values()
        ]

    return m.Contents(__version__, await call.service.lookups.run(describe, call.deadline))


async def _info(call: Call) -> dict[str, Any]:
    found: dict[str, Any] = await call.service.lookups.run(call.served.info, call.deadline)
    return found | {"name": call.served.name, "kind": call.served.kind}


async def _query(call: Call) -> m.Matches:
    served, asked = call.served, call.asked
    lane = lane_of(call.service, [asked.text or ""])
    return m.Matches(await lane.run(lambda: served.query(asked), call.deadline))


def lane_of(service: Service, texts: Sequence[str]) -> Lane:
    """Return the lane on which texts are looked up: a long one, or many, are heavy work."""
    is_light = len(texts) == 1 and len(texts[0]) <= _LIGHT_CHARACTERS
    return service.lookups if is_light else service.heavy


async def _search(call: Call) -> m.Found:
    served, asked, service = call.served, call.asked, call.service
    _check_number(len(asked.queries), service.limits)
    texts = [query if isinstance(query, str) else query.text for query in asked.queries]
    lane = lane_of(service, texts)
    work = lambda: served.search(asked, call.deadline, call.share)  # noqa: E731
    return await lane.run(work, call.deadline)


async def _align(call: Call) -> m.Found:
    served, asked, service = call.served, call.asked, call.service
    _check_number(len(asked.documents), service.limits)
    work = lambda: served.align(asked, call.deadline, call.share)  # noqa: E731
    return await service.heavy.run(work, call.deadline)


async def _document(call: Call) -> dict[str, Any]:
    served, asked = call.served, call.asked
    found = await call.service.lookups.run(lambda: served.get(asked.id), call.deadline)
    if found is None:
        message = f"index {served.name!r} has no document {asked.id!r}"
        raise Problem(404, message)
    return found


async def _documents(call: Call) -> m.Documents:
    served, asked = call.served, call.asked
    most = call.service.limits.body_bytes // _DOCUMENTS_SHARE
    found, following = await call.service.lookups.run(
        lambda: served.documents(asked.start, asked.limit, most), call.deadline
    )
    return m.Documents(found, following)


async def _compare(call: Call) -> dict[str, Any]:
    result = await compare_two(call.service, call.asked, call.deadline)
    return await call.service.transfers.run(result.to_dict, call.deadline)


async def compare_two(
    service: Service,
    asked: m.Comparison,
    deadline: Deadline,
    names: tuple[str, str] = ("a", "b"),
) -> CompareResult:
    """Compare two texts on the lane of heavy work."""
    most = service.limits.compared_characters
    for name, text in zip(names, (asked.a, asked.b), strict=True):
        if len(text) > most:
            message = (
                f"text {name} has {len(text):,} characters, and texts of up to {most:,} are "
                "compared; `neardup compare` takes longer ones"
            )
            raise too_large(message)
    asked_of = {
        name: value
        for name in CompareOptions.known
        if (value := getattr(asked, name, None)) is not None
    }
    options = CompareOptions(**asked_of, edit_limit=service.limits.edit_characters)
    work = partial(_compare_texts, (asked.a, asked.b), options, names)
    return await service.heavy.run(
        lambda: service.processes.run(work, deadline, most_bytes=_COMPARE_BYTES), deadline
    )


def _compare_texts(
    texts: tuple[str, str], options: CompareOptions, names: tuple[str, str]
) -> CompareResult:
    """Compare two texts, in a process of its own."""
    return compare_texts(texts, options, names=names, runner=Runner(1))


async def _insert(call: Call) -> m.Inserted:
    served, asked = call.served, call.asked
    await call.service.write(served, lambda: served.insert(asked), call.deadline)
    return m.Inserted(1)


async def _insert_if_new(call: Call) -> m.InsertedIfNew:
    served, asked = call.served, call.asked
    found = await call.service.write(served, lambda: served.insert_if_new(asked), call.deadline)
    return m.InsertedIfNew(found is None, found)


async def _add(call: Call) -> m.Inserted:
    served, asked = call.served, call.asked
    _check_number(len(asked.documents), call.service.limits)
    rows = [{**d.columns, "id": d.id, "text": d.text} for d in asked.documents]
    work = lambda: served.add(rows, call.deadline)  # noqa: E731
    return m.Inserted(await call.service.write(served, work, call.deadline))


async def _remove(call: Call) -> m.Removed:
    served, asked = call.served, call.asked
    _check_number(len(asked.ids), call.service.limits)
    removal = await call.service.write(served, lambda: served.remove(asked.ids), call.deadline)
    return m.Removed(*removal)


async def _commit(call: Call) -> m.Committed:
    served = call.served
    return m.Committed(await call.service.write(served, served.commit, call.deadline))


async def _health(_: Call) -> m.Health:
    return m.Health("ok")


async def _ready(call: Call) -> m.Health:
    status = call.service.status
    if status != "ok":
        raise busy(f"the service is {status}")
    if troubles := call.service.troubles():
        raise busy("; ".join(troubles))
    return m.Health(status)


def _check_number(n_texts: int, limits: Limits) -> None:
    if n_texts > limits.texts:
        message = (
            f"{n_texts:,} texts or ids, and a request may have {limits.texts:,}; send fewer at a "
            "time, or raise --max-texts of `neardup serve`"
        )
        raise too_large(message)


_INDEX = "/v1/indexes/{index}"
_WRITE = (403,)
OPERATIONS = (
    Operation("GET", "/v1", "contents", "List what is here.", _contents, m.Contents),
    Operation("GET", _INDEX, "info", "Describe an index.", _info, dict[str, Any]),
    Operation(
        *("POST", f"{_INDEX}/query", "query", "Look up one text among documents."),
        *(_query, m.Matches, m.Query),
    ),
    Operation(
        *("POST", f"{_INDEX}/search", "search", "Look up texts: similar documents or passages."),
        *(_search, m.Found, m.Search),
    ),
    Operation(
        *("POST", f"{_INDEX}/align", "align", "Find the passages that documents share with it."),
        *(_align, m.Found, m.Alignment),
    ),
    Operation(
        *("GET", f"{_INDEX}/document", "get", "Get a document by its id."),
        *(_document, dict[str, Any], m.One),
    ),
    Operation(
        *("GET", f"{_INDEX}/documents", "documents", "List documents in order of addition."),
        *(_documents, m.Documents, m.Page),
    ),
    Operation(
        *("POST", "/v1/compare", "compare", "Compare two texts.", _compare, m.Compared),
        m.Comparison,
    ),
    Operation(
        *("POST", f"{_INDEX}/insert", "insert", "Insert a document."),
        *(_insert, m.Inserted, m.NewDocument, _WRITE),
    ),
    Operation(
        *("POST", f"{_INDEX}/insert-if-new", "insert_if_new", "Insert a document if it is new."),
        *(_insert_if_new, m.InsertedIfNew, m.NewIfNew, _WRITE),
    ),
    Operation(
        *("POST", f"{_INDEX}/add", "add", "Add documents, all or none, durably."),
        *(_add, m.Inserted, m.Addition, _WRITE),
    ),
    Operation(
        *("POST", f"{_INDEX}/remove", "remove", "Remove documents, all or none."),
        *(_remove, m.Removed, m.Ids, _WRITE),
    ),
    Operation(
        *("POST", f"{_INDEX}/commit", "commit", "Make durable what was inserted."),
        *(_commit, m.Committed, m.Nothing, _WRITE),
    ),
    Operation("GET", "/health", "health", "Say that the service runs.", _health, m.Health),
    Operation("GET", "/ready", "ready", "Say whether requests are answered.", _ready, m.Health),
)
