"""A load generator: clients that each send a request when the last one is answered.

Raw connections of asyncio, because the generator shares the machine with the service.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import uvloop


@dataclass(frozen=True)
class Load:
    """What came of some seconds of load: seconds of each answer, and how many of each status."""

    seconds: float
    times: list[float]
    statuses: dict[int, int]

    @property
    def per_second(self) -> float:
        """Answers a second."""
        return len(self.times) / self.seconds

    def quantile(self, share: float) -> float:
        """Return the seconds within which a share of the answers came."""
        times = sorted(self.times)
        return times[min(int(share * len(times)), len(times) - 1)]

    def __str__(self) -> str:
        listed = ", ".join(f"{n:,} times {status}" for status, n in sorted(self.statuses.items()))
        return (
            f"{self.per_second:,.0f} a second; median {1e3 * self.quantile(0.5):.2f} ms, 99 % "
            f"{1e3 * self.quantile(0.99):.2f} ms, longest {1e3 * max(self.times):.1f} ms; {listed}"
        )


def make_request(host: str, port: int, path: str, body: object) -> bytes:
    """Write a request that posts JSON."""
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


class _Client(asyncio.Protocol):
    def __init__(self, run: _Run, requests: Iterator[bytes]) -> None:
        self._run, self._requests = run, requests

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._send()

    def _send(self) -> None:
        self._received = b""
        self._begin = time.perf_counter()
        self._transport.write(next(self._requests))

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, blank, body = self._received.partition(b"\r\n\r\n")
        if not blank:
            return
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        if len(body) < length:
            return
        now = time.perf_counter()
        self._run.times.append(now - self._begin)
        self._run.statuses[int(head[9:12])] += 1
        if now < self._run.end:
            self._send()
        else:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._run.n_open -= 1
        if not self._run.n_open:
            self._run.ended.set()


class _Run:
    def __init__(self, seconds: float, n_clients: int) -> None:
        self.times: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.end = time.perf_counter() + seconds
        self.n_open = n_clients
        self.ended = asyncio.Event()


def run_load(
    host: str, port: int, requests: Sequence[bytes], *, n_clients: int, seconds: float
) -> Load:
    """Send requests for some seconds, each client its own share of them, again and again."""

    async def run() -> _Run:
        found = _Run(seconds, n_clients)
        loop = asyncio.get_running_loop()
        for number in range(n_clients):
            own = list(requests[number % len(requests) :: n_clients]) or list(requests)
            await loop.create_connection(lambda own=own: _Client(found, _again(own)), host, port)
        await asyncio.wait_for(found.ended.wait(), seconds + 60)
        return found

    done = uvloop.run(run())
    return Load(seconds, done.times, dict(done.statuses))


def _again(requests: Sequence[bytes]) -> Iterator[bytes]:
    while True:
        yield from requests
