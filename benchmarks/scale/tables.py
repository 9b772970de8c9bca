"""Tables of what was measured at scale, each with what is to be reached."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.measuring.figures import MB, exponent, megabytes
from benchmarks.measuring.markdown import table
from benchmarks.scale.parts import MEMORY, Case, speed

SPEED, PEAK_MB = 150, 1300
MOST_EXPONENT, MOST_FOR_SHAPE, LEAST_FOR_WORKERS = 1.05, 3, 1.8

# Stages by the names that versions give them; of two workers only these are to gain.
_READING_AND_DECIDING = ("read", "sign", "compare", "texts", "sieve", "choose", "decide")

_HEADER = ("collection", "options", "documents", "MB", "wall s", "CPU s", "MB/s", "peak MB")
_FILES_HEADER = ("work MB", "output MB", "load")


def _common(case: Case) -> tuple[object, ...]:
    options = f"`{' '.join(case['options'])}`" if case["options"] else "default"
    size = megabytes(case["input_bytes"])
    memory = megabytes(case["peak_tree"])
    times = (case["wall"], case["cpu"], speed(case), memory)
    return case["collection"], options, case["documents_in"], size, *times


def _files(case: Case) -> tuple[object, ...]:
    return megabytes(case["peak_work"]), megabytes(case["output"]), case["load"]


def in_memory(cases: Sequence[Case]) -> str:
    """Lay out the speed of what fits in memory."""
    rows = [(*_common(case), *_files(case), SPEED, speed(case) >= SPEED) for case in cases]
    return table((*_HEADER, *_FILES_HEADER, "MB/s to reach", "reached"), rows)


def growth(cases: Sequence[Case]) -> str:
    """Lay out peaks of memory, and the exponents with which times grow."""
    rows = []
    for case in cases:
        # Nothing is promised of the memory of versions without a budget.
        limit = PEAK_MB if tuple(case["options"]) == MEMORY else None
        kept = None if limit is None else case["peak_tree"] <= limit * MB
        rows.append((*_common(case), *_files(case), limit, kept))
    laid_out = table((*_HEADER, *_FILES_HEADER, "at most", "kept to"), rows)
    if len(cases) < 2:
        return laid_out
    sizes = [case["input_bytes"] for case in cases]
    fitted = []
    for name, key in (("wall", "wall"), ("CPU", "cpu"), ("peak memory", "peak_tree")):
        found = exponent(sizes, [case[key] for case in cases])
        most = None if key == "peak_tree" else MOST_EXPONENT
        fitted.append((name, found, most, None if most is None else found <= most))
    header = ("grows with this power of the size", "exponent", "at most", "reached")
    return f"{laid_out}\n\n{table(header, fitted)}"


def short(cases: Sequence[Case]) -> str:
    """Lay out the bytes that a short document takes."""
    rows = []
    for case in cases:
        each = [case[key] / case["documents_in"] for key in ("peak_tree", "peak_work")]
        rows.append((*_common(case), *_files(case), *each))
    header = ("bytes of memory a document", "bytes of work folder a document")
    return table((*_HEADER, *_FILES_HEADER, *header), rows)


def shapes(cases: Sequence[Case]) -> str:
    """Lay out how many times as long as for ordinary documents a shape takes."""
    rows = []
    for case, ordinary in zip(cases[::2], cases[1::2], strict=True):
        times = case["wall"] / ordinary["wall"]
        as_cpu = case["cpu"] / ordinary["cpu"]
        compared = (ordinary["wall"], times, as_cpu, MOST_FOR_SHAPE, times <= MOST_FOR_SHAPE)
        rows.append((*_common(case), case.get("candidates"), *compared))
    header = ("pairs compared", "ordinary, s", "times as long", "times the CPU")
    return table((*_HEADER, *header, "at most", "reached"), rows)


def workers(cases: Sequence[Case]) -> str:
    """Lay out what a second worker brings, stage by stage."""
    if not cases:
        return table(_HEADER, [])
    one, two = cases
    rows: list[tuple[object, ...]] = []
    for stage, seconds in one["seconds"].items():
        rows.append(_gain(stage, seconds, two["seconds"][stage], None))
    sums = [
        sum(case["seconds"].get(stage, 0.0) for stage in _READING_AND_DECIDING) for case in cases
    ]
    rows.append(_gain("reading and deciding", *sums, LEAST_FOR_WORKERS))
    rows.append(_gain("whole process", one["wall"], two["wall"], None))
    rows.append(_gain("whole process, CPU", one["cpu"], two["cpu"], None))
    return table(("stage", "1 worker, s", "2 workers, s", "times", "to reach", "reached"), rows)


def _gain(name: str, one: float, two: float, least: float | None) -> tuple[object, ...]:
    # The summary has milliseconds.
    gain = max(one, 1e-3) / max(two, 1e-3)
    return name, one, two, gain, least, None if least is None else gain >= least


TABLES: dict[str, Callable[[Sequence[Case]], str]] = {
    "in_memory": in_memory,
    "growth": growth,
    "short": short,
    "shapes": shapes,
    "workers": workers,
}
