"""How a pipeline tells its caller what it is doing."""

from __future__ import annotations

from collections.abc import Callable

# Called with the name of a stage, the documents done so far, and their number where it is known.
Progress = Callable[[str, int, int | None], None]


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Tell nobody."""
