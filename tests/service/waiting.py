"""Waiting for what happens elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_for(is_so: Callable[[], object], seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.005)
