"""A page in a real browser: steps in it, and what came of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
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
    pdf: Path | None = None,
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
        "pdf": str(pdf or ""),
    }
    environment = os.environ | {
        "QT_QPA_PLATFORM": "offscreen",
        "QTWEBENGINE_DISABLE_SANDBOX": "1",
        "QTWEBENGINE_CHROMIUM_FLAGS": (
            f"--disable-gpu --blink-settings=preferredColorScheme={0 if dark else 1}"
        ),
    }
    done = subprocess.run(
        [_PYTHON, driver.__file__],
        input=json.dumps(orders),
        env=environment,
        capture_output=True,
        encoding="utf-8",
        timeout=2 * driver.SECONDS,
        check=False,
    )
    if done.returncode == driver.NO_BROWSER:
        raise NoBrowserError(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    return Seen(**json.loads(done.stdout))
