"""A page in a real browser: steps in it, and what came of them."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from threading import Timer
from typing import Any

from tests.browser import driver

# One that has the browser.
_PYTHON = os.environ.get("NEARDUP_BROWSER_PYTHON", sys.executable)


class NoBrowserError(Exception):
    """There is no browser on this machine."""


@dataclass(frozen=True)
class Seen:
    """What a browser made of a page: the values of all scripts, and what else went on."""

    values: list[Any]
    requests: list[str]
    console: list[str]
    dialogs: list[str]

    @property
    def value(self) -> Any:
        """That of the last script."""
        return self.values[-1]


def see_page(
    page: Path | str,
    *steps: str,
    dark: bool = False,
    width: int = 1200,
    height: int = 800,
    picture: Path | None = None,
) -> Seen:
    """Open a file or a URL and take steps in it; ``driver.py`` says which there are.

    Raises
    ------
    NoBrowserError
        If this machine has none.
    """
    orders = {
        "page": str(page),
        "steps": steps,
        "width": width,
        "height": height,
        "picture": str(picture or ""),
    }
    return Seen(**_ask(orders, dark=dark))


class _Browser:
    """A program that opens one page after the other: a browser takes longer to start than that."""

    def __init__(self, *, dark: bool) -> None:
        colours = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
        environment = os.environ | {
            "QT_QPA_PLATFORM": "offscreen",
            "QTWEBENGINE_DISABLE_SANDBOX": "1",
            "QTWEBENGINE_CHROMIUM_FLAGS": f"--disable-gpu {colours}",
        }
        # Open as long as the browser is.
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        self._process = subprocess.Popen(
            [_PYTHON, driver.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            encoding="utf-8",
        )
        atexit.register(self.end)

    def ask(self, orders: dict[str, Any]) -> dict[str, Any] | None:
        """Return what it tells of a page; None if it has ended."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        late = Timer(2 * driver.SECONDS, self._process.kill)
        late.start()
        try:
            self._process.stdin.write(json.dumps(orders) + "\n")
            self._process.stdin.flush()
            told = self._process.stdout.readline()
        except BrokenPipeError:
            return None
        finally:
            late.cancel()
        return json.loads(told) if told else None

    def end(self) -> tuple[int, str]:
        """End it if it has not; return its code, and what it has said of errors."""
        atexit.unregister(self.end)
        try:
            self._process.communicate(timeout=driver.SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._errors.seek(0)
        return self._process.wait(), self._errors.read()


# Of dark colours and of light ones.
_browsers: dict[bool, _Browser] = {}


def _ask(orders: dict[str, Any], *, dark: bool) -> dict[str, Any]:
    if dark not in _browsers:
        _browsers[dark] = _Browser(dark=dark)
    browser = _browsers[dark]
    told = browser.ask(orders)
    if told is None:
        del _browsers[dark]
        code, said = browser.end()
        if code == driver.NO_BROWSER:
            raise NoBrowserError(said.strip())
        raise AssertionError(said)
    assert "error" not in told, told["error"]
    return told
