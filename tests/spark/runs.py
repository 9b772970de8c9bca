"""Runs in threads and on Spark, and the comparison of all that they have written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import neardup
from tests.calls import grouped
from tests.spark import on_session

# What a run takes, and by what.
_OF_THE_RUN = {"seconds", "peak_memory_bytes", "engine", "workers", "digest"}


def run_threads(data: str, output: Path, **options: Any) -> Path:
    """Write what threads find."""
    neardup.deduplicate(data, **grouped(workers=2, **options)).write(output)
    return output


def run_spark(session: Any, data: str, output: Path, **options: Any) -> Path:
    """Write what Spark finds."""
    on_session.deduplicate(session, data, **options).write(output)
    return output


def assert_same(found: Path, expected: Path) -> None:
    """Hold all files of two outputs to the same bytes, summaries but for what the runs took."""
    names = [sorted(map(str, files_of(folder))) for folder in (found, expected)]
    assert names[0] == names[1]
    for path in files_of(expected):
        if path.name == "summary.json":
            assert summary_of(found) == summary_of(expected)
        else:
            assert (found / path).read_bytes() == (expected / path).read_bytes(), path


def files_of(folder: Path) -> list[Path]:
    """List all files of a folder, by their paths below it."""
    return [path.relative_to(folder) for path in folder.rglob("*") if path.is_file()]


def summary_of(output: Path) -> dict[str, Any]:
    """Read a summary, without what the run took."""
    summary = json.loads((output / "summary.json").read_text())
    return {name: value for name, value in summary.items() if name not in _OF_THE_RUN}
