"""Both programs of the recipe that leaves Redis: each prints what the page says of it."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from neardup.cli import run
from tests.docs.pages import ROOT, section
from tests.service.waiting import wait_for

pytestmark = pytest.mark.slow

SECTION = section("docs/recipes.md", "One by one, from several programs")
THEIRS, OURS = re.findall(r"(?s)```python\n(.*?)```", SECTION)
THEY_SAY, START, WE_SAY = (
    block.splitlines() for block in re.findall(r"(?s)```console\n(.*?)```", SECTION)
)
LACKING = [name for name in ("datasketch", "redis") if find_spec(name) is None]
LACKING += [] if shutil.which("redis-server") else ["redis-server"]


def said(program: str, place: str, instead: str) -> list[str]:
    """Return what a program prints where what it asks is elsewhere."""
    assert program.count(place) == 1
    command = [sys.executable, "-W", "error", "-c", program.replace(place, instead)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(autouse=True)
def examples(folder, monkeypatch) -> None:
    (folder / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(folder)


def test_recipe__of_neardup(folder, serve, capsys):
    build, start = START
    assert build.startswith("$ neardup ")
    assert run(build.split()[2:]) == 0
    assert start == "$ neardup serve pages --writable"
    served = serve("pages", "--writable")
    assert said(OURS, "http://127.0.0.1:8600", served.url) == WE_SAY[1:]
    capsys.readouterr()
    assert served.end(signal.SIGTERM)[0] == 0
    assert run(["index", "info", "pages"]) == 0
    assert capsys.readouterr().out.startswith("3 documents")


@pytest.fixture
def redis(folder) -> Iterator[int]:
    """Start a Redis that keeps nothing, and return its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)

    def is_there() -> bool:
        with socket.socket() as asked:
            return asked.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_for(is_there)
        yield port
    finally:
        process.kill()
        process.wait()


@pytest.mark.skipif(bool(LACKING), reason=f"there is no {', no '.join(LACKING)}")
def test_recipe__of_datasketch_on_redis(redis):
    found = said(THEIRS, "6379", str(redis))
    assert found == THEY_SAY[1:]
    # All of it is right, and found by neardup, too.
    assert {line.replace("may be", "is") for line in found} < set(WE_SAY)
