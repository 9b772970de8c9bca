"""Section ``joins``: neardup's exact join of sets beside other libraries', on the same sets."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from textwrap import fill
from typing import Any

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
from benchmarks.measuring.markdown import beside, megabytes, table
from benchmarks.measuring.processes import TimeLimitError
from benchmarks.peers.environments import STRINGSIMJOIN, prepare_stringsimjoin

SHAPES = (TITLES, *DESCRIPTIONS, LICENCES)

# A peer's run may take so many seconds; what takes more than the second figure runs once.
LIMIT, LONG = 20.0, 5.0
WHAT_HEADER = ("corpus", "sets of", "threshold", "records")
FIRST_RECORDS, MOST_GROWTH, MARGIN = 1_000, 4, 0.75
PASSES, REPEATS = 5, 3


@dataclass(frozen=True)
class Peer:
    """A library, and how many times its time and its memory are to be neardup's."""

    name: str
    python: Path
    script: str
    times: int
    memory: int | None = None

    def join(self, sets: Path, threshold: str, records: int) -> Report:
        """Join the first records, in a process of its own."""
        arguments = (str(sets), threshold, "--records", str(records))
        return report_of_script(self.python, f"peers/{self.script}", *arguments, limit=LIMIT)


def run(settings: Settings) -> dict[str, Any]:
    """Measure all collections at all thresholds."""
    shapes, remarks = at_hand(*SHAPES)
    main = Peer("SetSimilaritySearch", settings.peers, "setsimilaritysearch_join.py", 50, 10)
    others = []
    versions: dict[str, str] = {}
    other_python = prepare_stringsimjoin()
    if other_python is None:
        remarks.append("py_stringsimjoin is left out: it did not install.")
    else:
        others.append(Peer("py_stringsimjoin", other_python, "stringsimjoin_join.py", 5))
        versions, _ = STRINGSIMJOIN.versions(other_python)
    cases = []
    for shape in shapes:
        sets, records = prepare_sets(settings, shape)
        for threshold in thresholds(settings):
            case = {**shape.facts(), "threshold": threshold, "of": records}
            # What the slowest can join in time is what all join.
            report = _largest(main, sets, threshold, records)
            ours = _join(settings, sets, threshold, report["records"])
            compared = [_compare(settings, main, sets, threshold, ours, report)]
            compared += [_compare(settings, peer, sets, threshold, ours) for peer in others]
            cases.append({**case, "neardup": ours, "peers": compared})
    return {"cases": cases, "remarks": remarks, "versions": versions}


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
    settings: Settings,
    peer: Peer,
    sets: Path,
    threshold: str,
    ours: Report,
    report: Report | None = None,
) -> Report:
    """Join with a peer, unless that is done, and compare the pairs with ours."""
    facts = {"tool": peer.name, "times": peer.times, "memory_times": peer.memory}
    try:
        report = report or peer.join(sets, threshold, ours["records"])
    except TimeLimitError:
        return {**facts, "seconds": None}
    while len(report["seconds"]) < settings.repeats(REPEATS) and report["seconds"][0] < LONG:
        report["seconds"] += peer.join(sets, threshold, ours["records"])["seconds"]
    return {**facts, **report}


def format_table(figures: dict[str, Any]) -> str:
    """Lay out times, then memory, each beside its target."""
    parts = [_format_times(figures["cases"]), _format_memory(figures["cases"])]
    remarks = list(figures["remarks"])
    if figures["versions"]:
        listed = ", ".join(f"{name} {number}" for name, number in figures["versions"].items())
        remarks.append(f"In an environment of their own: {listed}.")
    return "\n\n".join(parts + [fill(remark, 100) for remark in remarks])


def _format_times(cases: list[Report]) -> str:
    rows = []
    for case in cases:
        ours = case["neardup"]
        seconds = statistics.median(ours["seconds"])
        for peer in case["peers"]:
            done = peer["seconds"] is not None
            theirs = statistics.median(peer["seconds"]) if done else None
            rows.append(
                (
                    *_what(case),
                    ours["pairs"],
                    seconds,
                    peer["tool"],
                    theirs if done else f"over {LIMIT:g}",
                    *beside(theirs, seconds, peer["times"]),
                    peer["digest"] == ours["digest"] if done else None,
                )
            )
    header = (*WHAT_HEADER, "pairs", "neardup, s", "beside", "s", "times as long")
    return table((*header, "to reach", "reached", "same pairs"), rows)


def _format_memory(cases: list[Report]) -> str:
    rows = []
    for case in cases:
        own = case["neardup"]["memory"]
        for peer in case["peers"]:
            if peer["memory_times"] is not None and peer["seconds"] is not None:
                other, times = peer["memory"], peer["memory_times"]
                rows.append(
                    (
                        *_what(case),
                        megabytes(own["added"]),
                        megabytes(other["added"]),
                        *beside(other["added"], own["added"], times),
                        megabytes(own["peak"]),
                        megabytes(other["peak"]),
                    )
                )
    added = ("neardup, MB added", "SetSimilaritySearch, MB added", "times as much")
    whole = ("neardup, MB in all", "SetSimilaritySearch, MB in all")
    return table((*WHAT_HEADER, *added, "to reach", "reached", *whole), rows)


def _what(case: Report) -> tuple[object, ...]:
    records = case["neardup"]["records"]
    part = f"{records:,}" if records == case["of"] else f"{records:,} of {case['of']:,}"
    return case["corpus"], case["elements"], case["threshold"], part
