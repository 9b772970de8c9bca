"""Section ``peers``: the same job with other libraries, run in turn with neardup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.corpora.files import main_collection, ten_lines
from benchmarks.measuring.jobs import PEERS, Job, Settings, dedup_job, peer_job, report_of
from benchmarks.measuring.markdown import MB, megabytes
from benchmarks.measuring.processes import Measurement, Run, combine

if TYPE_CHECKING:
    from benchmarks.measuring.results import Row, Tables

REPEATS = 3
WAYS = {"plain": (), "verified": ("--verify", "0.8")}


def run(settings: Settings) -> Tables:
    """Measure each peer, with a run of neardup before and after every one of its runs."""
    # The peers write ids, so neardup does too.
    collection = main_collection(settings)
    own = dedup_job(settings, collection, "--id-column", "id")
    summary = report_of(own.run())
    bands, rows = summary["bands"], summary["rows"]
    size = collection.stat().st_size / MB
    table: list[Row] = []
    for peer in PEERS:
        # The kernel's cache has the documents by now; this one fills it with the peer's code.
        peer_job(settings, peer, ten_lines(), bands, rows).run()
        for way, options in WAYS.items():
            job = peer_job(settings, peer, collection, bands, rows, *options)
            ours, theirs = _in_turn(own, job, settings.repeats(REPEATS))
            if not table:
                table.append(_row("neardup", "verified", ours, None, size))
            table.append(_row(peer, way, theirs, ours, size))
            job.clear()
    own.clear()
    return {"Near-copies removed": table}


def _row(tool: str, way: str, found: Measurement, ours: Measurement | None, size: float) -> Row:
    report = report_of(found)
    row: Row = {"tool": tool, "way": way, "wall s": found.wall}
    row["neardup beside it, s"] = None if ours is None else ours.wall
    row["ratio"] = None if ours is None else found.wall / ours.wall
    row |= {"MB/s": size / found.wall, "CPU s": found.cpu, "peak MB": megabytes(found.peak_tree)}
    row["candidates"] = report["candidates"]
    return row | {"removed": report["documents_removed"]}


def _in_turn(own: Job, other: Job, repeats: int) -> tuple[Measurement, Measurement]:
    """Measure two jobs in turn; the first begins and ends."""
    own_runs: list[Run] = [own.run()]
    other_runs: list[Run] = []
    for _ in range(repeats):
        other_runs.append(other.run())
        own_runs.append(own.run())
    return combine(own_runs), combine(other_runs)
