"""Table of all jobs, each beside its best peer, from the stored results of the sections."""

from __future__ import annotations

import statistics
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

from benchmarks.measuring.markdown import MB, cell, megabytes, table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.measuring.results import Results

Figures = dict[str, Any]

HEADER = (
    *("job", "input", "neardup, s", "best peer", "best peer, s"),
    *("speed-up", "memory, MB (neardup / peer)"),
)
PROVED = "near-copies removed, each verified"
UNPROVED = "near-copies removed, not verified by the peer"


class Row(NamedTuple):
    """One job beside one other tool: seconds, and the most memory in bytes where it is known."""

    job: str
    input: str
    own_seconds: float
    other: str
    other_seconds: float
    memory: tuple[float, float] | None = None


def format_overview(results: Results) -> str:
    """Lay out a row for each job that has been measured beside another tool."""
    rows = [
        row
        for name, rows_of in ROWS.items()
        if name in results
        for row in rows_of(results[name]["figures"])
    ]
    return table(HEADER, map(_cells, rows))


def _cells(row: Row) -> tuple[object, ...]:
    times = row.other_seconds / row.own_seconds
    text = cell(times)
    memory = None
    if row.memory is not None:
        memory = " / ".join(f"{megabytes(size):,}" for size in row.memory)
    seconds = row.own_seconds, row.other, row.other_seconds
    return row.job, row.input, *seconds, text if times >= 1 else f"**{text}**", memory


def _of_peers(figures: Figures) -> Iterator[Row]:
    """Select the fastest peer that verifies its removals, and the fastest that does not."""
    size = f"{round(figures['input_bytes'] / MB)} MB of texts"
    for way, job in {"verified": PROVED, "plain": UNPROVED}.items():
        best = min(
            (entry for entry in figures["peers"] if entry["way"] == way),
            key=lambda entry: entry["wall"] / entry["neardup"]["wall"],
        )
        own = best["neardup"]
        yield Row(job, size, own["wall"], best["peer"], best["wall"], _peaks(own, best))


def _of_limits(figures: Figures) -> Iterator[Row]:
    """Select the cases beside rensa; other cases compare neardup with itself."""
    for case in figures["cases"]:
        if case["against"].startswith("rensa"):
            other = case["other"]
            yield Row(
                PROVED if case["against"].endswith("verified") else UNPROVED,
                case["case"],
                case["wall"],
                case["against"].partition(",")[0],
                other["wall"],
                _peaks(case, other),
            )


def _of_joins(figures: Figures) -> Iterator[Row]:
    """Select the case in which the best peer comes nearest, per kind of records."""
    by_kind: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for case in figures["cases"]:
        own = case["neardup"]
        job = f"all pairs from {case['threshold']} on, one thread, in memory"
        for peer in case["peers"]:
            if peer["seconds"] is not None:
                seconds = (statistics.median(each["seconds"]) for each in (own, peer))
                own_seconds, other_seconds = seconds
                text = f"{own['records']:,} {case['corpus']}, {case['elements']}"
                memory = (own["memory"]["peak"], peer["memory"]["peak"])
                row = Row(job, text, own_seconds, peer["tool"], other_seconds, memory)
                by_kind[case["corpus"], case["elements"]].append(row)
    for rows in by_kind.values():
        yield min(rows, key=lambda row: row.other_seconds / row.own_seconds)


def _of_edit_joins(figures: Figures) -> Iterator[Row]:
    """Compare whole processes; the time of RapidFuzz is scaled to every pair once."""
    own, other, whole = figures["neardup"], figures["rapidfuzz"], figures["whole"]
    records = own["records"]
    scale = records * (records - 1) / 2 / other["distances"]
    seconds = statistics.median(other["seconds"]) * scale
    memory = (whole["peak_process"], other["memory"]["peak"])
    job = "all pairs within two edits, two threads"
    yield Row(job, f"{records:,} names", whole["wall"], "RapidFuzz", seconds, memory)


def _of_repeats(figures: Figures) -> Iterator[Row]:
    """Select the largest text."""
    case = figures["cases"][-1]
    own, other = case["neardup"], case["suffix_array"]
    yield Row(
        f"equal runs of {figures['min_tokens']} tokens, one thread",
        f"{round(own['bytes'] / MB):,} MB of text",
        own["hashing"] + statistics.median(own["seconds"]),
        "libdivsufsort, its sorting alone",
        other["seconds"],
        (own["added"], other["added"]),
    )


def _of_weighted(figures: Figures) -> Iterator[Row]:
    """Compare as many weighted signatures as datasketch makes, by its faster function."""
    own, other = figures["neardup"], figures["datasketch"]
    seconds = statistics.median(own["seconds"]["weighted_signatures"]) / own["vectors"]
    name, others = min(other["seconds"].items(), key=lambda item: statistics.median(item[1]))
    yield Row(
        "weighted signatures of 128, one thread",
        f"{other['vectors']} vectors",
        seconds * other["vectors"],
        f"datasketch, `{name}`",
        statistics.median(others),
    )


def _peaks(own: Figures, other: Figures) -> tuple[float, float]:
    return own["peak_tree"], other["peak_tree"]


ROWS = {
    "peers": _of_peers,
    "limits": _of_limits,
    "joins": _of_joins,
    "edit_joins": _of_edit_joins,
    "repeats": _of_repeats,
    "weighted": _of_weighted,
}
"""The sections that have rows, in the order of the table."""
