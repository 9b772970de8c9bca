"""Open indexes of a service, its log and metrics."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import anyio
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.process_collector import ProcessCollector

from neardup.errors import InvalidParameterError
from neardup.index.store import index_kind
from neardup.jobs.index.document_index import DocumentIndex
from neardup.jobs.index.passage_index import PassageIndex, open_index
from neardup.options.choices import TokenizerChoice
from neardup.service.requests import file_of
from neardup.version import __version__

# A writer of another process holds the lock of a commit for some milliseconds.
_LOCK_SECONDS = 1.0
_MOST_OPEN = 64


class ServedIndex:
    """An index, its name, and its last failed read's error.

    ``name`` is part of the addresses of its operations. ``tokenizer`` is the ``tokenizer.json``
    file of the index, if any. The service changes it if it ``is_writable``. ReadError or
    IndexFormatError if it cannot be read.
    """

    def __init__(
        self,
        name: str,
        folder: Path,
        tokenizer: TokenizerChoice | None = None,
        *,
        is_writable: bool = False,
    ) -> None:
        self.name, self.folder, self.tokenizer = name, folder, tokenizer
        self.is_writable = is_writable
        self.kind = index_kind(folder)
        self.index: Any = open_index(folder, tokenizer=tokenizer, timeout=_LOCK_SECONDS)
        # One change at a time, in the order of arrival.
        self.writer = anyio.CapacityLimiter(1)
        self.trouble: str | None = None

    def note_unreadable(self, error: BaseException) -> None:
        """Record an unreadable index file until the service restarts."""
        self.trouble = f"index {self.name!r} cannot be read ({file_of(error)})"


@lru_cache(_MOST_OPEN)
def open_once(folder: Path, tokenizer: TokenizerChoice | None) -> DocumentIndex | PassageIndex:
    """Open an index once per process."""
    return open_index(folder, tokenizer=tokenizer, timeout=_LOCK_SECONDS)


def open_all(
    arguments: Iterable[str], tokenizer: TokenizerChoice | None = None, *, is_writable: bool = False
) -> list[ServedIndex]:
    """Open the indexes that are named on the command line.

    ``arguments`` are folders, each optionally behind ``NAME=``; the default is the folder's name.
    """
    folders: dict[str, Path] = {}
    for argument in arguments:
        name, equals, path = argument.partition("=")
        folder = Path(path)
        if not equals or not name or "/" in name or Path(argument).exists():
            folder = Path(argument)
            name = folder.resolve().name or "index"
        if name in folders:
            message = (
                f"{folders[name]} and {folder} would both be served as {name!r}; name one of "
                f"them: {name}-2={folder}"
            )
            raise InvalidParameterError(message)
        folders[name] = folder
    return [
        ServedIndex(name, folder, tokenizer, is_writable=is_writable)
        for name, folder in folders.items()
    ]


METRICS_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_FRAMES = 6


class WorkError(Exception):
    """Defect in a worker process, without the exception's message."""

    def __init__(self, kind: str, places: list[str]) -> None:
        super().__init__(kind, places)
        self.kind, self.places = kind, places

    @classmethod
    def of(cls, error: BaseException) -> WorkError:
        """Return the defect without a message that may quote texts."""
        frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
        return cls(type(error).__name__, [f"{frame.filename}:{frame.lineno}" for frame in frames])


class Log:
    """Writes one line of JSON per event.

    ``write`` receives the lines, standard error by default; None discards them.
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
        """Log an unexpected exception's class and places, without message."""
        known = error if isinstance(error, WorkError) else WorkError.of(error)
        self.event("defect", error=known.kind, places=known.places, **values)


class Metrics:
    """Metrics of requests and, on demand, of the indexes."""

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
        """Count an answer and its seconds."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def to_text(self) -> bytes:
        """Return all numbers in the format of Prometheus."""
        for served in self._indexes:
            self._unreadable.labels(served.name).set(served.trouble is not None)
            if served.trouble is None:
                self._documents.labels(served.name).set(len(served.index))
        return generate_latest(self._registry)
