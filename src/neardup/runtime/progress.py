"""How a pipeline tells its caller what it is doing."""

from __future__ import annotations

from collections.abc import Callable

# Called with the name of a stage, the documents done so far, and their number where it is known.
Progress = Callable[[str, int, int | None], None]


def no_progress(stage: str, done: int, total: int | None) -> None:
    """Tell nobody."""


def report_part(
    report: Callable[[float], None], start: float, stop: float
) -> Callable[[float], None]:
    """Return a report for a part of some work, which runs from one share of all to another."""
    return lambda share: report(start + share * (stop - start))
