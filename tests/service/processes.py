"""``neardup serve`` as processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import httpx
import pytest

import neardup
from tests.service.waiting import wait_for

TEXT = "once upon a midnight dreary while I pondered weak and weary"


@pytest.fixture
def folder(tmp_path):
    index = neardup.DocumentIndex.create(tmp_path / "idx", threshold="0.5", ngram=2)
    index.add([{"id": "raven", "text": TEXT}])
    return tmp_path


@dataclass
class Process:
    process: subprocess.Popen[str]
    url: str
    first_line: str

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, list[dict[str, object]]]:
        """Ask it to end; return its code, what it printed last, and the log."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=60)
        lines = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
        return self.process.returncode, out, lines


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
        started.append(process)
        line = process.stdout.readline()
        assert line, process.stderr.read()
        url = re.search(r"http://[\d.:]+\d", line)[0]
        # Kernels may have to be compiled.
        wait_for(lambda: httpx.get(f"{url}/ready", timeout=60).status_code == 200, 300)
        return Process(process, url, line)

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
