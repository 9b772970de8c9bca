"""Where commands run from, and with what environment."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    """Return the environment of commands: help of a fixed width, and no colours."""
    fixed = {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONHASHSEED": "0", "LC_ALL": "C.UTF-8"}
    return {**os.environ, **fixed}
