"""Threads of the service, beside the event loop that gives them work."""

from __future__ import annotations

import asyncio
import threading

import pytest

from neardup.service.lanes import Deadline, Lane


@pytest.mark.filterwarnings("error::pytest.PytestUnhandledThreadExceptionWarning")
def test_run__loop_that_ends_before_the_work():
    may_end, has_begun = threading.Event(), threading.Event()

    def work():
        has_begun.set()
        may_end.wait(60)

    async def serve():
        lane = Lane("late", 1, 1)
        lane.start()
        asked = asyncio.ensure_future(lane.run(work, Deadline(60)))
        await asyncio.to_thread(has_begun.wait, 60)
        asked.cancel()
        lane.stop()

    asyncio.run(serve())
    [thread] = [each for each in threading.enumerate() if each.name == "neardup-late-0"]
    may_end.set()
    thread.join(60)
    assert not thread.is_alive()
