"""The service: the indexes, the lanes on which work on them is done, and its life."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeVar

from neardup.errors import NeardupError
from neardup.service.connection import Places
from neardup.service.lanes import Budget, Deadline, Lane
from neardup.service.messages import Removed
from neardup.service.problems import Problem, busy, out_of_time
from neardup.service.processes import Processes
from neardup.service.records import Log, Metrics
from neardup.service.served import Served
from neardup.service.tokens import GRANT

T = TypeVar("T")

_Upkeep = Literal["refresh", "commit"]
_TROUBLES: dict[_Upkeep, str] = {
    "refresh": "it cannot be looked at anew, and is served as it was seen before",
    "commit": "what was inserted cannot be made durable, which is tried again",
}

# Batches and comparisons take seconds rather than milliseconds: few of them may wait.
_HEAVY_SHARE = 8
# A body may need four times its bytes, and a form has three times those of what is in it.
_LARGEST_AT_ONCE = 16
# So often it is asked whether a commit is due.
_SECONDS_BETWEEN_LOOKS = 0.25
# So often files of settings are looked at.
_SECONDS_BETWEEN_WATCHES = 1.0
# So long a change waits for one that takes longer than changes do.
_PATIENCE_SECONDS = 1.0
# The service's own work takes as long as it takes.
_LONG = 3600.0


@dataclass(frozen=True)
class Limits:
    """How much a request may ask for.

    ``compared_characters`` is the most of a text that is compared with another one, and
    ``edit_characters`` up to how many the exact edit distance is worked out.
    """

    body_bytes: int = 16_000_000
    texts: int = 1000
    seconds: float = 30.0
    waiting: int = 256
    compared_characters: int = 500_000
    edit_characters: int = 10_000


_Outcome = Removed | NeardupError | Problem


class _Leaving:
    """Removals that wait to be done in one change; for any number of threads.

    ``done`` ends with what became of each, in the order in which they joined.
    """

    done: asyncio.Task[list[_Outcome]]

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._requests: list[Sequence[str | int] | None] = []
        self._has_begun = False

    def join(self, ids: Sequence[str | int]) -> int | None:
        """Add the ids of a request; return its place, None if it is too late for that."""
        with self._lock:
            if self._has_begun:
                return None
            if len(self._requests) == self._most:
                message = f"{self._most} requests of this kind are waiting already; try again"
                raise busy(message)
            self._requests.append(ids)
            return len(self._requests) - 1

    def give_up(self, place: int) -> bool:
        """Take a request out again; return whether there was time for that."""
        with self._lock:
            if not self._has_begun:
                self._requests[place] = None
            return not self._has_begun

    def leave(
        self, remove_each: Callable[[Sequence[Sequence[str | int]]], list[_Outcome]]
    ) -> list[_Outcome]:
        """Remove what all of them name."""
        with self._lock:
            self._has_begun = True
        # Of those that gave up nobody looks at the outcome.
        return remove_each([ids or () for ids in self._requests])


class Service:
    """All that requests are answered with.

    Parameters
    ----------
    indexes
        What is served.
    limits
        How much a request may ask for.
    workers
        Threads for look-ups; half as many, one at least, do heavy work.
    refresh_seconds
        How often to look whether others have changed an index.
    log
        Where events are noted.
    warm_up
        What has to be done before the service is ready.
    """

    def __init__(
        self,
        indexes: Iterable[Served],
        limits: Limits,
        *,
        workers: int = 2,
        refresh_seconds: float = 2.0,
        log: Log | None = None,
        warm_up: Callable[[], object] = lambda: None,
    ) -> None:
        self._indexes = {served.name: served for served in indexes}
        self.limits = limits
        self.processes = Processes()
        for served in self._indexes.values():
            served.processes = self.processes
        self.lookups = Lane("lookups", workers, limits.waiting)
        n_heavy = max(limits.waiting // _HEAVY_SHARE, 1)
        self.heavy = Lane("heavy", max(workers // 2, 1), n_heavy)
        self.writes = Lane("writes", 1, limits.waiting)
        # Large bodies are parsed there, and large answers written.
        self.transfers = Lane("transfers", 1, limits.waiting)
        # Several of the largest find room at a time, whatever is in them.
        room = _LARGEST_AT_ONCE * limits.body_bytes
        self.bodies = Budget("bodies of requests", room)
        self.answers = Budget("answers to requests", room)
        self.places = Places()
        # What goes through a whole index; one at a time, and not for long where disks are slow.
        self.maintenance = Lane("maintenance", 1, n_heavy)
        # One thread that is never kept waiting by requests.
        self._upkeep = Lane("upkeep", 1, 1)
        self.log = log or Log(None)
        self._lanes = (
            *(self.lookups, self.heavy, self.writes, self.transfers),
            self.maintenance,
        )
        self.metrics = Metrics(
            self._lanes, (self.bodies, self.answers), self.places, self._indexes.values()
        )
        self.status: Literal["starting", "ok", "stopping"] = "starting"
        # Indexes whose last insertions could not be made durable at the end.
        self.unsaved: list[str] = []
        self._refresh_seconds, self._warm_up = refresh_seconds, warm_up
        self._tasks: list[asyncio.Task[None]] = []
        # Commits that have not begun, which all who ask for one meanwhile wait for together.
        self._coming: dict[str, asyncio.Task[None]] = {}
        # So with removals, which are a change each.
        self._leaving: dict[str, _Leaving] = {}

    def deadline(self) -> Deadline:
        """Return the deadline of a request that begins now."""
        return Deadline(self.limits.seconds)

    @property
    def indexes(self) -> dict[str, Served]:
        """The indexes that are there for whoever sent the request that is answered."""
        grant = GRANT.get()
        return {name: served for name, served in self._indexes.items() if grant.sees(name)}

    def find(self, name: str) -> Served:
        """Return an index by its name."""
        try:
            return self.indexes[name]
        except KeyError:
            listed = ", ".join(map(repr, self.indexes)) or "none"
            message = f"there is no index {name!r}; there are {listed}"
            raise Problem(404, message, "InvalidParameterError") from None

    async def write(
        self, served: Served, work: Callable[[], T], deadline: Deadline, *, durable: bool = False
    ) -> T:
        """Change an index, one change at a time; a change that has begun is waited for.

        What is to be ``durable`` waits for a commit, too, with all who wait for one.
        """
        self.check_writable(served)
        done = await self.change(served, work, deadline)
        if durable and served.n_uncommitted:
            if served.name not in self._coming:
                self._coming[served.name] = asyncio.create_task(self._commit(served))
            # Whoever gives up leaves the commit to the others.
            await asyncio.shield(self._coming[served.name])
        return done

    async def remove(self, served: Served, ids: Sequence[str | int], deadline: Deadline) -> Removed:
        """Take documents out, durably, in one change with all who wait to do so.

        Whoever gives up before that begins is left out.
        """
        self.check_writable(served)
        group = self._leaving.get(served.name)
        place = None if group is None else group.join(ids)
        if group is None or place is None:
            group = self._leaving[served.name] = _Leaving(self.limits.waiting)
            place = group.join(ids)
            assert place is not None
            group.done = asyncio.create_task(
                self.change(served, partial(group.leave, served.remove_each))
            )
            group.done.add_done_callback(lambda _: self._forget(served.name, group))
        try:
            async with asyncio.timeout(deadline.left):
                outcomes = await asyncio.shield(group.done)
        except TimeoutError:
            if group.give_up(place):
                raise out_of_time(deadline.seconds) from None
            outcomes = await asyncio.shield(group.done)
        outcome = outcomes[place]
        if not isinstance(outcome, Removed):
            raise outcome
        return outcome

    def _forget(self, name: str, group: _Leaving) -> None:
        if self._leaving.get(name) is group:
            del self._leaving[name]

    def may_write(self, served: Served) -> bool:
        """Return whether whoever asks may change an index."""
        return served.is_writable and GRANT.get().may("write")

    def check_writable(self, served: Served) -> None:
        """Refuse to change an index that whoever asks may not change."""
        GRANT.get().check("write")
        if not served.is_writable:
            message = (
                f"index {served.name!r} is served for reading; start `neardup serve` with "
                "--writable to change it"
            )
            raise Problem(403, message)

    async def _commit(self, served: Served) -> None:
        """Commit behind all changes that wait already, which share it."""

        def commit() -> None:
            # Whatever is inserted from here on needs another one.
            del self._coming[served.name]
            served.commit()

        if not await self._attempt("commit", served, self.change(served, commit)):
            message = (
                "the document is inserted, and found, but cannot be made durable "
                f"({served.troubles.get('commit')}); that is tried again: /ready says when it is"
            )
            raise busy(message)

    async def change(
        self, served: Served, work: Callable[[], T], deadline: Deadline | None = None
    ) -> T:
        """Change an index, whoever asks for it; without a deadline it is never turned away."""

        def change() -> T:
            if not served.writing.acquire(timeout=_PATIENCE_SECONDS):
                raise busy(f"index {served.name!r} is being written anew; try again")
            try:
                return work()
            finally:
                served.writing.release()

        is_own = deadline is None
        return await self.writes.run(
            change, deadline or Deadline(_LONG), may_leave=False, is_own=is_own
        )

    def troubles(self) -> list[str]:
        """Return what is the matter with which index, a sentence each."""
        return [
            f"index {served.name!r}: {_TROUBLES[what]} ({reason})"
            for served in self._indexes.values()
            for what, reason in served.troubles.copy().items()
        ]

    async def start(self) -> None:
        """Start the threads, and what goes on beside the requests."""
        for lane in (*self._lanes, self._upkeep):
            lane.start()
        # What happens to one index is nothing to the others.
        self._tasks = [asyncio.create_task(self._prepare())]
        for served in self._indexes.values():
            for work in (self._look_anew, self._keep_durable):
                self._tasks.append(asyncio.create_task(work(served)))

    async def stop(self) -> None:
        """Make durable what was inserted, and let the threads end."""
        self.status = "stopping"
        for task in self._tasks:
            task.cancel()
        for served in self._indexes.values():
            # However long it takes, nothing that was inserted is lost.
            closing = self.writes.run(served.close, Deadline(_LONG), may_leave=False, is_own=True)
            if not await self._attempt("commit", served, closing):
                self.unsaved.append(served.name)
        for lane in (*self._lanes, self._upkeep):
            lane.stop()
        self.processes.close()
        self.log.event("stopped")
        self.log.flush()

    async def maintain(self, work: Callable[[], T]) -> T:
        """Do what goes through a whole index, however long it takes."""
        return await self.maintenance.run(work, Deadline(_LONG), may_leave=False)

    def watch(self, what: str, look: Callable[[], bool]) -> None:
        """Look from now on whether something has changed; ``look`` takes it, and says so."""

        async def go_on() -> None:
            while True:
                await asyncio.sleep(_SECONDS_BETWEEN_WATCHES)
                try:
                    if await self._upkeep.run(look, Deadline(_LONG), is_own=True):
                        self.log.event(f"{what} read again")
                except Exception as error:
                    self._note(f"{what} cannot be read again", error)

        self._tasks.append(asyncio.create_task(go_on()))

    async def _prepare(self) -> None:
        try:
            await self._upkeep.run(self._warm_up, Deadline(_LONG), is_own=True)
        except Exception as error:
            self._note("warm-up failed", error)
        self.status = "ok"
        self.log.event("ready", indexes=list(self._indexes))

    async def _look_anew(self, served: Served) -> None:
        """Look from time to time whether other processes have changed an index."""
        while True:
            await asyncio.sleep(self._refresh_seconds)
            looking = self._upkeep.run(served.refresh, Deadline(_LONG), is_own=True)
            if not await self._attempt("refresh", served, looking):
                self.metrics.failed_refreshes.labels(served.name).inc()

    async def _keep_durable(self, served: Served) -> None:
        """Commit in time what was inserted, and again what could not be committed."""
        while served.is_writable:
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
            # That begins with a commit.
            if served.is_commit_due and not served.is_rewritten:
                await self._attempt("commit", served, self.change(served, served.commit))

    async def _attempt(self, what: _Upkeep, served: Served, work: Awaitable[object]) -> bool:
        """Wait for what is done to an index beside the requests; whatever fails ends nothing."""
        before = served.troubles.get(what)
        try:
            await work
        except Exception as error:
            # The same again and again is no news.
            if what == "commit" or served.troubles.get(what) != before:
                self._note(f"{what} failed", error, index=served.name)
            return False
        if before is not None:
            self.log.event(f"{what} works again", index=served.name)
        return True

    def _note(self, event: str, error: Exception, **values: object) -> None:
        # Errors of the package are about files here, any other might quote a text.
        detail = {"detail": str(error)} if isinstance(error, NeardupError) else {}
        self.log.failure(event, error, **values, **detail)
