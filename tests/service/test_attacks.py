"""One who attacks, from a process of its own, and others who look something up meanwhile.

Ratios of times, on a machine that others use too: what is measured beside an attack is held against
what was measured just before, in the same process. Below a quarter of a second nobody is kept
waiting, and there one pause of the system would decide.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import resource
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.service.conftest import TOKEN
from tests.service.processes import TEXT

pytestmark = pytest.mark.slow

N_LOOKUPS = 200
LEAST_SECONDS = 0.25
MOST_BYTES = 1_000_000_000
WITH_TOKEN = {"authorization": f"Bearer {TOKEN}"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
QUERY = "/v1/indexes/idx/query"


def send_forms(url: str) -> None:
    """Send 47 MB of escapes to where no token is needed."""
    for _ in range(4):
        with contextlib.suppress(httpx.HTTPError):
            httpx.post(f"{url}/sign-in", content=b"%41" * 15_700_000, headers=FORM, timeout=60)


def send_forms_with_token(url: str) -> None:
    """Send the same to where the text is looked up."""
    for _ in range(2):
        content = b"text=" + b"%41" * 15_700_000
        with contextlib.suppress(httpx.HTTPError):
            httpx.post(f"{url}/", content=content, headers={**FORM, **WITH_TOKEN}, timeout=60)


def begin_bodies(url: str) -> None:
    """Send nearly all of sixty bodies of 16 MB, and hold them."""
    address = urlsplit(url)
    head = (
        f"POST {QUERY} HTTP/1.1\r\nHost: {address.netloc}\r\nAuthorization: Bearer {TOKEN}\r\n"
        "Content-Type: application/json\r\nContent-Length: 16000000\r\n\r\n"
    )
    with contextlib.ExitStack() as stack:
        for _ in range(60):
            with contextlib.suppress(OSError):
                begun = stack.enter_context(connect(url))
                begun.sendall(head.encode() + b'{"text": "' + b"x" * 15_900_000)
        time.sleep(2)


def hold_connections(url: str) -> None:
    """Open a thousand connections, and say nothing."""
    open_many_files()
    with contextlib.ExitStack() as stack:
        for _ in range(1000):
            with contextlib.suppress(OSError):
                stack.enter_context(connect(url))
        time.sleep(2)


def keep_connections(url: str) -> None:
    """Ask for something that needs no token over each of a thousand, and keep them."""
    open_many_files()
    host = urlsplit(url).netloc
    with contextlib.ExitStack() as stack:
        for _ in range(1000):
            with contextlib.suppress(OSError):
                kept = stack.enter_context(connect(url))
                kept.sendall(f"GET /health HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
                kept.recv(1 << 16)
        time.sleep(2)


def send_digits(url: str) -> None:
    """Ask for a similarity of a million digits."""
    body = {"text": TEXT, "threshold": "0." + "9" * 1_000_000}
    for _ in range(10):
        with contextlib.suppress(httpx.HTTPError):
            httpx.post(f"{url}{QUERY}", json=body, headers=WITH_TOKEN, timeout=60)


def connect(url: str) -> socket.socket:
    address = urlsplit(url)
    return socket.create_connection((address.hostname, address.port), timeout=20)


def open_many_files() -> None:
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4000), most))


@contextlib.contextmanager
def under(attack: Callable[[str], None], url: str) -> Iterator[Callable[[], bool]]:
    """Attack from another process; yield what says whether it goes on."""
    attacker = multiprocessing.get_context("spawn").Process(target=attack, args=(url,))
    attacker.start()
    try:
        yield attacker.is_alive
    finally:
        attacker.kill()
        attacker.join()


def look_up(client: httpx.Client) -> float:
    """Return the seconds of a look-up."""
    begin = time.perf_counter()
    answer = client.post(QUERY, json={"text": TEXT})
    assert (answer.status_code, len(answer.json()["matches"])) == (200, 1)
    return time.perf_counter() - begin


def slow_one(seconds: list[float]) -> float:
    """Return what 99 of 100 stay below."""
    return sorted(seconds)[len(seconds) * 99 // 100]


def peak_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="memory is read there")
@pytest.mark.parametrize(
    "attack",
    [
        *(send_forms, send_forms_with_token, begin_bodies),
        *(hold_connections, keep_connections, send_digits),
    ],
)
def test_others_are_served(serve, tmp_path, attack):
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKEN)
    tokens.chmod(0o600)
    process = serve("--token-file", str(tokens))
    with httpx.Client(base_url=process.url, headers=WITH_TOKEN, timeout=30) as client:
        for _ in range(20):
            look_up(client)
        idle = slow_one([look_up(client) for _ in range(N_LOOKUPS)])
        beside = []
        with under(attack, process.url) as goes_on:
            while goes_on() or len(beside) < N_LOOKUPS:
                beside.append(look_up(client))
                if len(beside) % 50 == 1:
                    assert httpx.get(f"{process.url}/health", timeout=5).status_code == 200
                    # Somebody who was not here before, too.
                    with httpx.Client(base_url=process.url, headers=WITH_TOKEN) as other:
                        look_up(other)
                time.sleep(0.002)
    assert peak_bytes(process.process.pid) < MOST_BYTES
    assert slow_one(beside) < max(10 * idle, LEAST_SECONDS), f"{idle:.4f} s without the attack"
