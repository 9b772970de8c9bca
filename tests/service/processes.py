"""``neardup serve`` as processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator

import httpx
import pytest

import neardup
from tests.service.waiting import wait_for

TEXT = "once upon a midnight dreary while I pondered weak and weary"


@pytest.fixture
def folder(tmp_path):
    index = neardup.DocumentIndex.create(
        tmp_path / "idx", threshold="0.5", text=neardup.TextOptions(ngram=2)
    )
    index.add([{"id": "raven", "text": TEXT}])
    return tmp_path


class Process:
    """A service as a process; its log is read all the while, or it would wait for that."""

    def __init__(self, process: subprocess.Popen[str], url: str, first_line: str) -> None:
        self.process, self.url, self.first_line = process, url, first_line
        self._log: list[str] = []
        self._reader = threading.Thread(target=lambda: self._log.extend(process.stderr))
        self._reader.start()

    def wait(self) -> tuple[int, str, list[dict[str, object]]]:
        """Wait until it ends; return its code, what it printed last, and the log."""
        out = self.process.stdout.read()
        code = self.process.wait(timeout=60)
        self._reader.join()
        return code, out, [json.loads(line) for line in self._log if line.startswith("{")]

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, list[dict[str, object]]]:
        """Ask it to end, and wait for it."""
        self.process.send_signal(number)
        return self.wait()

    def kill(self) -> None:
        """Leave nothing of it."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        self.process.stdout.close()
        self.process.stderr.close()


@pytest.fixture
def serve(folder) -> Iterator[Callable[..., Process]]:
    """Start processes, which are gone with the test."""
    started = []

    def start(*arguments: str) -> Process:
        process = subprocess.Popen(
            [sys.executable, "-m", "neardup", "serve", "idx", "--port", "0", *arguments],
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        line = process.stdout.readline()
        assert line, process.stderr.read()
        url = re.search(r"http://[\d.:]+\d", line)[0]
        started.append(Process(process, url, line))
        # Kernels may have to be compiled.
        wait_for(lambda: httpx.get(f"{url}/ready", timeout=60).status_code == 200, 300)
        return started[-1]

    yield start
    for process in started:
        process.kill()
