"""The program of the recipe for several programs prints what the page says of it."""

from __future__ import annotations

import re
import signal
import subprocess
import sys

import pytest

from neardup.cli import run
from tests.docs.pages import ROOT, section

pytestmark = pytest.mark.slow

SECTION = section("docs/recipes.md", "One by one, from several programs")
[OURS] = re.findall(r"(?s)```python\n(.*?)```", SECTION)
START, WE_SAY = (block.splitlines() for block in re.findall(r"(?s)```console\n(.*?)```", SECTION))


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
