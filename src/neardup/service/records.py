"""What is kept of each request: a line of JSON, and counts for Prometheus; no texts, no tokens."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from neardup.service.connection import Places
from neardup.service.lanes import Budget, Lane
from neardup.service.processes import WorkError, places_of
from neardup.service.served import Served
from neardup.version import __version__

METRICS_TYPE = CONTENT_TYPE_LATEST

# Lines are written together so often, so that no request waits for the file they go to.
_SECONDS_BETWEEN_WRITES = 0.1
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Log:
    """Writes a line of JSON for each event to standard error.

    ``write`` takes the lines instead, where one is given; nothing is written if it is None.
    """

    def __init__(self, write: Callable[[str], object] | None = sys.stderr.write) -> None:
        self._write = write
        self._lines: list[str] = []

    def event(self, event: str, **values: Any) -> None:
        """Note that something happened; what is written of it are ``values``."""
        if self._write is None:
            return
        if not self._lines:
            self._plan_to_write()
        now = time.time()
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
        line = {"time": f"{moment}.{int(now % 1 * 1000):03d}Z", "event": event, **values}
        self._lines.append(json.dumps(line))

    def failure(self, event: str, error: BaseException, **values: Any) -> None:
        """Note an error that is ours: its class and where it arose, not what it says of texts."""
        kind, places = type(error).__name__, places_of(error)
        if isinstance(error, WorkError):
            kind, places = error.kind, error.places
        self.event(event, error=kind, places=places[-6:], **values)

    def flush(self) -> None:
        """Write what was noted."""
        lines, self._lines = self._lines, []
        if lines and self._write is not None:
            try:
                self._write("".join(f"{line}\n" for line in lines))
            except (OSError, ValueError):
                # Whoever read the log has gone; that is no reason to answer nobody any more.
                self._write = None

    def _plan_to_write(self) -> None:
        try:
            asyncio.get_running_loop().call_later(_SECONDS_BETWEEN_WRITES, self.flush)
        except RuntimeError:
            # Before the loop runs, or in a thread: with the next that plans, or at the end.
            return


class _OfIndexes(Collector):
    """Numbers of indexes, which know them themselves."""

    def __init__(self, indexes: Collection[Served]) -> None:
        # Grows and shrinks.
        self._indexes = indexes

    def collect(self) -> Iterator[Metric]:
        """Yield the numbers of all indexes."""
        now = time.monotonic()
        every = list(self._indexes)
        writable = [served for served in every if served.is_writable]
        documents = GaugeMetricFamily(
            "neardup_documents", "Documents that can be found.", labels=["index"]
        )
        uncommitted = GaugeMetricFamily(
            "neardup_uncommitted_documents",
            "Documents inserted, or gone for others, that are not durable yet.",
            labels=["index"],
        )
        since = GaugeMetricFamily(
            "neardup_since_last_commit_seconds",
            "Seconds since something was made durable, or since the start.",
            labels=["index"],
        )
        failed = CounterMetricFamily(
            "neardup_failed_commits",
            "Times that what was inserted could not be made durable.",
            labels=["index"],
        )
        for served in every:
            documents.add_metric([served.name], len(served))
        for served in writable:
            uncommitted.add_metric([served.name], served.n_uncommitted)
            since.add_metric([served.name], now - served.last_commit)
            failed.add_metric([served.name], served.n_failed_commits)
        yield from (documents, uncommitted, since, failed)


class Metrics:
    """Counts requests and their times; the rest is looked up when somebody asks."""

    def __init__(
        self,
        lanes: Iterable[Lane],
        budgets: Iterable[Budget],
        places: Places,
        indexes: Collection[Served],
    ) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        Gauge("neardup_info", "Version of neardup.", ["version"], registry=self._registry).labels(
            __version__
        ).set(1)
        self._requests = Counter(
            "neardup_requests",
            "Requests answered.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "neardup_request_seconds",
            "Seconds until a request was answered.",
            ["route"],
            buckets=_SECONDS,
            registry=self._registry,
        )
        running = Gauge(
            "neardup_running", "Requests being worked on.", ["lane"], registry=self._registry
        )
        waiting = Gauge(
            "neardup_waiting", "Requests that wait for a thread.", ["lane"], registry=self._registry
        )
        for lane in lanes:
            running.labels(lane.name).set_function(partial(getattr, lane, "n_running"))
            waiting.labels(lane.name).set_function(partial(getattr, lane, "n_waiting"))
        held = Gauge(
            "neardup_held_bytes", "Memory that requests hold.", ["what"], registry=self._registry
        )
        for budget in budgets:
            held.labels(budget.what).set_function(partial(getattr, budget, "n_held"))
        connections = Gauge(
            "neardup_connections",
            "Connections, by whether they sent a valid token or need none.",
            ["of"],
            registry=self._registry,
        )
        connections.labels("known").set_function(lambda: places.n_known)
        connections.labels("strangers").set_function(lambda: places.n_strangers)
        Gauge(
            "neardup_closed_connections",
            "Silent connections closed since the start to make room for others.",
            registry=self._registry,
        ).set_function(lambda: places.n_closed)
        self._registry.register(_OfIndexes(indexes))
        self.failed_refreshes = Counter(
            "neardup_failed_refreshes",
            "Times that an index could not be looked at anew.",
            ["index"],
            registry=self._registry,
        )
        self._known: dict[tuple[str, str, int], Any] = {}
        self._timers: dict[str, Any] = {}

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request."""
        key = (method, route, status)
        counter = self._known.get(key)
        if counter is None:
            counter = self._known[key] = self._requests.labels(method, route, str(status))
            self._timers[route] = self._seconds.labels(route)
        counter.inc()
        self._timers[route].observe(seconds)

    def to_text(self) -> bytes:
        """Return all numbers as Prometheus reads them."""
        return generate_latest(self._registry)
