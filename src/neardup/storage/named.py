"""Telling indexes apart from all else that may be named where documents are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from neardup.storage.manifest import MANIFEST
from neardup.storage.scratch import recover_above


def index_named(data: Any) -> Path | None:
    """Return the folder of an index, if that is what a path names; of whichever kind."""
    if not isinstance(data, (str, os.PathLike)):
        return None
    recover_above(os.fsdecode(data))
    # A URL or a pattern is a string too; os.path says no to whatever cannot be a path.
    is_index = os.path.exists(os.path.join(data, MANIFEST))  # noqa: PTH110, PTH118
    return Path(data) if is_index else None
