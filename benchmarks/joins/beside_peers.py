"""Section ``joins``: neardup's exact join of sets beside other libraries', on the same sets."""

from __future__ import annotations

import statistics
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.joins.shapes import (
    DESCRIPTIONS,
    LICENCES,
    SET_JOIN,
    TITLES,
    at_hand,
    prepare_sets,
    thresholds,
)
from benchmarks.measuring.jobs import Report, Settings, own_report, report_of_script
from benchmarks.measuring.markdown import megabytes
from benchmarks.measuring.processes import TimeLimitError
from benchmarks.peers.environments import prepare_stringsimjoin

if TYPE_CHECKING:
    from benchmarks.measuring.results import Tables

SHAPES = (TITLES, *DESCRIPTIONS, LICENCES)

# A peer's run may take so many seconds; what takes more than the second figure runs once.
LIMIT, LONG = 20.0, 5.0
FIRST_RECORDS, MOST_GROWTH, MARGIN = 1_000, 4, 0.75
PASSES, REPEATS = 5, 3


@dataclass(frozen=True)
class Peer:
    """A library, and the script of its join."""

    name: str
    python: Path
    script: str

    def join(self, sets: Path, threshold: str, records: int) -> Report:
        """Join the first records, in a process of its own."""
        arguments = (str(sets), threshold, "--records", str(records))
        return report_of_script(self.python, f"peers/{self.script}", *arguments, limit=LIMIT)


def run(settings: Settings) -> Tables:
    """Measure all collections at all thresholds."""
    peers = [Peer("SetSimilaritySearch", settings.peers, "setsimilaritysearch_join.py")]
    other_python = prepare_stringsimjoin()
    if other_python is None:
        sys.stderr.write("py_stringsimjoin is left out: it did not install\n")
    else:
        peers.append(Peer("py_stringsimjoin", other_python, "stringsimjoin_join.py"))
    rows = []
    for shape in at_hand(*SHAPES):
        sets, records = prepare_sets(settings, shape)
        for threshold in thresholds(settings):
            # What the slowest can join in time is what all join.
            report = _largest(peers[0], sets, threshold, records)
            ours = _join(settings, sets, threshold, report["records"])
            for number, peer in enumerate(peers):
                theirs = _compare(settings, peer, sets, threshold, ours, None if number else report)
                facts = {"corpus": shape.corpus, "sets of": shape.elements, "threshold": threshold}
                rows.append({**facts, **_row(peer, ours, theirs)})
    return {"All pairs, one thread, in memory": rows}


def _row(peer: Peer, ours: Report, theirs: Report | None) -> dict[str, Any]:
    seconds = statistics.median(ours["seconds"])
    row = {"records": ours["records"], "pairs": ours["pairs"], "neardup, s": seconds}
    row |= {"peer": peer.name, "its s": f"over {LIMIT:g}", "times as long": None}
    row |= {"same pairs": None, "neardup, MB added": megabytes(ours["memory"]["added"])}
    row["its MB added"] = None
    if theirs is not None:
        row["its s"] = statistics.median(theirs["seconds"])
        row["times as long"] = row["its s"] / seconds
        row["same pairs"] = theirs["digest"] == ours["digest"]
        row["its MB added"] = megabytes(theirs["memory"]["added"])
    return row


def _largest(peer: Peer, sets: Path, threshold: str, records: int) -> Report:
    """Join more and more of the records until more would take too long."""
    report = peer.join(sets, threshold, min(FIRST_RECORDS, records))
    while report["records"] < records:
        # Time grows with the square of the number at most; small numbers foretell it badly.
        factor = min((MARGIN * LIMIT / report["seconds"][0]) ** 0.5, MOST_GROWTH)
        larger = min(int(report["records"] * factor) // 1_000 * 1_000, records)
        if larger < 1.5 * report["records"] and larger < records:
            break
        try:
            report = peer.join(sets, threshold, larger)
        except TimeLimitError:
            return report
    return report


def _join(settings: Settings, sets: Path, threshold: str, records: int) -> Report:
    """Join the first records with neardup, in one thread."""
    passes = ("--passes", str(settings.repeats(PASSES)))
    arguments = (str(sets), threshold, "--records", str(records))
    return own_report(settings, SET_JOIN, *arguments, *passes)


def _compare(
    settings: Settings, peer: Peer, sets: Path, threshold: str, ours: Report, report: Report | None
) -> Report | None:
    """Join with a peer, unless that is done; None if it takes too long."""
    try:
        report = report or peer.join(sets, threshold, ours["records"])
    except TimeLimitError:
        return None
    while len(report["seconds"]) < settings.repeats(REPEATS) and report["seconds"][0] < LONG:
        report["seconds"] += peer.join(sets, threshold, ours["records"])["seconds"]
    return report
