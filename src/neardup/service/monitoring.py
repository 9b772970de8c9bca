"""Log lines as JSON and metrics for Prometheus; neither holds texts, ids or tokens."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.process_collector import ProcessCollector

from neardup.service.served_index import ServedIndex
from neardup.version import __version__

METRICS_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_FRAMES = 6


class WorkError(Exception):
    """Defect in a worker process: the class of the exception and its places in the code."""

    def __init__(self, kind: str, places: list[str]) -> None:
        super().__init__(kind, places)
        self.kind, self.places = kind, places

    @classmethod
    def of(cls, error: BaseException) -> WorkError:
        """Return the defect without its message, which may quote a text."""
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        return cls(type(error).__name__, [f"{frame.filename}:{frame.lineno}" for frame in frames])


class Log:
    """Writes one line of JSON per event.

    Parameters
    ----------
    write
        Receives the lines, standard error by default; None discards them.
    """

    def __init__(self, write: Callable[[str], object] | None = sys.stderr.write) -> None:
        self._write = write

    def event(self, event: str, **values: Any) -> None:
        """Write an event with its values."""
        if self._write is None:
            return
        now = time.time()
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(now))
        line = {"time": f"{moment}.{int(now % 1 * 1000):03d}Z", "event": event, **values}
        try:
            self._write(json.dumps(line) + "\n")
        except (OSError, ValueError):
            # The reader of the log has gone; requests are answered all the same.
            self._write = None

    def defect(self, error: BaseException, **values: Any) -> None:
        """Write the class of an unexpected exception and its places, without its message."""
        known = error if isinstance(error, WorkError) else WorkError.of(error)
        self.event("defect", error=known.kind, places=known.places, **values)


class Metrics:
    """Counts requests and their seconds; reads the numbers of the indexes on demand."""

    def __init__(self, indexes: Sequence[ServedIndex]) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        Gauge("neardup_info", "Version of neardup.", ["version"], registry=registry).labels(
            __version__
        ).set(1)
        self._requests = Counter(
            "neardup_requests", "Answers.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            *("neardup_request_seconds", "Seconds until the answer.", ["route"]),
            buckets=_SECONDS,
            registry=registry,
        )
        self.running = Gauge("neardup_running", "Requests at work.", ["work"], registry=registry)
        self.body_bytes = Gauge(
            "neardup_body_bytes", "Memory that request bodies hold.", registry=registry
        )
        self._documents = Gauge(
            "neardup_documents", "Documents of an index.", ["index"], registry=registry
        )
        self._unreadable = Gauge(
            "neardup_unreadable", "1 if an index could not be read.", ["index"], registry=registry
        )
        self._indexes = indexes

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answer."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def to_text(self) -> bytes:
        """Return all numbers in the format of Prometheus."""
        for served in self._indexes:
            self._unreadable.labels(served.name).set(served.trouble is not None)
            if served.trouble is None:
                self._documents.labels(served.name).set(len(served.index))
        return generate_latest(self._registry)
