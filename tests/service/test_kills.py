"""``neardup serve`` killed while many insert: every acknowledged document is there."""

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


def write_until_it_ends(url: str, name: str, acknowledged: set[str]) -> None:
    """Insert, add and replace documents, and note those that were acknowledged."""
    with contextlib.suppress(NeardupError):
        remote = neardup.connect(url)
        for number in range(10_000):
            ids = [f"{name}-{number}-{k}" for k in range(3)]
            texts = [f"a text of its own that is called {identifier} here" for identifier in ids]
            remote.insert(ids[0], texts[0])
            acknowledged.add(ids[0])
            remote.replace(ids[1], texts[1])
            acknowledged.add(ids[1])
            remote.add([{"id": ids[2], "text": texts[2]}])
            acknowledged.add(ids[2])


def test_serve__killed_under_load(serve, folder):
    rng = random.Random(5)
    acknowledged: set[str] = {"raven"}
    for round_ in range(N_KILLS):
        process = serve("--writable")
        sets = [set[str]() for _ in range(N_WRITERS)]
        writers = [
            threading.Thread(target=write_until_it_ends, args=(process.url, f"{round_}-{k}", own))
            for k, own in enumerate(sets)
        ]
        for writer in writers:
            writer.start()
        time.sleep(0.2 + rng.random())
        process.process.kill()
        process.process.wait()
        for writer in writers:
            writer.join()
        acknowledged |= set().union(*sets)
        index = neardup.DocumentIndex.open(folder / "idx")
        found = {row["id"] for row in index.documents(0, 1_000_000)}
        assert acknowledged <= found
        index.info()
    assert len(acknowledged) > 1
