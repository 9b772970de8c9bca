"""What more workers do not take over: ``python -m benchmarks.dedup.serial FILE [--workers 16]``.

Runs ``neardup.deduplicate`` and ``write`` of the environment that it runs in, and prints for each
stage its processor time, and how much of it is one thread's: of the one that hands out the work,
and what the busiest of the others has more than the rest have on average. Work that a thread has
handed over counts for all, whoever has done it. So many workers need no cores of their own, for it
is processor time that counts, not that on the clock.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import neardup
from neardup.runs import runner as runs
from neardup.runs import threads

# Seconds of threads of pools that have ended, and those that each thread works for all.
_ended: list[float] = []
_shared: dict[int, float] = defaultdict(float)


def _own_seconds() -> float:
    """Return the processor time of this thread without what it did for all."""
    return time.thread_time() - _shared[threading.get_ident()]


def _watch_threads() -> None:
    work: Any = threads._run_tasks  # noqa: SLF001 - there is no other place where a thread ends

    def watched(*arguments: Any) -> None:
        # Numbers of threads are used again.
        _shared.pop(threading.get_ident(), None)
        work(*arguments)
        _ended.append(_own_seconds())

    threads._run_tasks = watched  # noqa: SLF001


def _watch_shared() -> None:
    begin: Any = threads.Handed.__init__

    def watched(self: Any, function: Callable[[Any], Any], **how: Any) -> None:
        def timed(item: Any) -> Any:
            start = time.thread_time()
            try:
                return function(item)
            finally:
                _shared[threading.get_ident()] += time.thread_time() - start

        begin(self, timed, **how)

    threads.Handed.__init__ = watched  # type: ignore[method-assign]


def _watch_stages(workers: int) -> dict[str, dict[str, float]]:
    """Return what stages will have taken, when they have."""
    stages: dict[str, dict[str, float]] = {}
    stage = runs.Runner.stage

    @contextmanager
    def watched(self: runs.Runner, name: str) -> Iterator[Any]:
        _ended.clear()
        cpu, own = time.process_time(), _own_seconds()
        with stage(self, name) as note:
            yield note
        own = _own_seconds() - own
        busiest = max(_ended, default=0.0)
        mean = (sum(_ended) - busiest) / max(1, workers - 1)
        found = {"cpu": time.process_time() - cpu, "serial": own + max(0.0, busiest - mean)}
        stages[name] = {key: round(value, 3) for key, value in found.items()}

    runs.Runner.stage = watched  # type: ignore[method-assign]
    return stages


def main() -> None:
    """Measure one run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--workers", type=int, default=16)
    given = parser.parse_args()
    _watch_threads()
    _watch_shared()
    stages = _watch_stages(given.workers)
    with tempfile.TemporaryDirectory(dir=given.file.parent) as folder:
        neardup.deduplicate(given.file, workers=given.workers).write(Path(folder) / "out")
    total = {key: round(sum(each[key] for each in stages.values()), 3) for key in ("cpu", "serial")}
    total["share"] = round(total["serial"] / total["cpu"], 4)
    sys.stdout.write(json.dumps(stages | {"all stages": total}) + "\n")


if __name__ == "__main__":
    main()
