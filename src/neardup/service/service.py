"""The service: the indexes, the lanes on which work on them is done, and its life."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

from neardup.errors import NeardupError
from neardup.service.lanes import Deadline, Lane
from neardup.service.problems import Problem
from neardup.service.records import Log, Metrics
from neardup.service.served import Served

T = TypeVar("T")

# Batches and comparisons take seconds rather than milliseconds: few of them may wait.
_HEAVY_SHARE = 8
# After so many seconds without another insertion, those before are made durable.
_IDLE_SECONDS = 10.0


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
        self.indexes = {served.name: served for served in indexes}
        self.limits = limits
        self.lookups = Lane("lookups", workers, limits.waiting)
        n_heavy = max(limits.waiting // _HEAVY_SHARE, 1)
        self.heavy = Lane("heavy", max(workers // 2, 1), n_heavy)
        self.writes = Lane("writes", 1, limits.waiting)
        # One thread that is never kept waiting by requests.
        self._upkeep = Lane("upkeep", 1, len(self.indexes) + 1)
        self.log = log or Log(None)
        self.metrics = Metrics((self.lookups, self.heavy, self.writes), self.indexes.values())
        self.status: Literal["starting", "ok", "stopping"] = "starting"
        # Indexes whose last insertions could not be made durable at the end.
        self.unsaved: list[str] = []
        self._refresh_seconds, self._warm_up = refresh_seconds, warm_up
        self._tasks: list[asyncio.Task[None]] = []

    def deadline(self) -> Deadline:
        """Return the deadline of a request that begins now."""
        return Deadline(self.limits.seconds)

    def find(self, name: str) -> Served:
        """Return an index by its name.

        Raises
        ------
        Problem
            404 if there is none.
        """
        try:
            return self.indexes[name]
        except KeyError:
            listed = ", ".join(map(repr, self.indexes))
            message = f"there is no index {name!r}; there are {listed}"
            raise Problem(404, message, "InvalidParameterError") from None

    async def write(self, served: Served, work: Callable[[], T], deadline: Deadline) -> T:
        """Change an index, one change at a time; a change that has begun is waited for.

        Raises
        ------
        Problem
            403 if the index may not be changed, and as ``Lane.run``.
        """
        if not served.is_writable:
            message = (
                f"index {served.name!r} is served for reading; start `neardup serve` with "
                "--writable to change it"
            )
            raise Problem(403, message)

        def change() -> T:
            with served.writing:
                return work()

        return await self.writes.run(change, deadline, may_leave=False)

    async def start(self) -> None:
        """Start the threads, and what goes on beside the requests."""
        for lane in (self.lookups, self.heavy, self.writes, self._upkeep):
            lane.start()
        self._tasks = [asyncio.create_task(self._prepare()), asyncio.create_task(self._look_anew())]

    async def stop(self) -> None:
        """Make durable what was inserted, and let the threads end."""
        self.status = "stopping"
        for task in self._tasks:
            task.cancel()
        for served in self.indexes.values():
            self.unsaved.append(served.name)
            with self._noted("commit", served):
                # However long it takes, nothing that was inserted is lost.
                await self.writes.run(served.close, Deadline(3600), may_leave=False)
                self.unsaved.remove(served.name)
        for lane in (self.lookups, self.heavy, self.writes, self._upkeep):
            lane.stop()
        self.log.event("stopped")
        self.log.flush()

    async def _prepare(self) -> None:
        try:
            await self._upkeep.run(self._warm_up, Deadline(3600))
        except NeardupError as error:
            self.log.failure("warm-up failed", error, detail=str(error))
        self.status = "ok"
        self.log.event("ready", indexes=list(self.indexes))

    async def _look_anew(self) -> None:
        """Look from time to time whether other processes have changed an index."""
        while True:
            await asyncio.sleep(self._refresh_seconds)
            for served in self.indexes.values():
                with self._noted("refresh", served):
                    await self._upkeep.run(served.refresh, Deadline(3600))
                    await self._commit_if_idle(served)

    async def _commit_if_idle(self, served: Served) -> None:
        """Commit what nobody has added to for a while, so that other processes may write, too."""
        last = served.last_insertion
        if last is not None and time.monotonic() - last > _IDLE_SECONDS:
            await self.write(served, served.commit, Deadline(3600))

    @contextlib.contextmanager
    def _noted(self, what: str, served: Served) -> Iterator[None]:
        """Note an error of an index instead of ending; what was seen of it before is kept."""
        try:
            yield
        except NeardupError as error:
            self.metrics.failed_refreshes.labels(served.name).inc()
            # Of files, not of texts.
            self.log.failure(f"{what} failed", error, index=served.name, detail=str(error))
