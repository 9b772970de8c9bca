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


def run_threads(data: str, output: Path, *, job: str = "deduplicate", **options: Any) -> Path:
    """Write what threads find."""
    getattr(neardup, job)(data, **grouped(workers=2, **options)).write(output)
    return output


def run_spark(
    session: Any, data: str, output: Path, *, job: str = "deduplicate", **options: Any
) -> Path:
    """Write what Spark finds."""
    getattr(on_session, job)(session, data, **options).write(output)
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


def summary_of_pairs(result: neardup.types.PairResult) -> dict[str, Any]:
    """Return the summary of pairs, without what the run took, and what filters did in blocks."""
    left_out = {*_OF_THE_RUN, "filters"}
    return {name: value for name, value in result.summary.items() if name not in left_out}
