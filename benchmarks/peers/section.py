"""Section ``peers``: the same job with other libraries, run in turn with neardup."""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.corpora.files import main_collection, ten_lines
from benchmarks.measuring.jobs import PEERS, Job, Settings, dedup_job, peer_job, report_of
from benchmarks.measuring.markdown import MB, megabytes, table
from benchmarks.measuring.processes import Run, combine

TARGET = 5.0
REPEATS = 3
WAYS = {"plain": (), "verified": ("--verify", "0.8")}


def run(settings: Settings) -> dict[str, Any]:
    """Measure each peer, with a run of neardup before and after every one of its runs."""
    # The peers write ids, so neardup does too.
    collection = main_collection(settings)
    own = dedup_job(settings, collection, "--id-column", "id")
    summary = report_of(own.run())
    bands, rows = summary["bands"], summary["rows"]
    figures: dict[str, Any] = {
        "input_bytes": collection.stat().st_size,
        "bands": (bands, rows),
        "documents_removed": summary["documents_removed"],
        "candidates": summary["candidates"],
        "peers": [],
    }
    for peer in PEERS:
        # The kernel's cache has the documents by now; this one fills it with the peer's code.
        peer_job(settings, peer, ten_lines(), bands, rows).run()
        for way, options in WAYS.items():
            job = peer_job(settings, peer, collection, bands, rows, *options)
            figures["peers"].append(
                {"peer": peer, "way": way, **_in_turn(own, job, settings.repeats(REPEATS))}
            )
            job.clear()
    own.clear()
    return figures


def _in_turn(own: Job, other: Job, repeats: int) -> dict[str, Any]:
    """Measure two jobs in turn; the first begins and ends."""
    own_runs: list[Run] = [own.run()]
    other_runs: list[Run] = []
    for _ in range(repeats):
        other_runs.append(other.run())
        own_runs.append(own.run())
    measured = combine(other_runs)
    report = report_of(measured)
    return {
        **measured.as_dict(),
        "documents_removed": report["documents_removed"],
        "candidates": report["candidates"],
        "neardup": combine(own_runs).as_dict(),
    }


def format_table(figures: dict[str, Any]) -> str:
    """Lay out times and their ratios; neardup's own row has the medians of all its runs."""
    beside = [entry["neardup"] for entry in figures["peers"]]
    size = figures["input_bytes"] / MB
    wall = statistics.median(wall for measured in beside for wall in measured["walls"])
    own = (
        "neardup",
        "verified",
        wall,
        None,
        None,
        None,
        None,
        size / wall,
        statistics.median(measured["cpu"] for measured in beside),
        megabytes(max(measured["peak_tree"] for measured in beside)),
        figures["candidates"],
        figures["documents_removed"],
    )
    rows: list[tuple[object, ...]] = [own]
    for entry in figures["peers"]:
        ratio = entry["wall"] / entry["neardup"]["wall"]
        rows.append(
            (
                entry["peer"],
                entry["way"],
                entry["wall"],
                entry["neardup"]["wall"],
                ratio,
                round(TARGET),
                ratio >= TARGET,
                size / entry["wall"],
                entry["cpu"],
                megabytes(entry["peak_tree"]),
                entry["candidates"],
                entry["documents_removed"],
            )
        )
    header = ("tool", "way", "wall s", "neardup beside it, s", "ratio", "to reach", "reached")
    return table((*header, "MB/s", "CPU s", "peak MB", "candidates", "removed"), rows)
