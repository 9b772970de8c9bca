"""Attacks on a service that is a process: look-ups go on beside them, and nothing durable is lost.

What look-ups may take is bounded by ten times what they take at rest. Below a quarter of a second
nothing is said: a machine that does other work too makes a process wait for that long.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import numpy as np
import pytest

import neardup
from tests.service.processes import TEXT, Process
from tests.service.waiting import wait_for

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="memory and limits of another process"),
]

QUERY = "/v1/indexes/idx/query"
INSERT = "/v1/indexes/idx/insert"
COMMIT = "/v1/indexes/idx/commit"
N_DOCUMENTS = 3000
LEAST_BOUND = 0.25
MOST_MEMORY = 1000 * 10**6
# Tokens of two sorts in turn: every window of either text is like every one of the other.
REPETITIVE = "a b " * 124_999


@pytest.fixture
def large(folder):
    """Have more documents in the index."""
    words = [f"word{number}" for number in range(500)]
    random = np.random.default_rng(3)
    texts = [" ".join(random.choice(words, 60)) for _ in range(N_DOCUMENTS)]
    neardup.DocumentIndex.open(folder / "idx").add(
        [{"id": f"d{number}", "text": text} for number, text in enumerate(texts)]
    )


def look_up(url: str, stop: threading.Event) -> list[float]:
    """Look a text up again and again; return the seconds that it took each time."""
    seconds = []
    with httpx.Client(base_url=url, timeout=60) as client:
        while not stop.is_set():
            begin = time.perf_counter()
            answer = client.post(QUERY, json={"text": TEXT})
            seconds.append(time.perf_counter() - begin)
            assert answer.status_code == 200, answer.text
            assert answer.json()["matches"][0]["id"] == "raven"
            time.sleep(0.005)
    return seconds


def slowest(seconds: list[float]) -> float:
    """Return what 99 of 100 do not take."""
    assert len(seconds) >= 100
    return float(np.quantile(seconds, 0.99))


def at_rest(process: Process) -> float:
    stop = threading.Event()
    threading.Timer(3, stop.set).start()
    return slowest(look_up(process.url, stop))


@contextlib.contextmanager
def looked_up_beside(process: Process) -> Iterator[None]:
    """Look up beside the block, and make sure that it took no longer than it may."""
    bound = max(10 * at_rest(process), LEAST_BOUND)
    stop = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        seconds = pool.submit(look_up, process.url, stop)
        try:
            yield
        finally:
            stop.set()
    assert slowest(seconds.result()) < bound


def tree_of(process: int) -> list[int]:
    """Return a process and all that come from it."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    found = [process]
    for parent in found:
        found += [child for child, its in parents.items() if its == parent]
    return found


def memory_of(process: int) -> int:
    """Return the bytes that a process and all that come from it have; shared ones count once."""
    total = 0
    for each in tree_of(process):
        with contextlib.suppress(OSError):
            lines = Path(f"/proc/{each}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024
    return total


@contextlib.contextmanager
def memory_watched(process: Process) -> Iterator[None]:
    """Make sure that all processes of a service together have no more memory than they may."""
    stop, found = threading.Event(), [0]

    def watch() -> None:
        while not stop.wait(0.2):
            found.append(memory_of(process.process.pid))

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield
    finally:
        stop.set()
        watcher.join()
    assert 100 * 10**6 < max(found) < MOST_MEMORY


def test_compare__repetitive_texts_at_once(serve, large):
    process = serve("--max-seconds", "4")
    body = {"a": REPETITIVE, "b": f"{REPETITIVE}z"}

    def compare(_: int) -> int:
        return httpx.post(f"{process.url}/v1/compare", json=body, timeout=120).status_code

    with ThreadPoolExecutor(4) as pool, memory_watched(process), looked_up_beside(process):
        # One is begun and given up, and so are those that wait for its place meanwhile.
        statuses = [status for _ in range(2) for status in pool.map(compare, range(4))]
    assert set(statuses) == {504}
    body = {"a": "the cat sat", "b": "the cat sat down"}
    assert httpx.post(f"{process.url}/v1/compare", json=body, timeout=120).status_code == 200
    assert process.end()[0] == 0


def fill_disk(process: Process) -> None:
    """Let no file of a process grow any more, as if the disk were full."""
    limits = (0, resource.RLIM_INFINITY)
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, limits)


def empty_disk(process: Process) -> None:
    limits = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
    resource.prlimit(process.process.pid, resource.RLIMIT_FSIZE, limits)


def metric(process: Process, name: str) -> float:
    lines = httpx.get(f"{process.url}/metrics", timeout=60).text.splitlines()
    (line,) = [line for line in lines if line.startswith(f'{name}{{index="idx"}} ')]
    return float(line.rpartition(" ")[2])


def test_disk__fills_and_empties(serve, folder, large):
    process = serve("--writable")
    durable = {"raven"}
    body = {"a": REPETITIVE, "b": f"{REPETITIVE}z"}

    def insert(client: httpx.Client, identifier: str) -> int:
        own = {"id": identifier, "text": f"a text of its own that is called {identifier}"}
        return client.post(INSERT, json=own).status_code

    with (
        ThreadPoolExecutor(1) as pool,
        httpx.Client(base_url=process.url, timeout=120) as client,
        memory_watched(process),
        looked_up_beside(process),
    ):
        pool.submit(httpx.post, f"{process.url}/v1/compare", json=body, timeout=120)
        for round_ in range(2):
            assert insert(client, f"before-{round_}") == 200
            assert client.post(COMMIT, json={}).status_code == 200
            durable.add(f"before-{round_}")
            fill_disk(process)
            assert insert(client, f"while-{round_}") == 200
            assert client.post(COMMIT, json={}).status_code == 500
            # What cannot be kept is not taken.
            assert insert(client, f"refused-{round_}") == 503
            ready = client.get("/ready")
            assert (ready.status_code, "index 'idx'" in ready.text) == (503, True)
            before = metric(process, "neardup_failed_commits_total")
            wait_for(lambda before=before: metric(process, "neardup_failed_commits_total") > before)
            empty_disk(process)
            # Nobody asks for it.
            wait_for(lambda: client.get("/ready").status_code == 200, 70)
            assert metric(process, "neardup_uncommitted_documents") == 0
            durable.add(f"while-{round_}")
        fill_disk(process)
        assert insert(client, "lost") == 200
        assert client.post(COMMIT, json={}).status_code == 500
    own = tree_of(process.process.pid)
    assert len(own) >= 3
    process.process.kill()
    process.process.wait()
    # Neither the one that compares nor the one that the others are forked off is left.
    wait_for(lambda: not any(Path(f"/proc/{each}/fd").exists() for each in own[1:]), 60)
    index = neardup.DocumentIndex.open(folder / "idx")
    found = {row["id"] for row in index.documents(0, 1_000_000)}
    assert durable <= found
    assert found - durable == {f"d{number}" for number in range(N_DOCUMENTS)}
    index.insert("after", "a text of its own that came when all was over")
    assert index.commit() == 1
