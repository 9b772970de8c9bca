"""Queries looked up one by one, each timed. It runs in the environments of all peers."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measuring.figures import latencies

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# Id of a document, and its similarity.
Found = tuple[str, float]
Row = tuple[str, str]


def read_rows(path: Path) -> list[Row]:
    """Read ids and texts of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        return [(row["id"], row["text"]) for row in map(json.loads, lines)]


def time_queries(
    look_up: Callable[[str], Iterable[Found]], rows: list[Row]
) -> tuple[dict[str, Any], list[list[Any]]]:
    """Look all rows up, twice.

    Returns
    -------
    Milliseconds of both rounds, the ``first`` and ``again``, and those of the processor in the
    second; and (query id, document id, similarity) of what was found.
    """
    report: dict[str, Any] = {"queries": len(rows)}
    found: list[list[Any]] = []
    for turn in ("first", "again"):
        wall, cpu = [], []
        found.clear()
        for name, text in rows:
            start, start_cpu = time.perf_counter(), time.thread_time()
            answer = look_up(text)
            used = time.thread_time() - start_cpu
            wall.append((time.perf_counter() - start) * 1e3)
            cpu.append(used * 1e3)
            found += ([name, *each] for each in answer)
        report[turn] = latencies(wall)
        report[f"{turn}_cpu"] = latencies(cpu)
    report["found"] = len(found)
    # Queries that have the id of the document that they are like.
    report["found_own"] = sum(name == document for name, document, _ in found)
    return report, found
