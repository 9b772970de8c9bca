"""Run commands in forks of one process that has imported neardup, which saves their start.

A fork has a process, folder, standard streams and exit code of its own; only the imports are
shared. ``Forks`` starts such processes, ``python -m tests.digests.forks``, and talks to them.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import subprocess
import sys
import warnings
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from tests.digests.environment import ROOT, environment


class Forks:
    """Processes that fork for each command, several at a time."""

    def __init__(self, python: str, n_processes: int) -> None:
        command = [python, "-m", "tests.digests.forks"]
        self._free: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
        self._all = [
            subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for _ in range(n_processes)
        ]
        for process in self._all:
            self._free.put(process)

    def run(self, arguments: list[str], folder: Path, data: bytes) -> tuple[int, bytes, bytes]:
        """Run ``neardup`` with arguments; return its exit code and what it prints."""
        streams = [folder.parent / f"{folder.name}.{name}" for name in ("in", "out", "err")]
        streams[0].write_bytes(data)
        request = {
            "arguments": arguments,
            "folder": str(folder),
            "streams": list(map(str, streams)),
        }
        process = self._free.get()
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            if not answer:
                raise SystemExit(f"{arguments}: the process that forks has ended, {process.wait()}")
        finally:
            self._free.put(process)
        out, err = streams[1].read_bytes(), streams[2].read_bytes()
        for stream in streams:
            stream.unlink()
        return int(answer), out, err

    def close(self) -> None:
        """End the processes."""
        for process in self._all:
            process.communicate()


def serve() -> None:
    """Fork for each request on standard input and answer with the exit code."""
    package = importlib.import_module("neardup")
    for module in pkgutil.walk_packages(package.__path__, "neardup."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    # Threads of libraries, which the fork does without, are idle.
    warnings.filterwarnings("ignore", category=DeprecationWarning, message=".*fork.*")
    for line in sys.stdin:
        request = json.loads(line)
        child = os.fork()
        if child == 0:
            _become(request)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


def _become(request: dict[str, Any]) -> None:
    """Be the command; never returns."""
    code: Any = 70
    try:
        os.chdir(request["folder"])
        flags = (os.O_RDONLY, *[os.O_WRONLY | os.O_CREAT | os.O_TRUNC] * 2)
        for number, (name, flag) in enumerate(zip(request["streams"], flags, strict=True)):
            os.dup2(os.open(name, flag), number)
        sys.stdin = os.fdopen(0, closefd=False)
        sys.argv = ["neardup", *request["arguments"]]
        importlib.import_module("neardup.cli").main()
    except SystemExit as end:
        code = end.code or 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve()
