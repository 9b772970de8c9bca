"""What tables make of measured figures."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

from benchmarks.measuring.markdown import cell

if TYPE_CHECKING:
    from collections.abc import Sequence

MB = 1e6

RATE_HEADER = ("corpus", "work", "MB/s, median", "MB/s, best pass", "to reach", "reached")


def megabytes(size: float | None) -> int | None:
    """Return whole megabytes; None stays."""
    return None if size is None else round(size / MB)


def decimals(value: float | None, places: int) -> str:
    """Write a number with so many decimals, and None as a table does."""
    return cell(None) if value is None else f"{value:.{places}f}"


def rate_row(
    corpus: str, work: str, n_bytes: int, seconds: Sequence[float], target: float | None
) -> tuple[object, ...]:
    """Lay out, below ``RATE_HEADER``, how many megabytes a second were worked on."""
    size = n_bytes / MB
    median = size / statistics.median(seconds)
    speeds = (round(median), round(size / min(seconds)))
    if target is None:
        return corpus, work, *speeds, None, None
    return corpus, work, *speeds, round(target), median >= target


def latencies(milliseconds: Sequence[float]) -> dict[str, float]:
    """Return the median and the 99th percentile, and the extremes."""
    hundredths = statistics.quantiles(milliseconds, n=100, method="inclusive")
    return {
        "median_ms": round(statistics.median(milliseconds), 4),
        "slow_ms": round(hundredths[98], 4),
        "least_ms": round(min(milliseconds), 4),
        "most_ms": round(max(milliseconds), 4),
    }


def beside(other: float | None, own: float | None, target: int) -> tuple[object, ...]:
    """Lay out how many times ours another's figure is, what is to be reached, and whether it is."""
    if other is None or own is None:
        return None, target, None
    return other / own, target, other / own >= target


def exponent(sizes: Sequence[float], values: Sequence[float]) -> float:
    """Fit a line to the logarithms of sizes and of what is measured; return its slope."""
    x, y = ([math.log(each) for each in column] for column in (sizes, values))
    return statistics.linear_regression(x, y).slope
