"""How an output folder at a URL says whether it is complete.

Files at a URL appear one by one. A run first writes ``_STARTED``, then the files, and last of all
``_SUCCESS``: an output is complete if that is there.
"""

from __future__ import annotations

import contextlib
import json
from typing import Any

from neardup.errors import InvalidInputError

STARTED = "_STARTED"
SUCCESS = "_SUCCESS"

# All that a run writes below an output folder, by the first part of its name.
ENTRIES = frozenset({"kept", "removed", "removed.parquet", "clusters.parquet", "summary.json"})


def read_marker(system: Any, folder: str, name: str) -> dict[str, Any] | None:
    """Return what a marker of neardup says; None where there is none, or another program's."""
    try:
        content = json.loads(system.cat_file(f"{folder}/{name}"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) and "neardup" in content else None


def check_is_complete(system: Any, path: str) -> None:
    """Make sure that a file, folder or pattern is no part of an output that is not complete.

    Raises
    ------
    InvalidInputError
        If it is.
    """
    parts = path.split("/")
    for count, part in enumerate(parts):
        folder = "/".join(parts[:count])
        if part in ENTRIES and folder and _is_unfinished(system, folder):
            message = (
                f"{system.unstrip_protocol(folder)} is an unfinished output of neardup, without "
                f"{SUCCESS}; wait for the run that writes it, or run it again with --overwrite"
            )
            raise InvalidInputError(message)


def _is_unfinished(system: Any, folder: str) -> bool:
    # Whoever may not look, or cannot, reads the input itself and learns it there.
    with contextlib.suppress(Exception):
        started = read_marker(system, folder, STARTED)
        return started is not None and read_marker(system, folder, SUCCESS) is None
    return False
