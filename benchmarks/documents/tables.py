"""Tables of what was measured of an index of documents, each with what is to be reached."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.documents.parts import Figures, median_rate, speed
from benchmarks.measuring.figures import MB, exponent, megabytes
from benchmarks.measuring.markdown import table

MB_A_SECOND, BUILD_PEAK = 80, 1000
SHARE_OF_TEXT, BYTES_A_DOCUMENT = 0.5, 350
OPEN_SECONDS, OPEN_SHARE = 0.2, 0.02
MEDIAN_MS, SLOW_MS, TIMES_DATASKETCH = 0.3, 2.0, 10
INSERTIONS_A_SECOND = 20_000
QUERY_EXPONENT, BUILD_EXPONENT = 0.1, 1.05

KINDS = ("like a document", "unlike all")


def build(figures: Figures) -> str:
    """Lay out speed, memory and size of building."""
    rate = speed(figures["input_bytes"], figures["wall"])
    peak = megabytes(figures["peak_tree"])
    limit = SHARE_OF_TEXT * figures["text_bytes"] + BYTES_A_DOCUMENT * figures["documents"]
    size = figures["index_bytes"]
    header = ("documents", "MB", "wall s", "CPU s", "MB/s", "to reach", "reached")
    memory = ("peak MB", "at most", "kept to", "on disk, MB", "at most", "kept to")
    row = (
        *(figures["documents"], megabytes(figures["input_bytes"]), figures["wall"], figures["cpu"]),
        *(rate, MB_A_SECOND, rate >= MB_A_SECOND),
        *(peak, BUILD_PEAK, figures["peak_tree"] <= BUILD_PEAK * MB),
        *(megabytes(size), megabytes(limit), size <= limit),
    )
    return table((*header, *memory), [row])


def queries(figures: Figures) -> str:
    """Lay out milliseconds of look-ups, beside those of datasketch."""
    first, last = figures["neardup"]
    peer = figures["datasketch"]
    rows: list[tuple[object, ...]] = []
    for number, kind in enumerate(KINDS):
        own = [each["queries"][number] for each in (first, last)]
        other = peer["queries"][number]
        medians = [statistics.mean(each["again"][key] for each in own) for key in _LATENCIES]
        processor = [statistics.mean(each["again_cpu"][key] for each in own) for key in _LATENCIES]
        fresh = statistics.mean(each["first"]["median_ms"] for each in own)
        goals = ((medians[0], MEDIAN_MS), (medians[1], SLOW_MS))
        times = other["again"]["median_ms"] / medians[0]
        rows.append(
            (
                *(kind, "neardup", own[0]["queries"], own[0]["found"], own[0]["found_own"]),
                *(each for value, most in goals for each in (value, most, value <= most)),
                *(*processor, fresh, times, TIMES_DATASKETCH, times >= TIMES_DATASKETCH),
            )
        )
        rows.append(
            (
                *(kind, "datasketch", other["queries"], other["found"], other["found_own"]),
                *(other["again"]["median_ms"], None, None, other["again"]["slow_ms"], None, None),
                *(other["again_cpu"][key] for key in _LATENCIES),
                *(other["first"]["median_ms"], None, None, None),
            )
        )
    header = ("texts", "tool", "number", "found", "own document")
    more = ("median ms", "at most", "reached", "99 % within ms", "at most", "reached")
    cpu = ("median CPU ms", "99 % within CPU ms")
    last_columns = (*cpu, "first time, ms", "times as fast", "to reach", "reached")
    both = ", ".join(f"{name} {count:,}" for name, count in figures["both"].items())
    memory = (
        f"Peak memory of the process: neardup {megabytes(last['memory']['peak']):,} MB, datasketch "
        f"{megabytes(peer['memory']['peak']):,} MB after {peer['build_seconds']:.0f} s of building "
        "in two processes."
    )
    return f"{table((*header, *more, *last_columns), rows)}\n\nPairs found: {both}. {memory}"


_LATENCIES = ("median_ms", "slow_ms")


def insertions(figures: Figures) -> str:
    """Lay out how many documents were inserted a second."""
    rows = []
    for name, runs in figures["runs"].items():
        call, _, index = name.partition(", ")
        wall = median_rate(runs, "offered", "seconds")
        goal = INSERTIONS_A_SECOND if call == "insert" else None
        into = "fresh" if index == "fresh" else f"{figures['documents']:,} documents"
        rows.append(
            (
                *(f"`{call}`", into, runs[0]["offered"], runs[0]["inserted"], round(wall)),
                *(goal, None if goal is None else wall >= goal),
                round(median_rate(runs, "offered", "cpu")),
                statistics.median_low([each["segments"] for each in runs]),
            )
        )
    header = ("call", "into", "documents", "inserted", "a second", "to reach", "reached")
    return table((*header, "a second of CPU", "segments afterwards"), rows)


def growth(figures: Figures) -> str:
    """Lay out how building, opening and looking up grow."""
    cases = figures["cases"]
    rows = []
    for case in cases:
        opened = case["opened"]
        added, is_last = opened["memory"]["added"], case is cases[-1]
        within = opened["seconds"] <= OPEN_SECONDS and added <= OPEN_SHARE * case["index_bytes"]
        rows.append(
            (
                *(case["documents"], case["build"]["wall"], case["build"]["cpu"]),
                speed(case["input_bytes"], case["build"]["wall"]),
                *(megabytes(case["build"]["peak_tree"]), megabytes(case["index_bytes"])),
                *(opened["seconds"], opened["cpu"], added / MB, within if is_last else None),
                *(each["again"]["median_ms"] for each in case["queries"]),
                *(each["again_cpu"]["median_ms"] for each in case["queries"]),
            )
        )
    header = ("documents", "build s", "build, CPU s", "MB/s", "peak MB", "on disk, MB")
    opening = (
        "open s",
        "open, CPU s",
        "memory of opening, MB",
        f"{OPEN_SECONDS} s and {OPEN_SHARE:.0%} of its size",
    )
    kinds = (*(f"{kind}, ms" for kind in KINDS), *(f"{kind}, CPU ms" for kind in KINDS))
    laid_out = table((*header, *opening, *kinds), rows)
    return laid_out if len(cases) < 2 else f"{laid_out}\n\n{_exponents(cases)}"


def _exponents(cases: Sequence[dict[str, Any]]) -> str:
    measured: list[tuple[str, list[float], float | None]] = [
        ("building, seconds", [each["build"]["wall"] for each in cases], BUILD_EXPONENT),
        ("building, CPU seconds", [each["build"]["cpu"] for each in cases], BUILD_EXPONENT),
        ("memory of building", [each["build"]["peak_tree"] for each in cases], None),
        ("opening, seconds", [each["opened"]["seconds"] for each in cases], None),
    ]
    for number, kind in enumerate(KINDS):
        for clock, name in (("again", "ms"), ("again_cpu", "CPU ms")):
            values = [each["queries"][number][clock]["median_ms"] for each in cases]
            measured.append((f"texts {kind}, {name}", values, QUERY_EXPONENT))
    sizes = [each["documents"] for each in cases]
    rows = []
    for name, values, most in measured:
        found = exponent(sizes, values)
        rows.append((name, found, most, None if most is None else found <= most))
    return table(("grows with this power of the documents", "exponent", "at most", "reached"), rows)


TABLES: dict[str, Callable[[Figures], str]] = {
    "build": build,
    "queries": queries,
    "insertions": insertions,
    "growth": growth,
}
