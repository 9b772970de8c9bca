"""``neardup serve`` killed while many insert: what it said was committed is there."""

from __future__ import annotations

import contextlib
import os
import random
import threading
import time

import pytest

import neardup
from neardup.errors import NeardupError

N_KILLS = int(os.environ.get("NEARDUP_TEST_KILLS", "2"))
N_WRITERS = 4

pytestmark = pytest.mark.kills


def write_until_it_ends(url: str, name: str, committed: set[str], durable: bool) -> None:
    """Insert documents durably, or commit them, and note those of which that was answered."""
    with contextlib.suppress(NeardupError, OSError):
        remote = neardup.connect(url, durable=durable)
        for number in range(10_000):
            ids = [f"{name}-{number}-{k}" for k in range(3)]
            for identifier in ids:
                remote.insert(identifier, f"a text of its own that is called {identifier} here")
                committed.update([identifier] if durable else [])
            if not durable:
                remote.commit()
                committed.update(ids)


@pytest.mark.parametrize("durable", [False, True])
def test_serve__killed_under_load(serve, folder, durable):
    rng = random.Random(5)
    committed: set[str] = {"raven"}
    for round_ in range(N_KILLS):
        process = serve("--writable")
        sets = [set[str]() for _ in range(N_WRITERS)]
        writers = [
            threading.Thread(
                target=write_until_it_ends, args=(process.url, f"{round_}-{k}", own, durable)
            )
            for k, own in enumerate(sets)
        ]
        for writer in writers:
            writer.start()
        time.sleep(0.2 + rng.random())
        process.process.kill()
        process.process.wait()
        for writer in writers:
            writer.join()
        committed |= set().union(*sets)
        index = neardup.DocumentIndex.open(folder / "idx")
        found = {row["id"] for row in index.documents(0, 1_000_000)}
        assert committed <= found
        index.info()
    assert len(committed) > 1
